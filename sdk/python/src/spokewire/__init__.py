"""Publish metrics and scores to Spokewire, and subscribe to its decisions.

Everything begins with ``async with connect() as bus``; see Bus.
"""

from ._deliver import Delivery
from ._publish import Ack
from ._watch import Behind, Gone, Stored, Synced, Unreadable, Update
from .bus import Bus, Decision, connect, score_item
from .duration import format_duration, parse_duration
from .errors import (
    BadEventError,
    BadSubjectError,
    ClosedError,
    DeniedError,
    FieldError,
    FullError,
    InvalidOptionError,
    SpokewireError,
    TooLargeError,
    UnansweredError,
    UnreachableError,
)
from .events import Message, Received, new_event
from .payloads import Deleted, Metrics, PlacementDecision, Sample, Score, ScoreItem

__all__ = [
    "Ack",
    "BadEventError",
    "BadSubjectError",
    "Behind",
    "Bus",
    "ClosedError",
    "Decision",
    "Deleted",
    "Delivery",
    "DeniedError",
    "FieldError",
    "FullError",
    "Gone",
    "InvalidOptionError",
    "Message",
    "Metrics",
    "PlacementDecision",
    "Received",
    "Sample",
    "Score",
    "ScoreItem",
    "SpokewireError",
    "Stored",
    "Synced",
    "TooLargeError",
    "UnansweredError",
    "UnreachableError",
    "Unreadable",
    "Update",
    "connect",
    "format_duration",
    "new_event",
    "parse_duration",
    "score_item",
]

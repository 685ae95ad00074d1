"""What can go wrong, by class. Each error says what to do about it."""

from __future__ import annotations


class SpokewireError(Exception):
    """Every error of this package."""


class InvalidOptionError(SpokewireError, ValueError):
    """An option makes no sense; the message names it."""


class FieldError(SpokewireError, ValueError):
    """A payload holds what nobody would take.

    ``field`` is the path as it stands in the JSON, for instance
    ``samples[3].labels``; ``reason`` completes the sentence "FIELD REASON".
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


class BadSubjectError(SpokewireError, ValueError):
    """A subject that no part of Spokewire would have written."""


class BadEventError(SpokewireError, ValueError):
    """A message that is no event, or not what its subject says.

    ``reason`` is a CamelCase class as in dead letters (NotCloudEvent,
    WrongType, WrongSource, WrongSubject, WrongSchema, UnknownType, NotJSON,
    BadPayload, BadAge, BadNumber, BadSubject); ``field`` is the attribute or field that is refused.
    """

    def __init__(self, reason: str, field: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field


class UnreachableError(SpokewireError, ConnectionError):
    """No server answered in time; the message has the reason of the last try."""


class DeniedError(SpokewireError, PermissionError):
    """The server does not take the user, or does not let it do this."""


class UnansweredError(SpokewireError, TimeoutError):
    """The server did not confirm in time. It may have done what was asked."""


class TooLargeError(SpokewireError, ValueError):
    """The event is larger than the server takes."""


class FullError(SpokewireError):
    """The stream refuses events until some have aged out. Try again later."""


class ClosedError(SpokewireError):
    """The bus was closed."""

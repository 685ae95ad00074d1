"""Events: the envelope of every message, and what it says.

CloudEvents 1.0 in binary mode, structured mode accepted. The event itself is
the ``CloudEvent`` of the package cloudevents.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar, cast
from urllib.parse import quote, unquote_to_bytes

from cloudevents.core.exceptions import CloudEventValidationError
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from . import _form, _rules, payloads
from .errors import BadEventError, BadSubjectError, FieldError, SpokewireError
from .subjects import Subject, cluster_source, parse_subject

P = TypeVar("P")

METRICS: Final = "dev.spokewire.metrics.observed.v1"
SCORE: Final = "dev.spokewire.score.computed.v1"
SCORE_DELETED: Final = "dev.spokewire.score.deleted.v1"
DECISION: Final = "dev.spokewire.placement.decided.v1"

_PREFIX = "ce-"
_JSON = "application/json"
_STRUCTURED = "application/cloudevents+json"
_REQUIRED = ("specversion", "id", "source", "type")
_MAX_AGE = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message as the bus has it, read or not."""

    stream: str
    subject: str
    sequence: int  # within the stream, from 1
    received_at: datetime  # when the bus stored it, in server time
    headers: Mapping[str, str]
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Received(Generic[P]):
    """A message that was read down to its payload."""

    message: Message
    event: CloudEvent
    subject: Subject
    payload: P
    observed_at: datetime
    """When the payload was current: the server's receive time less the event's age."""


def new_id() -> str:
    """An id that nobody can guess: 128 random bits."""
    return secrets.token_hex(16)


def schema_uri(event_type: str) -> str:
    """The dataschema attribute of events of a type."""
    return f"https://spokewire.dev/schemas/{event_type}.json"


def new_event(event_type: str, source: str, payload: object) -> CloudEvent:
    """Make an event with a random id and the current time.

    Raises FieldError where the payload is not valid, or not of that type.
    """
    cls = payloads.TYPES.get(event_type)
    if cls is None or type(payload) is not cls:
        want = cls.__name__ if cls else "a known type"
        raise FieldError("data", f"of {event_type} is a {type(payload).__name__}, want {want}")
    data = _form.to_json(payload)
    _rules.check(payload)
    return CloudEvent(
        {
            "type": event_type,
            "source": source,
            "id": new_id(),
            "time": datetime.now(UTC),
            "dataschema": schema_uri(event_type),
            "datacontenttype": _JSON,
        },
        data,
    )


_MUST_ESCAPE = re.compile(r'[^\x21-\x7e]|["%]')


def escape_header(value: str) -> str:
    """Percent-encode what a header cannot carry: all but printable ASCII, and ``"`` and ``%``."""
    return _MUST_ESCAPE.sub(lambda m: quote(m[0], safe=""), value)


def encode(event: CloudEvent) -> tuple[dict[str, str], bytes]:
    """Write an event in binary mode: attributes as ``ce-`` headers, data as the body.

    The event's data are bytes, or a mapping to be written as JSON.
    """
    headers = {}
    for name, value in event.get_attributes().items():
        if isinstance(value, datetime):
            value = value.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"
        headers[_PREFIX + name] = escape_header(str(value))
    data = event.get_data()
    if isinstance(data, bytes):
        return headers, data
    if isinstance(data, str):
        return headers, data.encode()
    body = b"" if data is None else json.dumps(data, allow_nan=False).encode()
    return headers, body


def decode(message: Message) -> CloudEvent:
    """Read the event out of a message, in either mode, or raise BadEventError.

    The event's data are bytes in binary mode. Data without a content type are
    taken for JSON.
    """
    try:
        if message.headers.get("Content-Type", "").partition(";")[0].strip() == _STRUCTURED:
            return _structured(message.data)
        return _binary(message.headers, message.data)
    except _BadAttributeError as e:
        raise BadEventError(
            "NotCloudEvent", e.name, f"{message.subject}: not a CloudEvent: {e}"
        ) from e


class _BadAttributeError(SpokewireError):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} {reason}")
        self.name = name


def _structured(body: bytes) -> CloudEvent:
    try:
        whole = json.loads(body)
        if not isinstance(whole, dict):
            raise TypeError("the body is not an object")
    except (ValueError, TypeError, RecursionError) as e:
        raise _BadAttributeError("event", f"is not JSON: {e}") from e
    _check_required(whole)
    try:
        return cast(CloudEvent, JSONFormat().read(CloudEvent, body))
    except CloudEventValidationError as e:
        raise _refused(e) from e
    except (ValueError, TypeError) as e:
        raise _BadAttributeError("time", f"is not a time: {e}") from e


def _binary(headers: Mapping[str, str], body: bytes) -> CloudEvent:
    attributes: dict[str, Any] = {}
    for key, value in headers.items():
        name = key.removeprefix(_PREFIX)
        if name != key:
            attributes[name] = _attribute(name, value)
    if attributes.get("specversion") != "1.0":
        raise _BadAttributeError(
            "specversion",
            f'is "{attributes.get("specversion", "")}" in header ce-specversion, want "1.0"'
            f" (or an event in JSON with Content-Type: {_STRUCTURED})",
        )
    _check_required(attributes)
    attributes.setdefault("datacontenttype", headers.get("Content-Type", _JSON))
    has_time = "time" in attributes
    try:
        event = CloudEvent(attributes, body)
    except CloudEventValidationError as e:
        raise _refused(e) from e
    if not has_time:
        del event.get_attributes()["time"]  # which the package makes up
    return event


def _check_required(attributes: Mapping[str, Any]) -> None:
    """Refuse what is missing, where the package cloudevents would make it up."""
    for name in _REQUIRED:
        if not attributes.get(name):
            raise _BadAttributeError(name, "is missing")


def _refused(e: CloudEventValidationError) -> _BadAttributeError:
    name = min(e.errors)
    return _BadAttributeError(name, f"is refused: {e.errors[name][0]}")


def _attribute(name: str, value: str) -> Any:
    try:
        text = unquote_to_bytes(value).decode()
    except UnicodeDecodeError as e:
        raise _BadAttributeError(name, "is not UTF-8") from e
    if name != "time":
        return text
    try:
        time = datetime.fromisoformat(text)
    except ValueError as e:
        raise _BadAttributeError(name, f"is not a time: {e}") from e
    if time.tzinfo is None:
        raise _BadAttributeError(name, "is a time without a zone")
    return time


def age_of(event: CloudEvent) -> timedelta:
    """How long the event waited before it was published, 0 where it does not say.

    Raises BadEventError for what is no number of milliseconds.
    """
    value = event.get_extension("age")
    if value is None:
        return timedelta()
    text = str(value)
    if text.isascii() and text.isdigit() and len(text) <= 12:
        age = timedelta(milliseconds=int(text))
        if age <= _MAX_AGE:
            return age
    raise BadEventError("BadAge", "age", f'extension age is "{text}", want milliseconds from 0')


def read(message: Message) -> Received[Any]:
    """Read a message: its subject, envelope and payload, and whether they agree.

    What a message claims of itself is worth nothing beyond its subject, which
    the server's permissions guard: an event whose source names another
    cluster is refused. Every error is a BadEventError.
    """
    try:
        subject = parse_subject(message.subject)
    except BadSubjectError as e:
        raise BadEventError("BadSubject", "subject", str(e)) from e
    event = decode(message)
    _check_envelope(message.subject, subject, event)
    _check_attributes(message.subject, event)
    payload = _payload(message.subject, event)
    _check_names(message.subject, subject, payload)
    return Received(message, event, subject, payload, message.received_at - age_of(event))


def _check_attributes(at: str, event: CloudEvent) -> None:
    schema, want = event.get_dataschema(), schema_uri(event.get_type())
    if schema not in (None, want):
        raise BadEventError(
            "WrongSchema", "dataschema", f'{at}: dataschema is "{schema}", want "{want}" or none'
        )
    for name in ("epoch", "sequence"):
        value = event.get_extension(name)
        if value is not None and not (
            re.fullmatch(r"[0-9]+", str(value)) and int(str(value)) < 1 << 64
        ):
            raise BadEventError(
                "BadNumber",
                name,
                f'{at}: extension {name} is "{value}", want an integer from 0 to 2^64-1',
            )


def _payload(at: str, event: CloudEvent) -> object:
    cls = payloads.TYPES.get(event.get_type())
    if cls is None:
        raise BadEventError("UnknownType", "type", f'{at}: unknown type "{event.get_type()}"')
    data = event.get_data()
    text = data if isinstance(data, bytes | str) else json.dumps(data)
    try:
        payload: object = _form.parse(cls, text)
        _rules.check(payload)
    except FieldError as e:
        reason = "NotJSON" if e.reason.startswith("is not JSON") else "BadPayload"
        raise BadEventError(reason, e.field, f"{at}: {e}") from e
    return payload


def _type_prefix(s: Subject) -> str:
    match s.family:
        case "metric" | "backfill":
            return "dev.spokewire.metrics."
        case "hub" | "config" | "status":
            return f"dev.spokewire.{s.family}.{s.kind}."
        case "decision":
            kind = "placement" if s.kind == "shadow" else s.kind
            return f"dev.spokewire.{kind}."
    return f"dev.spokewire.{s.family}."


def _check_envelope(at: str, s: Subject, event: CloudEvent) -> None:
    prefix = _type_prefix(s)
    if not event.get_type().startswith(prefix):
        raise BadEventError(
            "WrongType", "type", f'{at}: type is "{event.get_type()}", want {prefix}…'
        )
    if s.family in ("metric", "backfill") and event.get_source() != cluster_source(
        s.cluster, s.name
    ):
        raise BadEventError(
            "WrongSource",
            "source",
            f'{at}: source is "{event.get_source()}", but the subject is that of '
            f'"{cluster_source(s.cluster, s.name)}"',
        )


def _check_names(at: str, s: Subject, payload: object) -> None:
    match payload:
        case payloads.Score():
            field = "cluster" if payload.cluster != s.cluster else "scorer"
            got, want = f"{payload.cluster}/{payload.scorer}", f"{s.cluster}/{s.name}"
        case payloads.PlacementDecision() | payloads.ObservedDecision():
            field = "placement"
            ref = payload.placement
            got, want = f"{ref.namespace}/{ref.name}", f"{s.namespace}/{s.name}"
        case payloads.Deleted() if s.family != "score":
            field = "name"
            got, want = f"{payload.namespace or ''}/{payload.name}", f"{s.namespace}/{s.name}"
        case _:
            return
    if got != want:
        raise BadEventError(
            "WrongSubject", field, f'{at}: {field} is that of "{got}", but the subject of "{want}"'
        )

"""Payload classes to JSON and back, with the field's path in every error."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .duration import format_duration, parse_duration
from .errors import FieldError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Text:
    """Bounds of a text: characters, and a regular expression for the whole."""

    min: int | None = None
    max: int | None = None
    pattern: str | None = None

    def fault(self, value: str) -> str | None:
        if self.min is not None and len(value) < self.min:
            return "is empty" if not value else f"is shorter than {self.min} characters"
        if self.max is not None and len(value) > self.max:
            return f"is {len(value)} characters long, at most {self.max} are taken"
        if self.pattern is not None and not _compiled(self.pattern).search(value):
            return f"is {_shown(value)}, which does not match {self.pattern}"
        return None


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a whole number."""

    min: int | None = None
    max: int | None = None

    def fault(self, value: int) -> str | None:
        if self.min is not None and self.max is not None and not self.min <= value <= self.max:
            return f"is {value}, want {self.min} to {self.max}"
        if self.min is not None and value < self.min:
            return f"is {value}, want at least {self.min}"
        if self.max is not None and value > self.max:
            return f"is {value}, want at most {self.max}"
        return None


@dataclass(frozen=True, slots=True)
class Size:
    """Bounds of how many items there are."""

    min: int | None = None
    max: int | None = None

    def fault(self, value: list[Any] | dict[str, Any]) -> str | None:
        if self.min is not None and len(value) < self.min:
            return "is empty" if not value else f"has {len(value)} items, want {self.min}"
        if self.max is not None and len(value) > self.max:
            return f"has {len(value)} items, at most {self.max} are taken"
        return None


@dataclass(frozen=True, slots=True)
class Keys(Text):
    """Bounds of each name in a mapping."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # In JSON Schema $ is the end of the text, not of its last line.
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field of a class is read and written."""

    name: str  # in Python
    key: str  # in the JSON
    read: _Reader
    required: bool
    collection: bool


_Reader = Callable[[Any, "_Path"], Any]


@dataclass(slots=True)
class _Path:
    """Where in the JSON a reader is, and how it takes what it does not know."""

    strict: bool
    steps: list[str]

    def at(self, key: str = "") -> str:
        text = "".join(self.steps) + (f".{key}" if key else "")
        return text.removeprefix(".") or "data"

    def refuse(self, reason: str, key: str = "") -> FieldError:
        return FieldError(self.at(key), reason)


class _Object(dict[str, Any]):
    """A JSON object that remembers a name that stood in it twice."""

    repeated: str | None = None


def _pairs(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found.repeated = name
                break
            seen.add(name)
    return found


def parse(cls: type[T], data: bytes | str, *, strict: bool = False) -> T:
    """Read JSON as an instance of ``cls``.

    Where ``strict``, a field that the class does not know is refused, as the
    services refuse it; otherwise it is passed over, so that a program goes on
    when Spokewire learns more.
    """
    try:
        value = json.loads(data, object_pairs_hook=_pairs)
    except (ValueError, RecursionError) as e:
        raise FieldError("data", f"is not JSON: {e}") from e
    result: T = _class_reader(cls)(value, _Path(strict, []))
    return result


def to_json(payload: object) -> bytes:
    """Write a payload as JSON. What is not within its bounds is a FieldError."""
    plain = _plain(payload)
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as e:
        raise FieldError("data", f"cannot be written as JSON: {e}") from e
    # What was written is read as a receiver reads it: one place for all rules.
    parse(type(payload), text, strict=True)
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise FieldError("data", "holds text that is not UTF-8") from e


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        plain = {}
        for f in _fields_of(type(value)):
            item = getattr(value, f.name)
            if item is None or (f.collection and not f.required and not item):
                continue
            plain[f.key] = _plain(item)
        return plain
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, datetime):
        return _write_time(value)
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # no JSON has it; the reader then names the field
    return value


@cache
def _fields_of(cls: type) -> list[_Field]:
    hints = get_type_hints(cls, vars(sys.modules[cls.__module__]), include_extras=True)
    found = []
    for f in fields(cls):
        hint, optional = _without_none(hints[f.name])
        constant = get_origin(hint) is Literal and len(get_args(hint)) == 1
        collection = _origin(hint) in (list, dict)
        required = not optional and (not collection or not callable(f.default_factory))
        found.append(
            _Field(
                f.name, _camel(f.name), _reader(hint), required=required or constant,
                collection=collection,
            )
        )  # fmt: skip
    return found


def _camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        kept = [a for a in get_args(hint) if a is not type(None)]
        return kept[0], len(kept) < len(get_args(hint))
    return hint, False


def _origin(hint: Any) -> Any:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_origin(hint)


def _reader(hint: Any) -> _Reader:
    bounds: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        bounds = tuple(rest)
    inner = _bare_reader(hint)
    if not bounds:
        return inner

    def read(value: Any, path: _Path) -> Any:
        result = inner(value, path)
        for bound in bounds:
            if isinstance(bound, Keys):
                for name in result:
                    if fault := bound.fault(name):
                        raise path.refuse(f"has the name {_shown(name)}, which {fault}")
            elif fault := bound.fault(result):
                raise path.refuse(fault)
        return result

    return read


def _bare_reader(hint: Any) -> _Reader:
    origin = get_origin(hint)
    if origin is list:
        return _list_reader(_reader(get_args(hint)[0]))
    if origin is dict:
        value = get_args(hint)[1]
        return _object if value is Any else _dict_reader(_reader(value))
    if origin is Literal:
        return _literal_reader(get_args(hint))
    if isinstance(hint, type) and is_dataclass(hint):
        cls: type = hint
        return lambda value, path: _class_reader(cls)(value, path)
    return _SCALARS[hint]


def _class_reader(cls: type) -> _Reader:
    known = _fields_of(cls)
    keys = {f.key for f in known}

    def read(value: Any, path: _Path) -> Any:
        _object(value, path)
        if path.strict:
            for name in value:
                if name not in keys:
                    raise path.refuse("is not a field of " + cls.__name__, name)
        found = {}
        for f in known:
            if f.key not in value:
                if f.required:
                    raise path.refuse("is missing", f.key)
                continue
            path.steps.append("." + f.key)
            found[f.name] = f.read(value[f.key], path)
            path.steps.pop()
        return cls(**found)

    return read


def _list_reader(item: _Reader) -> _Reader:
    def read(value: Any, path: _Path) -> Any:
        if not isinstance(value, list):
            raise _wrong(value, path, "a list")
        items = []
        for i, one in enumerate(value):
            path.steps.append(f"[{i}]")
            items.append(item(one, path))
            path.steps.pop()
        return items

    return read


def _dict_reader(item: _Reader) -> _Reader:
    def read(value: Any, path: _Path) -> Any:
        _object(value, path)
        items = {}
        for name, one in value.items():
            path.steps.append("." + name)
            items[name] = item(one, path)
            path.steps.pop()
        return items

    return read


def _literal_reader(values: tuple[Any, ...]) -> _Reader:
    def read(value: Any, path: _Path) -> Any:
        if value not in values or not isinstance(value, str):
            raise _wrong(value, path, " or ".join(_shown(v) for v in values))
        return value

    return read


def _object(value: Any, path: _Path) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, path, "an object")
    if isinstance(value, _Object) and value.repeated is not None:
        raise path.refuse("stands there twice", value.repeated)
    return value


def _text(value: Any, path: _Path) -> str:
    if not isinstance(value, str):
        raise _wrong(value, path, "a text")
    return value


def _whole(value: Any, path: _Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, path, "a whole number")
    return value


def _number(value: Any, path: _Path) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(value, path, "a finite number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong(value, path, "a finite number")
    return number


def _flag(value: Any, path: _Path) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, path, "true or false")
    return value


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _time(value: Any, path: _Path) -> datetime:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    raise _wrong(value, path, 'a time such as "2026-12-01T06:00:00Z"')


def _write_time(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat()  # which the reader refuses, with the field's name
    text = value.astimezone(UTC).isoformat()
    if value.microsecond:
        text = re.sub(r"(\.\d*?)0+\+", r"\1+", text)
    return text.removesuffix("+00:00") + "Z"


def _duration(value: Any, path: _Path) -> timedelta:
    if not isinstance(value, str):
        raise _wrong(value, path, 'a duration such as "60s"')
    try:
        parsed = parse_duration(value)
    except ValueError as e:
        raise path.refuse(str(e)) from e
    if parsed < timedelta():
        raise path.refuse(f"is {value}, want no less than 0s")
    return parsed


def _bytes(value: Any, path: _Path) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise _wrong(value, path, "base64") from None


_SCALARS: dict[Any, _Reader] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _flag,
    datetime: _time,
    timedelta: _duration,
    bytes: _bytes,
}


def _wrong(value: Any, path: _Path, want: str) -> FieldError:
    return path.refuse(f"is {_shown(value)}, want {want}")

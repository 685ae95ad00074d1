"""Durations as they stand in events and flags: ``60s``, ``1h30m``, ``250ms``."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"ns": 1e-3, "us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
_PART = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)"
_WHOLE = re.compile(rf"[+-]?(?:{_PART})+", re.ASCII)


def parse_duration(text: str) -> timedelta:
    """Read a duration as Go writes it, to the microsecond.

    Raises ValueError for anything else, a bare number included.
    """
    if text in ("0", "+0", "-0"):
        return timedelta()
    if not _WHOLE.fullmatch(text):
        raise ValueError(f'is "{text}", want a duration such as "60s" or "1h30m"')
    micros = sum(float(n) * _UNITS[unit] for n, unit in re.findall(_PART, text))
    try:
        duration = timedelta(microseconds=micros)
    except OverflowError:
        raise ValueError(f'is "{text}", which is too long') from None
    return -duration if text.startswith("-") else duration


def format_duration(duration: timedelta) -> str:
    """Write a duration as Go does: ``1m30s``, ``1.5s``, ``250ms``, ``0s``."""
    micros = duration // timedelta(microseconds=1)
    if micros == 0:
        return "0s"
    sign, micros = ("-", -micros) if micros < 0 else ("", micros)
    if micros < 1_000:
        return f"{sign}{micros}µs"
    if micros < 1_000_000:
        return f"{sign}{_decimal(micros, 1_000)}ms"
    minutes, micros = divmod(micros, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(micros, 1_000_000)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    if hours:
        text = f"{hours}h{text}"
    return sign + text


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)

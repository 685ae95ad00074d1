"""Storing one event, through lost answers and lost connections."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import nats.errors
from cloudevents.core.v1.event import CloudEvent

from ._link import APIError, Link, LostError, NoAnswerError, parse_answer, retry_delay
from .errors import FullError, SpokewireError, TooLargeError, UnansweredError
from .events import encode, new_id
from .subjects import check_filter

# What JetStream says of a stream that takes no more, of a message that is too
# large for it, and of one that it is just storing.
_FULL = 10077
_TOO_LARGE = 10054
_RUNNING = 10158


@dataclass(frozen=True, slots=True)
class Ack:
    """Where an event was stored."""

    stream: str
    sequence: int


class Publisher:
    """Publishes at most one unanswered event per subject.

    So a retry can never land behind a newer event of its subject.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._locks: dict[str, _Turn] = {}

    async def publish(
        self, subject: str, event: CloudEvent, *, age: timedelta, timeout: float
    ) -> Ack:
        check_filter(subject, wildcards=False)
        headers, body = encode(event)
        began = time.monotonic() - age.total_seconds()
        why: Exception | None = None
        attempt = 0
        message_id = event.get_id()
        try:
            async with asyncio.timeout(timeout), self._turn(subject):
                while True:
                    attempt += 1
                    session = await self._link.session()
                    waited = int((time.monotonic() - began) * 1000)
                    if waited > 0:
                        headers["ce-age"] = str(waited)
                    headers["Nats-Msg-Id"] = message_id
                    try:
                        answer = parse_answer(await session.request(subject, body, headers))
                        ack = Ack(str(answer["stream"]), int(answer["seq"]))
                    except (
                        LostError,
                        NoAnswerError,
                        nats.errors.Error,
                        APIError,
                        LookupError,
                    ) as e:
                        if isinstance(e, APIError):
                            _check_final(subject, e)
                        why = e
                        await asyncio.sleep(retry_delay(attempt))
                        continue
                    if not answer.get("duplicate") or attempt > 1:
                        return ack
                    # Somebody else has used the id: twice is better than never.
                    message_id = new_id()
        except TimeoutError as e:
            reason = why or "no connection"
            raise UnansweredError(
                f"{subject}: not confirmed within {timeout:g} s (last: {reason})"
            ) from e

    @contextlib.asynccontextmanager
    async def _turn(self, subject: str) -> AsyncIterator[None]:
        turn = self._locks.setdefault(subject, _Turn(asyncio.Lock()))
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if turn.users == 0:
                del self._locks[subject]


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock
    users: int = 0


def _check_final(subject: str, e: APIError) -> None:
    """Raise what no retry mends."""
    if e.err_code == _FULL:
        raise FullError(f"{subject}: the stream takes no more at present: {e}") from e
    if e.err_code == _TOO_LARGE:
        raise TooLargeError(f"{subject}: {e}") from e
    if 400 <= e.code < 500 and e.err_code != _RUNNING:
        raise SpokewireError(f"{subject}: {e}") from e

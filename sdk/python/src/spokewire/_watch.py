"""The current state of many subjects, and then what follows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

import nats.errors

from ._link import APIError, Link, LostError, NoAnswerError, Session, log, retry_delay
from ._pull import EndedError, Puller
from .errors import BadEventError, InvalidOptionError, SpokewireError
from .events import Message, Received, new_id, read

P = TypeVar("P")

_BATCH = 1000
_NOT_FOUND = 10037
_CONSUMER_CREATE = 10012


@dataclass(frozen=True, slots=True)
class Stored(Generic[P]):
    """A new last event of its subject, at the beginning and whenever one is stored."""

    received: Received[P]

    @property
    def payload(self) -> P:
        return self.received.payload


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An event that cannot be read. What stood on its subject before it stays in force."""

    message: Message
    error: BadEventError


@dataclass(frozen=True, slots=True)
class Gone:
    """A subject that has no event any more."""

    subject: str


@dataclass(frozen=True, slots=True)
class Synced:
    """All that was stored when the reading began has come. Decide from here on."""


@dataclass(frozen=True, slots=True)
class Behind:
    """The connection was lost: the state may be old until the next Synced."""


Update = Stored[P] | Unreadable | Gone | Synced | Behind


class _View:
    """The position of the last event of every subject that was handed on."""

    def __init__(self) -> None:
        self._pass = 0
        self._subjects: dict[str, tuple[int, datetime, int]] = {}

    def begin(self) -> None:
        self._pass += 1

    def take(self, m: Message) -> bool:
        """Note a message, and say whether it is to be handed on.

        Sequences alone do not tell: a server that lost the end of its log
        gives them to new events again.
        """
        known = self._subjects.get(m.subject)
        self._subjects[m.subject] = (m.sequence, m.received_at, self._pass)
        return known is None or known[:2] != (m.sequence, m.received_at)

    def gone(self) -> list[str]:
        """Forget the subjects that were not met since begin, and return them."""
        gone = sorted(s for s, (_, _, met) in self._subjects.items() if met != self._pass)
        for subject in gone:
            del self._subjects[subject]
        return gone


@dataclass(slots=True)
class _Snapshot:
    """Counts down what was stored when the reading began.

    Of several servers the one that has the consumer may be behind the leader:
    target is the last event asked for, as the leader had it just before.
    """

    left: int
    replicated: bool
    target: int = 0
    reached: int = 0

    @property
    def complete(self) -> bool:
        return self.left <= 0 and self.reached >= self.target

    def take(self, sequence: int, pending: int) -> None:
        self.reached = max(self.reached, sequence)
        self.left = 0 if pending == 0 else self.left - 1


class Watcher:
    """One watch. It never resumes: after each reconnect the state is read again in full."""

    def __init__(self, link: Link, stream: str, filters: list[str]) -> None:
        self._link = link
        self._stream = stream
        self._filters = filters
        self._view = _View()
        self._synced = False

    async def updates(self) -> AsyncGenerator[Update[Any]]:
        failures = 0
        while True:
            session = await self._link.session()
            try:
                async with contextlib.aclosing(self._read(session)) as updates:
                    async for update in updates:
                        if isinstance(update, Synced):
                            failures = 0
                        yield update
            except TRANSIENT as e:
                check_useless(f"watch of {self._stream}", e)
                failures += 1
                log.warning("reading of %s starts over: %s", self._stream, e)
            if self._synced:
                self._synced = False
                yield Behind()
            await asyncio.sleep(retry_delay(failures))

    async def _read(self, session: Session) -> AsyncGenerator[Update[Any]]:
        """Read the state and follow it until something fails."""
        info = await session.api(f"STREAM.INFO.{self._stream}")
        snapshot = _Snapshot(0, replicated=int(info["config"].get("num_replicas", 1)) > 1)
        await self._aim(session, snapshot)
        name = "watch-" + new_id()
        snapshot.left = await create_consumer(
            session,
            self._stream,
            name,
            self._filters,
            {
                "deliver_policy": "last_per_subject",
                "ack_policy": "none",
                "inactive_threshold": int(30e9),
                "mem_storage": True,
                "num_replicas": 1,
            },
        )
        self._view.begin()
        try:
            async with Puller(session, self._stream, name, _BATCH) as puller:
                if snapshot.complete:
                    for update in self._sync():
                        yield update
                ordinal = 0
                while True:
                    pulled = await puller.receive()
                    if pulled is None:
                        if self._synced:
                            continue
                        snapshot.left = 0  # some were removed meanwhile, or it only seems so
                        await self._aim(session, snapshot)
                    else:
                        ordinal += 1
                        if pulled.ordinal != ordinal:
                            raise EndedError(f"message {pulled.ordinal} came instead of {ordinal}")
                        if self._view.take(pulled.message):
                            yield _read(pulled.message)
                        snapshot.take(pulled.message.sequence, pulled.pending)
                    if not self._synced and snapshot.complete:
                        for update in self._sync():
                            yield update
        finally:
            await delete_consumer(session, self._stream, name)

    def _sync(self) -> list[Update[Any]]:
        self._synced = True
        return [*(Gone(subject) for subject in self._view.gone()), Synced()]

    async def _aim(self, session: Session, snapshot: _Snapshot) -> None:
        """Ask the leader for the last event that is asked for."""
        if not snapshot.replicated:
            return
        snapshot.target = 0
        for one in self._filters:
            try:
                answer = await session.api(f"STREAM.MSG.GET.{self._stream}", {"last_by_subj": one})
            except APIError as e:
                if e.err_code == _NOT_FOUND:
                    continue
                raise
            snapshot.target = max(snapshot.target, int(answer["message"]["seq"]))


TRANSIENT = (EndedError, LostError, NoAnswerError, nats.errors.Error, APIError)
"""What a reading starts over after."""


def check_useless(what: str, e: Exception) -> None:
    """Raise InvalidOptionError for what the server will never take."""
    if not isinstance(e, APIError):
        return
    unchangeable = e.err_code == _CONSUMER_CREATE and "can not be updated" in str(e)
    if unchangeable or (400 <= e.code < 500 and e.code != 404):
        raise InvalidOptionError(f"{what}: {e}") from e


def _read(message: Message) -> Update[Any]:
    try:
        return Stored(read(message))
    except BadEventError as e:
        return Unreadable(message, e)


async def create_consumer(
    session: Session, stream: str, name: str, filters: list[str], config: dict[str, Any]
) -> int:
    """Create a consumer, or bring it up to date. Returns how many messages wait for it."""
    operation = f"CONSUMER.CREATE.{stream}.{name}"
    config = {**config, "name": name}
    if len(filters) == 1:
        config["filter_subject"] = filters[0]
        operation += f".{filters[0]}"
    else:
        config["filter_subjects"] = filters
    answer = await session.api(operation, {"stream_name": stream, "config": config})
    return int(answer.get("num_pending", 0))


async def delete_consumer(session: Session, stream: str, name: str) -> None:
    """Spare the server the wait for the consumer to be inactive."""
    if session.lost:
        return
    try:
        await session.api(f"CONSUMER.DELETE.{stream}.{name}")
    except (SpokewireError, nats.errors.Error):
        log.debug("consumer %s of %s was not deleted, it goes by itself", name, stream)

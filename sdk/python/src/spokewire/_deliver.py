"""Events of a durable consumer: each until it is acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar

import nats.errors
from cloudevents.core.v1.event import CloudEvent

from ._link import Link, LostError, NoAnswerError, Session, log, retry_delay
from ._pull import Pulled, Puller
from ._watch import TRANSIENT, check_useless, create_consumer
from .errors import BadEventError, InvalidOptionError, UnansweredError
from .events import Message, Received, read
from .subjects import Subject

P = TypeVar("P")

Start = Literal["last", "all", "new"]
OnUnreadable = Callable[[Message, BadEventError], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Delivery(Generic[P]):
    """One event of a durable subscription. Acknowledge it when its effect is there.

    One that is not acknowledged within the subscription's ``ack_wait`` comes
    again, after a restart too. So an effect may be asked for twice:
    ``sequence`` is the same each time.
    """

    received: Received[P]
    deliveries: int
    """How often it was handed out, this time included."""
    _link: Link = field(repr=False)
    _reply: str = field(repr=False)

    @property
    def payload(self) -> P:
        return self.received.payload

    @property
    def event(self) -> CloudEvent:
        return self.received.event

    @property
    def subject(self) -> Subject:
        return self.received.subject

    @property
    def sequence(self) -> int:
        """Its position in the stream."""
        return self.received.message.sequence

    @property
    def received_at(self) -> datetime:
        return self.received.message.received_at

    async def ack(self, *, timeout: float = 30.0) -> None:
        """Say that the effect is there, and wait until the server has noted it.

        Raises UnansweredError where it does not confirm: the event may then
        come again.
        """
        await _confirm(self._link, self._reply, b"+ACK", timeout)

    async def retry(self, delay: timedelta = timedelta(seconds=1)) -> None:
        """Have the event handed out again after a while."""
        session = await self._link.session()
        nanos = delay // timedelta(microseconds=1) * 1000
        await session.publish(self._reply, b'-NAK {"delay":%d}' % nanos)

    async def extend(self) -> None:
        """Say that the work goes on: ``ack_wait`` begins anew."""
        session = await self._link.session()
        await session.publish(self._reply, b"+WPI")


async def _confirm(link: Link, reply: str, answer: bytes, timeout: float) -> None:
    attempt = 0
    why: Exception | None = None
    try:
        async with asyncio.timeout(timeout):
            while True:
                attempt += 1
                session = await link.session()
                try:
                    await session.request(reply, answer)
                except (LostError, NoAnswerError, nats.errors.Error) as e:
                    why = e
                    await asyncio.sleep(retry_delay(attempt))
                else:
                    return
    except TimeoutError as e:
        raise UnansweredError(
            f"the acknowledgement was not confirmed within {timeout:g} s (last: {why})"
        ) from e


@dataclass(frozen=True, slots=True)
class Durable:
    """Which durable consumer to run."""

    stream: str
    name: str
    filters: list[str]
    start: Start
    ack_wait: timedelta
    on_unreadable: OnUnreadable | None

    def check(self) -> None:
        if not self.name or re.search(r"[\s.*>/\\]", self.name):
            raise InvalidOptionError(
                f'durable is "{self.name}", want a name without spaces, dots, wildcards and slashes'
            )
        if self.ack_wait < timedelta(seconds=1):
            raise InvalidOptionError(f"ack_wait is {self.ack_wait}, want at least 1 s")
        if self.start not in _POLICIES:
            raise InvalidOptionError(f'start is "{self.start}", want last, all or new')

    async def deliveries(self, link: Link) -> AsyncGenerator[Delivery[Any]]:
        failures = 0
        while True:
            session = await link.session()
            try:
                async with contextlib.aclosing(self._pull(session)) as all_pulled:
                    async for pulled in all_pulled:
                        failures = 0
                        try:
                            received = read(pulled.message)
                        except BadEventError as e:
                            await self._refuse(link, pulled, e)
                            continue
                        yield Delivery(received, pulled.deliveries, link, pulled.reply)
            except TRANSIENT as e:
                check_useless(
                    f"durable {self.name} of {self.stream} (where it is there with another start"
                    " than this, take another name)",
                    e,
                )
                failures += 1
                log.warning("work of %s on %s starts over: %s", self.name, self.stream, e)
            await asyncio.sleep(retry_delay(failures))

    async def _pull(self, session: Session) -> AsyncGenerator[Pulled]:
        await create_consumer(
            session,
            self.stream,
            self.name,
            self.filters,
            {
                "durable_name": self.name,
                "deliver_policy": _POLICIES[self.start],
                "ack_policy": "explicit",
                "ack_wait": self.ack_wait // timedelta(microseconds=1) * 1000,
                "max_deliver": -1,
                # One at a time: what waits behind another would be handed out
                # again when that takes long.
                "max_ack_pending": 1,
            },
        )
        async with Puller(session, self.stream, self.name, 1) as puller:
            while True:
                if (pulled := await puller.receive()) is not None:
                    yield pulled

    async def _refuse(self, link: Link, pulled: Pulled, e: BadEventError) -> None:
        log.warning(
            "event %d of %s is passed over (%s, %s): %s",
            pulled.message.sequence, self.stream, e.reason, e.field, e,
        )  # fmt: skip
        if self.on_unreadable is not None:
            await self.on_unreadable(pulled.message, e)
        await _confirm(link, pulled.reply, b"+TERM", 30.0)


_POLICIES: dict[Start, str] = {"last": "last_per_subject", "all": "all", "new": "new"}

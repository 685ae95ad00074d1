"""Reading a JetStream consumer.

nats-py's own loop takes a stored message that has a Status header and no body
for one of the server's. This one tells them apart by their reply subject,
which publishers cannot forge.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Final

import nats.errors
from nats.aio.msg import Msg

from ._link import NoAnswerError, Session
from .errors import SpokewireError
from .events import Message

HEARTBEAT: Final = 2.0
"""How often an idle server shows life, in seconds; after 2.5 silent ones a reader starts over."""

_EXPIRY: Final = 30.0
_MAX_BYTES: Final = 8 << 20
_ACK = "$JS.ACK."


class EndedError(SpokewireError):
    """The consumer must be set up again."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A stored message as a consumer delivers it."""

    message: Message
    ordinal: int  # of the delivery within its consumer, from 1
    pending: int  # how many follow at present
    deliveries: int
    reply: str


class Puller:
    """Asks one consumer for messages. Close it when done."""

    def __init__(self, session: Session, stream: str, consumer: str, batch: int) -> None:
        self._session = session
        prefix = session.api_prefix
        self._next = f"{prefix}.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._batch = batch
        self._wanted = 0  # asked for and not yet there
        self._inbox = session.nc.new_inbox()
        self._queue: asyncio.Queue[Msg] = asyncio.Queue()

    async def __aenter__(self) -> Puller:
        # What is on its way is bounded by what was asked for.
        self._sub = await self._session.subscribe(self._inbox, self._queue.put)
        return self

    async def __aexit__(self, *_: object) -> None:
        with contextlib.suppress(nats.errors.Error):  # then the subscription is gone with it
            await self._sub.unsubscribe()

    async def receive(self) -> Pulled | None:
        """Wait for the next message; None where the server has none at present.

        Raises EndedError or LostError where the consumer must be set up again.
        """
        while True:
            await self._ask()
            msg = await self._take()
            if msg.reply.startswith(_ACK):
                self._wanted -= 1
                return _pulled(msg)
            if self._status(msg):
                return None

    async def _take(self) -> Msg:
        if not self._queue.empty():
            return self._queue.get_nowait()
        try:
            async with self._session.limit(HEARTBEAT * 2.5):
                return await self._queue.get()
        except NoAnswerError as e:
            raise EndedError("the consumer shows no life") from e

    async def _ask(self) -> None:
        """Keep at least half a batch on order."""
        if self._wanted > self._batch // 2:
            return
        body = {
            "batch": self._batch - self._wanted,
            "max_bytes": _MAX_BYTES,
            "expires": int(_EXPIRY * 1e9),
            "idle_heartbeat": int(HEARTBEAT * 1e9),
        }
        self._wanted = self._batch
        await self._session.publish(self._next, json.dumps(body).encode(), self._inbox)

    def _status(self, msg: Msg) -> bool:
        """Read what the server says of a request: that it is idle (True), or has ended."""
        headers = msg.headers or {}
        status = headers.get("Status", "")
        if status == "100":
            return True
        left = headers.get("Nats-Pending-Messages", "")
        if status not in ("408", "409") or not left.isdigit():
            raise EndedError(
                f"the server ended the reading: {status} {headers.get('Description', '')}"
            )
        self._wanted = max(0, self._wanted - int(left))
        return False


def _pulled(msg: Msg) -> Pulled:
    meta = msg.metadata
    message = Message(
        stream=meta.stream,
        subject=msg.subject,
        sequence=meta.sequence.stream,
        received_at=meta.timestamp,
        headers=msg.headers or {},
        data=msg.data,
    )
    return Pulled(message, meta.sequence.consumer, meta.num_pending, meta.num_delivered, msg.reply)

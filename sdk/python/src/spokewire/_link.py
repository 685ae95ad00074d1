"""One connection to NATS after the other.

nats-py's own reconnecting is switched off: it sends again what was waiting
when a connection was lost, however late, and gives up for good where the
server refuses the credentials once. Here a connection that is lost is thrown
away with all that it still holds, and the next one begins after 100 to 250 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from .errors import (
    ClosedError,
    DeniedError,
    InvalidOptionError,
    SpokewireError,
    TooLargeError,
    UnreachableError,
)

R = TypeVar("R")

log = logging.getLogger("spokewire")

ACK_WAIT: Final = 5.0
"""After how many seconds an unanswered request is repeated."""

_PING = 5
_LOOK = 0.25


@dataclass(frozen=True, slots=True)
class Options:
    """How to reach NATS; see connect."""

    url: str
    creds: str | None = None
    ca: str | None = None
    name: str = "spokewire-python"
    inbox_prefix: str = "_INBOX"
    domain: str | None = None

    def servers(self) -> list[str]:
        """The servers' URLs without the credentials that they hold."""
        return [_without_user(one) for one in self.url.split(",")]

    def check(self) -> None:
        """Refuse a URL that the client would take for a server that is away.

        No part of it is shown but the scheme: the rest may hold a password.
        """
        for i, one in enumerate(self.url.split(","), 1):
            scheme, found, rest = one.strip().partition("://")
            if not found:
                scheme, rest = "nats", one.strip()
            if scheme.lower() not in ("nats", "tls", "ws", "wss"):
                raise InvalidOptionError(
                    f'URL {i} has the scheme "{scheme[:20]}", '
                    "want nats://HOST:PORT (or tls, ws, wss)"
                )
            if not rest.rpartition("@")[2]:
                raise InvalidOptionError(f"URL {i} names no server, want nats://HOST:PORT")

    def of_client(self) -> dict[str, Any]:
        """The options of nats-py."""
        options: dict[str, Any] = {
            "servers": self.servers(),
            "name": self.name,
            "inbox_prefix": self.inbox_prefix,
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,  # of each server, in one connect
            "reconnect_time_wait": 0,
            "connect_timeout": 5,
            "ping_interval": _PING,
            "max_outstanding_pings": 2,
        }
        user, password = self._user()
        if password is not None:
            options |= {"user": user, "password": password}
        elif user is not None:
            options["token"] = user
        if self.creds:
            options["user_credentials"] = self.creds
        if self.ca:
            options["tls"] = ssl.create_default_context(cafile=self.ca)
        return options

    def _user(self) -> tuple[str | None, str | None]:
        for one in self.url.split(","):
            parts = urlsplit(one.strip() if "://" in one else "nats://" + one.strip())
            if parts.username is not None:
                password = None if parts.password is None else unquote(parts.password)
                return unquote(parts.username), password
        return None, None


def _without_user(url: str) -> str:
    return re.sub(r"^(\w+://)?.*@", lambda m: m[1] or "", url.strip())


class LostError(SpokewireError):
    """The connection was lost before the answer came."""


class NoAnswerError(SpokewireError):
    """The server did not answer within ACK_WAIT."""


class APIError(SpokewireError):
    """JetStream answered with an error."""

    def __init__(self, code: int, err_code: int, description: str) -> None:
        super().__init__(f"{description} ({err_code})")
        self.code = code
        self.err_code = err_code


class Session:
    """One connection, from its beginning to its loss."""

    def __init__(self, options: Options) -> None:
        self.nc = Client()
        self._options = options
        self._gone = asyncio.Event()
        self._scopes: set[asyncio.Timeout] = set()
        self._refused: dict[str, asyncio.Timeout] = {}
        self._denied: set[str] = set()
        self.last_error: Exception | None = None

    @property
    def lost(self) -> bool:
        return self._gone.is_set()

    @property
    def api_prefix(self) -> str:
        domain = self._options.domain
        return f"$JS.{domain}.API" if domain else "$JS.API"

    async def open(self) -> None:
        try:
            async with asyncio.timeout(15):
                await self.nc.connect(
                    **self._options.of_client(),
                    error_cb=self._on_error,
                    closed_cb=self._on_closed,
                    disconnected_cb=self._on_closed,
                )
        except BaseException:
            await self.abandon()
            raise

    async def _on_closed(self) -> None:
        self._gone.set()

    async def _on_error(self, error: Exception) -> None:
        """Hear what the server says outside of any request.

        A refused publish is told no other way, in lower case by nats-py.
        """
        self.last_error = error
        refused = re.search(r'permissions violation for publish to "([^"]*)"', str(error))
        if refused:
            self._denied.add(refused[1])
            if scope := self._refused.get(refused[1]):
                _expire(scope)
            return
        log.debug("NATS reports an error: %s", error)

    async def ended(self) -> None:
        """Return once the connection is lost.

        nats-py may get stuck in closing a connection that takes no more
        bytes, and then calls nobody; so its state is looked at as well.
        """
        while self.nc.is_connected and not self.lost:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._gone.wait()
        self._end()

    def _end(self) -> None:
        self._gone.set()
        for scope in self._scopes:
            _expire(scope)

    async def abandon(self) -> None:
        """Close the connection, and drop what was not sent yet."""
        self._end()
        writer = getattr(getattr(self.nc, "_transport", None), "_io_writer", None)
        if writer is not None:
            writer.transport.abort()  # a mere close would still send what waits
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                await self.nc.close()

    @contextlib.asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """End what is within by NoAnswerError after ``seconds``, or LostError."""
        if self.lost:
            raise LostError("the connection was lost")
        scope = asyncio.timeout(seconds)
        self._scopes.add(scope)
        try:
            async with scope:
                yield scope
        except Exception as e:
            known = isinstance(e, TimeoutError | nats.errors.Error)
            if await self._is_lost(patiently=not known):
                raise LostError("the connection was lost") from e
            if isinstance(e, TimeoutError):
                raise NoAnswerError(f"the server did not answer within {seconds:g} s") from e
            raise
        finally:
            self._scopes.discard(scope)

    async def _is_lost(self, *, patiently: bool) -> bool:
        """Say whether there is no connection any more.

        nats-py fails in many ways on one that is just being closed, a little
        before it says that it is.
        """
        if patiently and self.nc.is_connected:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * _LOOK):
                    await self._gone.wait()
        return self.lost or not self.nc.is_connected

    async def request(
        self, subject: str, data: bytes, headers: dict[str, str] | None = None
    ) -> Msg:
        """Send a request and wait for its answer.

        Raises LostError, NoAnswerError, DeniedError, TooLargeError or an error
        of nats-py.
        """
        size = len(data) + sum(len(k) + len(v) + 4 for k, v in (headers or {}).items()) + 16
        if size > self.nc.max_payload:
            raise TooLargeError(
                f"{subject}: {size} bytes are more than the server takes ({self.nc.max_payload})"
            )
        key = subject.lower()
        self._denied.discard(key)
        try:
            async with self.limit(ACK_WAIT) as scope:
                self._refused[key] = scope
                return await _heeding(
                    self.nc.request(subject, data, timeout=ACK_WAIT, headers=headers)
                )
        except NoAnswerError as e:
            if key in self._denied:
                raise DeniedError(f"{subject}: the server does not let this user do that") from e
            raise
        finally:
            self._refused.pop(key, None)

    async def publish(self, subject: str, data: bytes, reply: str = "") -> None:
        """Send what has no answer. Raises LostError."""
        async with self.limit(ACK_WAIT):
            await _heeding(self.nc.publish(subject, data, reply))

    async def subscribe(self, inbox: str, take: Callable[[Msg], Awaitable[None]]) -> Subscription:
        """Have ``take`` called with what comes. What may come has to be bounded by the caller."""
        async with self.limit(ACK_WAIT):
            return await _heeding(
                self.nc.subscribe(inbox, cb=take, pending_msgs_limit=0, pending_bytes_limit=0)
            )

    async def api(self, operation: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask the JetStream API. Its errors are APIError."""
        subject = f"{self.api_prefix}.{operation}"
        try:
            answer = await self.request(subject, json.dumps(body or {}).encode())
        except nats.errors.NoRespondersError as e:
            raise APIError(503, 0, "nobody answers for JetStream here") from e
        return parse_answer(answer)


def parse_answer(answer: Msg) -> dict[str, Any]:
    """The JSON of an answer of JetStream, or its APIError."""
    try:
        found = json.loads(answer.data)
    except ValueError as e:
        raise APIError(500, 0, f"the answer is not JSON: {e}") from e
    if not isinstance(found, dict):
        raise APIError(500, 0, "the answer is no object")
    if error := found.get("error"):
        raise APIError(
            int(error.get("code", 0)), int(error.get("err_code", 0)), str(error.get("description"))
        )
    return found


async def _heeding(call: Coroutine[Any, Any, R]) -> R:
    """Await a call of nats-py, which here and there swallows that its task is cancelled."""
    task = asyncio.create_task(call)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(lambda t: t.cancelled() or t.exception())  # nobody asks for it
        raise


def _expire(scope: asyncio.Timeout) -> None:
    with contextlib.suppress(RuntimeError):  # it has not begun, or has ended by itself
        scope.reschedule(asyncio.get_running_loop().time())


class Link:
    """Keeps a session open until closed."""

    def __init__(self, options: Options) -> None:
        options.check()
        self.options = options
        self.closed = False
        self._session: Session | None = None
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._last: BaseException | None = None

    async def start(self, timeout: float) -> None:
        """Connect for the first time; an UnreachableError or DeniedError says why not."""
        self._task = asyncio.create_task(self._run(), name="spokewire link")
        try:
            async with asyncio.timeout(timeout):
                await self.session()
        except TimeoutError:
            last = self._last
            await self.close()
            where = ",".join(self.options.servers())
            if last is not None and "authorization violation" in str(last).lower():
                raise DeniedError(
                    f"{where}: the server does not take the user or the password"
                ) from last
            reason = last or "no answer"
            raise UnreachableError(
                f"no connection to {where} within {timeout:g} s (last: {reason})"
            ) from last

    async def close(self) -> None:
        self.closed = True
        while self._task is not None and not self._task.done():
            self._task.cancel()  # once may not be enough: nats-py swallows some
            await asyncio.wait({self._task}, timeout=0.5)
        if self._session is not None:
            session, self._session = self._session, None
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    await session.nc.flush()
            await session.abandon()
        self._changed.set()

    @property
    def connected(self) -> bool:
        return self._session is not None and not self._session.lost

    async def session(self) -> Session:
        """The connection, once there is one."""
        while True:
            if self.closed:
                raise ClosedError("the bus is closed")
            if self._session is not None and not self._session.lost:
                return self._session
            self._changed.clear()
            await self._changed.wait()

    async def _run(self) -> None:
        said = ""
        while not self.closed:
            session = Session(self.options)
            try:
                await session.open()
            except Exception as e:  # noqa: BLE001 - whatever it is, the next try may do
                no_servers = isinstance(e, nats.errors.NoServersError)
                self._last = session.last_error if no_servers and session.last_error else e
                if said != str(self._last):
                    said = str(self._last)
                    log.warning("cannot connect to NATS, trying again: %s", said)
                await asyncio.sleep(pause(0.25))
                continue
            if said:
                log.info("connected to NATS again")
                said = ""
            self._session = session
            self._changed.set()
            await session.ended()
            if not self.closed:
                said = "lost"
                log.warning("lost the connection to NATS")
                await session.abandon()
            await asyncio.sleep(pause(0.25))


def pause(seconds: float) -> float:
    """40 to 100% of ``seconds``, so that what failed together does not come back together."""
    return seconds * random.uniform(0.4, 1.0)  # noqa: S311


def retry_delay(attempt: int) -> float:
    """How long to wait before the attempt after ``attempt``, from 1: 0.1 s to 5 s."""
    return pause(min(0.1 * 2 ** min(attempt - 1, 10), 5.0))

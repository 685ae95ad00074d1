"""A real nats-server with every stream, and a link to it that breaks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import nats
import pytest

ROOT = Path(__file__).parents[3]
BIN = ROOT / "bin"
PATIENCE = 20.0


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a test, and fail it where it does not end."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await coroutine

    asyncio.run(bounded())


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE
    while not await condition():
        assert time.monotonic() < end, f"did not come: {what}"
        await asyncio.sleep(0.01)


class Server:
    """A nats-server of its own, which can be stopped, killed and started again."""

    def __init__(self, directory: Path, extra: str = "") -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port: int = s.getsockname()[1]
        self.config = directory / "nats.conf"
        self.config.write_text(
            f"listen: 127.0.0.1:{self.port}\nmax_payload: 2097152\n"
            f"jetstream: {{store_dir: {json.dumps(str(directory / 'store'))}, max_file: 1TB}}\n{extra}"
        )
        self.log = directory / "nats.log"
        self.start()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [BIN / "nats-server", "-c", self.config], stdout=log, stderr=log
            )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                    s.settimeout(1)
                    if s.recv(5).startswith(b"INFO"):
                        return
            except OSError:
                pass
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, "nats-server does not come up"
            time.sleep(0.01)

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with every stream, whose URL is in NATS_URL."""
    started = Server(tmp_path)
    try:
        spokewire("streams", "create", url=started.url)
        for name in ("NATS_CREDS", "NATS_CA", "NATS_INBOX_PREFIX", "NATS_URL_FILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NATS_URL", started.url)
        yield started
    finally:
        started.stop(signal.SIGKILL)


class Proxy:
    """A TCP link to a server, which can be cut, and made to hear or to say nothing."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._pairs: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.deaf = False  # what the server says is lost
        self.connections = 0
        self._frozen: set[asyncio.StreamWriter] = set()
        self._thawed = asyncio.Event()
        self._left = 0  # connections that were thawed and have not ended

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 12)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Lose every connection."""
        for pair in self._pairs:
            for writer in pair:
                writer.transport.abort()
        self._pairs.clear()

    def freeze(self) -> None:
        """Take nothing any more of what the clients of now say."""
        self._frozen = {up for _, up in self._pairs}
        self._left = len(self._frozen)

    async def thaw(self) -> None:
        """Take it after all, and return when those clients have no more to say."""
        self._thawed.set()

        async def ended() -> bool:
            return self._left == 0

        await eventually(ended, "the end of what was frozen")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._pairs.append((writer, up_writer))
        for task in (
            asyncio.create_task(self._pump(reader, up_writer, from_client=True)),
            asyncio.create_task(self._pump(up_reader, writer, from_client=False)),
        ):
            self._tasks.add(task)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, from_client: bool
    ) -> None:
        try:
            while data := await reader.read(1 << 12):
                if writer in self._frozen:
                    await self._thawed.wait()
                if self.deaf and not from_client:
                    continue
                writer.write(data)
                await writer.drain()
        except (ConnectionError, OSError):
            pass
        finally:
            if writer in self._frozen:
                self._left -= 1
                writer.close()  # the server is to hear all of it
            else:
                writer.transport.abort()


async def stored(url: str, stream: str) -> list[tuple[str, dict[str, str], bytes]]:
    """All messages of a stream, oldest first."""
    nc = await nats.connect(url)
    found = []
    try:
        js = nc.jetstream()
        info = await js.stream_info(stream)
        for sequence in range(info.state.first_seq, info.state.last_seq + 1):
            if info.state.messages:
                m = await js.get_msg(stream, sequence)
                found.append((m.subject or "", dict(m.headers or {}), m.data or b""))
    finally:
        await nc.close()
    return found


def spokewire(*args: str, url: str, text: str | None = None) -> str:
    """Run the command spokewire, and return what it prints."""
    done = subprocess.run(
        [BIN / "spokewire", *args],
        env={**os.environ, "NATS_URL": url},
        input=text, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def fenced(document: str, mark: str) -> list[str]:
    """The code blocks of a document that begin with ```MARK."""
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{re.escape(mark)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)

"""The blocks of docs/python.md, and the examples."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_deliver import decide

import spokewire as sw

from conftest import PATIENCE, ROOT, Server, fenced, run

EXAMPLES = ROOT / "examples/python"


def test_documented_blocks(server: Server, tmp_path: Path) -> None:
    async def seed() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "spoke-1", "spoke-2")

    run(seed())
    blocks, shown = fenced("docs/python.md", "python run"), fenced("docs/python.md", "shows")
    assert len(blocks) == len(shown) >= 4
    for code, want in zip(blocks, shown, strict=True):
        file = tmp_path / "block.py"
        file.write_text(code)
        done = subprocess.run(
            [sys.executable, "-W", "error", file],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), code
        assert done.stdout == want


def test_the_readmes_block(server: Server, tmp_path: Path) -> None:
    [code] = fenced("README.md", "python")
    file = tmp_path / "block.py"
    inside = textwrap.indent(code, "    ")
    file.write_text(
        f"import asyncio, spokewire\nasync def main():\n{inside}\nasyncio.run(main())\n"
    )
    subprocess.run([sys.executable, file], timeout=30, check=True)

    async def stored() -> None:
        async with sw.connect() as bus, contextlib.aclosing(bus.watch_metrics()) as updates:
            update = await anext(updates)
            assert isinstance(update, sw.Stored)
            assert isinstance(update.payload, sw.Metrics)
            assert [(s.name, s.value) for s in update.payload.samples] == [("cost_per_hour", 3.5)]

    run(stored())


def test_the_scorer_is_short() -> None:
    lines = (EXAMPLES / "scorer.py").read_text().splitlines()
    assert len(lines) < 40
    assert f"in {len(lines)} lines" in (ROOT / "docs/python.md").read_text()


@contextlib.contextmanager
def running(*args: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *args], env=os.environ, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_scorer(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await bus.publish_metrics("c1", "nvidia", {"gpu_free": 4}, age="10s")
            await bus.publish_metrics("c1", "other", {"gpu_free": 8})
            async with contextlib.aclosing(bus.watch_scores(scorer="gpu-python")) as updates:
                assert isinstance(await anext(updates), sw.Synced)
                with running(str(EXAMPLES / "scorer.py")):
                    first = await anext(updates)
                    assert isinstance(first, sw.Stored)
                    assert isinstance(first.payload, sw.Score)
                    assert [(i.value, i.reason) for i in first.payload.items] == [(50, "Computed")]
                    # It holds for as long as the metrics do, whose age was 10 s.
                    assert first.payload.valid_until is not None
                    left = first.payload.valid_until - first.received.message.received_at
                    assert 30 < left.total_seconds() < 50
                    await bus.publish_metrics("c2", "nvidia", {"gpu_free": 99})
                    await bus.publish_metrics("c1", "nvidia", {"temperature": 40})
                    found = {}
                    for _ in range(2):
                        update = await anext(updates)
                        assert isinstance(update, sw.Stored)
                        assert isinstance(update.payload, sw.Score)
                        found[update.payload.cluster] = update.payload.items[0]
                    assert (found["c2"].value, found["c2"].reason) == (100, "Computed")
                    assert (found["c1"].value, found["c1"].reason) == (None, "NoSample")

    run(test())


@pytest.mark.parametrize("seed", [1, 2])
def test_subscriber_is_killed(server: Server, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    database = tmp_path / "decisions.db"
    program = (str(EXAMPLES / "subscriber.py"), str(database))

    def kept() -> list[tuple[str, str]]:
        if not database.exists():
            return []
        with contextlib.closing(sqlite3.connect(database)) as db:
            try:
                return db.execute("SELECT placement, clusters FROM decisions").fetchall()
            except sqlite3.OperationalError:
                return []  # it has just been made

    async def publish() -> None:
        async with sw.connect() as bus:
            for i in range(150):
                await decide(bus, f"p{i % 10}", f"c{i}")
                await asyncio.sleep(0.01)

    async def until(count: int) -> None:
        end = time.monotonic() + 2 * PATIENCE
        while len(kept()) < count:
            assert time.monotonic() < end, f"{len(kept())} of {count} decisions are kept"
            await asyncio.sleep(0.02)

    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "first", "c")
        with running(*program):
            await until(1)
        publishing = asyncio.create_task(publish())
        for count in sorted(chance.sample(range(10, 120), 3)):
            with running(*program) as process:
                await until(count)
                process.send_signal(signal.SIGKILL)
                process.wait()
        with running(*program):
            await publishing
            await until(151)

    run(test())
    want = [("default/first", "c"), *((f"default/p{i % 10}", f"c{i}") for i in range(150))]
    assert sorted(kept()) == sorted(want)

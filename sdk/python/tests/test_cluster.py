"""Streams with three replicas, whose readers may be behind the leader."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest

import spokewire as sw
from spokewire._watch import _Snapshot

from conftest import BIN, eventually, run


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Three servers that hold the streams together."""
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(6):
            s = stack.enter_context(socket.socket())
            s.bind(("127.0.0.1", 0))
            ports.append(s.getsockname()[1])
    clients, routes = ports[:3], ports[3:]
    processes = []
    try:
        for i in range(3):
            config = tmp_path / f"n{i}.conf"
            config.write_text(
                f"server_name: n{i}\nlisten: 127.0.0.1:{clients[i]}\n"
                f"jetstream: {{store_dir: {json.dumps(str(tmp_path / f'n{i}'))}}}\n"
                f"cluster: {{name: c, listen: 127.0.0.1:{routes[i]}, "
                f"routes: [{', '.join(f'nats://127.0.0.1:{r}' for r in routes)}]}}\n"
            )
            log = (tmp_path / f"n{i}.log").open("w")
            processes.append(subprocess.Popen([BIN / "nats-server", "-c", config], stderr=log))
            log.close()
        yield ",".join(f"nats://127.0.0.1:{c}" for c in clients)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_replicas(cluster: str) -> None:
    async def create() -> bool:
        try:
            nc = await nats.connect(cluster.split(","), allow_reconnect=False)
            try:
                await nc.jetstream().add_stream(
                    name="SW_METRICS", subjects=["sw.metric.*.*"], num_replicas=3
                )
            finally:
                await nc.close()
        except nats.errors.Error:
            return False
        return True

    async def test() -> None:
        await eventually(create, "a cluster with a stream")
        async with sw.connect(cluster) as bus:
            async with asyncio.TaskGroup() as group:
                for i in range(50):
                    group.create_task(bus.publish_metrics("c", f"s{i}", {"x": i}))
            for filters in ([], ["sw.metric.c.*", "sw.metric.nowhere.*"]):
                async with contextlib.aclosing(bus.watch("SW_METRICS", *filters)) as updates:
                    found = 0
                    while isinstance(await anext(updates), sw.Stored):
                        found += 1
                    assert found == 50  # before Synced

    run(test())


def test_a_reader_behind_the_leader() -> None:
    """Its server had 2 of the 3 events that the leader had."""
    snapshot = _Snapshot(2, replicated=True, target=9)
    snapshot.take(4, 1)
    assert not snapshot.complete
    snapshot.take(7, 0)
    assert not snapshot.complete
    snapshot.take(9, 0)
    assert snapshot.complete

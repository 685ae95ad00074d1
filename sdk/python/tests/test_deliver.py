"""Durable subscriptions: nothing is lost, and what is acknowledged does not come again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import nats
import pytest

import spokewire as sw
from spokewire.events import DECISION
from spokewire.payloads import PlacementRef, SelectedCluster
from spokewire.subjects import object_subject

from conftest import Proxy, Server, run


def decision(name: str, cluster: str) -> Any:
    return sw.new_event(
        DECISION,
        "/services/test",
        sw.PlacementDecision(
            placement=PlacementRef("default", name, "uid"), mode="direct", scheduler="spokewire",
            clusters=[SelectedCluster(cluster, 100, 0)], cause="ScoreChanged", now=datetime.now(UTC), considered=1,
        ),
    )  # fmt: skip


async def decide(bus: sw.Bus, name: str, *clusters: str) -> None:
    for cluster in clusters:
        await bus.publish(
            object_subject("decision", "placement", "default", name), decision(name, cluster)
        )


async def take(deliveries: AsyncGenerator[sw.Delivery[Any], None], n: int) -> list[str]:
    found = []
    for _ in range(n):
        delivery = await anext(deliveries)
        found.append(f"{delivery.payload.placement.name}={delivery.payload.clusters[0].name}")
        await delivery.ack()
    return found


def test_goes_on_where_it_stopped(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "a", "b")
            await decide(bus, "serve", "c")
            async with contextlib.aclosing(bus.decisions("mail")) as deliveries:
                assert await take(deliveries, 2) == ["train=b", "serve=c"]  # the last of each
                await decide(bus, "train", "d", "e")
                first = await anext(deliveries)
                assert (first.payload.clusters[0].name, first.deliveries, first.sequence) == (
                    "d",
                    1,
                    4,
                )
        async with sw.connect() as bus:
            await decide(bus, "train", "f")
            async with contextlib.aclosing(bus.decisions("mail", ack_wait="1s")) as deliveries:
                # Not acknowledged, so again; and in order.
                assert await take(deliveries, 3) == ["train=d", "train=e", "train=f"]
            async with contextlib.aclosing(bus.decisions("mail", ack_wait="1s")) as deliveries:
                await decide(bus, "train", "g")
                assert await take(deliveries, 1) == ["train=g"]

    run(test())


def test_where_a_new_one_starts(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "a", "b")
            async with contextlib.aclosing(bus.decisions("all", start="all")) as deliveries:
                assert await take(deliveries, 2) == ["train=a", "train=b"]
            async with contextlib.aclosing(bus.decisions("new", start="new")) as deliveries:
                waiting = asyncio.create_task(take(deliveries, 1))
                js = (nc := await nats.connect(server.url)).jetstream()
                while True:
                    with contextlib.suppress(nats.js.errors.NotFoundError):
                        await js.consumer_info("SW_DECISIONS", "new")
                        break
                await decide(bus, "train", "c")
                assert await waiting == ["train=c"]
                await nc.close()
            with pytest.raises(
                sw.InvalidOptionError, match="durable all of SW_DECISIONS .*take another name"
            ):
                await anext(bus.decisions("all", start="new"))

    run(test())


def test_placements(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "a")
            await decide(bus, "serve", "b")
            for durable, placement, want in (
                ("x", "serve", "serve=b"),
                ("y", "default/train", "train=a"),
            ):
                async with contextlib.aclosing(bus.decisions(durable, placement)) as deliveries:
                    assert await take(deliveries, 1) == [want]
            async with contextlib.aclosing(bus.watch_decisions("default/*")) as updates:
                found = [await anext(updates) for _ in range(3)]
                assert isinstance(found[2], sw.Synced)

    run(test())


def test_a_deleted_decision(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            gone = sw.new_event(
                "dev.spokewire.placement.deleted.v1",
                "/services/test",
                sw.Deleted("train", namespace="default"),
            )
            await bus.publish("sw.decision.placement.default.train", gone)
            async with contextlib.aclosing(bus.decisions("mail")) as deliveries:
                assert (await anext(deliveries)).payload == sw.Deleted("train", namespace="default")

    run(test())


def test_through_cuts(server: Server) -> None:
    async def test() -> None:
        async with (
            Proxy(server.port) as proxy,
            sw.connect(proxy.url) as bus,
            sw.connect(server.url) as decider,
        ):
            done: list[int] = []

            async def work() -> None:
                async with contextlib.aclosing(
                    bus.decisions("mail", start="all", ack_wait="2s")
                ) as deliveries:
                    async for delivery in deliveries:
                        if delivery.sequence not in done:
                            done.append(delivery.sequence)
                        await delivery.ack()
                        if len(done) == 30:
                            return

            async with asyncio.TaskGroup() as group:
                group.create_task(work())
                for i in range(30):
                    await decide(decider, f"p{i % 3}", f"c{i}")
                    if i % 7 == 0:
                        proxy.cut()
            assert done == list(range(1, 31))

    run(test())


def test_what_cannot_be_read_is_passed_over(server: Server) -> None:
    async def test() -> None:
        nc = await nats.connect(server.url)
        js = nc.jetstream()
        refused: list[str] = []

        async def note(message: sw.Message, error: sw.BadEventError) -> None:
            refused.append(f"{message.sequence} {error.reason} {error.field}")

        async with sw.connect() as bus:
            await js.publish("sw.decision.placement.default.train", b"{}")
            await js.publish("sw.decision.placement.default.train", b"", headers={"Status": "409"})
            await decide(bus, "train", "a")
            await decide(bus, "serve", "b")
            async with contextlib.aclosing(
                bus.decisions("mail", start="all", on_unreadable=note)
            ) as deliveries:
                assert await take(deliveries, 2) == ["train=a", "serve=b"]
            assert refused == ["1 NotCloudEvent specversion", "2 NotCloudEvent specversion"]
            info = await js.consumer_info("SW_DECISIONS", "mail")
            assert (info.num_pending, info.num_ack_pending) == (0, 0)
        await nc.close()

    run(test())


def test_retry_and_extend(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "a")
            async with contextlib.aclosing(bus.decisions("mail", ack_wait="1s")) as deliveries:
                first = await anext(deliveries)
                await first.retry(timedelta(milliseconds=10))
                second = await anext(deliveries)
                assert (second.sequence, second.deliveries) == (first.sequence, 2)
                for _ in range(3):
                    await asyncio.sleep(0.6)
                    await second.extend()
                await second.ack()
                await decide(bus, "train", "b")
                third = await anext(deliveries)
                assert (third.sequence, third.deliveries) == (2, 1)

    run(test())


def test_an_acknowledgement_that_nobody_confirms(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await decide(bus, "train", "a")
            async with contextlib.aclosing(bus.decisions("mail")) as deliveries:
                delivery = await anext(deliveries)
                await asyncio.to_thread(server.stop)
                with pytest.raises(sw.UnansweredError, match=r"not confirmed within 0.2 s"):
                    await delivery.ack(timeout=0.2)

    run(test())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"durable": "a b"}, 'durable is "a b"'),
        ({"durable": ""}, 'durable is ""'),
        ({"durable": "x", "ack_wait": "0s"}, "ack_wait is 0:00:00, want at least 1 s"),
        ({"durable": "x", "start": "first"}, 'start is "first", want last, all or new'),
    ],
)
def test_invalid(server: Server, options: dict[str, Any], message: str) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            with pytest.raises(sw.InvalidOptionError, match=message):
                bus.decisions(**options)

    run(test())

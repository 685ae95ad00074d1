"""The bus on a real nats-server, and through a link that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nats
import pytest
from cloudevents.core.v1.event import CloudEvent

import spokewire as sw
from spokewire import _link
from spokewire.events import METRICS
from spokewire.subjects import cluster_source

from conftest import Proxy, Server, eventually, run, spokewire, stored


def create_streams(url: str) -> None:
    spokewire("streams", "create", url=url)


def event(value: float, cluster: str = "c", source: str = "s") -> Any:
    return sw.new_event(
        METRICS, cluster_source(cluster, source), sw.Metrics([sw.Sample("x", value)])
    )


def large() -> CloudEvent:
    return CloudEvent({"type": METRICS, "source": "/s"}, b"x" * 1_500_000)


def values(messages: list[tuple[str, dict[str, str], bytes]]) -> list[float]:
    return [json.loads(data)["samples"][0]["value"] for _, _, data in messages]


async def take(updates: AsyncGenerator[Any, None], n: int) -> list[str]:
    """The next n updates, in short."""
    return [short(await anext(updates)) for _ in range(n)]


def short(update: Any) -> str:
    match update:
        case sw.Stored(payload=sw.Metrics(samples)):
            return f"stored {samples[0].value:g}"
        case sw.Unreadable(error=e):
            return f"unreadable {e.reason}"
        case sw.Gone(subject):
            return f"gone {subject}"
    return type(update).__name__.lower()


def test_publish_is_what_others_read(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            assert bus.connected
            ack = await bus.publish_metrics(
                "spoke.1", "my source", [sw.Sample("gpu", 3, labels={"a": "é"}, unit="1")]
            )
            assert ack == sw.Ack("SW_METRICS", 1)
            await bus.publish_score("spoke.1", "mine", 40.4, valid_for="60s")

    run(test())
    line = json.loads(spokewire("watch", "metrics", "-o", "json", "--count", "1", url=server.url))
    assert line["subject"] == "sw.metric.spoke%2E1.my%20source"
    assert line["event"]["data"] == {
        "samples": [{"name": "gpu", "value": 3, "labels": {"a": "é"}, "unit": "1"}]
    }
    assert line["event"]["source"] == "/clusters/spoke.1/sources/my%20source"
    [score] = json.loads(spokewire("get", "scores", "mine", "-o", "json", url=server.url))
    assert (score["cluster"], score["value"], score["raw"], score["reason"]) == (
        "spoke.1",
        40,
        40.4,
        "Computed",
    )


def test_reads_what_others_publish(server: Server) -> None:
    spokewire(
        "publish", "--cluster", "c1", "--source", "s", "gpu_free=3", 'q{t="a"}=7', url=server.url
    )

    async def test() -> None:
        async with sw.connect() as bus:
            update = await anext(bus.watch_metrics(cluster="c1"))
            assert isinstance(update, sw.Stored)
            assert update.payload.samples == [
                sw.Sample("gpu_free", 3),
                sw.Sample("q", 7, labels={"t": "a"}),
            ]
            age = datetime.now(UTC) - update.received.observed_at
            assert timedelta() <= age < timedelta(minutes=1)

    run(test())


def test_watch_is_the_state_and_then_what_follows(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus, contextlib.aclosing(bus.watch_metrics()) as updates:
            assert await take(updates, 1) == ["synced"]
            await bus.publish_metrics("c", "s", {"x": 1})
            assert await take(updates, 1) == ["stored 1"]
        async with sw.connect() as bus:
            for value in (2.0, 3.0):
                await bus.publish_metrics("c", "s", {"x": value})
            await bus.publish_metrics("c", "t", {"x": 4})
            await bus.publish_metrics("d", "t", {"x": 5})
            async with contextlib.aclosing(bus.watch_metrics(cluster="c")) as updates:
                assert await take(updates, 3) == ["stored 3", "stored 4", "synced"]
                await bus.publish_metrics("d", "t", {"x": 6})
                await bus.publish_metrics("c", "t", {"x": 7})
                assert await take(updates, 1) == ["stored 7"]

    run(test())


def test_watch_reads_again_after_a_cut(server: Server) -> None:
    async def test() -> None:
        nc = await nats.connect(server.url)
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            for source in "abc":
                await bus.publish_metrics("c", source, {"x": 1})
            async with contextlib.aclosing(bus.watch_metrics()) as updates:
                assert await take(updates, 4) == ["stored 1"] * 3 + ["synced"]
                following = asyncio.create_task(take(updates, 4))
                async with sw.connect(server.url) as other:
                    proxy.cut()
                    await nc.jetstream().purge_stream("SW_METRICS", subject="sw.metric.c.a")
                    await other.publish_metrics("c", "b", {"x": 2})
                found = await following
                # What came before the watch was back may come as it was stored.
                assert found in (
                    ["behind", "stored 2", "gone sw.metric.c.a", "synced"],
                    ["behind", "gone sw.metric.c.a", "synced", "stored 2"],
                    ["behind", "synced", "stored 2", "behind"],
                )  # fmt: skip
        await nc.close()

    run(test())


def test_watch_survives_a_restart_of_the_server(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus, contextlib.aclosing(bus.watch_metrics()) as updates:
            await bus.publish_metrics("c", "s", {"x": 1})
            assert await take(updates, 2) == ["stored 1", "synced"]
            following = asyncio.create_task(take(updates, 3))
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
            await bus.publish_metrics("c", "s", {"x": 2})
            assert sorted(await following) == ["behind", "stored 2", "synced"]

    run(test())


def test_what_cannot_be_read_stops_nothing(server: Server) -> None:
    async def test() -> None:
        nc = await nats.connect(server.url)
        async with sw.connect() as bus:
            await nc.jetstream().publish("sw.metric.c.a", b"", headers={"Status": "404"})
            await nc.jetstream().publish("sw.metric.c.b", b"{}", headers={"ce-specversion": "1.0"})
            await bus.publish_metrics("c", "c", {"x": 1})
            async with contextlib.aclosing(bus.watch_metrics()) as updates:
                assert await take(updates, 4) == ["unreadable NotCloudEvent"] * 2 + [
                    "stored 1",
                    "synced",
                ]
                await nc.jetstream().publish("sw.metric.c.a", b"", headers={"Status": "409"})
                assert await take(updates, 1) == ["unreadable NotCloudEvent"]
        await nc.close()

    run(test())


def test_watch_of_a_large_state(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            async with asyncio.TaskGroup() as group:
                for i in range(1200):
                    group.create_task(bus.publish_metrics("c", f"s{i}", {"x": i}))
            async with contextlib.aclosing(bus.watch_metrics()) as updates:
                found = await take(updates, 1201)
            assert sorted(found) == sorted([*(f"stored {i}" for i in range(1200)), "synced"])
            assert found[-1] == "synced"

    run(test())


def test_an_id_that_somebody_used_first(server: Server) -> None:
    async def test() -> None:
        nc = await nats.connect(server.url)
        mine = event(1)
        await nc.jetstream().publish(
            "sw.metric.other.s", b"{}", headers={"Nats-Msg-Id": mine.get_id()}
        )
        async with sw.connect() as bus:
            ack = await bus.publish("sw.metric.c.s", mine)
        assert ack.sequence == 2
        [_, (subject, headers, _)] = await stored(server.url, "SW_METRICS")
        assert subject == "sw.metric.c.s"
        assert headers["ce-id"] == mine.get_id()
        assert headers["Nats-Msg-Id"] != mine.get_id()
        await nc.close()

    run(test())


def test_a_lost_answer(server: Server) -> None:
    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            proxy.deaf = True
            publishing = asyncio.create_task(bus.publish("sw.metric.c.s", event(1)))

            async def is_stored() -> bool:
                return len(await stored(server.url, "SW_METRICS")) == 1

            await eventually(is_stored, "the event")
            assert not publishing.done()
            proxy.deaf = False
            proxy.cut()
            began = time.monotonic()
            ack = await publishing
            assert time.monotonic() - began < _link.ACK_WAIT - 1  # it heard of the cut
            assert ack == sw.Ack("SW_METRICS", 1)
            assert values(await stored(server.url, "SW_METRICS")) == [1]

    run(test())


def test_a_client_that_fails_as_it_closes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """nats-py then fails with whatever it comes upon."""

    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            client = (await bus._link.session()).nc

            async def fail(*_: object, **__: object) -> None:
                proxy.cut()
                raise AttributeError

            monkeypatch.setattr(client, "request", fail)
            await bus.publish("sw.metric.c.s", event(1))
            assert proxy.connections == 2

    run(test())


def test_order_and_age_through_cuts(server: Server) -> None:
    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            done = 0

            async def publish(i: int) -> None:
                nonlocal done
                await bus.publish_metrics("c", "s", {"x": i}, age="2s")
                done += 1
                if done % 12 == 0:
                    proxy.cut()

            async with asyncio.TaskGroup() as group:
                for i in range(60):
                    group.create_task(publish(i))
            assert proxy.connections >= 5
            messages = await stored(server.url, "SW_METRICS")
            assert values(messages) == list(range(60))
            ages = [int(headers["ce-age"]) for _, headers, _ in messages]
            assert 2000 <= ages[0] < 12_000
            assert ages[-1] > 2300  # as it waited for the others, and for the link

    run(test())


def test_nothing_is_sent_later(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await asyncio.to_thread(server.stop)
            with pytest.raises(
                sw.UnansweredError, match=r"^sw.metric.c.s: not confirmed within 0.3 s"
            ):
                await bus.publish_metrics("c", "s", {"x": 1}, timeout=0.3)
            await asyncio.to_thread(server.start)
            await bus.publish_metrics("c", "s", {"x": 2})
            assert values(await stored(server.url, "SW_METRICS")) == [2]

    run(test())


def test_a_link_that_takes_nothing_any_more(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nats-py gets stuck in closing such a connection, and would send the rest later."""
    monkeypatch.setattr(_link, "_PING", 0.1)

    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            await bus.publish_metrics("c", "s", {"x": 1})
            proxy.freeze()
            failed = await asyncio.gather(
                *(bus.publish(f"sw.metric.late.s{i}", large(), timeout=0.1) for i in range(30)),
                return_exceptions=True,
            )
            assert {type(e) for e in failed} == {sw.UnansweredError}
            await bus.publish("sw.metric.c.s", large())
            assert proxy.connections == 2
            # What the operating system has may still arrive, but no more.
            await proxy.thaw()
            subjects = [subject for subject, _, _ in await stored(server.url, "SW_METRICS")]
            assert subjects.count("sw.metric.c.s") == 2
            assert len(subjects) < 2 + 15

    run(test())


def test_the_timeout_holds_where_nothing_is_taken(server: Server) -> None:
    """nats-py swallows that a publish is cancelled while it waits for room."""

    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            proxy.freeze()
            began = time.monotonic()
            failed = await asyncio.gather(
                *(bus.publish(f"sw.metric.late.s{i}", large(), timeout=0.1) for i in range(30)),
                return_exceptions=True,
            )
            assert {type(e) for e in failed} == {sw.UnansweredError}
            assert time.monotonic() - began < _link.ACK_WAIT - 1

    run(test())


def test_too_large(server: Server) -> None:
    async def test() -> None:
        async with Proxy(server.port) as proxy, sw.connect(proxy.url) as bus:
            samples = [sw.Sample(f"x{i}", 1, labels={"a": "x" * 1000}) for i in range(2100)]
            with pytest.raises(sw.TooLargeError, match=r"sw.metric.c.s: 2\d+ bytes .* \(2097152\)"):
                await bus.publish_metrics("c", "s", samples)
            # Headers count too: without them it would just fit.
            subject = "sw.metric.c.s"
            large = CloudEvent({"type": METRICS, "source": "/s"}, b"x" * (2097152 - 100))
            with pytest.raises(sw.TooLargeError):
                await bus.publish(subject, large)
            await bus.publish(subject, event(2))
            assert proxy.connections == 1

    run(test())


def test_a_full_stream(server: Server) -> None:
    async def test() -> None:
        nc = await nats.connect(server.url)
        await nc.jetstream().add_stream(
            name="SMALL", subjects=["small.*"], max_bytes=2048, discard="new"
        )
        async with sw.connect() as bus:
            with pytest.raises(
                sw.FullError, match=r"^small.x: the stream takes no more at present"
            ):
                await asyncio.gather(*(bus.publish("small.x", event(i)) for i in range(20)))
        await nc.close()

    run(test())


USERS = """
authorization { users: [
  {user: hub, password: x},
  {user: c1, password: "p@ss/1", permissions: {publish: ["sw.metric.c1.*"], subscribe: ["_INBOX_c1.>"]}}
] }
"""


def test_permissions(tmp_path: Path) -> None:
    server = Server(tmp_path, USERS)

    async def test() -> None:
        await asyncio.to_thread(create_streams, server.url.replace("//", "//hub:x@"))
        url = server.url.replace("//", "//c1:p%40ss%2F1@")
        async with sw.connect(url, inbox_prefix="_INBOX_c1") as bus:
            await bus.publish_metrics("c1", "s", {"x": 1})
            began = time.monotonic()
            with pytest.raises(sw.DeniedError, match=r"^sw.metric.C2.s: the server does not let"):
                await bus.publish_metrics("C2", "s", {"x": 1})
            assert time.monotonic() - began < 3
            await bus.publish_metrics("c1", "s", {"x": 2})
            with pytest.raises(sw.DeniedError, match="STREAM.INFO.SW_METRICS"):
                await anext(bus.watch_metrics())
        with pytest.raises(sw.DeniedError, match="does not take the user or the password") as e:
            async with sw.connect(server.url.replace("//", "//c1:wrong@"), timeout=1):
                pass
        assert "wrong" not in str(e.value)

    try:
        run(test())
    finally:
        server.stop()


def test_credentials_that_come_later(tmp_path: Path) -> None:
    """A server that refuses the user for a while is tried again, for ever."""
    server = Server(tmp_path, USERS)

    async def test() -> None:
        await asyncio.to_thread(create_streams, server.url.replace("//", "//hub:x@"))
        async with sw.connect(server.url.replace("//", "//hub:x@")) as bus:
            text = server.config.read_text()
            await asyncio.to_thread(server.stop)
            server.config.write_text(text.replace("user: hub", "user: nobody"))
            await asyncio.to_thread(server.start)
            publishing = asyncio.create_task(bus.publish_metrics("c", "s", {"x": 1}))

            async def refused() -> bool:
                return "authentication error" in server.log.read_text()

            await eventually(refused, "a refusal")
            await asyncio.to_thread(server.stop)
            server.config.write_text(text)
            await asyncio.to_thread(server.start)
            assert (await publishing).sequence == 1

    try:
        run(test())
    finally:
        server.stop()


def test_unreachable() -> None:
    async def test() -> None:
        with pytest.raises(
            sw.UnreachableError, match=r"no connection to nats://127.0.0.1:1 within 0.5 s \(last: "
        ) as e:
            async with sw.connect("nats://user:secret@127.0.0.1:1", timeout=0.5):
                pass
        assert "secret" not in str(e.value)

    run(test())


@pytest.mark.parametrize(
    ("environment", "options", "message"),
    [
        ({}, {}, r"set NATS_URL \(with a local stack"),
        (
            {"NATS_URL": "bogus://secret@host"},
            {},
            'URL 1 has the scheme "bogus", want nats://HOST:PORT',
        ),
        ({"NATS_URL": "nats://a:1,nats://u:secret@"}, {}, "URL 2 names no server"),
        ({"NATS_URL_FILE": "/nowhere/url"}, {}, "NATS_URL_FILE: .*/nowhere/url"),
        (
            {"NATS_URL": "nats://a", "NATS_CREDS": "/nowhere/creds"},
            {},
            "creds: there is no file /nowhere/creds",
        ),
        ({"NATS_URL": "nats://a"}, {"ca": "/nowhere/ca"}, "ca: there is no file /nowhere/ca"),
    ],
)
def test_invalid_options(
    environment: dict[str, str],
    options: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NATS_URL", "NATS_URL_FILE", "NATS_CREDS", "NATS_CA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(sw.InvalidOptionError, match=message) as e:
        sw.connect(**options)
    assert "secret" not in str(e.value)


def test_url_of_a_file(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "url"
    file.write_text(server.url + "\n")
    monkeypatch.delenv("NATS_URL")
    monkeypatch.setenv("NATS_URL_FILE", str(file))

    async def test() -> None:
        async with sw.connect() as bus:
            assert (await bus.publish_metrics("c", "s", {})).sequence == 1

    run(test())


def test_bad_input_is_refused_before_it_is_sent(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            with pytest.raises(sw.FieldError, match=r"^samples\[0\]\.value is "):
                await bus.publish_metrics("c", "s", {"x": float("inf")})
            with pytest.raises(sw.FieldError, match=r"^validFor is missing"):
                await bus.publish_score("c", "s", 1)
            with pytest.raises(sw.FieldError, match=r'^validFor is "60", want a duration'):
                await bus.publish_score("c", "s", 1, valid_for="60")
            with pytest.raises(sw.FieldError, match=r"^age is negative"):
                await bus.publish_metrics("c", "s", {}, age=timedelta(seconds=-1))
            with pytest.raises(sw.BadSubjectError, match="a name is empty"):
                await bus.publish_metrics("", "s", {})
            with pytest.raises(sw.BadSubjectError, match="wildcard"):
                await bus.publish("sw.metric.*.s", event(1))
            with pytest.raises(sw.InvalidOptionError, match='"a.b" is not the name of a stream'):
                bus.watch("a.b")
        assert await stored(server.url, "SW_METRICS") == []

    run(test())


def test_closed(server: Server) -> None:
    async def test() -> None:
        async with sw.connect() as bus:
            await asyncio.to_thread(server.stop)
            publishing = asyncio.create_task(bus.publish_metrics("c", "s", {"x": 1}))
            await asyncio.sleep(0)
            await bus.close()
            with pytest.raises(sw.ClosedError):
                await publishing
            with pytest.raises(sw.ClosedError):
                await bus.publish_metrics("c", "s", {"x": 1})
            with pytest.raises(sw.ClosedError):
                await anext(bus.watch_metrics())

    run(test())


@pytest.mark.parametrize(
    ("raw", "value", "reason"),
    [
        (0, 0, "Computed"),
        (2.5, 3, "Computed"),
        (-2.5, -3, "Computed"),
        (0.49999999999999994, 0, "Computed"),
        (100.4, 100, "Computed"),
        (100.5, 100, "Clamped"),
        (-1e308, -100, "Clamped"),
        (None, None, "NoSample"),
        (float("nan"), None, "NotFinite"),
        (float("-inf"), None, "NotFinite"),
    ],
)
def test_score_item(raw: float | None, value: int | None, reason: str) -> None:
    item = sw.score_item("x", raw)
    assert (item.value, item.reason) == (value, reason)
    assert item.raw == (None if value is None else raw)

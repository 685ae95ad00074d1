"""Subjects and envelopes, against the vectors that Go is tested with too."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cloudevents.core.v1.event import CloudEvent

from spokewire import (
    BadEventError,
    BadSubjectError,
    FieldError,
    Message,
    Metrics,
    Sample,
    new_event,
)
from spokewire.duration import format_duration, parse_duration
from spokewire.events import METRICS, age_of, decode, encode, escape_header, read
from spokewire.payloads import Deleted
from spokewire.subjects import (
    Subject,
    check_filter,
    cluster_source,
    decode_token,
    encode_token,
    metric_subject,
    object_subject,
    parse_subject,
    score_subject,
    scorer_source,
)

from conftest import ROOT

VECTORS: dict[str, Any] = json.loads((ROOT / "pkg/events/testdata/vectors.json").read_text())


@pytest.mark.parametrize("v", VECTORS["tokens"], ids=lambda v: v["token"])
def test_token(v: dict[str, str]) -> None:
    name = v.get("name") or base64.b64decode(v["bytes"]).decode(errors="surrogateescape")
    assert encode_token(name) == v["token"]
    assert decode_token(v["token"]) == name


@pytest.mark.parametrize("v", VECTORS["refusedTokens"], ids=lambda v: v["why"])
def test_refused_token(v: dict[str, str]) -> None:
    with pytest.raises(BadSubjectError):
        decode_token(v["token"])


@pytest.mark.parametrize("v", VECTORS["subjects"], ids=lambda v: v["subject"])
def test_subject(v: dict[str, Any]) -> None:
    parsed = Subject(**v["parsed"])
    assert parse_subject(v["subject"]) == parsed
    assert str(parsed) == v["subject"]
    check_filter(v["subject"], wildcards=False)


@pytest.mark.parametrize("v", VECTORS["refusedSubjects"], ids=lambda v: v["why"])
def test_refused_subject(v: dict[str, str]) -> None:
    with pytest.raises(BadSubjectError):
        parse_subject(v["subject"])


@pytest.mark.parametrize("v", VECTORS["sources"], ids=lambda v: v["cluster"])
def test_source(v: dict[str, str]) -> None:
    assert cluster_source(v["cluster"], v["name"]) == v["metric"]
    assert scorer_source(v["cluster"], v["name"]) == v["score"]


@pytest.mark.parametrize("v", VECTORS["headerValues"], ids=lambda v: v["header"])
def test_header_value(v: dict[str, str]) -> None:
    assert escape_header(v["text"]) == v["header"]


def test_subjects_of_names() -> None:
    assert metric_subject("eu.1", "node") == "sw.metric.eu%2E1.node"
    assert score_subject("c", "_") == "sw.score.c.%5F"
    assert object_subject("hub", "cluster", "", "c") == "sw.hub.cluster._.c"
    with pytest.raises(BadSubjectError, match="a name is empty"):
        metric_subject("", "node")


@pytest.mark.parametrize("bad", ["a..b", "a.>.b", "a b", "a.\n", "", "sw.metric.*.x"])
def test_no_subject_to_publish_on(bad: str) -> None:
    with pytest.raises(BadSubjectError):
        check_filter(bad, wildcards=False)


@pytest.mark.parametrize(
    ("text", "duration", "written"),
    [
        ("60s", timedelta(minutes=1), "1m0s"),
        ("1h30m", timedelta(minutes=90), "1h30m0s"),
        ("1.5s", timedelta(milliseconds=1500), "1.5s"),
        ("250ms", timedelta(milliseconds=250), "250ms"),
        ("2h0m0.25s", timedelta(hours=2, milliseconds=250), "2h0m0.25s"),
        ("1.5µs", timedelta(microseconds=2), "2µs"),
        ("0", timedelta(), "0s"),
        ("-90s", timedelta(seconds=-90), "-1m30s"),
        (".5m", timedelta(seconds=30), "30s"),
        ("1500us", timedelta(microseconds=1500), "1.5ms"),
    ],
)
def test_duration(text: str, duration: timedelta, written: str) -> None:
    assert parse_duration(text) == duration
    assert format_duration(duration) == written
    assert parse_duration(written) == duration


@pytest.mark.parametrize(
    "bad", ["", "60", "s", "1 s", "1d", "1s ", "s1", "٣s", "1h-1m", "9" * 30 + "h"]
)
def test_no_duration(bad: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f'"{bad}"')):
        parse_duration(bad)


def message(headers: dict[str, str], data: bytes = b"", subject: str = "sw.metric.c.s") -> Message:
    return Message("SW_METRICS", subject, 1, datetime(2026, 12, 1, tzinfo=UTC), headers, data)


BINARY = {
    "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/clusters/c/sources/s",
    "ce-type": METRICS,
}  # fmt: skip
DATA = b'{"samples":[{"name":"x","value":3}]}'


def test_round_trip() -> None:
    event = new_event(METRICS, cluster_source("c é", "s"), Metrics([Sample("x", 3)]))
    event.get_attributes()["traceparent"] = "00-a-b-01"
    headers, body = encode(event)
    assert headers["ce-source"] == "/clusters/c%2520%25C3%25A9/sources/s"
    assert headers["ce-dataschema"] == f"https://spokewire.dev/schemas/{METRICS}.json"
    assert headers["ce-datacontenttype"] == "application/json"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", headers["ce-time"])
    again = decode(message(headers, body))
    assert again.get_attributes() == event.get_attributes()
    assert read(message(headers, body, metric_subject("c é", "s"))).payload == Metrics(
        [Sample("x", 3)]
    )


def test_new_event_checks_its_type() -> None:
    with pytest.raises(FieldError, match=f"^data of {METRICS} is a Deleted, want Metrics"):
        new_event(METRICS, "/s", Deleted("x"))
    with pytest.raises(
        FieldError, match="^data of dev.spokewire.wish.v1 is a Deleted, want a known type"
    ):
        new_event("dev.spokewire.wish.v1", "/s", Deleted("x"))


def test_structured() -> None:
    whole = {
        "specversion": "1.0", "id": "1", "source": "/clusters/c/sources/s", "type": METRICS,
        "age": "5", "time": "2026-11-30T12:00:00+02:00", "data": json.loads(DATA),
    }  # fmt: skip
    headers = {"Content-Type": "application/cloudevents+json; charset=utf-8"}
    received = read(message(headers, json.dumps(whole).encode()))
    assert received.payload == Metrics([Sample("x", 3)])
    assert received.observed_at == datetime(2026, 11, 30, 23, 59, 59, 995000, tzinfo=UTC)
    del whole["id"]
    with pytest.raises(BadEventError, match="id is missing"):
        decode(message(headers, json.dumps(whole).encode()))


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"ce-specversion": "0.3"}, "NotCloudEvent", "specversion"),
        ({"ce-specversion": None}, "NotCloudEvent", "specversion"),
        ({"ce-id": None}, "NotCloudEvent", "id"),
        ({"ce-id": ""}, "NotCloudEvent", "id"),
        ({"ce-time": "yesterday"}, "NotCloudEvent", "time"),
        ({"ce-time": "2026-11-30T12:00:00"}, "NotCloudEvent", "time"),
        ({"ce-subject": "%ff"}, "NotCloudEvent", "subject"),
        ({"ce-Upper": "x"}, "NotCloudEvent", "Upper"),
        ({"ce-type": "dev.spokewire.score.computed.v1"}, "WrongType", "type"),
        ({"ce-type": "dev.spokewire.metrics.observed.v9"}, "UnknownType", "type"),
        ({"ce-source": "/clusters/d/sources/s"}, "WrongSource", "source"),
        ({"ce-dataschema": "https://example.org"}, "WrongSchema", "dataschema"),
        ({"ce-epoch": "one"}, "BadNumber", "epoch"),
        ({"ce-sequence": "18446744073709551616"}, "BadNumber", "sequence"),
        ({"ce-age": "-1"}, "BadAge", "age"),
        ({"ce-age": "1e3"}, "BadAge", "age"),
        ({"ce-age": "99999999999999999999"}, "BadAge", "age"),
        ({"Content-Type": "application/cloudevents+json"}, "NotCloudEvent", "specversion"),
    ],
)
def test_refused(change: dict[str, str | None], reason: str, field: str) -> None:
    headers = {k: v for k, v in {**BINARY, **change}.items() if v is not None}
    with pytest.raises(BadEventError) as e:
        read(message(headers, DATA))
    assert (e.value.reason, e.value.field) == (reason, field)
    if reason != "NotCloudEvent":
        assert "sw.metric.c.s" in str(e.value) or reason == "BadAge"


@pytest.mark.parametrize(
    ("data", "reason", "field"),
    [
        (b"{not JSON", "NotJSON", "data"),
        (b"", "NotJSON", "data"),
        (b"\xff", "NotJSON", "data"),
        (b'{"samples":[{"name":"x","value":NaN}]}', "BadPayload", "samples[0].value"),
        (b"[" * 100_000, "NotJSON", "data"),
        (b'{"samples":[{"name":"x"}]}', "BadPayload", "samples[0].value"),
    ],
)
def test_refused_data(data: bytes, reason: str, field: str) -> None:
    with pytest.raises(BadEventError) as e:
        read(message(BINARY, data))
    assert (e.value.reason, e.value.field) == (reason, field)


def test_a_score_of_another_cluster() -> None:
    score = b'{"cluster":"d","scorer":"s","validFor":"1s","items":[{"name":"s","value":1,"reason":"Computed"}]}'
    headers = {**BINARY, "ce-type": "dev.spokewire.score.computed.v1"}
    with pytest.raises(BadEventError) as e:
        read(message(headers, score, "sw.score.c.s"))
    assert (e.value.reason, e.value.field) == ("WrongSubject", "cluster")


def test_age() -> None:
    received = read(message({**BINARY, "ce-age": "1500"}, DATA))
    assert received.observed_at == received.message.received_at - timedelta(milliseconds=1500)
    assert age_of(CloudEvent({"type": "t", "source": "/s"})) == timedelta()

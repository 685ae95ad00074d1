"""Payloads agree with the golden and the bad files of pkg/schemas."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spokewire import FieldError, Metrics, Sample, Score, ScoreItem
from spokewire._form import parse, to_json
from spokewire._rules import check
from spokewire.payloads import TYPES, Metadata, Scorer, ScorerSpec

from conftest import ROOT

SCHEMAS = ROOT / "pkg/schemas"
GOLDEN = sorted((SCHEMAS / "testdata/golden").glob("*/*.json"))


def plain(value: Any) -> Any:
    """Times to the microsecond, as Python has them."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\S*", value):
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    return value


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_golden(path: Path) -> None:
    cls = TYPES[path.parent.name]
    text = path.read_text()
    payload = parse(cls, text, strict=True)
    check(payload)
    assert plain(json.loads(to_json(payload))) == plain(json.loads(text))
    assert parse(cls, to_json(payload), strict=True) == payload


def test_every_type_has_golden_files() -> None:
    assert {p.parent.name for p in GOLDEN} == set(TYPES)


# The rules of the hub's own bookkeeping within a decision are not repeated here.
OURS = (
    "metrics.observed",
    "score.computed",
    "score.deleted",
    "placement.decided",
    "placement.deleted",
)
EXCEPT = {"dev.spokewire.placement.decided.v1/flap-many"}


def wanted() -> dict[str, str]:
    """The field that each bad file is refused for, as the tests in Go have it."""
    found = {}
    for test in SCHEMAS.glob("bad*_test.go"):
        found.update(re.findall(r'"(dev\.[\w./-]+)":\s*\{wantField: "([^"]+)"', test.read_text()))
    return {
        name: field
        for name, field in found.items()
        if name.startswith(tuple(f"dev.spokewire.{t}.v1/" for t in OURS)) and name not in EXCEPT
    }


@pytest.mark.parametrize(("name", "field"), sorted(wanted().items()))
def test_bad(name: str, field: str) -> None:
    with pytest.raises(FieldError) as e:
        check(
            parse(
                TYPES[name.split("/")[0]],
                (SCHEMAS / f"testdata/bad/{name}.json").read_bytes(),
                strict=True,
            )
        )
    # Where the services name a mapping, the name in it may be said besides.
    assert e.value.field == field or e.value.field.startswith(field + ".")


def test_bad_files_were_found() -> None:
    assert len(wanted()) > 40


def test_unknown_fields_are_passed_over_unless_strict() -> None:
    text = '{"samples":[{"name":"x","value":1,"new":true}]}'
    assert parse(Metrics, text) == Metrics([Sample("x", 1.0)])
    with pytest.raises(FieldError, match=r"^samples\[0\]\.new is not a field of Sample"):
        parse(Metrics, text, strict=True)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (Metrics([Sample("x", float("nan"))]), r"^samples\[0\]\.value is \"nan\", want a finite"),
        (Metrics([Sample("x", 10**400)]), r"^samples\[0\]\.value is 1000+\.\.\., want a finite"),
        (Metrics([Sample("x", "3")]), r'^samples\[0\]\.value is "3", want a finite number'),  # type: ignore[arg-type]
        (Metrics([Sample("é", 1)]), r"^samples\[0\]\.name is .* which does not match"),
        (Metrics([Sample("x", 1, labels={"a": 1})]), r"^samples\[0\]\.labels\.a is 1, want a text"),  # type: ignore[dict-item]
        (Score("c", "s", [ScoreItem("s", "Computed", value=101)]), r"^items\[0\]\.value is 101, want -100 to 100"),
        (Score("", "s", []), r"^cluster is empty"),
        (Score("c", "s", [ScoreItem("s", "Failed")], valid_until=datetime(2026, 12, 1)), r"^validUntil is .* want a time"),
        (Score("c", "s", [ScoreItem("s", "Failed")], valid_for=timedelta(seconds=-1)), r"^validFor is "),
        (Metrics([Sample("x", 1, unit="\udcff")]), r"^data holds text that is not UTF-8"),
    ],
)  # fmt: skip
def test_writing_names_the_field(payload: object, message: str) -> None:
    with pytest.raises(FieldError, match=message):
        to_json(payload)


def test_rules_of_what_is_published() -> None:
    twice = Metrics(
        [
            Sample("x", 1, labels={"b": "1", "a-b": '"'}),
            Sample("x", 2, labels={"a-b": '"', "b": "1"}),
        ]
    )
    with pytest.raises(FieldError, match=r'^samples\[1\] repeats series x{"a-b"="\\"",b="1"}'):
        check(twice)
    score = Score("c", "s", [ScoreItem("s", "Computed", value=1)])
    with pytest.raises(FieldError, match="^validFor is missing: say for how long"):
        check(score)
    check(replace(score, valid_for=timedelta(seconds=1)))
    check(Score("c", "s", [ScoreItem("s", "NoSample")]))


def test_constants_are_written() -> None:
    scorer = Scorer(Metadata("gpu"), ScorerSpec(cel="1", valid_for=timedelta(seconds=90)))
    assert json.loads(to_json(scorer)) == {
        "apiVersion": "spokewire.dev/v1alpha1", "kind": "Scorer",
        "metadata": {"name": "gpu"}, "spec": {"cel": "1", "validFor": "1m30s"},
    }  # fmt: skip
    with pytest.raises(FieldError, match="^kind is missing"):
        parse(Scorer, '{"apiVersion":"spokewire.dev/v1alpha1","metadata":{"name":"gpu"},"spec":{}}')

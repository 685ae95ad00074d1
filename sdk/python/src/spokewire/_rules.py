"""What a schema cannot say of a payload: how its fields go together."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from .errors import FieldError
from .payloads import Metrics, PlacementDecision, Sample, Score


def check(payload: object) -> None:
    """Raise FieldError for a payload that breaks a rule of its class."""
    rule = _RULES.get(type(payload))
    if rule is not None:
        rule(payload)


def _metrics(metrics: Metrics) -> None:
    seen: set[str] = set()
    for i, sample in enumerate(metrics.samples):
        name = series(sample)
        if name in seen:
            raise FieldError(f"samples[{i}]", f"repeats series {name}")
        seen.add(name)


def series(sample: Sample) -> str:
    """Name the sample's series as Prometheus writes it, labels sorted."""
    if not sample.labels:
        return sample.name
    labels = (
        f"{_label_name(name)}={json.dumps(value, ensure_ascii=False)}"
        for name, value in sorted(sample.labels.items())
    )
    return f"{sample.name}{{{','.join(labels)}}}"


def _label_name(name: str) -> str:
    plain = name.isascii() and name.isidentifier()
    return name if plain else json.dumps(name, ensure_ascii=False)


def _score(score: Score) -> None:
    seen: set[str] = set()
    for i, item in enumerate(score.items):
        if item.name in seen:
            raise FieldError(f"items[{i}].name", f'repeats "{item.name}"')
        seen.add(item.name)
    valued = any(item.value is not None for item in score.items)
    lasts = score.valid_for is not None and score.valid_for > timedelta()
    if score.valid_until is not None and score.valid_for is not None:
        raise FieldError("validFor", "and validUntil are both set, want one")
    if valued and score.valid_until is None and not lasts:
        raise FieldError(
            "validFor", 'is missing: say for how long the score holds, for instance "60s"'
        )


def _decision(decision: PlacementDecision) -> None:
    seen: set[str] = set()
    for i, cluster in enumerate(decision.clusters):
        if cluster.name in seen:
            raise FieldError(f"clusters[{i}].name", f'repeats "{cluster.name}"')
        seen.add(cluster.name)
    if decision.now == datetime(1, 1, 1, tzinfo=UTC):
        raise FieldError("now", "is missing")


_RULES: dict[type, Callable[[Any], None]] = {
    Metrics: _metrics,
    Score: _score,
    PlacementDecision: _decision,
}

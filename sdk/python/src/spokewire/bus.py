"""The connection to the bus: publish, watch, subscribe."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from cloudevents.core.v1.event import CloudEvent

from ._deliver import Delivery, Durable, OnUnreadable, Start
from ._link import Link, Options
from ._publish import Ack, Publisher
from ._watch import Update, Watcher
from .duration import parse_duration
from .errors import FieldError, InvalidOptionError
from .events import METRICS, SCORE, new_event
from .payloads import Deleted, Metrics, PlacementDecision, Sample, Score, ScoreItem
from .subjects import (
    check_filter,
    cluster_source,
    encode_token,
    metric_subject,
    score_subject,
    scorer_source,
)

Decision: TypeAlias = PlacementDecision | Deleted
"""What is said of a Placement: what is decided, or that nothing is any more."""

PUBLISH_TIMEOUT = 30.0
"""For how many seconds a publish is tried, if nothing else is said."""


class Bus:
    """A connection to NATS that mends itself. Made by connect.

    It keeps nothing to be sent later: an event is stored, or its publish
    still waits or has failed.
    """

    def __init__(self, link: Link, timeout: float) -> None:
        self._link = link
        self._timeout = timeout
        self._publisher = Publisher(link)

    async def __aenter__(self) -> Self:
        await self._link.start(self._timeout)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection. What still waits on the bus gets a ClosedError."""
        await self._link.close()

    @property
    def connected(self) -> bool:
        """Whether there is a connection right now."""
        return self._link.connected

    async def publish_metrics(
        self,
        cluster: str,
        source: str,
        samples: Mapping[str, float] | Iterable[Sample],
        *,
        age: timedelta | str | None = None,
        timeout: float = PUBLISH_TIMEOUT,
    ) -> Ack:
        """Store all current samples of one source of one cluster.

        They replace the source's previous snapshot as a whole: a series that
        is left out is gone. ``samples`` are values by metric name, or Samples
        where there are labels. ``age`` is how long ago they were taken.
        """
        if isinstance(samples, Mapping):
            samples = [Sample(name, value) for name, value in samples.items()]
        payload = Metrics(samples=list(samples))
        event = new_event(METRICS, cluster_source(cluster, source), payload)
        return await self.publish(metric_subject(cluster, source), event, age=age, timeout=timeout)

    async def publish_score(
        self,
        cluster: str,
        scorer: str,
        items: float | Mapping[str, float | None] | Iterable[ScoreItem] | None,
        *,
        valid_for: timedelta | str | None = None,
        valid_until: datetime | None = None,
        timeout: float = PUBLISH_TIMEOUT,
    ) -> Ack:
        """Store the scores of one cluster by one scorer.

        ``items`` is a number or None (the item is then named like the scorer),
        numbers by item name, or ScoreItems; see score_item for what becomes
        of a number. ``valid_for`` counts from when the bus receives the
        score; ``valid_until`` is a moment in server time, such as the
        ``observed_at`` of the metrics and a while. One of the two is needed.
        """
        if items is None or isinstance(items, int | float):
            items = {scorer: items}
        if isinstance(items, Mapping):
            items = [score_item(name, raw) for name, raw in items.items()]
        score = Score(
            cluster=cluster,
            scorer=scorer,
            items=list(items),
            valid_for=_duration("validFor", valid_for),
            valid_until=valid_until,
        )
        event = new_event(SCORE, scorer_source(cluster, scorer), score)
        return await self.publish(score_subject(cluster, scorer), event, timeout=timeout)

    async def publish(
        self,
        subject: str,
        event: CloudEvent,
        *,
        age: timedelta | str | None = None,
        timeout: float = PUBLISH_TIMEOUT,
    ) -> Ack:
        """Store any event; see new_event.

        Returns once the server has stored it, through lost answers and lost
        connections. Events of one subject are stored in the order of the
        calls, one at a time. Raises UnansweredError at the timeout,
        DeniedError, TooLargeError or FullError.
        """
        waited = _duration("age", age) or timedelta()
        return await self._publisher.publish(subject, event, age=waited, timeout=timeout)

    def watch_metrics(
        self, *, cluster: str | None = None, source: str | None = None
    ) -> AsyncGenerator[Update[Metrics]]:
        """The last snapshot of every source, then Synced, then what follows."""
        return self.watch("SW_METRICS", f"sw.metric.{_token(cluster)}.{_token(source)}")

    def watch_scores(
        self, *, cluster: str | None = None, scorer: str | None = None
    ) -> AsyncGenerator[Update[Score | Deleted]]:
        """The last scores of every cluster by every scorer, then Synced, then what follows."""
        return self.watch("SW_SCORES", f"sw.score.{_token(cluster)}.{_token(scorer)}")

    def watch_decisions(self, placement: str | None = None) -> AsyncGenerator[Update[Decision]]:
        """The last decision on every Placement, then Synced, then what follows.

        ``placement`` is NAMESPACE/NAME, NAMESPACE/* or a NAME in namespace
        default.
        """
        return self.watch("SW_DECISIONS", _decisions(placement))

    def watch(self, stream: str, *subjects: str) -> AsyncGenerator[Update[Any]]:
        """The last event of every subject of a stream, then Synced, then what follows.

        ``subjects`` are filters that do not overlap; none means all. After a
        lost connection there is Behind, then what is new or differs, Gone for
        subjects that are no longer there, and Synced again. Between the two,
        of events that follow each other on one subject only the last comes.
        """
        for one in subjects:
            check_filter(one)
        return Watcher(self._link, _stream(stream), list(subjects) or [">"]).updates()

    def decisions(
        self,
        durable: str,
        placement: str | None = None,
        *,
        start: Start = "last",
        ack_wait: timedelta | str = timedelta(seconds=30),
        on_unreadable: OnUnreadable | None = None,
    ) -> AsyncGenerator[Delivery[Decision]]:
        """Each decision until it is acknowledged, one at a time and in order.

        See deliveries. A Deleted says that nothing is decided any more.
        """
        return self.deliveries(
            "SW_DECISIONS", durable, _decisions(placement),
            start=start, ack_wait=ack_wait, on_unreadable=on_unreadable,
        )  # fmt: skip

    def deliveries(
        self,
        stream: str,
        durable: str,
        *subjects: str,
        start: Start = "last",
        ack_wait: timedelta | str = timedelta(seconds=30),
        on_unreadable: OnUnreadable | None = None,
    ) -> AsyncGenerator[Delivery[Any]]:
        """Each event of a stream until it is acknowledged, one at a time and in order.

        The server remembers under the name ``durable`` what is done, so a
        program that was away goes on where it stopped, as far as the stream
        keeps. ``start`` says where a new name begins: with the "last" event
        of each subject, with "all" that is kept, or with what is "new". An
        event that is not acknowledged within ``ack_wait`` comes again. One
        that cannot be read is logged, handed to ``on_unreadable`` and passed
        over.
        """
        for one in subjects:
            check_filter(one)
        wait = _duration("ack_wait", ack_wait) or timedelta()
        consumer = Durable(
            _stream(stream), durable, list(subjects) or [">"], start, wait, on_unreadable
        )
        consumer.check()
        return consumer.deliveries(self._link)


def connect(
    url: str | None = None,
    *,
    creds: str | Path | None = None,
    ca: str | Path | None = None,
    name: str = "spokewire-python",
    inbox_prefix: str | None = None,
    domain: str | None = None,
    timeout: float = 10.0,
) -> Bus:
    """Say how to reach NATS; use the result with ``async with``, which connects.

    What is not given comes from the environment, as for the command
    ``spokewire``: NATS_URL or the file that NATS_URL_FILE names (one or more
    servers, separated by commas; may hold a user and a password), NATS_CREDS
    (a credentials file), NATS_CA (PEM certificates to trust) and
    NATS_INBOX_PREFIX. ``domain`` is the JetStream domain, "read" for those
    who read decisions from outside of the hub. ``timeout`` bounds the first
    connect, in seconds; later it is tried for ever. Raises
    InvalidOptionError for what can never work, at once.
    """
    url = url or os.environ.get("NATS_URL") or _url_of_file()
    options = Options(
        url=url,
        creds=_text(creds) or os.environ.get("NATS_CREDS"),
        ca=_text(ca) or os.environ.get("NATS_CA"),
        name=name,
        inbox_prefix=inbox_prefix or os.environ.get("NATS_INBOX_PREFIX") or "_INBOX",
        domain=domain,
    )
    for option, path in (("creds", options.creds), ("ca", options.ca)):
        if path and not Path(path).is_file():
            raise InvalidOptionError(f"{option}: there is no file {path}")
    return Bus(Link(options), timeout)


def _url_of_file() -> str:
    path = os.environ.get("NATS_URL_FILE")
    if not path:
        raise InvalidOptionError(
            'no NATS server is named: set NATS_URL (with a local stack: eval "$(spokewire env)")'
        )
    try:
        url = Path(path).read_text().strip()
    except OSError as e:
        raise InvalidOptionError(f"NATS_URL_FILE: {e}") from e
    if not url:
        raise InvalidOptionError(f"NATS_URL_FILE: {path} is empty, want the NATS server's URL")
    return url


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)


def score_item(name: str, raw: float | None, message: str | None = None) -> ScoreItem:
    """A score item of a number, as the scorer service makes it.

    The number is rounded, half away from zero, and clamped to -100..100; the
    reason is Computed or Clamped, and ``raw`` has the number. None has reason
    NoSample and no value, and what is not finite NotFinite: a failure never
    becomes a number.
    """
    if raw is None:
        return ScoreItem(name, "NoSample", message=message)
    if not math.isfinite(raw):
        return ScoreItem(name, "NotFinite", message=message or f"the value is {raw}")
    rounded = math.trunc(raw)
    if abs(raw - rounded) >= 0.5:
        rounded += 1 if raw > 0 else -1
    value = max(-100, min(100, rounded))
    reason = "Computed" if value == rounded else "Clamped"
    return ScoreItem(name, reason, value=value, raw=float(raw), message=message)


def _duration(field: str, value: timedelta | str | None) -> timedelta | None:
    if value is None or isinstance(value, timedelta):
        duration = value
    else:
        try:
            duration = parse_duration(value)
        except ValueError as e:
            raise FieldError(field, str(e)) from e
    if duration is not None and duration < timedelta():
        raise FieldError(field, "is negative")
    return duration


def _token(name: str | None) -> str:
    return "*" if name is None else encode_token(name)


def _decisions(placement: str | None) -> str:
    if placement is None:
        return "sw.decision.placement.*.*"
    namespace, slash, name = placement.partition("/")
    if not slash:
        namespace, name = "default", placement
    tokens = ["*" if one == "*" else encode_token(one) for one in (namespace, name)]
    return "sw.decision.placement." + ".".join(tokens)


def _stream(name: str) -> str:
    if not name or not name.replace("_", "").replace("-", "").isalnum():
        raise InvalidOptionError(f'"{name}" is not the name of a stream')
    return name

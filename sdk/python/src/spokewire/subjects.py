"""Subjects of the bus, and the names in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from .errors import BadSubjectError

NO_NAMESPACE: Final = "_"
"""The token of an object without a namespace."""

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_CODE = re.compile(rb"%([0-9A-F]{2})")


def encode_token(name: str) -> str:
    """Turn any name into one token of a subject, reversibly.

    Letters, digits and ``-`` stand for themselves, as does ``_`` unless it is
    the whole name; every other byte becomes ``%XX``. The empty name has no
    token and is refused with BadSubjectError.
    """
    if not name:
        raise BadSubjectError("a name is empty, which has no token")
    if name == NO_NAMESPACE:
        return "%5F"
    raw = name.encode(errors="surrogateescape")
    return "".join(chr(c) if c in _PLAIN else f"%{c:02X}" for c in raw)


def decode_token(token: str) -> str:
    """Reverse encode_token.

    Raises BadSubjectError for what encode_token would not have written, so
    that one name has exactly one token.
    """
    raw = token.encode(errors="surrogateescape")
    name = _CODE.sub(lambda m: bytes([int(m[1], 16)]), raw).decode(errors="surrogateescape")
    if not name or encode_token(name) != token:
        raise BadSubjectError(f'"{token}" is not an encoded token')
    return name


@dataclass(frozen=True, slots=True)
class Subject:
    """A parsed subject. Which fields are set depends on the family.

    ==========================================  ==========================
    sw.metric.CLUSTER.NAME                      name is the source
    sw.backfill.CLUSTER.NAME
    sw.score.CLUSTER.NAME                       name is the scorer
    sw.hub.KIND.NAMESPACE.NAME                  also config, decision, receipt, status
    sw.dead.NAME.NAMESPACE                      name is the service, namespace STREAM-SEQUENCE
    ==========================================  ==========================
    """

    family: str
    kind: str = ""
    cluster: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        if self.family in _OF_CLUSTERS:
            return _join(self.family, self.cluster, self.name)
        if self.family == "dead":
            return _join(self.family, self.name, self.namespace)
        namespace = encode_token(self.namespace) if self.namespace else NO_NAMESPACE
        return f"sw.{self.family}.{encode_token(self.kind)}.{namespace}.{encode_token(self.name)}"


_OF_CLUSTERS = ("metric", "backfill", "score")
_OF_OBJECTS = ("hub", "config", "decision", "receipt", "status")


def _join(family: str, first: str, second: str) -> str:
    return f"sw.{family}.{encode_token(first)}.{encode_token(second)}"


def metric_subject(cluster: str, source: str) -> str:
    """Where the snapshots of one source of one cluster go."""
    return _join("metric", cluster, source)


def backfill_subject(cluster: str, source: str) -> str:
    """Where a source's snapshots go that waited and are no longer the newest."""
    return _join("backfill", cluster, source)


def score_subject(cluster: str, scorer: str) -> str:
    """Where one scorer's scores of one cluster go."""
    return _join("score", cluster, scorer)


def object_subject(family: str, kind: str, namespace: str, name: str) -> str:
    """Where the family hub, config, decision, receipt or status speaks of an object.

    The namespace is empty for an object that has none.
    """
    return str(Subject(family, kind=kind, namespace=namespace, name=name))


def parse_subject(subject: str) -> Subject:
    """Reverse the functions above, or raise BadSubjectError."""
    first, *rest = subject.split(".")
    if first != "sw" or len(rest) < 3:
        raise BadSubjectError(f'"{subject}" is not sw.FAMILY.…')
    family, *tokens = rest
    if family in _OF_CLUSTERS:
        cluster, name = _tokens(subject, tokens, 2)
        return Subject(family, cluster=decode_token(cluster), name=decode_token(name))
    if family == "dead":
        name, namespace = _tokens(subject, tokens, 2)
        return Subject(family, name=decode_token(name), namespace=decode_token(namespace))
    if family in _OF_OBJECTS:
        kind, namespace, name = _tokens(subject, tokens, 3)
        return Subject(
            family,
            kind=decode_token(kind),
            namespace="" if namespace == NO_NAMESPACE else decode_token(namespace),
            name=decode_token(name),
        )
    raise BadSubjectError(f'"{subject}" has the unknown family "{family}"')


def _tokens(subject: str, tokens: list[str], want: int) -> list[str]:
    if len(tokens) != want:
        raise BadSubjectError(f'"{subject}" has {len(tokens)} tokens after its family, want {want}')
    return tokens


_BAD_CHARACTER = re.compile(r"[\x00-\x20\x7f]")


def check_filter(subject: str, *, wildcards: bool = True) -> None:
    """Raise BadSubjectError for what is no subject, or no filter of subjects."""
    tokens = subject.split(".")
    if _BAD_CHARACTER.search(subject):
        raise BadSubjectError(f'"{subject}" has white space or a control character')
    if "" in tokens or ">" in tokens[:-1]:
        raise BadSubjectError(f'"{subject}" has an empty token, or goes on after ">"')
    if not wildcards and {"*", ">"} & set(tokens):
        raise BadSubjectError(f'"{subject}" has a wildcard')


def cluster_source(cluster: str, source: str) -> str:
    """The source attribute of what a source of a cluster says."""
    return f"/clusters/{_path(cluster)}/sources/{_path(source)}"


def scorer_source(cluster: str, scorer: str) -> str:
    """The source attribute of a scorer's scores of a cluster."""
    return f"/clusters/{_path(cluster)}/scorers/{_path(scorer)}"


def _path(name: str) -> str:
    return quote(name, safe="$&+=:@", errors="surrogateescape")

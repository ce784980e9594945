"""The agreement of the simulation with recorded verdicts of real delegates, as ``make accuracy`` measured it."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..foundation.columns import INTEGER, LIST, Column, Declared

KINDS = {
    "nodes": "nodes",
    "kinds": "kinds of refusal",
    "lines": "plans",
    "refusals": "outcomes",
    "builds": "builds",
    "outcomes": "outcomes",
    "groups": "groups",
    "plain": "models loaded",
    "plans": "plans",
    "missing": "missing operators",
    "failing": "failing nodes",
    "arena": "arena sizes",
    "invoke": "failures in Invoke",
    "stages": "stages of failures",
    "errors": "errors",
    "operations": "operations",
    "operands": "operands",
    "structure": "models",
    "partition": "partitions",
    "partition_check": "checks of partitions",
    "properties": "properties",
    "support": "supported operations",
    "crashes": "runs without an error",
}
"""The compared results in the plural, by their names in ``accuracy.json``. Other names are already words."""


class AgreedVerdicts(NamedTuple):
    """The numbers of results of a kind that were compared, and that agree."""

    kind: str
    agree: int
    compared: int


@dataclass(frozen=True, slots=True)
class Accuracy(Declared):
    """The agreement for a target and a set of records. ``sample`` is the number of models of each corpus; None means all."""

    columns = (
        *(Column("target"), Column("records"), Column("releases"), Column("measured"), Column("sample", INTEGER)),
        Column("agreement", LIST, parts=(Column("kind"), Column("agree", INTEGER), Column("compared", INTEGER))),
        Column("not_simulated"),
    )

    target: str
    records: str
    releases: str
    measured: str
    sample: int | None
    agreement: tuple[AgreedVerdicts, ...]
    not_simulated: str


@dataclass(frozen=True, slots=True)
class Unseen(Declared):
    """The numbers of right and wrong answers for material that nobody had seen before, and that no change had been made for."""

    columns = (
        *(Column("material"), Column("month")),
        *(Column(name, INTEGER) for name in ("right", "partly", "silent", "wrong")),
    )

    material: str
    month: str
    right: int
    partly: int
    silent: int
    wrong: int


@dataclass(frozen=True, slots=True)
class AccuracyTable(Declared):
    """All measurements of this version."""

    document = "accuracy"
    columns = (Column("targets", LIST, parts=Accuracy.columns), Column("unseen", LIST, parts=Unseen.columns))

    targets: tuple[Accuracy, ...]
    unseen: tuple[Unseen, ...]


def accuracy() -> AccuracyTable:
    """Return the measurements that are stored in the package. Records that were not measured are left out."""
    data = json.loads(pkgutil.get_data(__package__, "accuracy.json") or b"{}")
    targets = [
        Accuracy(
            agreement=tuple(_compared(entry["agreement"])),
            **{key: entry[key] for key in ("target", "records", "releases", "measured", "sample", "not_simulated")},
        )
        for entry in data["targets"]
        if entry["measured"]
    ]
    return AccuracyTable(tuple(targets), tuple(Unseen(**entry) for entry in data["unseen"]))


def _compared(agreement: dict[str, list[int]]) -> Iterator[AgreedVerdicts]:
    for kind, (agree, compared) in agreement.items():
        yield AgreedVerdicts(KINDS.get(kind, kind), agree, compared)

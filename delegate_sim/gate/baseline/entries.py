"""Entries of a baseline: the accepted result of each model and target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...errors import DelegateSimError
from ...results.compare.model_outline import SubgraphOutline
from ...results.report.measures import Measures
from ...results.report.multiply_adds import ComputeTotals


class BaselineError(DelegateSimError):
    """Raised if a file is not a baseline, or if the file cannot be read or written."""


class EntryKey(NamedTuple):
    """The key of an entry: the name of the target and the path of the model.

    The path is relative to the folder of the configuration, with slashes.
    """

    model: str
    target: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The accepted result of one model on one target.

    ``fallback`` lists the nodes that stay on the CPU, by subgraph and code. ``rule_set`` is the version of the rules, and
    ``tool`` is the version of delegate-sim.
    """

    sha256: str
    delegate: str
    options: Mapping[str, Any]
    runtime: str
    defaults: str
    rule_set: str
    tool: str
    measures: Measures
    fallback: tuple[Fallback, ...]
    outline: tuple[SubgraphOutline, ...]
    compute: ComputeTotals | None = None
    """The multiply-adds; None if an older version of delegate-sim wrote the entry."""

    @property
    def on_cpu(self) -> Mapping[int, Set[int]]:
        """The nodes that stay on the CPU, by subgraph."""
        nodes: defaultdict[int, set[int]] = defaultdict(set)
        for group in self.fallback:
            nodes[group.subgraph] |= group.nodes
        return nodes


@dataclass(frozen=True, slots=True)
class Fallback:
    """Nodes of one subgraph that stay on the CPU for one reason."""

    subgraph: int
    code: str
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """All entries of a baseline. ``packed`` has the packed outlines of models, keyed by digest."""

    entries: Mapping[EntryKey, Entry] = field(default_factory=dict)
    packed: Mapping[str, str] = field(default_factory=dict, compare=False)


class Unexpected(Exception):
    """Raised if the content of a file is not a valid baseline."""

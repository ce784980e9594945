"""The verdict of TensorFlow Lite Micro on a model, as plain data."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..foundation.documents import schema_of
from ..model.model import Model
from ..version import __version__
from .arena import Arena
from .preparation import MicroNode, Status
from .resolver import Operator, ResolverSource, resolver_lines
from .target import MicroTarget


class Outcome(Enum):
    """The result of running a model: success, or the step that fails."""

    ALLOCATED = "allocated"
    MISSING_OPERATOR = "missing-op"
    PREPARE_FAILED = "prepare-failed"
    FILE = "file"
    """The file itself cannot be used, for example because a tensor has no fixed size."""


@dataclass(frozen=True)
class MicroReport:
    """The verdict on a model: its outcome, all nodes, and the arena if tensors can be allocated."""

    target: MicroTarget
    outcome: Outcome
    problem: str
    """The reason why the model file itself cannot be used; empty for other outcomes."""
    nodes: tuple[MicroNode, ...]
    missing_operators: tuple[str, ...]
    """The operators that the resolver does not have, in the order of their first nodes."""
    failing_node: tuple[int, int] | None
    """The subgraph and the index of the first node that the runtime refuses while it allocates tensors."""
    operators: tuple[Operator, ...]
    """All operators of the model, sorted."""
    arena: Arena | None
    external_tensors: int
    """The number of tensors with data outside the flatbuffer. The runtime does not read this data."""

    @property
    def runs(self) -> bool:
        """True if tensors can be allocated and the kernels accept all nodes when the model is invoked."""
        return self.outcome is Outcome.ALLOCATED and all(node.status is Status.OK for node in self.nodes)

    @property
    def computes(self) -> bool:
        """True if the model runs and all its weights are in the flatbuffer, so that the results are meaningful."""
        return self.runs and not self.external_tensors

    @functools.cached_property
    def multiply_adds(self) -> int:
        """The multiply-adds of all nodes in one inference."""
        return sum([node.multiply_adds for node in self.nodes])

    @functools.cached_property
    def refused(self) -> tuple[MicroNode, ...]:
        """The nodes without a kernel and the nodes that a kernel refuses."""
        return tuple(node for node in self.nodes if node.status is not Status.OK)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "outcome": self.outcome.value,
            "problem": self.problem,
            "runs": self.runs,
            "computes": self.computes,
            "kernels": self.target.kernels,
            "missing_operators": list(self.missing_operators),
            "failing_node": None if self.failing_node is None else list(self.failing_node),
            "operators": [operator.name for operator in self.operators],
            "resolver": list(resolver_lines(self.operators)),
            "nodes": [
                {
                    "subgraph": node.subgraph,
                    "index": node.index,
                    "operator": node.operator,
                    "status": node.status.value,
                    "multiply_adds": node.multiply_adds,
                    "reasons": [reason.to_dict() for reason in node.reasons],
                }
                for node in self.nodes
            ],
            "arena": None if self.arena is None else self.arena.to_dict(),
            "external_tensors": self.external_tensors,
        }


@dataclass(frozen=True, slots=True)
class MicroAnswer:
    """The report on a model, and the resolver from the application's source, or None without a source."""

    model: Model
    report: MicroReport
    source: ResolverSource | None = None
    source_path: str = ""

    @property
    def unused(self) -> tuple[str, ...]:
        """Registered operators that the model does not use."""
        if self.source is None or self.source.registered is None:
            return ()
        return tuple(sorted({*self.source.registered} - {operator.name for operator in self.report.operators}))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        entry: dict[str, Any] = {
            "schema": schema_of("micro"),
            "version": __version__,
            "model": {"path": self.model.path, "sha256": self.model.sha256},
            **self.report.to_dict(),
        }
        if self.source is not None:
            registered = self.source.registered
            entry["registered"] = {
                "source": self.source_path,
                "operators": None if registered is None else sorted(registered),
                "size": self.source.size,
                "unused": list(self.unused),
                "unknown_functions": list(self.source.unknown),
            }
        return entry

"""How the Hexagon delegate goes about a subgraph (``HexagonDelegate``, ``delegates/hexagon/hexagon_delegate.cc``).

It is a simple delegate (``DelegatePrepare``, ``delegates/utils/simple_delegate.cc``). What its kernels then build for the
DSP is not simulated.
"""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

from ...explanations import PARTITION_LIMIT, PARTITION_MINIMUM
from ...graph import Graph
from ...options import Option, integer
from ...partition import Subset, partition
from ...runtime import NEWEST, Release
from ..base import Decision, KernelFailure, Options, keep_largest
from .rules import EXPLANATIONS, RULES, validate
from .target import Target

DEFAULT_PARTITIONS = 4
"""``kMaxHexagonGraphs``."""
MOST_PARTITIONS = 16
"""``kMaxMaxHexagonGraphs``."""
DEFAULT_MINIMUM = 2
"""``kMinNodesPerHexagonGraph``."""

OPTIONS = (
    Option(
        "max_delegated_partitions",
        integer,
        0,
        f"how many partitions to delegate at most, largest first; 0 and below count as {DEFAULT_PARTITIONS}, more than "
        f"{MOST_PARTITIONS} as {MOST_PARTITIONS}",
        flag="max_delegated_partitions",
    ),
    Option(
        "min_nodes_per_partition",
        integer,
        DEFAULT_MINIMUM,
        f"how many nodes a partition must have; 0 and below count as {DEFAULT_MINIMUM}",
        flag="min_nodes_per_partition",
    ),
)


class HexagonDelegate:
    """The delegate as the runtime meets it (see ``delegates.base.Delegate``)."""

    name = "hexagon"
    kernel_name = "TfLiteHexagonDelegate"
    provider_name = "Hexagon"
    options = OPTIONS
    rules = RULES
    explanations = MappingProxyType({**EXPLANATIONS, **PARTITION_LIMIT, **PARTITION_MINIMUM})

    def allows_dynamic_tensors(self, options: Options) -> bool:
        """Only to run with varying batch sizes, an experimental setting that is not simulated."""
        return False

    def decide(self, graph: Graph, options: Options, release: Release = NEWEST) -> Decision:
        """Ask about every node, and take the largest partitions."""
        target = Target(release)
        verdicts = {index: validate(graph.view(graph.nodes[index]), target) for index in graph.execution_plan}
        supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
        found = Decision(graph, verdicts, supported, partition(graph, supported) if supported else ())
        decision = keep_largest(found, _limit(options), _minimum(options))
        if graph.index > 0:
            return decision
        # What is said once in a process is said of the first subgraph.
        return dataclasses.replace(
            decision,
            warnings=(*_capping_warning(options), *decision.warnings),
            log_lines=(_log_line(decision),),
        )

    def kernel_failure(self, graph: Graph, subset: Subset, options: Options, release: Release = NEWEST) -> KernelFailure | None:
        """None is known: what the DSP makes of a partition is not simulated."""
        return None


def _limit(options: Options) -> int:
    limit: int = options["max_delegated_partitions"]
    return min(limit, MOST_PARTITIONS) if limit > 0 else DEFAULT_PARTITIONS


def _minimum(options: Options) -> int:
    minimum: int = options["min_nodes_per_partition"]
    return minimum if minimum > 0 else DEFAULT_MINIMUM


def _capping_warning(options: Options) -> tuple[str, ...]:
    limit = options["max_delegated_partitions"]
    if limit <= MOST_PARTITIONS:
        return ()
    return (f"max_delegated_partitions is {limit}; the delegate takes {MOST_PARTITIONS} partitions at most",)


def _log_line(decision: Decision) -> str:
    return (
        f"{HexagonDelegate.kernel_name} delegate: {len(decision.nodes)} nodes delegated out of "
        f"{len(decision.graph.execution_plan)} nodes with {len(decision.candidates)} partitions."
    )


DELEGATE = HexagonDelegate()

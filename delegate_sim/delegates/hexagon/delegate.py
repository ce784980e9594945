"""The Hexagon delegate's handling of a subgraph (``HexagonDelegate``, ``delegates/hexagon/hexagon_delegate.cc``).

The delegate is based on TFLite's simple delegate (``DelegatePrepare``, ``delegates/utils/simple_delegate.cc``). The experimental
option for dynamic batch sizes is not simulated. The graphs that the kernels build for the DSP are not simulated either.
"""

from __future__ import annotations

from dataclasses import replace

from ...graph.graph import Graph
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM
from ..base import Delegate
from ..decision import Decision, kinds_by_code, take_supported
from ..options import Option, OptionValues, integer, option_as_typed
from ..partition_limits import keep_largest, minimum_of_nodes, minimum_option
from ..traits import LogTraits, PartitionLimits, ReleaseHistory
from .rules import RULES, HexagonTarget

DEFAULT_PARTITIONS = 4
"""The default limit on the number of partitions (``kMaxHexagonGraphs``)."""
MOST_PARTITIONS = 16
"""The largest number of partitions that the option can allow (``kMaxMaxHexagonGraphs``)."""
DEFAULT_MINIMUM = 2
"""The default minimum number of nodes in a partition (``kMinNodesPerHexagonGraph``)."""

OPTIONS = (
    Option(
        "max_delegated_partitions",
        integer,
        0,
        f"the maximum number of partitions, largest first; 0 or less means {DEFAULT_PARTITIONS}, and more than "
        f"{MOST_PARTITIONS} means {MOST_PARTITIONS}",
        flag="max_delegated_partitions",
        printed=("max number of delegated partitions",),
    ),
    minimum_option(DEFAULT_MINIMUM),
)


class HexagonDelegate(Delegate):
    """The ``hexagon`` delegate (see ``delegates.base.Delegate``)."""

    name = "hexagon"
    kernel_name = "TfLiteHexagonDelegate"
    provider_name = "Hexagon"
    options = OPTIONS
    rules = RULES
    computes_integers = True
    further_kinds = kinds_by_code(PARTITION_LIMIT, PARTITION_MINIMUM)
    limits = PartitionLimits("max_delegated_partitions", MOST_PARTITIONS, "min_nodes_per_partition", DEFAULT_PARTITIONS)
    log = LogTraits(switch="use hexagon")
    history = ReleaseHistory("tf-2.14")

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node. Delegate the largest partitions of supported nodes."""
        complete = take_supported(graph, RULES, HexagonTarget(release))
        decision = keep_largest(self, complete, _limit(options), minimum_of_nodes(self, options))
        if graph.index > 0:
            return decision
        # The delegate prints this line once per process, for the first subgraph.
        return replace(decision, warnings=(*_capping_warning(options), *decision.warnings), log_lines=(_log_line(decision),))


def _limit(options: OptionValues) -> int:
    limit: int = options["max_delegated_partitions"]
    return min(limit, MOST_PARTITIONS) if limit > 0 else DEFAULT_PARTITIONS


def _capping_warning(options: OptionValues) -> tuple[str, ...]:
    limit = options[HexagonDelegate.limits.option]
    if limit <= MOST_PARTITIONS:
        return ()
    option = option_as_typed(OPTIONS, HexagonDelegate.limits.option)
    return (f"{option} is {limit}, but the delegate takes at most {MOST_PARTITIONS} partitions",)


def _log_line(decision: Decision) -> str:
    return (
        f"{HexagonDelegate.kernel_name} delegate: {len(decision.nodes)} nodes delegated out of "
        f"{len(decision.graph.execution_plan)} nodes with {len(decision.candidates)} partitions."
    )


DELEGATE = HexagonDelegate()

"""Limits on partitions: the maximum number of partitions, and the minimum number of nodes in a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..graph.graph import Graph
from ..graph.partition import Subset
from ..graph.unstable_sort import LONGEST_STABLE, gnu_sorted
from ..rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM
from ..rules.rule import Reason
from .base import Delegate
from .decision import Decision
from .options import Option, OptionValues, integer, option_as_typed

Sort = Callable[[Iterable[Subset], Callable[[Subset], int]], list[Subset]]


def largest_partitions(subsets: Sequence[Subset], limit: int, minimum: int = 0, sort: Sort = gnu_sorted) -> tuple[Subset, ...]:
    """Return the ``limit`` largest partitions with at least ``minimum`` nodes, largest first.

    ``sort`` must order partitions of equal size as the runtime's C++ library does.
    Source: ``GetFirstNLargestPartitions`` (``delegates/utils.cc``).
    """
    largest = sort(subsets, lambda subset: -len(subset.nodes))[:limit]
    return tuple(subset for subset in largest if len(subset.nodes) >= minimum)


def minimum_option(default: int) -> Option:
    """Return the option for the minimum number of nodes in a partition."""
    return Option(
        "min_nodes_per_partition",
        integer,
        default,
        f"the minimum number of nodes in a partition; 0 or less means {default}",
        flag="min_nodes_per_partition",
        printed=("min nodes per partition",),
    )


def minimum_of_nodes(delegate: Delegate, options: OptionValues) -> int:
    """Return the minimum number of nodes in a partition. An option value of 0 or less means the default."""
    declared = next(option for option in delegate.options if option.name == delegate.limits.minimum_option)
    given: int = options[declared.name]
    return given if given > 0 else int(declared.default)


def keep_largest(delegate: Delegate, decision: Decision, limit: int, minimum: int, sort: Sort = gnu_sorted) -> Decision:
    """Return the decision with only the largest partitions delegated, and with a reason for each dropped node.

    Source: ``GetNodesOfFirstNLargestPartitions`` (``delegates/utils.cc``).
    """
    candidates = decision.candidates
    kept = {node for subset in largest_partitions(candidates, limit, minimum, sort) for node in subset.nodes}
    set_aside = dict(decision.set_aside)
    for subset in candidates:
        if subset.nodes[0] in kept:
            continue
        if len(subset.nodes) < minimum:
            reason = partition_minimum(delegate, len(subset.nodes), minimum)
        else:
            reason = partition_limit(delegate, len(candidates), limit)
        set_aside |= dict.fromkeys(subset.nodes, reason)
    warnings = decision.warnings
    if sort is gnu_sorted and order_depends_on_library(candidates, limit, minimum):
        warnings += (library_order_warning(decision.graph, limit),)
    nodes = tuple(node for node in decision.nodes if node in kept)
    own = decision.subsets
    if own is not None:
        own = tuple([replace(subset, is_delegated=subset.is_delegated and subset.nodes[0] in kept) for subset in own])
    return replace(decision, nodes=nodes, set_aside=set_aside, warnings=warnings, subsets=own)


def partition_limit(delegate: Delegate, found: int, limit: int) -> Reason:
    """Return the reason for a CPU node whose partition is dropped because there are too many partitions."""
    largest = "the largest" if limit == 1 else f"among the {limit} largest"
    merge = "merge partitions by removing nodes that split them"
    raised = f"raise {option_as_typed(delegate.options, delegate.limits.option)}, or " if delegate.limits.option else ""
    return Reason(
        PARTITION_LIMIT.name,
        PARTITION_LIMIT.name,
        f"its partition is not {largest} of {found}",
        f"{found} partitions",
        f"at most {limit}",
        f"{raised}{merge}",
        found,
    )


def partition_minimum(delegate: Delegate, found: int, minimum: int) -> Reason:
    """Return the reason for a CPU node whose partition has too few nodes."""
    nodes = "1 node" if found == 1 else f"{found} nodes"
    option = option_as_typed(delegate.options, delegate.limits.minimum_option)
    return Reason(
        PARTITION_MINIMUM.name,
        PARTITION_MINIMUM.name,
        f"its partition has {nodes}; needs at least {minimum}",
        f"a partition of {nodes}",
        f"at least {minimum} nodes",
        f"lower {option}, or merge partitions by removing nodes that split them",
    )


def order_depends_on_library(subsets: Sequence[Subset], limit: int, minimum: int = 0) -> bool:
    """Return whether the C++ library's order of equally large partitions decides which partitions are kept."""
    if len(subsets) <= LONGEST_STABLE or limit >= len(subsets):
        return False
    sizes = sorted((len(subset.nodes) for subset in subsets), reverse=True)
    return sizes[limit - 1] == sizes[limit] >= minimum


def library_order_warning(graph: Graph, limit: int) -> str:
    """Return the warning that the kept partitions depend on the C++ library."""
    return (
        f"subgraph {graph.index}: the limit of {limit} drops some of several partitions of equal size. The runtime's C++ library "
        "decides which partitions are kept; this result is for GNU's library"
    )

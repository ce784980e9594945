"""What a driver takes of a mapped partition (``GetOperationsSupportedByTargetNnApiDevices``, ``nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ...graph.graph import Graph, NodeView
from ..driver import Driver
from .mapping import MappedPartition
from .questions import is_constant_densify, is_runtime_float16_dequantize


def nodes_supported_by_driver(
    graph: Graph, nodes: Sequence[int], mapped: MappedPartition, rejected: Collection[str], driver: Driver | None = None
) -> tuple[int, ...]:
    """Leave out the nodes of a partition of which a driver rejects an operation, by name or by its profile.

    If the partition has sparse weights, or widens float16 values at run time, none is left then
    (``GetOperationsSupportedByTargetNnApiDevices``).
    """
    supported = tuple(index for index in nodes if not rejected_operations(graph, index, mapped, rejected, driver))
    if len(supported) < len(nodes) and is_all_or_nothing(graph, nodes):
        return ()
    return supported


def rejected_operations(
    graph: Graph, node: int, mapped: MappedPartition, rejected: Collection[str], driver: Driver | None = None
) -> tuple[str, ...]:
    """Return those operations of a node that a driver rejects, by name or by its profile."""
    operations = mapped.operations.get(node, ())
    if driver is None:
        return tuple([operation for operation in operations if operation in rejected])
    view = graph.view(graph.nodes[node])
    return tuple([operation for operation in operations if operation in rejected or driver.rejects(operation, view)])


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Whether a driver that rejects any operation of these nodes gets none of them."""
    return any(_is_all_or_nothing(graph.view(graph.nodes[index])) for index in nodes)


def _is_all_or_nothing(view: NodeView) -> bool:
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)

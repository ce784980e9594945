"""The NNAPI operations that a driver rejects. An option or a driver profile lists these operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....graph.graph import Graph
from ...options import OptionValues
from ..lowering.partition import LoweredPartition

if TYPE_CHECKING:
    from ...driver import Driver


class DriverRejections:
    """The NNAPI operations that the driver rejects according to the options."""

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._names = frozenset(options["driver_rejects"])
        self._profile: Driver | None = options["driver"]

    @property
    def is_empty(self) -> bool:
        """Whether the options have no rejected operations and no driver profile."""
        return self._profile is None and not self._names

    def of_node(self, node: int, lowered: LoweredPartition) -> tuple[str, ...]:
        """Return the rejected NNAPI operations of a node."""
        if self.is_empty:
            return ()
        operations = lowered.operations.get(node, ())
        if self._profile is None:
            return tuple([operation for operation in operations if operation in self._names])
        view = self._graph.view(self._graph.nodes[node])
        return tuple(
            [operation for operation in operations if operation in self._names or self._profile.rejects(operation, view)]
        )

    def has_some_of(self, partitions: Sequence[LoweredPartition]) -> bool:
        """Return whether the driver rejects an unknown operation of these partitions, according to the driver profile."""
        if self._profile is None or not self._profile.has_open_rejections:
            return False
        from ...driver import signature  # most runs have no profile

        return self._profile.rejects_some(
            {
                signature(operation, self._graph.view(self._graph.nodes[node]))
                for lowered in partitions
                for node, operations in lowered.operations.items()
                for operation in operations
            }
        )

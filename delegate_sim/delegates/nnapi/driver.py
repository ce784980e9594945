"""What a driver takes of a mapped partition (``GetOperationsSupportedByTargetNnApiDevices``, ``nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...graph.graph import Graph, NodeView
from ...nnapi_runtime import NnModel, NnOperation, Version
from ...nnapi_runtime import feature_level as level_of
from ...nnapi_runtime.slicing import visible_operations
from ...rules.rule import Reason
from ..base import OptionValues
from ..driver import Driver
from .kinds import DRIVER
from .mapping import MappedPartition
from .options import device_level
from .questions import is_constant_densify, is_runtime_float16_dequantize
from .runtime_kinds import HIDDEN


class DriverAnswers:
    """What the driver of the options takes: by the names of operations, by its profile, and by its feature level."""

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._names = frozenset(options["driver_rejects"])
        self._profile: Driver | None = options["driver"]
        self._version = Version(level_of(device_level(options)))
        self._visible: dict[int, frozenset[int]] = {}

    def supported(self, nodes: Sequence[int], mapped: MappedPartition) -> tuple[int, ...]:
        """Return the nodes of a partition of which the driver takes every operation.

        If the partition has sparse weights, or widens float16 values at run time, one that it does not take leaves none.
        """
        hidden = self._hidden(mapped)
        supported = tuple([node for node in nodes if node not in hidden and not self.rejected(node, mapped)])
        if len(supported) < len(nodes) and is_all_or_nothing(self._graph, nodes):
            return ()
        return supported

    def rejected(self, node: int, mapped: MappedPartition) -> tuple[str, ...]:
        """Return those operations of a node that the driver rejects, by name or by its profile."""
        operations = mapped.operations.get(node, ())
        if self._profile is None:
            return tuple([operation for operation in operations if operation in self._names]) if self._names else ()
        view = self._graph.view(self._graph.nodes[node])
        return tuple([one for one in operations if one in self._names or self._profile.rejects(one, view)])

    def takes_all(self, mapped: MappedPartition) -> bool:
        """Whether the driver takes every node of a partition."""
        if self._hidden(mapped):
            return False
        is_free = not self._names and self._profile is None
        return is_free or not any(self.rejected(node, mapped) for node in mapped.operations)

    def takes(self, node: int, mapped: MappedPartition) -> bool:
        """Whether the driver takes every operation of a node."""
        return node not in self._hidden(mapped) and not self.rejected(node, mapped)

    def reason(self, node: int, mapped: MappedPartition) -> Reason:
        """Say why the driver does not take a node."""
        rejected = frozenset(self.rejected(node, mapped))
        if rejected or node not in self._hidden(mapped):
            found = ", ".join(sorted(rejected)) or "an operation of the same partition"
            needed = "operations that the driver takes"
            return Reason(DRIVER.name, "driver", f"the driver rejects {found}", found, needed, DRIVER.hint)
        found = f"an operation above feature level {self._version.level}"
        message = f"the runtime does not show the driver {found}"
        return Reason(HIDDEN.name, "driver", message, found, "operations that the driver's level has", HIDDEN.hint)

    def _hidden(self, mapped: MappedPartition) -> frozenset[int]:
        """Return the nodes of which the runtime keeps an operation from the driver, for its feature level."""
        if mapped.model is None or mapped.required is None or mapped.required.fits(self._version):
            return frozenset()
        found = self._visible.get(id(mapped))
        if found is None:
            found = self._visible[id(mapped)] = _hidden_nodes(mapped.model.finish(), self._version)
        return found


def _hidden_nodes(model: NnModel, version: Version) -> frozenset[int]:
    visible = {operation.index for operation in visible_operations(model, version) or ()}
    return frozenset([node_of(one) for one in model.operations if one.index not in visible])


def node_of(operation: NnOperation) -> int:
    """Return the node that an operation was mapped for."""
    assert operation.tag is not None
    return operation.tag


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Whether a driver that rejects any operation of these nodes gets none of them."""
    return any(_is_all_or_nothing(graph.view(graph.nodes[index])) for index in nodes)


def _is_all_or_nothing(view: NodeView) -> bool:
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)

"""The nodes of a partition that the target devices support (``GetOperationsSupportedByTargetNnApiDevices``).

Source: ``delegates/nnapi/nnapi_delegate.cc``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ....graph.graph import Graph, NodeView
from ....nnapi_runtime.types import Version
from ....nnapi_runtime.types import feature_level as level_of
from ....refusal import Refusal
from ....rules.rule import Reason
from ...options import OptionValues
from ..lowering.partition import LoweredPartition, node_of
from ..options import chosen_devices, device_level
from ..target import (
    DRIVER,
    HIDDEN,
    NNAPI_1_2,
    REFERENCE_DEVICE,
    is_constant_densify,
    is_runtime_float16_dequantize,
    kernel_failure,
)
from .runtime import DriverRejections, runtime_level

if TYPE_CHECKING:
    from .device_profile import ProfiledDevice


class DriverAnswers:
    """The nodes that the target devices support.

    The result depends on the driver's rejections in the options, on the profile, and on the feature levels of the devices.
    """

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._options = options
        self.rejections = DriverRejections(graph, options)
        self._described: tuple[ProfiledDevice, ...] | None = chosen_devices(options)
        self._version = Version(level_of(device_level(options)))
        self._not_taken: dict[int, frozenset[int]] = {}

    def supported(self, nodes: Sequence[int], lowered: LoweredPartition) -> tuple[int, ...]:
        """Return the nodes for which the devices support every NNAPI operation. ``nodes`` are the nodes of one partition.

        If the partition unpacks sparse weights, or converts float16 values at run time, one unsupported node excludes all nodes.
        """
        left_out = self._left_out(lowered)
        if not left_out and self.rejections.is_empty:
            return tuple(nodes)
        supported = tuple([node for node in nodes if node not in left_out and not self.rejections.of_node(node, lowered)])
        if len(supported) < len(nodes) or self.rejections.has_some_of([lowered]):
            return () if is_all_or_nothing(self._graph, nodes) else supported
        return supported

    def takes_all(self, lowered: LoweredPartition) -> bool:
        """Return whether the devices take every node of a partition."""
        if self._left_out(lowered):
            return False
        return self.rejections.is_empty or not any(self.rejections.of_node(node, lowered) for node in lowered.operations)

    def reason(self, node: int, lowered: LoweredPartition) -> Reason:
        """Return the reason why the devices do not take a node."""
        rejected = frozenset(self.rejections.of_node(node, lowered))
        if not rejected and node in self._left_out(lowered):
            if self._described is None:
                hidden = f"an operation above feature level {self._version.level}"
                message = f"the NNAPI runtime does not pass {hidden} to the driver"
                return Reason(
                    HIDDEN.name, "driver", message, hidden, "operations that exist at the driver's feature level", HIDDEN.hint
                )
            rejected = frozenset(lowered.operations.get(node, ()))
        operations = ", ".join(sorted(rejected)) or "an operation of the same partition"
        needed = "operations that the driver accepts"
        return Reason(DRIVER.name, "driver", f"the driver rejects {operations}", operations, needed, DRIVER.hint)

    def _left_out(self, lowered: LoweredPartition) -> frozenset[int]:
        if self._described is None and (lowered.required is None or lowered.required.fits(self._version)):
            return frozenset()
        if lowered.model is None or not lowered.is_finished:
            return frozenset()
        left_out = self._not_taken.get(id(lowered))
        if left_out is None:
            from .compilation import target_devices  # importing the planner is slow, and few runs need it

            model = lowered.model.finish()
            places = [*range(len(model.operations))]
            for device in target_devices(self._options, lowered):
                if places:
                    answer = device.supported(model)
                    places = [place for place in places if not answer[place]]
            left_out = self._not_taken[id(lowered)] = frozenset([node_of(model.operations[place]) for place in places])
        return left_out


NO_DEVICE = Reason(
    DRIVER.name,
    "runtime",
    "the phone's profile has no NNAPI device except NNAPI's own CPU",
    "no NNAPI device except NNAPI's own CPU",
    "an accelerator",
    "list the phone's devices in the profile (--devices), choose another phone, or allow NNAPI's own CPU",
)


def lacks_device(options: OptionValues) -> bool:
    """Return whether the profile has no device that the delegate can use.

    Source: ``DoPrepare`` and ``GetTargetDevices``.
    """
    if runtime_level(options) < NNAPI_1_2 or options["accelerator_name"] == REFERENCE_DEVICE:
        return False
    return chosen_devices(options) == ()


def unknown_accelerator(options: OptionValues) -> Refusal | None:
    """Return a refusal if the options name an accelerator, but the profile does not have it."""
    name = options["accelerator_name"]
    if name is None:
        return None
    known = ", ".join([device.name for device in options["devices"].devices]) or "none"
    return kernel_failure("nnapi-accelerator-unknown", None, found=name, known=known)


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Return whether all of these nodes run on the CPU if the driver rejects a single operation."""
    return any(_is_all_or_nothing(graph.view(graph.nodes[index])) for index in nodes)


def _is_all_or_nothing(view: NodeView) -> bool:
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)

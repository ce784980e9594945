"""Ask the chosen devices about a mapped partition: the nodes they take, and the runtime's compilation on them.

Source: ``GetOperationsSupportedByTargetNnApiDevices`` and ``NNAPIDelegateKernel::Prepare`` (``nnapi_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...graph.graph import Graph, NodeView
from ...nnapi_runtime.model import NnOperation
from ...nnapi_runtime.types import Version
from ...nnapi_runtime.types import feature_level as level_of
from ...rules.rule import Reason
from ..base import KernelFailure, OptionValues
from .failures import kernel_failure
from .kinds import DRIVER, HIDDEN
from .mapping import MappedPartition
from .options import chosen_devices, device_level
from .questions import is_constant_densify, is_runtime_float16_dequantize
from .runtime import runtime_level
from .target import NNAPI_1_2, REFERENCE_DEVICE

if TYPE_CHECKING:
    from ...nnapi_runtime.compilation import Compilation
    from ..driver import Driver
    from .devices import ProfiledDevice


class DriverAnswers:
    """What the devices of the options take: by the names of operations, by profiles, and by their feature levels."""

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self.options = options
        self._names = frozenset(options["driver_rejects"])
        self._profile: Driver | None = options["driver"]
        self.described: tuple[ProfiledDevice, ...] | None = chosen_devices(options)
        self.version = Version(level_of(device_level(options)))
        self._not_taken: dict[int, frozenset[int]] = {}

    def supported(self, nodes: Sequence[int], mapped: MappedPartition) -> tuple[int, ...]:
        """Return the nodes of a partition of which the devices take every operation.

        If the partition has sparse weights, or widens float16 values at run time, one that they do not take leaves none.
        """
        left_out = self._left_out(mapped)
        if not left_out and self._profile is None and not self._names:
            return tuple(nodes)
        supported = tuple([node for node in nodes if node not in left_out and not self.rejected(node, mapped)])
        if len(supported) < len(nodes) or self.rejects_some([mapped]):
            return () if is_all_or_nothing(self._graph, nodes) else supported
        return supported

    def rejects_some(self, partitions: Sequence[MappedPartition]) -> bool:
        """Whether the driver is known to reject at least one operation of some partitions, though not which."""
        if self._profile is None or not self._profile.has_open_rejections:
            return False
        from ..driver import signature  # most runs have no profile

        return self._profile.rejects_some(
            {
                signature(operation, self._graph.view(self._graph.nodes[node]))
                for mapped in partitions
                for node, operations in mapped.operations.items()
                for operation in operations
            }
        )

    def rejected(self, node: int, mapped: MappedPartition) -> tuple[str, ...]:
        """Return those operations of a node that the driver rejects, by name or by its profile."""
        if self._profile is None and not self._names:
            return ()
        operations = mapped.operations.get(node, ())
        if self._profile is None:
            return tuple([operation for operation in operations if operation in self._names])
        view = self._graph.view(self._graph.nodes[node])
        return tuple([one for one in operations if one in self._names or self._profile.rejects(one, view)])

    def takes_all(self, mapped: MappedPartition) -> bool:
        """Whether the devices take every node of a partition."""
        if self._left_out(mapped):
            return False
        is_free = not self._names and self._profile is None
        return is_free or not any(self.rejected(node, mapped) for node in mapped.operations)

    def reason(self, node: int, mapped: MappedPartition) -> Reason:
        """Say why the devices do not take a node."""
        rejected = frozenset(self.rejected(node, mapped))
        if not rejected and node in self._left_out(mapped):
            if self.described is None:
                found = f"an operation above feature level {self.version.level}"
                message = f"the runtime does not show the driver {found}"
                return Reason(HIDDEN.name, "driver", message, found, "operations that the driver's level has", HIDDEN.hint)
            rejected = frozenset(mapped.operations.get(node, ()))
        found = ", ".join(sorted(rejected)) or "an operation of the same partition"
        needed = "operations that the driver takes"
        return Reason(DRIVER.name, "driver", f"the driver rejects {found}", found, needed, DRIVER.hint)

    def compiled(self, mapped: MappedPartition) -> Compilation | None:
        """Compile a partition as the kernel does when it is prepared; None if its model is not finished."""
        from .compiling import compiled  # only needed where devices may refuse something, or share a partition

        return compiled(self, mapped)

    def _left_out(self, mapped: MappedPartition) -> frozenset[int]:
        """Return the nodes of which no device takes an operation, for what the profile or its feature level says of it."""
        if self.described is None and (mapped.required is None or mapped.required.fits(self.version)):
            return frozenset()
        if mapped.model is None or not mapped.is_finished:
            return frozenset()
        found = self._not_taken.get(id(mapped))
        if found is None:
            from .compiling import target_devices

            model = mapped.model.finish()
            answers = [device.supported(model) for device in target_devices(self, mapped, by_name=False)]
            places = [place for place in range(len(model.operations)) if not any(answer[place] for answer in answers)]
            found = self._not_taken[id(mapped)] = frozenset([node_of(model.operations[place]) for place in places])
        return found


@dataclass(frozen=True, slots=True)
class DeviceProblem:
    """No device can be used: with a failure if one was named."""

    failure: KernelFailure | None


NO_DEVICE = Reason(
    DRIVER.name,
    "runtime",
    "the profile of the phone has no NNAPI device but its own CPU",
    "no NNAPI device but its own CPU",
    "an accelerator",
    "list the phone's devices in the profile (--devices), choose a phone that has any, or allow NNAPI's own CPU",
)


def device_problem(options: OptionValues) -> DeviceProblem | None:
    """Return why no device of the profile can be used, if so (``DoPrepare``, ``GetTargetDevices``)."""
    described, name = chosen_devices(options), options["accelerator_name"]
    if described is None or described or runtime_level(options) < NNAPI_1_2 or name == REFERENCE_DEVICE:
        return None
    if name is None:
        return DeviceProblem(None)
    known = ", ".join([device.name for device in options["devices"].devices]) or "none"
    return DeviceProblem(kernel_failure("nnapi-accelerator-unknown", None, found=name, known=known))


def node_of(operation: NnOperation) -> int:
    """Return the node that an operation was mapped for."""
    assert operation.tag is not None
    return operation.tag


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Whether a driver that rejects any operation of these nodes gets none of them."""
    return any(_is_all_or_nothing(graph.view(graph.nodes[index])) for index in nodes)


def _is_all_or_nothing(view: NodeView) -> bool:
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)

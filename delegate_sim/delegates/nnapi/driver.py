"""What the chosen devices take of a mapped partition, and what the runtime compiles it to on them.

Source: ``GetOperationsSupportedByTargetNnApiDevices`` and ``NNAPIDelegateKernel::Prepare`` (``nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...graph.graph import Graph, NodeView
from ...nnapi_runtime import (
    Compilation,
    CompilationOptions,
    Costs,
    CpuDevice,
    Device,
    DeviceCost,
    DriverDevice,
    NnModel,
    NnOperation,
    OperationType,
    Partitioning,
    Preference,
    Version,
    compile_model,
)
from ...nnapi_runtime import feature_level as level_of
from ...rules.rule import Reason
from ..base import KernelFailure, OptionValues
from ..driver import Driver, signature
from .devices import REFERENCE_DEVICE, ProfiledDevice
from .failures import kernel_failure
from .kinds import DRIVER
from .mapping import MappedPartition
from .options import asks_driver, chosen_devices, device_level
from .questions import is_constant_densify, is_runtime_float16_dequantize
from .runtime import runtime_level
from .runtime_kinds import HIDDEN
from .target import NNAPI_1_2

UNNAMED_DEVICE = "accelerator"
"""What a device is called of which only the feature level is known."""

_PREFERENCES = {
    "low_power": Preference.LOW_POWER,
    "fast_single_answer": Preference.FAST_SINGLE_ANSWER,
    "sustained_speed": Preference.SUSTAINED_SPEED,
}
_CHEAP = Costs(default=DeviceCost(0.5, 0.5))
"""A device that is not described is taken to be better than the CPU at everything."""


class DriverAnswers:
    """What the devices of the options take: by the names of operations, by profiles, and by their feature levels."""

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._options = options
        self._names = frozenset(options["driver_rejects"])
        self._profile: Driver | None = options["driver"]
        self._described: tuple[ProfiledDevice, ...] | None = chosen_devices(options)
        self._version = Version(level_of(device_level(options)))
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
            if self._described is None:
                found = f"an operation above feature level {self._version.level}"
                message = f"the runtime does not show the driver {found}"
                return Reason(HIDDEN.name, "driver", message, found, "operations that the driver's level has", HIDDEN.hint)
            rejected = frozenset(mapped.operations.get(node, ()))
        found = ", ".join(sorted(rejected)) or "an operation of the same partition"
        needed = "operations that the driver takes"
        return Reason(DRIVER.name, "driver", f"the driver rejects {found}", found, needed, DRIVER.hint)

    def compiled(self, mapped: MappedPartition) -> Compilation | None:
        """Compile a partition as the kernel does when it is prepared; None if its model is not finished.

        The devices that were chosen run alone; without any, all run with NNAPI's CPU, which then also takes over.
        """
        if mapped.model is None or not mapped.is_finished:
            return None
        model = mapped.model.finish()
        cpu = CpuDevice(model.android)
        devices: list[Device]
        if self._options["accelerator_name"] == REFERENCE_DEVICE:
            devices, partitioning = [cpu], Partitioning.WITHOUT_FALLBACK
        elif asks_driver(self._options):
            devices, partitioning = [*self._devices(mapped)], Partitioning.WITHOUT_FALLBACK
        else:
            devices, partitioning = [*self._devices(mapped), cpu], Partitioning.WITH_FALLBACK
        preference = _PREFERENCES.get(self._options["execution_preference"], Preference.FAST_SINGLE_ANSWER)
        return compile_model(model, devices, CompilationOptions(preference, partitioning))

    def _left_out(self, mapped: MappedPartition) -> frozenset[int]:
        """Return the nodes of which no device takes an operation, for what the profile or its feature level says of it."""
        if self._described is None and (mapped.required is None or mapped.required.fits(self._version)):
            return frozenset()
        if mapped.model is None or not mapped.is_finished:
            return frozenset()
        found = self._not_taken.get(id(mapped))
        if found is None:
            model = mapped.model.finish()
            answers = [device.supported(model) for device in self._devices(mapped, by_name=False)]
            places = [place for place in range(len(model.operations)) if not any(answer[place] for answer in answers)]
            found = self._not_taken[id(mapped)] = frozenset([node_of(model.operations[place]) for place in places])
        return found

    def _devices(self, mapped: MappedPartition, *, by_name: bool = True) -> list[DriverDevice]:
        """Return the devices as the runtime meets them; ``by_name``: with the operations that the options reject by name."""
        rejected = {node for node in mapped.operations if self.rejected(node, mapped)} if by_name else set()

        def accepts(own: ProfiledDevice | None, model: NnModel, operation: NnOperation) -> bool:
            if operation.tag in rejected and OperationType(operation.type).name in self.rejected(node_of(operation), mapped):
                return False
            return own is None or own.accepts(model, operation)

        if self._described is None:
            name = self._options["accelerator_name"] or UNNAMED_DEVICE
            return [DriverDevice(name, self._version.level, functools.partial(accepts, None), _CHEAP)]
        return [
            DriverDevice(
                one.name,
                one.feature_level,
                functools.partial(accepts, one),
                one.costs,
                one.compiles,
                is_updatable=one.is_updatable,
            )
            for one in self._described
        ]


class DeviceProblem(NamedTuple):
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

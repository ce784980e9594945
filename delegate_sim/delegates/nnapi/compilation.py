"""Compilation of a partition by the NNAPI runtime for the selected devices (``NNAPIDelegateKernel::Prepare``)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TypeAlias

from ...nnapi_runtime.compilation import Compilation, CompilationOptions, Partitioning, compile_model
from ...nnapi_runtime.devices import Costs, Device, DeviceCost, cpu_device
from ...nnapi_runtime.model import NnModel, NnOperation
from ...nnapi_runtime.operands import Lifetime
from ...nnapi_runtime.types import OperationType, Preference, feature_level
from ..driver import StageSignature
from ..options import OptionValues
from ..traits import StageSplit, StageStep
from .device_profile import ProfiledDevice, matching_signatures
from .lowering.partition import LoweredPartition, node_of
from .options import asks_driver, chosen_devices, device_level
from .target import REFERENCE_DEVICE

UNNAMED_DEVICE = "accelerator"
"""The name of the simulated device if the options give no profile of devices."""

_CHEAP = Costs(default=DeviceCost(0.5, 0.5))
"""The costs of a device without a profile. The device is assumed to run every operation faster than the CPU."""


Rejected: TypeAlias = Mapping[int, Collection[str]]
"""The NNAPI operations of each node that the driver rejects."""


def compile_partition(options: OptionValues, rejected: Rejected, lowered: LoweredPartition) -> Compilation | None:
    """Compile a partition, or return None if the partition's NNAPI model is not finished.

    If the options specify target devices, NNAPI uses only these devices. Otherwise, NNAPI uses all devices and its own CPU
    implementation. If compilation for the devices then fails, the CPU implementation takes over.
    """
    if lowered.model is None or not lowered.is_finished:
        return None
    model = lowered.model.finish()
    cpu = cpu_device(model.android)
    matching = functools.cache(matching_signatures)
    targets = target_devices(options, rejected, matching)
    devices: list[Device]
    if options["accelerator_name"] == REFERENCE_DEVICE:
        devices, partitioning = [cpu], Partitioning.WITHOUT_FALLBACK
    elif asks_driver(options):
        devices, partitioning = [*targets], Partitioning.WITHOUT_FALLBACK
    else:
        devices, partitioning = [*targets, cpu], Partitioning.WITH_FALLBACK
    preference = Preference[(options["execution_preference"] or "fast_single_answer").upper()]
    compilation = compile_model(model, devices, CompilationOptions(preference, partitioning))
    matching.cache_clear()  # the devices remain in the plan
    return compilation


def target_devices(
    options: OptionValues,
    rejected: Rejected = MappingProxyType({}),
    matching: Callable[[NnModel, NnOperation], Set[StageSignature]] | None = None,
) -> list[Device]:
    """Return the devices that the options select, as devices of the simulated NNAPI compiler.

    The devices share ``matching``, a cache of the signatures of operations.
    """
    matching = matching or functools.cache(matching_signatures)

    def accepts(profile: ProfiledDevice | None, model: NnModel, operation: NnOperation) -> bool:
        names = rejected.get(node_of(operation))
        if names and OperationType(operation.type).name in names:
            return False
        return profile is None or profile.accepts(model, operation, matching)

    described = chosen_devices(options)
    if described is None:
        name = options["accelerator_name"] or UNNAMED_DEVICE
        return [Device(name, feature_level(device_level(options)), functools.partial(accepts, None), _CHEAP)]
    return [
        Device(
            device.name,
            device.feature_level,
            functools.partial(accepts, device),
            device.costs,
            device.compiles,
            is_updatable=device.is_updatable,
        )
        for device in described
    ]


def split_of(nodes: tuple[int, ...], compilation: Compilation) -> StageSplit:
    """Return the steps of a compiled partition and, if NNAPI's CPU took over, the reason."""
    plan = compilation.plan
    if plan.device is not None:
        model = plan.models[0]
        given, results = [*model.inputs], [*model.outputs]
        steps = [_step(plan.device.name, model, model.operations, given, results)]
    else:
        steps = [
            _step(
                step.device.name,
                step.model,
                step.in_run_order,
                [*step.model_inputs, *step.temporary_inputs, *step.output_inputs],
                [*step.model_outputs, *step.temporary_outputs],
            )
            for step in plan.execution_steps
        ]
    error = compilation.refusal.message if compilation.fell_back and compilation.refusal is not None else ""
    return StageSplit(nodes, tuple(steps), error)


def _step(
    device: str, model: NnModel, operations: Sequence[NnOperation], given: Sequence[int], results: Sequence[int]
) -> StageStep:
    names = tuple([(node_of(operation), OperationType(operation.type).name) for operation in operations])
    return StageStep(device, names, _bytes(model, given), _bytes(model, results))


def _bytes(model: NnModel, indices: Sequence[int]) -> int:
    constants = (Lifetime.CONSTANT_COPY, Lifetime.CONSTANT_REFERENCE, Lifetime.OMITTED)
    return sum([model.operands[index].byte_size for index in indices if model.operands[index].lifetime not in constants])

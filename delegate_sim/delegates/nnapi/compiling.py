"""The runtime's compilation of a partition on the devices of the options (``NNAPIDelegateKernel::Prepare``)."""

from __future__ import annotations

import functools

from ...nnapi_runtime.compilation import Compilation, CompilationOptions, Partitioning, compile_model
from ...nnapi_runtime.devices import Costs, CpuDevice, Device, DeviceCost, DriverDevice
from ...nnapi_runtime.model import NnModel, NnOperation
from ...nnapi_runtime.types import OperationType, Preference
from .devices import ProfiledDevice
from .driver import DriverAnswers, node_of
from .mapping import MappedPartition
from .options import asks_driver
from .target import REFERENCE_DEVICE

UNNAMED_DEVICE = "accelerator"
"""What a device is called of which only the feature level is known."""

_PREFERENCES = {
    "low_power": Preference.LOW_POWER,
    "fast_single_answer": Preference.FAST_SINGLE_ANSWER,
    "sustained_speed": Preference.SUSTAINED_SPEED,
}
_CHEAP = Costs(default=DeviceCost(0.5, 0.5))
"""A device that is not described is taken to be better than the CPU at everything."""


def compiled(answers: DriverAnswers, mapped: MappedPartition) -> Compilation | None:
    """Compile a partition as the kernel does when it is prepared; None if its model is not finished.

    The devices that were chosen run alone; without any, all run with NNAPI's CPU, which then also takes over.
    """
    if mapped.model is None or not mapped.is_finished:
        return None
    model = mapped.model.finish()
    cpu = CpuDevice(model.android)
    devices: list[Device]
    if answers.options["accelerator_name"] == REFERENCE_DEVICE:
        devices, partitioning = [cpu], Partitioning.WITHOUT_FALLBACK
    elif asks_driver(answers.options):
        devices, partitioning = [*target_devices(answers, mapped)], Partitioning.WITHOUT_FALLBACK
    else:
        devices, partitioning = [*target_devices(answers, mapped), cpu], Partitioning.WITH_FALLBACK
    preference = _PREFERENCES.get(answers.options["execution_preference"], Preference.FAST_SINGLE_ANSWER)
    return compile_model(model, devices, CompilationOptions(preference, partitioning))


def target_devices(answers: DriverAnswers, mapped: MappedPartition, *, by_name: bool = True) -> list[DriverDevice]:
    """Return the devices as the runtime meets them; ``by_name``: with the operations that the options reject by name."""
    rejected = {node for node in mapped.operations if answers.rejected(node, mapped)} if by_name else set()

    def accepts(own: ProfiledDevice | None, model: NnModel, operation: NnOperation) -> bool:
        if operation.tag in rejected and OperationType(operation.type).name in answers.rejected(node_of(operation), mapped):
            return False
        return own is None or own.accepts(model, operation)

    if answers.described is None:
        name = answers.options["accelerator_name"] or UNNAMED_DEVICE
        return [DriverDevice(name, answers.version.level, functools.partial(accepts, None), _CHEAP)]
    return [
        DriverDevice(
            one.name,
            one.feature_level,
            functools.partial(accepts, one),
            one.costs,
            one.compiles,
            is_updatable=one.is_updatable,
        )
        for one in answers.described
    ]

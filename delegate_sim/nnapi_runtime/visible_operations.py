"""The part of a model that the runtime shows to a device with a lower feature level.

Upstream: common/MetaModel.cpp getSlice, makeSlice, invalid.
"""

from __future__ import annotations

from collections import Counter

from .model import NnModel, NnOperation
from .operands import Lifetime
from .types import Version


def visible_operations(model: NnModel, available: Version) -> list[NnOperation] | None:
    """Return the operations that the runtime shows to a device, in run order, or None if the device sees no operation.

    A device that supports the model's version sees the whole model. Any other device sees a slice, which has the operations that
    the device's version allows. If the slice has no outputs, or if an operation of the slice refers to another model, the device
    sees no operation.
    """
    if model.version.fits(available):
        return list(model.operations)
    pairs = zip(model.operations, model.operation_versions, strict=True)
    kept = [operation for operation, version in pairs if version.fits(available)]
    if any(model.operands[index].lifetime == Lifetime.SUBMODEL for operation in kept for index in operation.inputs):
        return None
    return kept if _has_output(model, kept) else None


def _has_output(model: NnModel, kept: list[NnOperation]) -> bool:
    """Return whether a slice has an output: a model output, or a result that only operations outside the slice read."""
    readers = Counter(index for operation in model.operations for index in operation.inputs)
    read_inside = {index for operation in kept for index in operation.inputs}
    return any(
        model.operands[index].lifetime == Lifetime.MODEL_OUTPUT or (readers[index] > 0 and index not in read_inside)
        for operation in kept
        for index in operation.outputs
    )

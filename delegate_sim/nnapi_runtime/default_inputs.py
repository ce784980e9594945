"""Removal of trailing optional inputs with default values, as in the runtime's ``finish``.

Without these inputs, an operation may need a lower feature level.

Upstream: runtime/ModelBuilder.cpp getNumTrailingArgumentsToRemove.
"""

from __future__ import annotations

from collections.abc import Sequence

from .model import NnOperation
from .operands import NnOperand
from .operations import OPERATIONS
from .types import AndroidRelease

DEFAULTS_DROPPED_SINCE = AndroidRelease.ANDROID_11
"""From this release on, ``finish`` removes trailing inputs with default values."""


def without_default_inputs(operation: NnOperation, operands: Sequence[NnOperand]) -> NnOperation:
    """Return the operation without trailing optional inputs that have default values."""
    rule = OPERATIONS.get(operation.type)
    if rule is None or not rule.optional:
        return operation
    inputs = [operands[index] for index in operation.inputs]
    optional = next((candidate for candidate in rule.optional if candidate.fits(inputs)), None)
    if optional is None:
        return operation
    count = optional.count_needed(inputs)
    return operation if count == len(inputs) else operation._replace(inputs=operation.inputs[:count])

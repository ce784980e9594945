"""Removal of an operation's trailing optional inputs if they hold their default values, as in the runtime's ``finish``.

Without these inputs, the operation may need a lower feature level.

Upstream: runtime/ModelBuilder.cpp getNumTrailingArgumentsToRemove.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .model import NnOperation
from .operands import NnOperand
from .operations import OPERATIONS
from .types import AndroidRelease

DEFAULTS_DROPPED_SINCE = AndroidRelease.ANDROID_11
"""The first release whose ``finish`` removes trailing inputs that hold their default values."""


def without_default_inputs(operation: NnOperation, operands: Sequence[NnOperand]) -> NnOperation:
    """Return the operation without the trailing optional inputs that hold their default values."""
    rule = OPERATIONS.get(operation.type)
    if rule is None or not rule.optional:
        return operation
    inputs = [operands[index] for index in operation.inputs]
    optional = next((candidate for candidate in rule.optional if candidate.fits(inputs)), None)
    if optional is None:
        return operation
    count = optional.count_needed(inputs)
    return operation if count == len(inputs) else replace(operation, inputs=operation.inputs[:count])

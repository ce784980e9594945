"""Verdicts on operands and operations by all that decides about them. Each is kept, since models repeat the same ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeAlias

from .operands import ChannelQuantization, NnOperand, check_operand_type, check_value, operand_version
from .operations import validate_operation
from .refusal import Call, NnRefusal, NnRefused
from .types import AndroidRelease, OperationType, Version

Signature: TypeAlias = tuple[int, tuple[int, ...], float, int, int | None]
"""Type, dimensions, scale, zero point and channel dimension of an operand: all that validators look at."""

_KEPT = 1 << 14
_CONTROL_FLOW = frozenset({OperationType.IF, OperationType.WHILE})


@functools.lru_cache(_KEPT)
def operand_refusal(
    code: int, dimensions: tuple[int, ...], scale: float, zero_point: int, has_pointer: bool
) -> NnRefusal | None:
    """Return why addOperand refuses an operand; None if it does not."""
    try:
        check_operand_type(NnOperand(code, dimensions, scale, zero_point), has_pointer)
    except NnRefused as refused:
        return refused.refusal
    return None


@functools.lru_cache(_KEPT)
def value_refusal(code: int, dimensions: tuple[int, ...], length: int, call: Call) -> NnRefusal | None:
    """Return why an operand of this type and shape cannot have a value of so many bytes; None if it can."""
    try:
        check_value(NnOperand(code, dimensions), length, call)
    except NnRefused as refused:
        return refused.refusal
    return None


def signature(operand: NnOperand) -> Signature:
    """Return what validators look at."""
    channels = operand.channels
    return (
        operand.type,
        operand.dimensions,
        operand.scale,
        operand.zero_point,
        None if channels is None else channels.dimension,
    )


def judged_operation(
    code: int, inputs: Sequence[NnOperand], outputs: Sequence[NnOperand], android: AndroidRelease, has_operands: bool = False
) -> Version:
    """Return what an operation needs, with what its operands need if ``has_operands``; raise NnRefused if it is refused."""
    if code in _CONTROL_FLOW:
        # These look into the models that their operands refer to.
        return _version(code, inputs, outputs, android, has_operands)
    verdict = _judge(
        code, tuple([signature(one) for one in inputs]), tuple([signature(one) for one in outputs]), android, has_operands
    )
    if isinstance(verdict, NnRefusal):
        raise NnRefused(verdict)
    return verdict


@functools.lru_cache(_KEPT)
def _judge(
    code: int, inputs: tuple[Signature, ...], outputs: tuple[Signature, ...], android: AndroidRelease, has_operands: bool
) -> Version | NnRefusal:
    try:
        return _version(code, [_operand(one) for one in inputs], [_operand(one) for one in outputs], android, has_operands)
    except NnRefused as refused:
        return refused.refusal


def _operand(given: Signature) -> NnOperand:
    code, dimensions, scale, zero_point, channel = given
    return NnOperand(code, dimensions, scale, zero_point, None if channel is None else ChannelQuantization(channel, ()))


def _version(
    code: int, inputs: Sequence[NnOperand], outputs: Sequence[NnOperand], android: AndroidRelease, has_operands: bool
) -> Version:
    version = validate_operation(code, inputs, outputs, android)
    if has_operands:
        for operand in (*inputs, *outputs):
            version = version.combine(operand_version(operand))
    return version

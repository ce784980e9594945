"""Cached checks of operands and operations. Models contain many equal operands and operations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ..refusal import Refusal, Refused
from .operands import ChannelQuantization, NnOperand, OperandKey, check_operand_type, check_value, operand_version
from .operations import validate_operation
from .refusal import Call
from .types import AndroidRelease, OperationType, Version

_KEPT = 1 << 14
_CONTROL_FLOW = frozenset({OperationType.IF, OperationType.WHILE})


@functools.lru_cache(_KEPT)
def operand_key(code: int, dimensions: tuple[int, ...], scale: float, zero_point: int, channel: int | None = None) -> OperandKey:
    """Return the key that all operands with this type, shape and quantization share."""
    return OperandKey(code, dimensions, scale, zero_point, channel)


@functools.lru_cache(_KEPT)
def operand_refusal(key: OperandKey, has_pointer: bool) -> Refusal | None:
    """Return the refusal by addOperand, or None if addOperand accepts the operand."""
    try:
        check_operand_type(NnOperand(key.type, key.dimensions, key.scale, key.zero_point), has_pointer)
    except Refused as refused:
        return refused.refusal
    return None


@functools.lru_cache(_KEPT)
def value_refusal(key: OperandKey, length: int, call: Call) -> Refusal | None:
    """Return the refusal by a call that sets a value of ``length`` bytes, or None if the call accepts the value."""
    try:
        check_value(NnOperand(key.type, key.dimensions), length, call)
    except Refused as refused:
        return refused.refusal
    return None


def key_of(operand: NnOperand) -> OperandKey:
    """Return the key of an operand."""
    channel = None if operand.channels is None else operand.channels.dimension
    key = operand.key
    if key is None or key.channel != channel:
        key = operand.key = operand_key(operand.type, operand.dimensions, operand.scale, operand.zero_point, channel)
    return key


@dataclass(frozen=True, slots=True)
class OperationVerdict:
    """The verdicts on an operation.

    ``own`` is the verdict on the operation alone. ``whole`` also includes the verdicts on the operands. A verdict is the needed
    version, or the refusal.
    """

    own: Version | Refusal
    whole: Version | Refusal


def validate_with_operands(
    code: int, inputs: Sequence[NnOperand], outputs: Sequence[NnOperand], android: AndroidRelease
) -> OperationVerdict:
    """Return the verdict on an operation alone, and the verdict that includes the operands."""
    if code in _CONTROL_FLOW:
        # Verdicts on control flow are not cached, because they depend on other models, and keys do not include these models.
        return _verdict(code, inputs, outputs, android)
    return _kept(code, tuple([key_of(one) for one in inputs]), tuple([key_of(one) for one in outputs]), android)


def version_or_raise(verdict: Version | Refusal) -> Version:
    """Return the version of a verdict, or raise Refused if the verdict is a refusal."""
    if isinstance(verdict, Refusal):
        raise Refused(verdict)
    return verdict


@functools.lru_cache(_KEPT)
def _kept(
    code: int, inputs: tuple[OperandKey, ...], outputs: tuple[OperandKey, ...], android: AndroidRelease
) -> OperationVerdict:
    return _verdict(code, [operand_of(one) for one in inputs], [operand_of(one) for one in outputs], android)


def _verdict(code: int, inputs: Sequence[NnOperand], outputs: Sequence[NnOperand], android: AndroidRelease) -> OperationVerdict:
    try:
        own = version = validate_operation(code, inputs, outputs, android)
    except Refused as refused:
        return OperationVerdict(refused.refusal, refused.refusal)
    try:
        for operand in (*inputs, *outputs):
            version = version.combine(operand_version(operand))
    except Refused as refused:
        return OperationVerdict(own, refused.refusal)
    return OperationVerdict(own, version)


def operand_of(key: OperandKey) -> NnOperand:
    """Return a new operand with the properties of a key."""
    channels = None if key.channel is None else ChannelQuantization(key.channel, ())
    return NnOperand(key.type, key.dimensions, key.scale, key.zero_point, channels, key=key)

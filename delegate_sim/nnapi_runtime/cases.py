"""Cases as plain data, and answers as plain data: the form in which records of the real runtime are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .operands import (
    ChannelQuantization,
    Lifetime,
    Operand,
    check_channels,
    check_no_value,
    check_operand_type,
    check_value,
    make_operand,
    operand_version,
)
from .operations import validate_operation as _operation_version
from .refusal import Call, Refused
from .types import AndroidRelease, OperationType, float32


def read_operand(case: Mapping[str, Any]) -> Operand:
    """Return the operand of a case, as addOperand gets it."""
    # Infinity and NaN, which JSON lacks, are written as text.
    return make_operand(case["type"], case["dims"], float(case.get("scale", 0.0)), case.get("zero_point", 0))


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a case with ``type dims scale zero_point per_channel value``.

    ``per_channel`` is the channel dimension and the scales, ``value`` the length and how it is given: "null" for an omitted
    operand, "mem" for memory, anything else for a pointer.
    """
    operand = read_operand(case)
    try:
        check_operand_type(operand)
        if case.get("per_channel") is not None:
            dimension, scales = case["per_channel"]
            check_channels(operand, ChannelQuantization(dimension, tuple(map(float32, scales))))
        if case.get("value") is not None:
            length, how = case["value"]
            if how == "null":
                check_no_value(length)
            else:
                check_value(operand, length, Call.SET_VALUE_FROM_MEMORY if how == "mem" else Call.SET_VALUE)
    except Refused as refused:
        return {"accepted": False, "refusal": refused.refusal.to_dict()}
    return {"accepted": True, "refusal": None}


def _full_operand(case: Mapping[str, Any], is_omitted: bool) -> Operand:
    operand = read_operand(case)
    check_operand_type(operand)
    if "scales" in case:
        # Only the number of scales is given; their values decide nothing here.
        operand.channels = ChannelQuantization(case["channel_dim"], (1.0,) * case["scales"])
        check_channels(operand, operand.channels)
    if is_omitted:
        operand.lifetime = Lifetime.OMITTED
    return operand


def validate_operation(case: Mapping[str, Any], android: int = AndroidRelease.ANDROID_13) -> dict[str, Any]:
    """Answer a case with ``op inputs outputs omitted``: the name of the operation, its operands, which inputs are omitted."""
    try:
        inputs = [_full_operand(one, index in case["omitted"]) for index, one in enumerate(case["inputs"])]
        outputs = [_full_operand(one, is_omitted=False) for one in case["outputs"]]
        version = _operation_version(OperationType[case["op"]], inputs, outputs, AndroidRelease(android))
        for operand in (*inputs, *outputs):
            version = version.combine(operand_version(operand))
    except Refused as refused:
        return {"accepted": False, "level": None, "runtime_only": False, "refusal": refused.refusal.to_dict()}
    return {"accepted": True, "level": version.level, "runtime_only": version.runtime_only, "refusal": None}

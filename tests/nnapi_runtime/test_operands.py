"""Demands of the calls that add operands and give them values."""

from __future__ import annotations

import pytest

from delegate_sim.nnapi_runtime.cases import validate_operand
from delegate_sim.nnapi_runtime.types import OperandType
from tests.support.nnapi_runtime_examples import T, operand


def case(code=T.TENSOR_FLOAT32, dims=(2, 3), per_channel=None, value=None, **more):
    return {**operand(code, dims, **more), "per_channel": per_channel, "value": value}


CHANNELS = T.TENSOR_QUANT8_SYMM_PER_CHANNEL

MET = [
    case(),
    case(T.INT32, ()),
    case(dims=()),
    case(dims=(0, 3)),
    case(T.TENSOR_INT32, scale=-1.0, zero_point=7),
    case(T.TENSOR_QUANT8_ASYMM, zero_point=255),
    case(T.TENSOR_QUANT8_ASYMM_SIGNED, zero_point=-128),
    case(T.TENSOR_QUANT16_ASYMM, zero_point=65535),
    case(T.TENSOR_QUANT8_SYMM, scale=1e-40),
    case(T.TENSOR_OEM_BYTE, scale=-1.0, zero_point=-1),
    case(CHANNELS, per_channel=[1, [0.5, 0.5, 0.5]]),
    case(value=[24, "z"]),
    case(value=[24, "mem"]),
    case(value=[0, "null"]),
    case(T.OEM_SCALAR, (), value=[5, "z"]),
]

REFUSED = [
    ("operand-type", case() | {"type": 16}),
    ("operand-type", case() | {"type": -1}),
    ("operand-scalar-dimensions", case(T.FLOAT32, (1,))),
    ("operand-bytes", case(dims=(1 << 15, 1 << 15))),
    ("operand-scale", case(scale=0.5)),
    ("operand-scale", case(T.TENSOR_QUANT8_ASYMM, scale=0.0)),
    ("operand-scale", case(T.TENSOR_QUANT8_ASYMM, scale="nan")),
    ("operand-scale", case(T.TENSOR_QUANT8_ASYMM, scale="inf")),
    ("operand-zero-point", case(zero_point=1)),
    ("operand-zero-point", case(T.TENSOR_QUANT8_ASYMM, zero_point=256)),
    ("operand-zero-point", case(T.TENSOR_QUANT8_ASYMM_SIGNED, zero_point=128)),
    ("operand-zero-point", case(T.TENSOR_QUANT16_SYMM, zero_point=-1)),
    ("channel-type", case(per_channel=[0, [1.0, 1.0]])),
    ("channel-dimension", case(CHANNELS, per_channel=[2, [1.0, 1.0]])),
    ("channel-count", case(CHANNELS, per_channel=[0, [1.0, 1.0, 1.0]])),
    ("channel-count", case(CHANNELS, (0, 3), per_channel=[0, []])),
    ("channel-scale", case(CHANNELS, per_channel=[0, [1.0, 0.0]])),
    ("value-pointer", case(value=[0, "z"])),
    ("value-pointer", case(value=[4, "null"])),
    ("value-shape", case(dims=(), value=[4, "z"])),
    ("value-shape", case(dims=(2, 0), value=[4, "mem"])),
    ("value-length", case(value=[23, "z"])),
    ("value-length", case(T.MODEL, (), value=[0, "mem"])),
]


@pytest.mark.parametrize("case", MET)
def test_accepted(case):
    assert validate_operand(case) == {"accepted": True, "refusal": None}


@pytest.mark.parametrize(("code", "case"), REFUSED)
def test_refused(code, case):
    answer = validate_operand(case)
    assert not answer["accepted"]
    assert answer["refusal"]["code"] == code


def test_a_refusal_tells_call_result_found_and_needed():
    refusal = validate_operand(case(T.TENSOR_QUANT8_ASYMM, zero_point=300))["refusal"]
    assert refusal["call"] == "ANeuralNetworksModel_addOperand"
    assert refusal["result"] == 4
    assert (refusal["subject"], refusal["found"]) == ("zero point", "300")
    assert refusal["needed"] == "0 to 255 for TENSOR_QUANT8_ASYMM"
    assert refusal["source"].startswith("common/types/src/Validation.cpp")


@pytest.mark.parametrize("code", OperandType)
def test_every_type_can_be_added(code):
    assert validate_operand(case(code, (2, 3) if code.name.startswith("TENSOR") else ()))["accepted"]

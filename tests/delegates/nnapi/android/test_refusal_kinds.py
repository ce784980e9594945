"""Advice on rejected calls, which depends on values and not on texts."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.android.refusals import change_for
from delegate_sim.nnapi_runtime.refusal import ForType, OperandPart
from delegate_sim.nnapi_runtime.types import OperandType as T
from delegate_sim.refusal import Refusal


@pytest.mark.parametrize(
    ("code", "operation", "found", "needed", "words"),
    [
        ("operation-input-type", "FULLY_CONNECTED", T.TENSOR_QUANT8_SYMM_PER_CHANNEL, T.TENSOR_INT32, "quantize dense layers"),
        ("operation-input-type", "CONV_2D", T.TENSOR_QUANT8_SYMM_PER_CHANNEL, T.TENSOR_INT32, "weights of CONV_2D in float"),
        ("operation-input-count", "CONV_2D", T.TENSOR_QUANT8_SYMM_PER_CHANNEL.value, 9, "a combination of operands"),
        ("operand-zero-point", "", 3, ForType("0", T.TENSOR_QUANT8_SYMM), "use feature level 30"),
        ("operand-zero-point", "", 3, ForType("0", T.TENSOR_INT32), "quantize again"),
        ("operation-type", "TRANSPOSE", T.TENSOR_INT32, T.TENSOR_FLOAT32, "insert a CAST before and after"),
        ("operation-type", "ADD", T.TENSOR_BOOL8, T.TENSOR_FLOAT32, "or insert a CAST"),
        ("operation-input-type", "TRANSPOSE_CONV", T.TENSOR_FLOAT16, T.TENSOR_FLOAT32, "convert with float32 weights"),
    ],
)
def test_advice_follows_from_values(code, operation, found, needed, words):
    values = {"operand": OperandPart("input", 1), "found": found, "needed": needed}
    assert words in change_for(Refusal(code, "", values=values, operation=operation))

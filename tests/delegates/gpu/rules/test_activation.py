"""Rules of activation functions and conversions.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.gpu.rules import activation
from tests.support.delegates.gpu_table import (
    BOOL,
    COUNT,
    FLOAT,
    FLOAT_ONLY,
    FLOATS,
    HALF,
    INT8,
    INT16,
    INT32,
    NEIGHBOR,
    QUANTIZATION,
    TYPE,
    UINT8,
    VALUE,
    VERSION,
    Chain,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant
from tests.support.tables import for_each

TABLE = FamilyCases(activation)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("ELU", "GELU", "LOGISTIC", "TANH"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])

for _op in ("RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "LEAKY_RELU"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, None, inputs=[FLOATS])

accepted("HARD_SWISH", [FLOAT], [FLOAT], version=9)
variant("HARD_SWISH", COUNT, inputs=[FLOATS])
accepted("PRELU", [FLOAT, constant([[[0.1, 0.2]]], "FLOAT32")], [FLOAT])
variant("PRELU", VERSION, version=2)

accepted("SOFTMAX", [FLOAT], [FLOAT], version=2, beta=1.0)
variant("SOFTMAX", VERSION, version=3)
variant("SOFTMAX", VALUE, beta=2.0)
without_options("SOFTMAX", VALUE)

for _producer, _casts, _float_reads, _code in (
    ("LESS", 1, 1, None),
    ("LESS", 2, 1, NEIGHBOR),
    ("LESS", 1, 0, NEIGHBOR),
    ("LESS", 1, 2, NEIGHBOR),
    ("LOGICAL_NOT", 1, 1, None),
):
    _chain = Chain()
    _x, _bool, _float = (_chain.tensor(kind, 2) for kind in ("FLOAT32", "BOOL", "FLOAT32"))
    _chain.add(_producer, [_x], [_bool]).add("CAST", [_bool], [_float])
    for _ in range(_casts - 1):
        _chain.add("CAST", [_bool], [_chain.tensor("FLOAT32", 2)])
    for _ in range(_float_reads):
        _chain.add("ABS", [_float], [_chain.tensor("FLOAT32", 2)])
    _chain.case(TABLE, "CAST", _code, index=1)

accepted("CAST", [FLOAT], [INT32], version=9)
variant("CAST", None, inputs=[INT32], outputs=[FLOAT])
variant("CAST", None, inputs=[HALF], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT32], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT8], outputs=[FLOAT])
variant("CAST", COUNT, inputs=[FLOATS])
variant("CAST", NEIGHBOR, inputs=[BOOL], outputs=[FLOAT])

accepted("QUANTIZE", [FLOAT], [INT8], version=2)
variant("QUANTIZE", QUANTIZATION, target=FLOAT_ONLY)
variant("QUANTIZE", VERSION, version=3)
variant("QUANTIZE", COUNT, inputs=[FLOATS])
accepted("DEQUANTIZE", [UINT8], [FLOAT], version=3)
variant("DEQUANTIZE", QUANTIZATION, target=FLOAT_ONLY)
variant("DEQUANTIZE", VERSION, version=4)
variant("DEQUANTIZE", COUNT, outputs=[FLOAT, FLOAT])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT16])
accepted("DENSIFY", [FLOATS], [FLOAT])
variant("DENSIFY", VERSION, version=2)
variant("DENSIFY", COUNT, inputs=[FLOAT])


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

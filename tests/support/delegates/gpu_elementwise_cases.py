"""Cases of activations, arithmetic, comparisons, logic and operators that change types."""

from __future__ import annotations

from tests.support.graphs import arena, constant

from .gpu_table import (
    ACTIVATION,
    BOOL,
    BROADCAST,
    COUNT,
    FLOAT,
    FLOAT_ONLY,
    FLOATS,
    HALF,
    INT8,
    INT16,
    INT32,
    MATRIX,
    NEIGHBOR,
    QUANTIZATION,
    RANK_3,
    RELU,
    SCALAR,
    SHAPE,
    SIGN_BIT,
    TANH,
    TYPE,
    UINT8,
    VALUE,
    VERSION,
    Chain,
    accepted,
    variant,
    without_options,
)

# One operand

_ELEMENTWISE = ("ABS", "COS", "ELU", "EXP", "FLOOR", "GELU", "LOG", "LOGISTIC", "NEG", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE")
for _op in (*_ELEMENTWISE, "TANH"):
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

# Two operands

for _op in ("DIV", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "SUB"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, None, inputs=[FLOATS, FLOAT])
    variant(_op, None, inputs=[FLOAT, RANK_3])
    variant(_op, COUNT, inputs=[FLOATS, FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])
for _op in ("DIV", "SUB"):
    variant(_op, None, fused_activation_function=TANH)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)
variant("LOGICAL_AND", None, inputs=[BOOL, BOOL], outputs=[BOOL])

for _op, _highest in (("ADD", 2), ("MUL", 3)):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=_highest)
    variant(_op, VERSION, version=_highest + 1)
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, None, inputs=[FLOATS, FLOATS])
    for _first, _second, _code in (
        (FLOAT, SCALAR, None),
        (arena("FLOAT32", 2), FLOAT, None),
        (FLOAT, RANK_3, None),
        (arena("FLOAT32", 2, 4, 4, 2), RANK_3, BROADCAST),
        (FLOAT, arena("FLOAT32", 1, 1), None),
        (FLOAT, arena("FLOAT32", 1, 2), None),
        (arena("FLOAT32", 3, 4, 4, 2), arena("FLOAT32", 3, 2), None),
        (arena("FLOAT32", 3, 4, 4, 2), arena("FLOAT32", 1, 1), BROADCAST),
        (RANK_3, MATRIX, BROADCAST),
    ):
        variant(_op, _code, inputs=[_first, _second])
        variant(_op, _code, inputs=[_second, _first])
variant("ADD", None, fused_activation_function=SIGN_BIT)
variant("MUL", None, fused_activation_function=RELU)
variant("MUL", ACTIVATION, fused_activation_function=SIGN_BIT)
accepted("ADD_N", [FLOAT, FLOAT], [FLOAT], version=2)
variant("ADD_N", VERSION, version=3)
variant("ADD_N", COUNT, inputs=[FLOAT, FLOAT, FLOAT])
variant("ADD_N", None, inputs=[RANK_3, MATRIX])

for _op in ("SELECT", "SELECT_V2"):
    accepted(_op, [BOOL, FLOAT, FLOAT], [FLOAT])
    variant(_op, VERSION, version=2)
    variant(_op, COUNT, inputs=[BOOL, FLOAT])
    variant(_op, TYPE, inputs={0: INT32})
    variant(_op, None, inputs={0: arena("BOOL", 4, 1)})
    variant(_op, None, inputs={0: arena("BOOL")})
    variant(_op, BROADCAST, inputs={0: arena("BOOL", 4, 3)})
    variant(_op, BROADCAST, inputs={0: arena("BOOL", 1, 1, 4, 4, 2)})
    for _position in (1, 2):
        variant(_op, None, inputs={_position: constant([1.0], "FLOAT32")})
        variant(_op, None, inputs={_position: SCALAR})
        variant(_op, BROADCAST, inputs={_position: RANK_3})
        variant(_op, BROADCAST, inputs={_position: constant([1.0, 2.0], "FLOAT32")})
        _matrices = {0: arena("BOOL", 4, 2), 1: constant([[1.0, 2.0]] * 4, "FLOAT32"), 2: constant([[1.0, 2.0]] * 4, "FLOAT32")}
        variant(_op, None, inputs=_matrices, outputs=[MATRIX])
        variant(_op, SHAPE, inputs={**_matrices, _position: MATRIX}, outputs=[MATRIX])

# Comparisons and casts

for _op in ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"):
    for _consumer, _kind, _version, _code in (
        ("CAST", "FLOAT32", 2, None),
        ("CAST", "FLOAT16", 1, None),
        ("CAST", "INT32", 1, NEIGHBOR),
        ("LOGICAL_NOT", "BOOL", 1, NEIGHBOR),
        ("CAST", "FLOAT32", 3, VERSION),
    ):
        _chain = Chain()
        _x, _y, _bool, _out = (_chain.tensor(kind, 2, 2) for kind in ("FLOAT32", "FLOAT32", "BOOL", _kind))
        _chain.add(_op, [_x, _y], [_bool], _version).add(_consumer, [_bool], [_out]).case(_op, _code)
    for _consumers in (0, 2):
        _chain = Chain()
        _x, _bool = _chain.tensor("FLOAT32", 2), _chain.tensor("BOOL", 2)
        _chain.add(_op, [_x, _x], [_bool])
        for _ in range(_consumers):
            _chain.add("CAST", [_bool], [_chain.tensor("FLOAT32", 2)])
        _chain.case(_op, NEIGHBOR)

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
    _chain.case("CAST", _code, index=1)

accepted("CAST", [FLOAT], [INT32], version=9)
variant("CAST", None, inputs=[INT32], outputs=[FLOAT])
variant("CAST", None, inputs=[HALF], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT32], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT8], outputs=[FLOAT])
variant("CAST", COUNT, inputs=[FLOATS])
variant("CAST", NEIGHBOR, inputs=[BOOL], outputs=[FLOAT])

accepted("SOFTMAX", [FLOAT], [FLOAT], version=2, beta=1.0)
variant("SOFTMAX", VERSION, version=3)
variant("SOFTMAX", VALUE, beta=2.0)
without_options("SOFTMAX", VALUE)

# Quantisation

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

"""Rules of elementwise arithmetic and reductions.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.gpu.rules import arithmetic
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    AXIS,
    BOOL,
    BROADCAST,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOAT_ONLY,
    FLOATS,
    HALF,
    INT8,
    INT16,
    INT32,
    INT64,
    MATRIX,
    NEIGHBOR,
    RANK,
    RANK_3,
    RANK_5,
    RELU,
    SCALAR,
    SHAPE,
    SIGN_BIT,
    TANH,
    TYPE,
    UINT8,
    VERSION,
    Chain,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant
from tests.support.tables import for_each

TABLE = FamilyCases(arithmetic)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("ABS", "COS", "EXP", "FLOOR", "LOG", "NEG", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])

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
        _chain.add(_op, [_x, _y], [_bool], _version).add(_consumer, [_bool], [_out]).case(TABLE, _op, _code)
    for _consumers in (0, 2):
        _chain = Chain()
        _x, _bool = _chain.tensor("FLOAT32", 2), _chain.tensor("BOOL", 2)
        _chain.add(_op, [_x, _x], [_bool])
        for _ in range(_consumers):
            _chain.add("CAST", [_bool], [_chain.tensor("FLOAT32", 2)])
        _chain.case(TABLE, _op, NEIGHBOR)

for _op in ("ABS",):
    variant(_op, None, inputs={0: HALF}, outputs=[HALF])
    variant(_op, None, inputs={0: INT8}, outputs=[UINT8])
    variant(_op, TYPE, inputs={0: INT8}, target=FLOAT_ONLY)
    variant(_op, TYPE, outputs=[UINT8], target=FLOAT_ONLY)
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, TYPE, outputs=[INT64])
    variant(_op, RANK, inputs={0: RANK_5})
    variant(_op, RANK, outputs=[RANK_5])
variant("ADD", RANK, inputs={1: constant([[[[[1.0]]]]], "FLOAT32"), 0: RANK_5})

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT], version=9)
    variant(_op, COUNT, inputs={1: arena("INT32", 1)})
    variant(_op, COUNT, inputs={0: FLOATS})
    variant(_op, CONSTANT, inputs=[AXIS, FLOAT])
    variant(_op, CONSTANT, inputs={1: constant([1], "INT64")})
accepted("CUMSUM", [FLOAT, constant(1)], [FLOAT])
variant("CUMSUM", VERSION, version=2)
variant("CUMSUM", COUNT, inputs=[FLOAT])
variant("CUMSUM", TYPE, inputs={0: INT8}, outputs=[INT8])
variant("CUMSUM", TYPE, outputs=[HALF])
variant("CUMSUM", CONSTANT, inputs={1: arena("INT32")})


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

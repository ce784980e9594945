"""Rules of reshaping, slicing, joining and padding.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

from delegate_sim.delegates.xnnpack.rules import shapes
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    QUANTIZATION,
    RANK,
    RANK_7,
    SCALAR,
    SHAPE,
    TYPE,
    UINT8,
    VALUE,
    FamilyCases,
    assert_verdict,
    scaled,
)
from tests.support.graphs import arena, constant, persistent
from tests.support.tables import for_each

TABLE = FamilyCases(shapes)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("RESHAPE", [FLOAT, constant([8, 4])], [arena("FLOAT32", 8, 4)])
variant("RESHAPE", None, inputs=[FLOAT], new_shape=(8, 4))
variant("RESHAPE", None, inputs={1: constant([[8, 4]])})
variant("RESHAPE", COUNT, inputs=[])
variant("RESHAPE", TYPE, inputs={0: INT16})
variant("RESHAPE", QUANTIZATION, inputs={0: BARE_INT8})
variant("RESHAPE", RANK, inputs={0: RANK_7})
variant("RESHAPE", SHAPE, inputs={0: EMPTY})
variant("RESHAPE", TYPE, outputs=[INT16])
variant("RESHAPE", QUANTIZATION, outputs=[BARE_INT8])
variant("RESHAPE", RANK, outputs=[RANK_7])
variant("RESHAPE", SHAPE, outputs=[EMPTY])
variant("RESHAPE", QUANTIZATION, inputs={0: INT8}, outputs=[scaled(0.25)])
variant("RESHAPE", TYPE, inputs={1: constant([8, 4], "INT64")})
variant("RESHAPE", SHAPE, inputs={1: constant([[8], [4]])})
variant("RESHAPE", CONSTANT, inputs={1: persistent([8, 4])})
variant("RESHAPE", VALUE, inputs={1: constant([-1])})
variant("RESHAPE", VALUE, inputs=[FLOAT], new_shape=(0,))
without_options("RESHAPE", None)

accepted("TRANSPOSE", [FLOAT, constant([0, 2, 1, 3])], [FLOAT])
variant("TRANSPOSE", COUNT, inputs=[FLOAT])
variant("TRANSPOSE", TYPE, inputs={0: INT16})
variant("TRANSPOSE", QUANTIZATION, inputs={0: BARE_INT8})
variant("TRANSPOSE", RANK, inputs={0: SCALAR})
variant("TRANSPOSE", SHAPE, inputs={0: EMPTY})
variant("TRANSPOSE", CONSTANT, inputs={1: persistent([0, 2, 1, 3])})

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, ATTRIBUTE, block_size=1)
variant("SPACE_TO_DEPTH", TYPE, inputs=[FLOAT16])
variant("SPACE_TO_DEPTH", SHAPE, block_size=3)

accepted("SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2], "INT64")], [FLOAT])
for _position in (1, 2):
    variant("SLICE", RANK, inputs={_position: constant([[1, 2, 2, 2]])})
    variant("SLICE", CONSTANT, inputs={_position: persistent([1, 2, 2, 2])})
    variant("SLICE", TYPE, inputs={_position: constant([1, 2, 2, 2], "INT16")})
variant("SLICE", SHAPE, inputs={1: constant([0])})
variant("SLICE", TYPE, inputs={0: INT16})
variant("SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("SLICE", TYPE, outputs=[INT16])
variant("SLICE", QUANTIZATION, outputs=[BARE_INT8])
variant("SLICE", VALUE, inputs={2: constant([1, 2, 2, -1])})
variant("SLICE", VALUE, inputs={1: constant([0, 0, 0, -1])})
variant("SLICE", RANK, inputs={0: RANK_7, 1: constant([0] * 7), 2: constant([1] * 7)})

_ONES = constant([1, 1, 1, 1])
accepted("STRIDED_SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2]), _ONES], [FLOAT])
for _name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", ATTRIBUTE, **{_name: 1})
for _position in (1, 2, 3):
    variant("STRIDED_SLICE", RANK, inputs={_position: constant([[1, 1, 1, 1]])})
    variant("STRIDED_SLICE", CONSTANT, inputs={_position: persistent([1, 1, 1, 1])})
    variant("STRIDED_SLICE", TYPE, inputs={_position: constant([1, 1, 1, 1], "INT64")})
    variant("STRIDED_SLICE", SHAPE, inputs={_position: constant([1, 1, 1])})
variant("STRIDED_SLICE", VALUE, inputs={3: constant([1, 2, 1, 1])})
variant("STRIDED_SLICE", TYPE, inputs={0: INT16})
variant("STRIDED_SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("STRIDED_SLICE", TYPE, outputs=[INT16])
variant("STRIDED_SLICE", QUANTIZATION, outputs=[BARE_INT8])

accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], axis=3)
variant("CONCATENATION", None, inputs=[FLOAT] * 5, axis=-1)
variant("CONCATENATION", COUNT, inputs=[FLOAT] * 6)
variant("CONCATENATION", TYPE, outputs=[INT16])
variant("CONCATENATION", QUANTIZATION, outputs=[BARE_INT8])
variant("CONCATENATION", ATTRIBUTE, axis=4)
variant("CONCATENATION", QUANTIZATION, inputs=[UINT8, scaled(0.25, "UINT8")], outputs=[UINT8])
variant("CONCATENATION", None, inputs=[INT8, scaled(0.25)], outputs=[INT8])
variant("CONCATENATION", TYPE, inputs={1: INT16})
variant("CONCATENATION", QUANTIZATION, inputs={1: BARE_INT8})

accepted("SPLIT", [constant(3), FLOAT], [FLOAT, FLOAT], num_splits=2)
variant("SPLIT", ATTRIBUTE, num_splits=3)
variant("SPLIT", COUNT, outputs=[FLOAT] * 5, num_splits=5)
variant("SPLIT", TYPE, inputs={0: constant(3, "INT64")})
variant("SPLIT", CONSTANT, inputs={0: persistent(3)})
variant("SPLIT", TYPE, inputs={1: INT16})
variant("SPLIT", QUANTIZATION, inputs={1: BARE_INT8})
variant("SPLIT", TYPE, outputs={1: INT16})
variant("SPLIT", QUANTIZATION, outputs={1: BARE_INT8})

_PADDINGS = [[0, 0], [1, 1], [1, 1], [0, 0]]
accepted("PAD", [FLOAT, constant(_PADDINGS)], [FLOAT])
variant("PAD", COUNT, inputs=[FLOAT])
variant("PAD", TYPE, inputs={0: INT16})
variant("PAD", QUANTIZATION, inputs={0: BARE_INT8})
variant("PAD", RANK, inputs={0: SCALAR})
variant("PAD", SHAPE, inputs={0: EMPTY})
variant("PAD", TYPE, inputs={1: constant(_PADDINGS, "INT64")})
variant("PAD", SHAPE, inputs={1: constant(_PADDINGS[1:])})
variant("PAD", CONSTANT, inputs={1: persistent(_PADDINGS)})
variant("PAD", TYPE, outputs=[INT16])
variant("PAD", QUANTIZATION, outputs=[BARE_INT8])
variant("PAD", RANK, outputs=[SCALAR])
variant("PAD", SHAPE, outputs=[EMPTY])
variant("PAD", VALUE, inputs={1: constant([[0, 0], [1, -1], [1, 1], [0, 0]])})


@for_each(TABLE.cases, lambda case: case.name)
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()

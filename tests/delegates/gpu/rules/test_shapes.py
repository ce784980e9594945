"""Rules of reshaping, slicing, joining, padding, gathering and filling.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.gpu.rules import shapes
from tests.support.delegates.gpu_table import (
    AXIS,
    BOOL,
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
    RANK,
    RANK_3,
    RANK_5,
    SCALAR,
    SHAPE,
    SHAPE_OF_4,
    TYPE,
    UINT8,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant, persistent
from tests.support.tables import for_each

TABLE = FamilyCases(shapes)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], version=2, block_size=2)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, block_size=1)
    variant(_op, VALUE, block_size=-1)
variant("SPACE_TO_DEPTH", VERSION, version=3)
variant("DEPTH_TO_SPACE", None, version=3)

accepted("RESHAPE", [FLOAT, SHAPE_OF_4], [FLOAT])
variant("RESHAPE", VERSION, version=2)
variant("RESHAPE", COUNT, inputs={1: persistent([1, 4, 4, 2])})
variant("RESHAPE", COUNT, inputs={0: FLOATS})
accepted("TRANSPOSE", [FLOAT, SHAPE_OF_4], [FLOAT], version=4)
variant("TRANSPOSE", VERSION, version=5)
variant("TRANSPOSE", COUNT, inputs={1: arena("INT32", 4)})

for _op in ("RESHAPE",):
    variant(_op, None, inputs={0: HALF}, outputs=[HALF])
    variant(_op, None, inputs={0: INT8}, outputs=[UINT8])
    variant(_op, TYPE, inputs={0: INT8}, target=FLOAT_ONLY)
    variant(_op, TYPE, outputs=[UINT8], target=FLOAT_ONLY)
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, TYPE, outputs=[INT64])
    variant(_op, RANK, inputs={0: RANK_5})
    variant(_op, RANK, outputs=[RANK_5])

accepted("SLICE", [FLOAT, constant([0] * 4), constant([1] * 4)], [FLOAT], version=2)
variant("SLICE", VERSION, version=3)
variant("SLICE", COUNT, inputs=[FLOAT, constant([0] * 4)])
variant("SLICE", RANK, inputs={0: MATRIX})
accepted("STRIDED_SLICE", [RANK_3, constant([0] * 3), constant([1] * 3), constant([1] * 3)], [RANK_3], version=4, begin_mask=7)
variant("STRIDED_SLICE", VERSION, version=5)
for _mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", VALUE, **{_mask: 1})
variant("STRIDED_SLICE", COUNT, inputs=[RANK_3, constant([0] * 3), constant([1] * 3)])
variant("STRIDED_SLICE", RANK, inputs={0: MATRIX})

accepted("CONCATENATION", [FLOAT, FLOATS, BOOL._replace(type="FLOAT16")], [FLOAT], version=2)
variant("CONCATENATION", VERSION, version=3)

for _op in ("PACK", "SPLIT", "SPLIT_V", "UNPACK"):
    accepted(_op, [FLOAT, FLOAT, FLOAT], [FLOAT, FLOAT], version=9)
variant("PACK", None, inputs=[constant([1], "INT64"), persistent([1], "INT64"), None, FLOAT])
variant("PACK", RANK, inputs=[FLOAT, constant([[[[[1]]]]])])

_PADDINGS = constant([[0, 0]] * 4)

for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, _PADDINGS], [FLOAT], version=2)
accepted("MIRROR_PAD", [FLOAT, _PADDINGS], [FLOAT], version=2, mode=0)
variant("MIRROR_PAD", VALUE, mode=1)
without_options("MIRROR_PAD", VALUE)
for _op in ("PAD", "PADV2", "MIRROR_PAD"):
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs={1: arena("INT32", 4, 2)})
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, RANK, inputs={1: constant([0, 0])})
    variant(_op, None, inputs={1: constant([[0, 0]] * 3)})
    variant(_op, SHAPE, inputs={1: constant([[0, 0]] * 2)})

accepted("GATHER", [FLOAT, AXIS], [FLOAT])
variant("GATHER", VERSION, version=2)
variant("GATHER", None, inputs={1: arena("INT32", 2)})
variant("GATHER", COUNT, inputs=[FLOATS, AXIS])
variant("GATHER", RANK, inputs={1: constant([[1]])})
variant("GATHER", TYPE, inputs={1: constant([1], "INT64")})

_ON, _OFF = constant(1.0, "FLOAT32"), constant([0.0], "FLOAT32")

accepted("ONE_HOT", [arena("INT32", 2, 1, 1, 3), constant(4), _ON, _OFF], [FLOAT], axis=-1)
variant("ONE_HOT", VERSION, version=2)
variant("ONE_HOT", COUNT, inputs=[INT32, constant(4), _ON])
variant("ONE_HOT", TYPE, inputs={0: FLOAT})
variant("ONE_HOT", None, axis=3)
variant("ONE_HOT", VALUE, axis=4)
variant("ONE_HOT", VALUE, inputs={0: arena("INT32")}, axis=0)
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 1, 2, 1, 3)})
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 2, 1, 3)})
variant("ONE_HOT", TYPE, inputs={2: constant(1)})
variant("ONE_HOT", TYPE, inputs={3: constant(1)})
variant("ONE_HOT", CONSTANT, inputs={2: SCALAR})
variant("ONE_HOT", CONSTANT, inputs={3: constant([0.0, 1.0], "FLOAT32")})
variant("ONE_HOT", CONSTANT, inputs={3: constant([[0.0]], "FLOAT32")})

accepted("TILE", [FLOAT, SHAPE_OF_4], [FLOAT], version=9)
variant("TILE", COUNT, inputs={1: arena("INT32", 4)})


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

"""Rules of operators that move elements, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import shapes
from delegate_sim.model.model import Allocation
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    AXIS,
    BOOKS,
    BOOL,
    COMPUTED_AXIS,
    COMPUTED_PAIR,
    CONSTANT,
    DYNAMIC,
    FLOAT,
    FLOAT_BATCH,
    FLOAT_EMPTY,
    FLOAT_RANK_3,
    FLOAT_RANK_7,
    FLOAT_SCALAR,
    HYBRID,
    INT8,
    INT8_UNSCALED,
    INT32,
    INT64,
    LF_5_15_71,
    LF_6_6_3,
    PAIR,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    QUANTIZATION,
    RANK,
    SHAPE,
    STRING,
    TYPE,
    UINT8,
    UINT8_UNSCALED,
    UPSTREAM,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, constant, quantized

TABLE = VxTable(shapes.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

for _op in ("ARG_MAX", "ARG_MIN"):
    accepted(_op, [FLOAT, AXIS], [INT32])
    variant(_op, inputs={1: COMPUTED_AXIS})
    variant(_op, DYNAMIC, inputs={0: FLOAT_SCALAR}, books=BOOKS)
    variant(_op, DYNAMIC, outputs=[arena("INT32")], books=BOOKS)
    variant(_op, inputs={0: INT8}, books=(UPSTREAM, LF_6_6_3))
    variant(_op, TYPE, inputs={0: INT8}, books=(LF_5_15_71,))
    variant(_op, TYPE, inputs={0: INT8}, outputs=[arena("INT32")], books=(LF_5_15_71,))
    variant(_op, None, inputs={0: UINT8}, books=(LF_5_15_71,))

for _op in ("MEAN", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT_SCALAR])
    needs_constant(_op, 1, COMPUTED_AXIS, PERSISTENT_AXIS)

for _op in ("SQUEEZE",):
    accepted(_op, [FLOAT], [FLOAT])

accepted("BATCH_TO_SPACE_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("BATCH_TO_SPACE_ND", inputs={1: COMPUTED_PAIR, 2: COMPUTED_PAIR})
variant("BATCH_TO_SPACE_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: AXIS})
variant("BATCH_TO_SPACE_ND", DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("SPACE_TO_BATCH_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("SPACE_TO_BATCH_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("SPACE_TO_BATCH_ND", DYNAMIC, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("SPACE_TO_BATCH_ND", SHAPE, inputs={1: constant([1])})

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, TYPE, inputs=[INT32])
    variant(_op, inputs=[INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[UINT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED, INT32])
    variant(_op, TYPE, inputs=[INT32, INT8_UNSCALED])

accepted("EXPAND_DIMS", [FLOAT, AXIS], [FLOAT])
needs_constant("EXPAND_DIMS", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

for _op in ("TRANSPOSE",):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    variant(_op, inputs={1: COMPUTED_PAIR})
    variant(_op, DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("RESHAPE", [FLOAT, PAIR], [FLOAT])
variant("RESHAPE", inputs=[FLOAT])
variant("RESHAPE", inputs=[FLOAT, COMPUTED_PAIR, PAIR])
variant("RESHAPE", DYNAMIC, outputs=[FLOAT_SCALAR], books=BOOKS)
variant("RESHAPE", CONSTANT, inputs={1: COMPUTED_PAIR}, books=(UPSTREAM, LF_6_6_3))
variant("RESHAPE", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESHAPE", None, inputs={1: COMPUTED_PAIR}, books=(LF_5_15_71,))

accepted("SHAPE", [FLOAT], [INT32])
variant("SHAPE", inputs=[FLOAT_SCALAR])
variant("SHAPE", SHAPE, inputs=[arena("FLOAT32", -1, 4)])
variant("SHAPE", TYPE, outputs=[INT64])

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT])
needs_constant("REVERSE_V2", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

accepted("SLICE", [FLOAT, PAIR, PAIR], [FLOAT])
needs_constant("SLICE", 1, COMPUTED_PAIR, PERSISTENT_PAIR)
needs_constant("SLICE", 2, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("SLICE", SHAPE, outputs=[FLOAT_BATCH])
variant("SLICE", SHAPE, outputs=[FLOAT_SCALAR])
variant("SLICE", inputs={0: FLOAT_RANK_3})
variant("SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, outputs=[FLOAT_BATCH])

accepted("STRIDED_SLICE", [FLOAT, PAIR, PAIR, PAIR], [FLOAT])
for _position in (1, 2, 3):
    needs_constant("STRIDED_SLICE", _position, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("STRIDED_SLICE", ATTRIBUTE, new_axis_mask=1)
variant("STRIDED_SLICE", ATTRIBUTE, ellipsis_mask=1)
variant("STRIDED_SLICE", begin_mask=1, end_mask=1, shrink_axis_mask=1)
variant("STRIDED_SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, ellipsis_mask=1)

INT8_VECTOR = quantized(arena("INT8", 4), 0.5)
UINT8_VECTOR = quantized(arena("UINT8", 4), 0.5)
HEAP_STRING = STRING._replace(allocation=Allocation.DYNAMIC)

for _op in ("CONCATENATION",):
    accepted(_op, [FLOAT, INT32], [FLOAT])
for _op in ("UNPACK",):
    accepted(_op, [FLOAT], [FLOAT])

accepted("PACK", [FLOAT, FLOAT], [FLOAT])
variant("PACK", inputs=[INT32, INT32], outputs=[INT32])
variant("PACK", inputs=[INT8_VECTOR, INT8_VECTOR], outputs=[INT8])
variant("PACK", TYPE, inputs=[INT32, INT32], outputs=[INT32], books=(LF_6_6_3, LF_5_15_71))
variant("PACK", RANK, inputs=[INT8_VECTOR, INT8_VECTOR], outputs=[INT8], books=(LF_6_6_3, LF_5_15_71))
variant("PACK", RANK, inputs=[UINT8_VECTOR, FLOAT], outputs=[UINT8], books=(LF_6_6_3, LF_5_15_71))
variant("PACK", None, inputs=[INT8, INT8_VECTOR], outputs=[INT8], books=(LF_6_6_3, LF_5_15_71))
variant("PACK", None, inputs=[FLOAT, INT32], books=(LF_6_6_3, LF_5_15_71))
variant("PACK", None, inputs=[arena("FLOAT32", 4)], books=(LF_6_6_3, LF_5_15_71))

for _op, _others in (("SPLIT", [INT8]), ("SPLIT_V", [INT8, INT32])):
    accepted(_op, [FLOAT, *_others], [FLOAT])
    variant(_op, DYNAMIC, outputs=[HEAP_STRING])
    variant(_op, QUANTIZATION, inputs={0: INT8_UNSCALED})
    variant(_op, QUANTIZATION, inputs={1: UINT8_UNSCALED})
    variant(_op, DYNAMIC, inputs={1: UINT8_UNSCALED}, outputs=[HEAP_STRING])

accepted("MIRROR_PAD", [FLOAT, PAIR], [FLOAT])
variant("MIRROR_PAD", inputs={1: COMPUTED_PAIR}, mode=1)
variant("MIRROR_PAD", DYNAMIC, outputs=[FLOAT_SCALAR])
variant("MIRROR_PAD", ATTRIBUTE, mode=2)
without_options("MIRROR_PAD", ATTRIBUTE)

for _op in ("PAD",):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    variant(_op, inputs={1: COMPUTED_PAIR})
    variant(_op, DYNAMIC, outputs=[FLOAT_SCALAR])

for _op in ("GATHER", "GATHER_ND"):
    accepted(_op, [FLOAT, INT32], [FLOAT])
accepted("HASHTABLE_LOOKUP", [FLOAT, INT32, FLOAT], [FLOAT, FLOAT])

accepted("EMBEDDING_LOOKUP", [INT32, UINT8], [UINT8])
variant("EMBEDDING_LOOKUP", HYBRID, outputs=[INT8])
variant("EMBEDDING_LOOKUP", inputs={1: INT8}, outputs=[UINT8])

accepted("SCATTER_ND", [INT32, FLOAT, PAIR], [FLOAT])
variant("SCATTER_ND", inputs={0: COMPUTED_PAIR})
needs_constant("SCATTER_ND", 2, COMPUTED_PAIR, PERSISTENT_PAIR)

accepted("BROADCAST_TO", [FLOAT, PAIR], [FLOAT])
variant("BROADCAST_TO", inputs=[INT64, arena("INT64", 4)])
variant("BROADCAST_TO", TYPE, inputs=[STRING, PAIR])
variant("BROADCAST_TO", TYPE, inputs=[INT64, PAIR], outputs=[INT64])
variant("BROADCAST_TO", RANK, inputs={0: FLOAT_RANK_7})
variant("BROADCAST_TO", SHAPE, inputs={0: FLOAT_EMPTY})
variant("BROADCAST_TO", SHAPE, outputs=[FLOAT_EMPTY])

accepted("ONE_HOT", [INT32, AXIS, FLOAT_SCALAR, FLOAT_SCALAR], [FLOAT])
needs_constant("ONE_HOT", 1, COMPUTED_AXIS, PERSISTENT_AXIS)
variant("ONE_HOT", TYPE, outputs=[BOOL])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

"""The checks of every operator, against ``OpMapperBase::IsSupported`` in ``op_map.cc``."""

from __future__ import annotations

from tests.support.delegates.vx_cases import (
    FLOAT,
    FLOAT_EMPTY,
    FLOAT_RANK_7,
    INT16,
    INT64,
    RANK,
    SHAPE,
    STRING,
    TYPE,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena
from tests.support.tables import for_each

TABLE = VxTable(("ABS",))
accepted, variant = TABLE.accepted, TABLE.variant

FLOAT_RANK_6 = arena("FLOAT32", 1, 1, 1, 4, 4, 2)
FLOAT_LONG = arena("FLOAT32", 65536, 2)
FLOAT_LARGE = arena("FLOAT32", 1, 65536)
FLOAT_LARGEST = arena("FLOAT32", 1, 65535)

accepted("ABS", [FLOAT], [FLOAT])
variant("ABS", inputs=[FLOAT_RANK_6])
variant("ABS", RANK, inputs=[FLOAT_RANK_7])
variant("ABS", outputs=[FLOAT_RANK_7])
variant("ABS", SHAPE, inputs=[FLOAT_EMPTY])
variant("ABS", SHAPE, outputs=[FLOAT_EMPTY])
variant("ABS", inputs=[FLOAT_LONG])
variant("ABS", inputs=[FLOAT_LARGEST])
variant("ABS", SHAPE, inputs=[FLOAT_LARGE])
variant("ABS", outputs=[FLOAT_LARGE])
variant("ABS", TYPE, inputs=[INT64])
variant("ABS", TYPE, inputs=[STRING])
variant("ABS", outputs=[STRING])
variant("ABS", inputs=[INT16])
variant("ABS", TYPE, outputs=[INT16])
variant("ABS", TYPE, outputs=[INT64])
variant("ABS", inputs=[arena("COMPLEX64", 4)], outputs=[arena("FLOAT64", 4)])
variant("ABS", TYPE, inputs=[FLOAT, INT64])
variant("ABS", inputs=[FLOAT, None])
variant("ABS", RANK, inputs=[FLOAT_RANK_7, INT64])
variant("ABS", TYPE, inputs=[INT64, FLOAT_RANK_7])
variant("ABS", SHAPE, inputs=[FLOAT, FLOAT_EMPTY, FLOAT_RANK_7])
variant("ABS", RANK, inputs=[FLOAT, FLOAT_RANK_7, FLOAT_EMPTY])
variant("ABS", RANK, inputs=[arena("FLOAT32", 1, 1, 1, 1, 1, 1, 0)])
variant("ABS", SHAPE, inputs=[FLOAT_EMPTY], outputs=[INT16])
variant("ABS", SHAPE, outputs=[FLOAT_EMPTY, INT64])
variant("ABS", TYPE, outputs=[INT64, FLOAT_EMPTY])


@for_each(TABLE.cases, name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

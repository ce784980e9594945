"""Rules of joining and splitting, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import joining
from delegate_sim.model.model import Allocation
from tests.support.delegates.vx_cases import (
    DYNAMIC,
    FLOAT,
    INT8,
    INT8_UNSCALED,
    INT32,
    LF_5_15_71,
    LF_6_6_3,
    QUANTIZATION,
    RANK,
    STRING,
    TYPE,
    UINT8,
    UINT8_UNSCALED,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, quantized

TABLE = VxTable(joining.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

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


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()

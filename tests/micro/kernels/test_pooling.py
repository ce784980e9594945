"""Cases for pooling windows."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.pooling import KERNELS
from tests.support.graphs import arena
from tests.support.micro_cases import (
    COUNT,
    QUANTIZATION,
    RANK,
    TYPE,
    MicroTable,
    floats,
    found_code,
    int8,
    int16,
    unrefused_checks,
)

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
IMAGE, SMALL = floats(1, 4, 4, 8), floats(1, 2, 2, 8)
WINDOW = {"filter_height": 2, "filter_width": 2, "stride_h": 2, "stride_w": 2, "padding": 1}
UINT8 = arena("UINT8", 1, 4, 4, 8)

for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(op, [IMAGE], [SMALL], **WINDOW)
    variant(op, None, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8)])
    variant(op, QUANTIZATION, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8, scale=1.0)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4, 4, 8)], outputs=[int16(1, 2, 2, 8, zero_point=1)])
    variant(op, TYPE, inputs=[UINT8])
accepted("L2_POOL_2D", [IMAGE], [SMALL], **WINDOW)
variant("L2_POOL_2D", COUNT, outputs=[SMALL, SMALL])
variant("L2_POOL_2D", RANK, inputs=[floats(4, 4, 8)])
variant("L2_POOL_2D", RANK, outputs=[floats(2, 2, 8)])
variant("L2_POOL_2D", TYPE, outputs=[int8(1, 2, 2, 8)])
variant("L2_POOL_2D", TYPE, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8)])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []

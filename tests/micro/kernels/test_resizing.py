"""Cases for resizing images."""

from __future__ import annotations

import pytest

from delegate_sim.micro.kernels.resizing import KERNELS
from tests.support.graphs import arena, constant
from tests.support.micro_cases import (
    CONSTANT,
    COUNT,
    OPTION,
    RANK,
    SHAPE,
    TYPE,
    MicroTable,
    floats,
    found_code,
    int16,
    unrefused_checks,
)

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
IMAGE, LARGE, SIZE = floats(1, 4, 4, 8), floats(1, 8, 8, 8), constant([8, 8])

for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(op, [IMAGE, SIZE], [LARGE])
    variant(op, COUNT, inputs=[IMAGE, SIZE, SIZE])
    variant(op, RANK, inputs={0: floats(4, 4, 8)})
    variant(op, RANK, inputs={1: constant([[8, 8]])})
    variant(op, TYPE, inputs={1: constant([8, 8], "INT64")})
    variant(op, CONSTANT, inputs={1: arena("INT32", 2)})
    variant(op, TYPE, outputs=[arena("UINT8", 1, 8, 8, 8)])
variant("RESIZE_BILINEAR", OPTION, half_pixel_centers=True, align_corners=True)
variant("RESIZE_BILINEAR", TYPE, outputs=[int16(1, 8, 8, 8)])
variant("RESIZE_NEAREST_NEIGHBOR", None, half_pixel_centers=True, align_corners=True, outputs=[int16(1, 8, 8, 8)])
variant("RESIZE_NEAREST_NEIGHBOR", SHAPE, inputs={1: constant([8, 8, 8])})


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []

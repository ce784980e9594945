"""Rules of resizing images, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import resizing
from tests.support.delegates.xnnpack_rule_cases import (
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    INT16,
    QUANTIZATION,
    RANK,
    RANK_3,
    SHAPE,
    TYPE,
    VALUE,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import constant, persistent

TABLE = FamilyCases(resizing)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("RESIZE_BILINEAR", [FLOAT, constant([8, 8])], [FLOAT])
variant("RESIZE_BILINEAR", COUNT, inputs=[FLOAT])
variant("RESIZE_BILINEAR", TYPE, inputs={0: FLOAT16})
variant("RESIZE_BILINEAR", QUANTIZATION, inputs={0: BARE_INT8})
variant("RESIZE_BILINEAR", RANK, inputs={0: RANK_3})
variant("RESIZE_BILINEAR", SHAPE, inputs={0: EMPTY})
variant("RESIZE_BILINEAR", TYPE, inputs={1: constant([8, 8], "INT64")})
variant("RESIZE_BILINEAR", RANK, inputs={1: constant([[8, 8]])})
variant("RESIZE_BILINEAR", CONSTANT, inputs={1: persistent([8, 8])})
variant("RESIZE_BILINEAR", TYPE, outputs=[INT16])
variant("RESIZE_BILINEAR", QUANTIZATION, outputs=[BARE_INT8])
variant("RESIZE_BILINEAR", RANK, outputs=[RANK_3])
variant("RESIZE_BILINEAR", SHAPE, outputs=[EMPTY])
variant("RESIZE_BILINEAR", VALUE, inputs={1: constant([0, 8])})
variant("RESIZE_BILINEAR", None, inputs={1: constant([8, 0])})


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()

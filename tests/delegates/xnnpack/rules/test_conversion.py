"""Rules of conversions, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.node_visit import Visit
from delegate_sim.delegates.xnnpack.rules import conversion
from tests.support.delegates.xnnpack_rule_cases import (
    BARE_INT8,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    NEIGHBOR,
    NO_8_BITS,
    PER_CHANNEL,
    QUANTIZATION,
    RANK,
    RANK_7,
    SHAPE,
    TYPE,
    UINT8,
    FamilyCases,
    assert_verdict,
    scaled,
)
from tests.support.graphs import node_view

TABLE = FamilyCases(conversion)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

WITH_REFUSED_READER = Visit()
WITH_REFUSED_READER.unpacking.refused_readers[0] = node_view("POW", [FLOAT], [FLOAT]).node
accepted("DEQUANTIZE", [INT8], [FLOAT])
variant("DEQUANTIZE", None, inputs=[UINT8], outputs=[FLOAT16])
variant("DEQUANTIZE", NEIGHBOR, target=WITH_REFUSED_READER)
variant("DEQUANTIZE", COUNT, outputs=[FLOAT, FLOAT])
variant("DEQUANTIZE", RANK, inputs=[RANK_7])
variant("DEQUANTIZE", SHAPE, inputs=[EMPTY])
variant("DEQUANTIZE", TYPE, inputs=[FLOAT16])
variant("DEQUANTIZE", TYPE, inputs=[UINT8], target=NO_8_BITS)
variant("DEQUANTIZE", QUANTIZATION, inputs=[PER_CHANNEL])
variant("DEQUANTIZE", TYPE, outputs=[INT8])

accepted("QUANTIZE", [FLOAT], [INT8])
variant("QUANTIZE", None, inputs=[INT8])
variant("QUANTIZE", None, inputs=[scaled(64.0)])
variant("QUANTIZE", COUNT, inputs=[])
variant("QUANTIZE", RANK, inputs=[RANK_7])
variant("QUANTIZE", SHAPE, inputs=[EMPTY])
variant("QUANTIZE", TYPE, inputs=[INT16])
variant("QUANTIZE", QUANTIZATION, inputs=[BARE_INT8])
variant("QUANTIZE", TYPE, outputs=[INT16])
variant("QUANTIZE", QUANTIZATION, outputs=[BARE_INT8])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(64.5)])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(0.001)])
variant("QUANTIZE", TYPE, inputs=[UINT8])
variant("QUANTIZE", TYPE, inputs=[scaled(-1.0)])


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except("DENSIFY")

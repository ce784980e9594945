"""The rules of custom operators, against the mappers in ``op_map.cc``."""

from __future__ import annotations

from delegate_sim.delegates.vx import layers
from tests.support.delegates.vx_cases import (
    CUSTOM,
    FLOAT,
    INT8,
    INT16,
    INT64,
    TYPE,
    UINT8,
    UPSTREAM,
    Case,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.tables import for_each

TABLE = VxTable(layers.CUSTOM_RULES)
accepted, variant = TABLE.accepted, TABLE.variant

accepted("vsi-npu", [FLOAT, INT8], [FLOAT, UINT8])
variant("vsi-npu", TYPE, outputs=[FLOAT, INT16])
_REFUSED_ALWAYS = {"inputs": [FLOAT], "outputs": [FLOAT], "options": None}
TABLE.cases.append(Case("WRNN_BIDI_SEQGRU", CUSTOM, UPSTREAM, _REFUSED_ALWAYS))
TABLE.cases.append(Case("WRNN_BIDI_SEQGRU", TYPE, UPSTREAM, {**_REFUSED_ALWAYS, "inputs": [INT64]}))


@for_each(TABLE.cases, name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete(
        never_met=[("WRNN_BIDI_SEQGRU", "another operator, because the mapper of this operator refuses every node")]
    )

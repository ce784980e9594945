"""The rules of recurrent cells, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.delegates.vx.rules import recurrent
from fixtures.builder import ModelBuilder
from tests.support.delegates.vx_cases import FLOAT, FLOAT16, INT8, INT16, OPTIONAL, TYPE, UINT8, VxTable, assert_verdict, name_of

TABLE = VxTable(recurrent.RULES)
accepted, variant = TABLE.accepted, TABLE.variant

accepted("RNN", [INT8] * 5, [FLOAT])

accepted("UNIDIRECTIONAL_SEQUENCE_RNN", [FLOAT] * 5, [FLOAT])
variant("UNIDIRECTIONAL_SEQUENCE_RNN", TYPE, inputs={1: INT8})
variant("UNIDIRECTIONAL_SEQUENCE_RNN", inputs={0: INT8, 2: INT8})

accepted("BIDIRECTIONAL_SEQUENCE_RNN", [FLOAT] * 9 + [None] * 3, [FLOAT])
variant("BIDIRECTIONAL_SEQUENCE_RNN", TYPE, inputs={1: INT8})
variant("BIDIRECTIONAL_SEQUENCE_RNN", inputs={5: INT8})
variant("BIDIRECTIONAL_SEQUENCE_RNN", OPTIONAL, inputs={9: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_RNN", OPTIONAL, inputs={9: FLOAT, 11: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_RNN", inputs={9: FLOAT, 10: FLOAT})

accepted("UNIDIRECTIONAL_SEQUENCE_LSTM", [INT8] * 19 + [INT16], [INT8])
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs={0: UINT8, 19: FLOAT16})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={0: FLOAT})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={18: UINT8})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={19: INT8})

accepted("BIDIRECTIONAL_SEQUENCE_LSTM", [FLOAT] * 16 + [None] * 2 + [FLOAT] * 21 + [None] * 9, [FLOAT])
variant("BIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={1: INT8})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={1: None})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", inputs={2: INT8, 18: INT8})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", OPTIONAL, inputs={16: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", OPTIONAL, inputs={42: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", inputs={17: FLOAT, 33: FLOAT, 41: FLOAT, 46: FLOAT})


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()


def test_a_node_of_which_upstream_would_read_past_the_operands_is_refused():
    graph = ModelBuilder()
    main = graph.subgraph("main")
    source, result = main.input("x", "FLOAT32", [1, 2, 4]), main.tensor("y", "FLOAT32", [1, 2, 4])
    main.node("BIDIRECTIONAL_SEQUENCE_RNN", [source] * 9, [result])
    main.outputs(result)
    (node,) = analyze(graph.bytes(), "vx", defaults="api").to_dict()["runs"][0]["subgraphs"][0]["nodes"]
    assert [reason["code"] for reason in node["reasons"]] == ["malformed-operands"]

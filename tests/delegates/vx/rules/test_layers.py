"""Rules of layers, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.delegates.vx.rules import layers
from fixtures.builder import ModelBuilder
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    BOOKS,
    COMPUTED_PAIR,
    CONSTANT,
    DYNAMIC,
    FLOAT,
    FLOAT16,
    FLOAT_BATCH,
    FLOAT_RANK_3,
    FLOAT_SCALAR,
    HYBRID,
    INT8,
    INT8_UNSCALED,
    INT16,
    INT32,
    LF_5_15_71,
    LF_6_6_3,
    OPTIONAL,
    PAIR,
    PERSISTENT_PAIR,
    QUANTIZATION,
    RELU_N1_TO_1,
    SHAPE,
    TYPE,
    UINT8,
    UINT8_UNSCALED,
    UPSTREAM,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, constant, quantized

TABLE = VxTable(layers.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

WEIGHTS = arena("FLOAT32", 8, 3, 3, 2)
INT8_WEIGHTS = quantized(arena("INT8", 8, 3, 3, 2), 0.5)
GROUPED_WEIGHTS = arena("FLOAT32", 8, 3, 3, 1)

accepted("CONV_2D", [FLOAT, WEIGHTS, None], [FLOAT])
variant("CONV_2D", inputs={0: FLOAT_BATCH})
variant("CONV_2D", inputs={1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_RANK_3})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_SCALAR})
variant("CONV_2D", inputs={0: arena("FLOAT32", 4), 1: arena("FLOAT32", 4)})
variant("CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})
variant("CONV_2D", HYBRID, inputs={0: INT8})
variant("CONV_2D", inputs={0: INT8, 1: INT8_WEIGHTS}, outputs=[INT8])
variant("CONV_2D", TYPE, inputs={2: arena("INT64", 8)})
variant("CONV_2D", fused_activation_function=RELU_N1_TO_1, dilation_h_factor=2, dilation_w_factor=2)

accepted("DEPTHWISE_CONV_2D", [FLOAT, WEIGHTS], [FLOAT])
variant("DEPTHWISE_CONV_2D", inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("DEPTHWISE_CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})

accepted("TRANSPOSE_CONV", [PAIR, WEIGHTS, FLOAT], [FLOAT])
variant("TRANSPOSE_CONV", inputs={0: COMPUTED_PAIR, 1: INT8_WEIGHTS})
variant("TRANSPOSE_CONV", DYNAMIC, outputs=[FLOAT_SCALAR])

FILTER = constant([[[[[0.0]]]]], "FLOAT32")

accepted("CONV_3D", [FLOAT, FILTER], [FLOAT])
for _side in ("d", "h", "w"):
    variant("CONV_3D", ATTRIBUTE, **{f"dilation_{_side}_factor": 2})
variant("CONV_3D", HYBRID, inputs={0: INT8})
variant("CONV_3D", CONSTANT, inputs={1: WEIGHTS})
variant("CONV_3D", HYBRID, inputs={1: INT8_WEIGHTS})
without_options("CONV_3D", None)

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT])
    variant(_op, filter_width=100, filter_height=100, fused_activation_function=RELU_N1_TO_1)

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    needs_constant(_op, 1, COMPUTED_PAIR, PERSISTENT_PAIR)
    variant(_op, inputs={0: INT8}, outputs=[INT8])
    variant(_op, QUANTIZATION, inputs={0: INT8_UNSCALED})
    variant(_op, QUANTIZATION, inputs={0: UINT8_UNSCALED})

accepted("FULLY_CONNECTED", [FLOAT, WEIGHTS, None], [FLOAT])
variant("FULLY_CONNECTED", HYBRID, inputs={1: INT8_WEIGHTS})
variant("FULLY_CONNECTED", ATTRIBUTE, weights_format=1)
variant("FULLY_CONNECTED", TYPE, inputs={2: INT16})
variant("FULLY_CONNECTED", TYPE, inputs={0: INT16, 1: INT16})
variant("FULLY_CONNECTED", ATTRIBUTE, inputs={2: INT16}, weights_format=1)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT])
variant("BATCH_MATMUL", adj_x=True)
variant("BATCH_MATMUL", ATTRIBUTE, adj_x=True, adj_y=True, books=BOOKS)
variant("BATCH_MATMUL", TYPE, outputs=[INT32], books=BOOKS)
variant("BATCH_MATMUL", TYPE, inputs=[FLOAT, INT8], outputs=[INT32], books=BOOKS)
variant("BATCH_MATMUL", HYBRID, inputs=[INT8, FLOAT], books=(UPSTREAM, LF_6_6_3))
variant("BATCH_MATMUL", HYBRID, inputs=[FLOAT, INT8])
variant("BATCH_MATMUL", None, inputs=[FLOAT, INT8], books=(LF_6_6_3,))
variant("BATCH_MATMUL", None, inputs=[INT8, INT8], outputs=[INT8], books=(UPSTREAM, LF_6_6_3))
for _inputs in ([FLOAT, INT8], [INT8, FLOAT], [INT8, INT8]):
    variant("BATCH_MATMUL", TYPE, inputs=_inputs, books=(LF_5_15_71,))
variant("BATCH_MATMUL", None, inputs=[UINT8, UINT8], outputs=[UINT8], books=BOOKS)

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

"""Rules of layers and of operators that move elements, against the mappers in ``op_map.cc``."""

from __future__ import annotations

from delegate_sim import analyze
from delegate_sim.delegates.vx import layers
from delegate_sim.model.model import Allocation
from fixtures.builder import ModelBuilder
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
    FLOAT16,
    FLOAT_BATCH,
    FLOAT_EMPTY,
    FLOAT_RANK_3,
    FLOAT_RANK_7,
    FLOAT_SCALAR,
    HYBRID,
    INT8,
    INT8_UNSCALED,
    INT16,
    INT32,
    INT64,
    LF_5_15_71,
    LF_6_6_3,
    OPTIONAL,
    PAIR,
    PERSISTENT_AXIS,
    PERSISTENT_PAIR,
    QUANTIZATION,
    RANK,
    RELU_N1_TO_1,
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
from tests.support.tables import for_each

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


@for_each(TABLE.cases, name_of)
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

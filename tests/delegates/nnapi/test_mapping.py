"""Mapping partitions to NNAPI operations: what each node becomes, and what makes a kernel fail."""

from __future__ import annotations

import string

import numpy as np
import pytest

from delegate_sim.delegates.nnapi import failures
from delegate_sim.delegates.nnapi.mapping import OPERATIONS, map_partition, nodes_supported_by_driver
from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_5, FEATURE_LEVEL_6, FEATURE_LEVEL_8, NNAPI_1_2, NNAPI_1_3
from delegate_sim.graph.graph import file_graph
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder

SPARSITY = ((0, 1, 2, 3), (), ((True, 2), (True, 1), (True, 1), (True, 2)))


class Sketch:
    """A graph under construction, whose nodes all belong to one partition."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph("main")

    def input(self, shape=(2, 2), type="FLOAT32", **arguments):
        return self.subgraph.input("input", type, shape, **arguments)

    def constant(self, type, shape, value=1, **arguments):
        numpy_type = {"FLOAT32": "f4", "FLOAT16": "f2", "INT64": "i8", "INT32": "i4", "INT8": "i1", "UINT8": "u1"}[type]
        data = np.broadcast_to(np.asarray(value, numpy_type), shape)
        return self.subgraph.tensor("constant", type, shape, data, **arguments)

    def node(self, op, inputs, shape=(2, 2), type="FLOAT32", options=None, results=1, intermediates=(), **arguments):
        made = [self.subgraph.tensor("result", type, shape, **arguments) for _ in range(results)]
        self.subgraph.node(op, inputs, made, options=options, intermediates=intermediates)
        return made if results > 1 else made[0]

    def finish(self, *outputs):
        self.subgraph.outputs(*outputs)
        model = load(self.builder.bytes())
        return file_graph(model, model.subgraphs[0])

    def map(self, *outputs, level=FEATURE_LEVEL_8, runtime=None):
        graph = self.finish(*outputs)
        return map_whole(graph, level, runtime)


def map_whole(graph, level=FEATURE_LEVEL_8, runtime=None):
    (subset,) = partition(graph, graph.execution_plan)
    return map_partition(graph, subset.nodes, subset.inputs, subset.outputs, level, runtime or level)


def operations(mapping):
    assert mapping.failure is None
    return [list(names) for _, names in sorted(mapping.operations.items())]


def failure(mapping):
    assert mapping.failure is not None
    return mapping.failure


# The table


def test_every_accepted_operator_has_an_operation_or_a_lowering():
    lowered = {"COS", "SPLIT_V", "SQUARED_DIFFERENCE", "UNPACK"}
    assert set(OPERATIONS) | lowered | {"DENSIFY"} == set(RULES)


@pytest.mark.parametrize(("op", "operation"), [("RELU_N1_TO_1", "RELU1"), ("ABS", "ABS"), ("LEAKY_RELU", "PRELU")])
def test_one_operation(op, operation):
    sketch = Sketch()
    result = sketch.node(op, [sketch.input()])
    assert operations(sketch.map(result)) == [[operation]]


@pytest.mark.parametrize("code", failures.EXPLANATIONS)
def test_every_failure_is_worded_from_what_was_found(code):
    template, hint, explanation, _ = failures._WORDINGS[code]
    assert {name for _, name, _, _ in string.Formatter().parse(template) if name} <= {
        "tensor", "type", "op", "found", "axis", "shape", "count", "size", "outputs", "side",
    }  # fmt: skip
    assert hint
    assert all(explanation)


# Operations that depend on operands, options or the level


@pytest.mark.parametrize(("channels", "operation"), [(4, "CONV_2D"), (2, "GROUPED_CONV_2D")])
def test_convolution_with_fewer_filter_channels_is_grouped(channels, operation):
    sketch = Sketch()
    weights, bias = sketch.constant("FLOAT32", (4, 1, 1, channels)), sketch.constant("FLOAT32", (4,))
    result = sketch.node("CONV_2D", [sketch.input((1, 3, 3, 4)), weights, bias], (1, 3, 3, 4))
    assert operations(sketch.map(result)) == [[operation]]


def test_hybrid_weights_are_dequantised_once_for_a_partition():
    sketch = Sketch()
    weights = sketch.constant("INT8", (2, 2), scale=0.5)
    first = sketch.node("FULLY_CONNECTED", [sketch.input(), weights, -1])
    second = sketch.node("FULLY_CONNECTED", [first, weights, -1])
    assert operations(sketch.map(second)) == [["DEQUANTIZE", "FULLY_CONNECTED"], ["FULLY_CONNECTED"]]


def test_kept_dimensions_need_a_reshape():
    sketch = Sketch()
    result = sketch.node(
        "FULLY_CONNECTED",
        [sketch.input((1, 2, 2)), sketch.constant("FLOAT32", (2, 2))],
        (1, 2, 2),
        options={"keep_num_dims": True},
    )
    assert operations(sketch.map(result)) == [["FULLY_CONNECTED", "RESHAPE"]]


def test_mean_with_another_scale_is_requantised():
    sketch = Sketch()
    axes = sketch.constant("INT32", ())
    result = sketch.node("MEAN", [sketch.input(type="INT8", scale=0.5), axes], (2,), "INT8", scale=0.25)
    assert operations(sketch.map(result)) == [["MEAN", "ADD"]]


@pytest.mark.parametrize(("type", "expected"), [("FLOAT32", ["QUANTIZE"]), ("UINT8", ["DEQUANTIZE", "QUANTIZE"])])
def test_requantisation_goes_through_float(type, expected):
    sketch = Sketch()
    result = sketch.node("QUANTIZE", [sketch.input(type=type, scale=0.5)], type="INT8", scale=0.25)
    assert operations(sketch.map(result)) == [expected]


@pytest.mark.parametrize(("value", "operation"), [(True, "PAD_V2"), (False, "PAD")])
def test_padding_value_makes_pad_v2(value, operation):
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.constant("FLOAT32", ()) if value else -1]
    assert operations(sketch.map(sketch.node("PADV2", inputs, (4, 4)))) == [[operation]]


@pytest.mark.parametrize(("level", "expected"), [(FEATURE_LEVEL_5, ["CONCATENATION", "RESHAPE"]), (FEATURE_LEVEL_6, ["PACK"])])
def test_pack_is_lowered_below_level_6(level, expected):
    sketch = Sketch()
    source = sketch.input()
    result = sketch.node("PACK", [source, source], (2, 2, 2), options={"axis": 0, "values_count": 2})
    assert operations(sketch.map(result, level=level)) == [expected]


@pytest.mark.parametrize(("runtime", "expected"), [(NNAPI_1_2, ["MUL", "MUL", "MUL", "ADD"]), (NNAPI_1_3, ["HARD_SWISH"])])
def test_hard_swish_is_lowered_by_the_runtimes_level(runtime, expected):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("HARD_SWISH", [sketch.input()]), level=NNAPI_1_2, runtime=runtime)) == [expected]


def test_unpack_is_lowered():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input((2, 3))], (3,), options={"axis": -2, "num": 2}, results=2)
    assert operations(sketch.map(*results)) == [["RESHAPE", "SPLIT"]]


def test_split_v_is_lowered_to_one_slice_a_part():
    sketch = Sketch()
    inputs = [sketch.input((6, 2)), sketch.constant("INT32", (3,), [1, -1, 3]), sketch.constant("INT32", (), -2)]
    results = sketch.node("SPLIT_V", inputs, (2, 2), options={"num_splits": 3}, results=3)
    assert operations(sketch.map(*results)) == [["SLICE"] * 3]


def test_squared_difference_and_cosine_are_lowered():
    sketch = Sketch()
    source = sketch.input()
    difference = sketch.node("SQUARED_DIFFERENCE", [source, source])
    assert operations(sketch.map(sketch.node("COS", [difference]))) == [["SUB", "MUL"], ["SUB", "SIN"]]


def lstm(sketch, inputs, type="FLOAT32", weights="FLOAT32", intermediates=()):
    source = sketch.input(type=type)
    operands = [source] + [sketch.constant(weights, (2, 2), scale=1.0) for _ in range(inputs - 1)]
    if inputs >= 20:
        for position in (18, 19):
            operands[position] = sketch.subgraph.tensor("state", type, (2, 2), variable=True)
    return sketch.node("LSTM", operands, type=type, intermediates=intermediates, results=1 if inputs >= 20 else 4)


@pytest.mark.parametrize("inputs", [20, 24])
def test_float_lstm(inputs):
    sketch = Sketch()
    assert operations(sketch.map(lstm(sketch, inputs))) == [["LSTM"]]


def test_hybrid_lstm_dequantises_every_weight():
    sketch = Sketch()
    assert operations(sketch.map(lstm(sketch, 20, weights="UINT8"))) == [["DEQUANTIZE"] * 17 + ["LSTM"]]


def test_basic_lstm():
    sketch = Sketch()
    assert operations(sketch.map(*lstm(sketch, 5, "UINT8", "UINT8"))) == [["QUANTIZED_16BIT_LSTM"]]


def test_quantised_lstm():
    sketch = Sketch()
    gates = [sketch.subgraph.tensor("gate", "INT16", (), scale=1.0) for _ in range(5)]
    assert operations(sketch.map(lstm(sketch, 20, "INT8", "INT8", gates))) == [["QUANTIZED_LSTM"]]


# Nodes that vanish


def test_float16_weights_vanish():
    sketch = Sketch()
    weights = sketch.constant("FLOAT16", (2, 2))
    widened = sketch.node("DEQUANTIZE", [weights])
    result = sketch.node("ADD", [sketch.input(), weights])
    assert operations(sketch.map(result, widened)) == [[], ["ADD"]]


def sparse_convolution(sketch, type="FLOAT32", sparsity=SPARSITY, widen=False):
    data = sketch.constant(type, (2, 1, 1, 2), scale=1.0, sparsity=sparsity)
    weights = sketch.node("DENSIFY", [data], (2, 1, 1, 2), type, scale=1.0)
    if widen:
        weights = sketch.node("DEQUANTIZE", [weights], (2, 1, 1, 2))
    return sketch.node("CONV_2D", [sketch.input((1, 3, 3, 2)), weights, sketch.constant("FLOAT32", (2,))], (1, 3, 3, 2))


@pytest.mark.parametrize(
    ("type", "widen", "expected"),
    [
        ("FLOAT32", False, [[], ["CONV_2D"]]),
        ("FLOAT16", True, [[], [], ["CONV_2D"]]),
        ("INT8", False, [[], ["DEQUANTIZE", "CONV_2D"]]),
    ],
)
def test_sparse_weights_vanish(type, widen, expected):
    sketch = Sketch()
    assert operations(sketch.map(sparse_convolution(sketch, type, widen=widen))) == expected


def test_a_driver_takes_all_of_a_sparse_partition_or_nothing():
    sketch = Sketch()
    graph = sketch.finish(sketch.node("RELU", [sparse_convolution(sketch)], (1, 3, 3, 2)))
    mapping = map_whole(graph)
    assert nodes_supported_by_driver(graph, (0, 1, 2), mapping, {"ABS"}) == (0, 1, 2)
    assert nodes_supported_by_driver(graph, (0, 1, 2), mapping, {"RELU"}) == ()


def test_a_driver_takes_nodes_of_which_it_takes_every_operation():
    sketch = Sketch()
    source = sketch.input()
    graph = sketch.finish(sketch.node("COS", [sketch.node("SUB", [source, source])]))
    assert nodes_supported_by_driver(graph, (0, 1), map_whole(graph), {"SIN"}) == (0,)
    assert nodes_supported_by_driver(graph, (0, 1), map_whole(graph), {"SUB"}) == ()


# Failures


@pytest.mark.parametrize("type", ["INT64", "INT4", "BFLOAT16", "FLOAT64", "STRING", "UINT32"])
def test_nnapi_tensor_type(type):
    sketch = Sketch()
    source = sketch.input(type=type)
    found = failure(sketch.map(sketch.node("RELU", [source])))
    assert (found.code, found.node, found.tensor) == ("nnapi-tensor-type", 0, source)
    assert type in found.message


@pytest.mark.parametrize("type", ["FLOAT16", "INT32", "BOOL", "INT16"])
def test_other_tensor_types_pass(type):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("RELU", [sketch.input(type=type)], type=type))) == [["RELU"]]


def test_nnapi_tensor_type_of_a_result():
    sketch = Sketch()
    result = sketch.node("RELU", [sketch.input()], type="INT64")
    assert failure(sketch.map(result)).tensor == result


def test_a_tensor_that_failed_unnoticed_counts_as_mapped():
    sketch = Sketch()
    indices = sketch.input((2,), "INT64")
    gathered = sketch.node("GATHER", [sketch.input(), indices])
    assert operations(sketch.map(sketch.node("RELU", [indices]), gathered)) == [["GATHER"], ["RELU"]]


def test_operands_of_transpose_convolution_are_not_looked_at():
    sketch = Sketch()
    shape, weights = sketch.constant("INT32", (4,)), sketch.constant("FLOAT32", (2, 1, 1, 2))
    inputs = [shape, weights, sketch.input((1, 3, 3, 2)), sketch.constant("INT64", (2,))]
    assert operations(sketch.map(sketch.node("TRANSPOSE_CONV", inputs, (1, 3, 3, 2)))) == [["TRANSPOSE_CONV"]]


@pytest.mark.parametrize(
    ("op", "position", "count"),
    [
        ("BATCH_TO_SPACE_ND", 2, 3),
        ("EXPAND_DIMS", 1, 2),
        ("RESIZE_BILINEAR", 1, 2),
        ("SPLIT", 0, 2),
        ("SUM", 1, 2),
        ("TOPK_V2", 1, 2),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", 20, 24),
    ],
)
def test_operands_that_become_numbers_or_are_not_looked_at_may_have_any_type(op, position, count):
    sketch = Sketch()
    inputs = [sketch.input() for _ in range(count)]
    inputs[position] = sketch.constant("INT64", ())
    assert operations(sketch.map(sketch.node(op, inputs))) == [[OPERATIONS[op]]]


@pytest.mark.parametrize(
    ("op", "position", "count"),
    [("SVDF", 3, 5), ("UNIDIRECTIONAL_SEQUENCE_LSTM", 20, 24), ("BIDIRECTIONAL_SEQUENCE_LSTM", 9, 48)],
)
def test_optional_operands(op, position, count):
    sketch = Sketch()
    inputs = [sketch.input() for _ in range(count)]
    inputs[position] = -1
    assert operations(sketch.map(sketch.node(op, inputs))) == [[op]]


def test_nnapi_absent_operand():
    sketch = Sketch()
    inputs = [sketch.input((1, 3, 3, 2)), sketch.constant("FLOAT32", (2, 1, 1, 2)), -1]
    found = failure(sketch.map(sketch.node("CONV_2D", inputs, (1, 3, 3, 2))))
    assert (found.code, found.node, found.tensor) == ("nnapi-absent-operand", 0, None)


def test_nnapi_unmapped_operator():
    sketch = Sketch()
    assert failure(sketch.map(sketch.node("GELU", [sketch.input()]))).code == "nnapi-unmapped-operator"


@pytest.mark.parametrize("op", ["MAXIMUM", "MINIMUM"])
def test_nnapi_scalar_operand(op):
    sketch = Sketch()
    scalar = sketch.constant("FLOAT16", ())
    found = failure(sketch.map(sketch.node(op, [sketch.input(), scalar])))
    assert (found.code, found.tensor) == ("nnapi-scalar-operand", scalar)


def test_nnapi_scalar_operand_that_is_not_constant():
    sketch = Sketch()
    assert failure(sketch.map(sketch.node("MAXIMUM", [sketch.input(), sketch.input(())]))).code == "nnapi-scalar-operand"


@pytest.mark.parametrize(("level", "fails"), [(NNAPI_1_2, False), (NNAPI_1_3, True)])
def test_scalars_beside_converted_int8_are_tensors(level, fails):
    sketch = Sketch()
    result = sketch.node("MAXIMUM", [sketch.input(type="INT8"), sketch.constant("FLOAT16", ())], type="INT8")
    assert (sketch.map(result, level=level).failure is not None) == fails


def test_nnapi_scalar_value():
    sketch = Sketch()
    axis = sketch.input((2,), "INT32")
    found = failure(sketch.map(sketch.node("ARG_MAX", [sketch.input(), axis], (2,), "INT32")))
    assert (found.code, found.tensor) == ("nnapi-scalar-value", axis)


def test_padding_value_with_several_elements_passes():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.input((2,))]
    assert operations(sketch.map(sketch.node("PADV2", inputs, (4, 4)))) == [["PAD_V2"]]


def test_nnapi_scalar_type_of_a_padding_value():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.constant("INT32", ())]
    assert failure(sketch.map(sketch.node("PADV2", inputs, (4, 4)))).code == "nnapi-scalar-type"


@pytest.mark.parametrize(("type", "fails"), [("INT32", False), ("INT64", False), ("INT8", True)])
def test_nnapi_scalar_type_of_an_axis(type, fails):
    sketch = Sketch()
    mapping = sketch.map(sketch.node("ARG_MIN", [sketch.input(), sketch.constant(type, (1,))], (2,), "INT32"))
    assert fails == (mapping.failure is not None and mapping.failure.code == "nnapi-scalar-type")


@pytest.mark.parametrize(
    ("dimensions", "value", "fails"),
    [("INT32", "FLOAT32", False), ("INT64", "INT64", False), ("INT32", "FLOAT16", True), ("INT8", "FLOAT32", True)],
)
def test_nnapi_scalar_type_of_fill(dimensions, value, fails):
    sketch = Sketch()
    filled = sketch.node("FILL", [sketch.constant(dimensions, (2,)), sketch.constant(value, ())])
    mapping = sketch.map(sketch.node("ADD", [sketch.input(), filled]))
    assert fails == (mapping.failure is not None and mapping.failure.code == "nnapi-scalar-type")


def test_nnapi_intermediate_type():
    sketch = Sketch()
    inputs = [sketch.input((1, 2, 2)), sketch.constant("FLOAT32", (2, 2))]
    result = sketch.node("FULLY_CONNECTED", inputs, (1, 2, 2), "INT32", options={"keep_num_dims": True})
    found = failure(sketch.map(result))
    assert (found.code, found.tensor) == ("nnapi-intermediate-type", result)


def test_nnapi_requantize_type():
    sketch = Sketch()
    result = sketch.node("MEAN", [sketch.input(), sketch.constant("INT32", (1,))], (2,), scale=0.5)
    assert failure(sketch.map(result)).code == "nnapi-requantize-type"


def test_nnapi_axis_of_pack():
    sketch = Sketch()
    result = sketch.node("PACK", [sketch.input()], (2, 2, 1), options={"axis": -1, "values_count": 1})
    assert failure(sketch.map(result, level=FEATURE_LEVEL_5)).code == "nnapi-axis"


def test_nnapi_axis_of_unpack():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input()], (2,), options={"axis": 1, "num": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-axis"


def test_nnapi_split_count():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input((3, 2))], (2,), options={"axis": 0, "num": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-split-count"


def test_nnapi_split_size():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2,), [3, -1]), sketch.constant("INT32", (), 0)]
    results = sketch.node("SPLIT_V", inputs, options={"num_splits": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-split-size"


def test_nnapi_lstm_intermediates():
    sketch = Sketch()
    assert failure(sketch.map(lstm(sketch, 20, "INT8", "INT8"))).code == "nnapi-lstm-intermediates"


@pytest.mark.parametrize(("type", "sparsity"), [("FLOAT32", None), ("UINT8", SPARSITY)])
def test_nnapi_sparse_weights(type, sparsity):
    sketch = Sketch()
    assert failure(sketch.map(sparse_convolution(sketch, type, sparsity))).code == "nnapi-sparse-weights"


# Pools of memory


def test_nnapi_empty_pool_of_inputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.constant("FLOAT32", (2, 2))])))
    assert (found.code, found.node, found.tensor) == ("nnapi-empty-pool", None, None)
    assert "inputs" in found.message


def test_inputs_that_are_not_mapped_do_not_count():
    sketch = Sketch()
    widened = sketch.node("DEQUANTIZE", [sketch.input(type="FLOAT16")])
    assert failure(sketch.map(sketch.node("RELU", [widened]))).code == "nnapi-empty-pool"


def test_nnapi_empty_pool_of_outputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.input()], (0, 2))))
    assert found.code == "nnapi-empty-pool"
    assert "outputs" in found.message


def test_state_counts_as_an_output():
    sketch = Sketch()
    state = sketch.subgraph.tensor("state", "FLOAT32", (2, 2), variable=True)
    weights = [sketch.constant("FLOAT32", (2, 2)) for _ in range(3)]
    assert operations(sketch.map(sketch.node("RNN", [sketch.input(), *weights, state], (0, 2)))) == [["RNN"]]


def test_one_input_with_bytes_is_enough():
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("ADD", [sketch.input((0, 2)), sketch.input((1, 2))]))) == [["ADD"]]

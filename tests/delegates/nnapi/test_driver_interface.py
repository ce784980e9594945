"""The NNAPI model that is built of a partition: operands, values, operations, and their order."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.options import parse_options
from delegate_sim.graph.partition import partition
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.nnapi_sketch import Sketch, lstm, sparse_convolution


def lowered(sketch, *outputs, **options):
    graph = sketch.finish(*outputs)
    values = parse_options("nnapi", DELEGATE.options, {"max_number_delegated_partitions": 0, **options})
    from delegate_sim.delegates.nnapi.driver_interface import lowered_models

    (subset,) = partition(graph, graph.execution_plan)
    (model,) = lowered_models(graph, [subset], values, NEWEST)
    return model


def operation(model, place=-1):
    """The name of an operation and its operands: types, with shapes of tensors and values of numbers."""
    one = model.operations[place]
    return (
        one.name,
        [shown(model.operands[index]) for index in one.inputs],
        [shown(model.operands[index]) for index in one.outputs],
    )


def shown(operand):
    if operand.type.startswith("TENSOR_"):
        left_out = " omitted" if operand.lifetime == "omitted" else ""
        return f"{operand.type[7:]}{list(operand.dimensions)}{left_out}"
    return operand.value


def test_calls_stand_in_the_order_of_the_delegate():
    sketch = Sketch()
    source = sketch.input((1, 2))
    weights, bias = sketch.constant("FLOAT32", (3, 2)), sketch.constant("FLOAT32", (3,))
    model = lowered(sketch, sketch.node("FULLY_CONNECTED", [source, weights, bias], (1, 3)))
    calls = [(call.function.partition("_")[2], call.subject) for call in model.calls]
    assert calls == [
        ("addOperand", 0), ("addOperand", 1), ("setOperandValue", 1), ("addOperand", 2), ("setOperandValue", 2),
        ("addOperand", 3), ("setOperandValue", 3), ("addOperand", 4), ("addOperation", 0),
        ("identifyInputsAndOutputs", None), ("relaxComputationFloat32toFloat16", None), ("finish", None),
    ]  # fmt: skip
    assert [operand.tensor for operand in model.operands] == [source, weights, bias, None, 3]
    assert (model.inputs, model.outputs) == ((0,), (4,))
    assert model.refusals == ()


@pytest.mark.parametrize(("size", "lifetime"), [(32, "copied constant"), (33, "referenced constant")])
def test_small_constants_are_copied_and_large_ones_referenced(size, lifetime):
    sketch = Sketch()
    model = lowered(sketch, sketch.node("ADD", [sketch.input((size,)), sketch.constant("FLOAT32", (size,))], (size,)))
    assert model.operands[1].lifetime == lifetime


def test_a_missing_bias_is_made_of_zeros():
    sketch = Sketch()
    model = lowered(
        sketch, sketch.node("FULLY_CONNECTED", [sketch.input((1, 2)), sketch.constant("FLOAT32", (3, 2)), -1], (1, 3))
    )
    assert operation(model) == ("FULLY_CONNECTED", ["FLOAT32[1, 2]", "FLOAT32[3, 2]", "FLOAT32[3]", 0], ["FLOAT32[1, 3]"])


def test_a_missing_bias_of_integers_has_the_scale_of_a_product():
    sketch = Sketch()
    source = sketch.input((1, 2), "INT8", scale=0.5)
    weights = sketch.constant("INT8", (3, 2), scale=0.25)
    model = lowered(sketch, sketch.node("FULLY_CONNECTED", [source, weights, -1], (1, 3), "INT8", scale=1.0))
    bias = model.operands[model.operations[0].inputs[2]]
    assert (bias.type, bias.scale) == ("TENSOR_INT32", 0.125)


def test_convolutions_have_their_dilation_only_if_there_is_one():
    options = {"padding": 1, "stride_w": 2, "stride_h": 3, "dilation_w_factor": 1, "dilation_h_factor": 1}
    for dilation, expected in ((1, [2, 2, 3, 0]), (2, [2, 2, 3, 0, False, 1, 2])):
        sketch = Sketch()
        inputs = [sketch.input((1, 9, 9, 4)), sketch.constant("FLOAT32", (4, 1, 1, 4)), sketch.constant("FLOAT32", (4,))]
        result = sketch.node("CONV_2D", inputs, (1, 9, 9, 4), options={**options, "dilation_h_factor": dilation})
        assert operation(lowered(sketch, result))[1][3:] == expected


def test_groups_of_a_convolution_are_a_number():
    sketch = Sketch()
    inputs = [sketch.input((1, 3, 3, 4)), sketch.constant("FLOAT32", (4, 1, 1, 2)), sketch.constant("FLOAT32", (4,))]
    options = {"padding": 0, "stride_w": 1, "stride_h": 1}
    name, given, _ = operation(lowered(sketch, sketch.node("CONV_2D", inputs, (1, 3, 3, 4), options=options)))
    assert (name, given[3:]) == ("GROUPED_CONV_2D", [1, 1, 1, 2, 0])


@pytest.mark.parametrize(
    ("level", "types"),
    [
        (30, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"]),
        (29, ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"]),
    ],
)
def test_int8_tensors_by_level(level, types):
    sketch = Sketch()
    model = lowered(
        sketch, sketch.node("RELU", [sketch.input(type="INT8", scale=0.5)], type="INT8", scale=0.5), feature_level=level
    )
    assert [operand.type for operand in model.operands] == types
    assert [operand.zero_point for operand in model.operands] == [0 if level == 30 else 128] * 2


def test_transpose_convolution_looks_at_the_wrong_tensor_below_level_30():
    sketch = Sketch()
    sketch.constant("FLOAT32", (1,))
    shape = sketch.constant("INT32", (4,), [1, 4, 4, 2])
    sketch.constant("FLOAT32", (1,))
    weights = sketch.constant("INT8", (2, 2, 2, 2), scale=[0.5, 0.5])
    source = sketch.input((1, 2, 2, 2), "INT8", scale=0.5)
    options = {"padding": 1, "stride_w": 2, "stride_h": 2}
    result = sketch.node(
        "TRANSPOSE_CONV", [shape, weights, source], (1, 4, 4, 2), "INT8", options=options, scale=0.5, zero_point=3
    )
    model = lowered(sketch, result, feature_level=29)
    assert model.operands[model.operations[-1].outputs[0]].type == "TENSOR_QUANT8_SYMM"
    assert model.refusals[0].call == "addOperand"


def test_weights_per_channel_have_their_scales():
    sketch = Sketch()
    weights = sketch.constant("INT8", (2, 1, 1, 4), scale=[0.5, 0.25])
    inputs = [sketch.input((1, 3, 3, 4), "INT8", scale=0.5), weights, sketch.constant("INT32", (2,))]
    options = {"padding": 0, "stride_w": 1, "stride_h": 1}
    model = lowered(sketch, sketch.node("CONV_2D", inputs, (1, 3, 3, 2), "INT8", options=options, scale=0.5))
    operand = model.operands[1]
    assert (operand.type, operand.channel_dimension, operand.scales) == ("TENSOR_QUANT8_SYMM_PER_CHANNEL", 0, (0.5, 0.25))


def test_a_single_scale_of_a_hybrid_transpose_convolution_is_repeated():
    sketch = Sketch()
    shape, weights = sketch.constant("INT32", (4,), [1, 4, 4, 2]), sketch.constant("INT8", (2, 2, 2, 2), scale=0.5)
    inputs = [shape, weights, sketch.input((1, 2, 2, 2))]
    options = {"padding": 1, "stride_w": 2, "stride_h": 2}
    model = lowered(sketch, sketch.node("TRANSPOSE_CONV", inputs, (1, 4, 4, 2), options=options))
    assert model.operands[1].scales == (0.5, 0.5)


def test_scalars_become_vectors_where_they_may():
    sketch = Sketch()
    model = lowered(sketch, sketch.node("ADD", [sketch.input(), sketch.constant("FLOAT32", ())]))
    assert operation(model) == ("ADD", ["FLOAT32[2, 2]", "FLOAT32[1]", 0], ["FLOAT32[2, 2]"])


def test_constant_float16_weights_are_widened():
    sketch = Sketch()
    weights = sketch.constant("FLOAT16", (2, 2))
    widened = sketch.node("DEQUANTIZE", [weights])
    model = lowered(sketch, sketch.node("ADD", [sketch.input(), weights]), widened)
    assert (model.operands[0].type, model.operands[0].dimensions) == ("TENSOR_FLOAT32", (2, 2))


def test_hybrid_weights_are_dequantized():
    sketch = Sketch()
    weights = sketch.constant("INT8", (2, 2), scale=0.5)
    model = lowered(sketch, sketch.node("FULLY_CONNECTED", [sketch.input(), weights, -1]))
    assert operation(model, 0) == ("DEQUANTIZE", ["QUANT8_SYMM[2, 2]"], ["FLOAT32[2, 2]"])
    assert operation(model)[1][1] == "FLOAT32[2, 2]"


@pytest.mark.parametrize("inputs", [20, 24])
def test_lstm_gives_its_states_back(inputs):
    sketch = Sketch()
    model = lowered(sketch, lstm(sketch, inputs))
    name, given, results = operation(model)
    assert name == "LSTM"
    assert len(given) == inputs + 3
    assert results == ["FLOAT32[0, 0]", "FLOAT32[2, 2]", "FLOAT32[2, 2]", "FLOAT32[2, 2]"]
    assert len(model.outputs) == 3


def test_unpack_reshapes_and_splits():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input((2, 3))], (3,), options={"axis": 0, "num": 2}, results=2)
    model = lowered(sketch, *results)
    assert operation(model, 0) == ("RESHAPE", ["FLOAT32[2, 3]", "INT32[1]"], ["FLOAT32[6]"])
    assert operation(model) == ("SPLIT", ["FLOAT32[6]", 0, 2], ["FLOAT32[3]", "FLOAT32[3]"])


def test_pack_joins_and_reshapes_below_level_6():
    sketch = Sketch()
    source = sketch.input()
    result = sketch.node("PACK", [source, source], (2, 2, 2), options={"axis": 1, "values_count": 2})
    model = lowered(sketch, result, feature_level=31)
    assert operation(model, 0) == ("CONCATENATION", ["FLOAT32[2, 2]", "FLOAT32[2, 2]", 1], ["FLOAT32[2, 4]"])


def test_hard_swish_is_built_of_products_below_level_30():
    sketch = Sketch()
    model = lowered(
        sketch, sketch.node("HARD_SWISH", [sketch.input(type="UINT8", scale=0.05)], type="UINT8", scale=0.05), feature_level=29
    )
    assert [one.name for one in model.operations] == ["MUL", "MUL", "MUL", "ADD"]
    scales = [model.operands[one.outputs[0]].scale for one in model.operations]
    third, half = np.float32(1) / np.float32(255), np.float32(0.05) / 2
    assert scales[:2] == pytest.approx([third, half])
    assert model.refusals == ()


def test_squared_difference_has_a_scale_for_both_signs():
    sketch = Sketch()
    source = sketch.input(type="INT8", scale=0.5)
    model = lowered(sketch, sketch.node("SQUARED_DIFFERENCE", [source, source], type="INT8", scale=2.0))
    assert model.operands[model.operations[0].outputs[0]].scale == pytest.approx(2 * (127 * 2.0) ** 0.5 / 254)


def test_sparse_weights_are_unpacked_into_a_constant():
    sketch = Sketch()
    model = lowered(sketch, sparse_convolution(sketch))
    assert (model.operands[1].type, model.operands[1].dimensions) == ("TENSOR_FLOAT32", (2, 1, 1, 2))
    assert model.operands[1].tensor is None


def test_an_unused_operand_shifts_those_behind_it():
    sketch = Sketch()
    number = sketch.subgraph.input("number", "INT32", ())
    first = sketch.node("FILL", [sketch.constant("INT32", (1,)), number], (1,), "INT32")
    second = sketch.node("FILL", [sketch.constant("INT32", (1,)), number], (1,), "INT32")
    model = lowered(sketch, first, second)
    assert model.refusals


def test_without_a_runtime_nothing_is_refused():
    sketch = Sketch()
    source = sketch.input((1, 1, 1, 2, 2))
    result = sketch.node("RELU", [source], (1, 1, 1, 2, 2))
    assert lowered(sketch, result, nnapi_runtime="none").refusals == ()


def test_of_a_mapping_that_fails_what_was_built_is_shown():
    sketch = Sketch()
    result = sketch.node("RELU", [sketch.node("RELU", [sketch.input()])], type="INT64")
    model = lowered(sketch, result)
    assert [one.name for one in model.operations] == ["RELU"]
    assert "INT64" in model.refusals[0].text

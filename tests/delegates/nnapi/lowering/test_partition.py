"""Mapping partitions to NNAPI operations: what each node becomes."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.lowering.partition import OPERATIONS
from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_5, FEATURE_LEVEL_6, NNAPI_1_2, NNAPI_1_3
from tests.support.delegates.nnapi_sketch import Sketch, lstm, operations, sparse_convolution

# The table


def test_every_accepted_operator_has_an_operation_or_a_lowering():
    lowered = {"COS", "SPLIT_V", "SQUARED_DIFFERENCE", "UNPACK"}
    assert set(OPERATIONS) | lowered | {"DENSIFY"} == set(RULES.rules)


@pytest.mark.parametrize(("op", "operation"), [("RELU_N1_TO_1", "RELU1"), ("ABS", "ABS"), ("LEAKY_RELU", "PRELU")])
def test_one_operation(op, operation):
    sketch = Sketch()
    result = sketch.node(op, [sketch.input()])
    assert operations(sketch.map(result)) == [[operation]]


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

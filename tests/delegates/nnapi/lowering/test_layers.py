"""Lowering of convolutions and matrix products."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import SPARSITY, Sketch, failure, lstm, operations, sparse_convolution


@pytest.mark.parametrize(("channels", "operation"), [(4, "CONV_2D"), (2, "GROUPED_CONV_2D")])
def test_convolution_with_fewer_filter_channels_is_grouped(channels, operation):
    sketch = Sketch()
    weights, bias = sketch.constant("FLOAT32", (4, 1, 1, channels)), sketch.constant("FLOAT32", (4,))
    result = sketch.node("CONV_2D", [sketch.input((1, 3, 3, 4)), weights, bias], (1, 3, 3, 4))
    assert operations(sketch.map(result)) == [[operation]]


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


def test_nnapi_absent_operand():
    sketch = Sketch()
    inputs = [sketch.input((1, 3, 3, 2)), sketch.constant("FLOAT32", (2, 1, 1, 2)), -1]
    found = failure(sketch.map(sketch.node("CONV_2D", inputs, (1, 3, 3, 2))))
    assert (found.code, found.node, found.tensor) == ("nnapi-absent-operand", 0, None)


@pytest.mark.parametrize(("type", "sparsity"), [("FLOAT32", None), ("UINT8", SPARSITY)])
def test_nnapi_sparse_weights(type, sparsity):
    sketch = Sketch()
    assert failure(sketch.map(sparse_convolution(sketch, type, sparsity))).code == "nnapi-sparse-weights"


@pytest.mark.parametrize(("channels", "code"), [(2, None), (0, "nnapi-division-by-zero")])
def test_channels_of_the_filter_of_a_grouped_convolution(channels, code):
    sketch = Sketch()
    operands = [
        sketch.input(shape=(1, 4, 4, 4)),
        sketch.constant("FLOAT32", (2, 1, 1, channels)),
        sketch.constant("FLOAT32", (2,)),
    ]
    found = sketch.map(sketch.node("CONV_2D", operands, (1, 4, 4, 2), options={"stride_w": 1, "stride_h": 1})).failure
    assert (found and found.code) == code


def test_operands_of_transpose_convolution_are_not_looked_at():
    sketch = Sketch()
    shape, weights = sketch.constant("INT32", (4,)), sketch.constant("FLOAT32", (2, 1, 1, 2))
    inputs = [shape, weights, sketch.input((1, 3, 3, 2)), sketch.constant("INT64", (2,))]
    assert operations(sketch.map(sketch.node("TRANSPOSE_CONV", inputs, (1, 3, 3, 2)))) == [["TRANSPOSE_CONV"]]


def test_hybrid_weights_are_dequantized_once_for_a_partition():
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


def test_nnapi_intermediate_type():
    sketch = Sketch()
    inputs = [sketch.input((1, 2, 2)), sketch.constant("FLOAT32", (2, 2))]
    result = sketch.node("FULLY_CONNECTED", inputs, (1, 2, 2), "INT32", options={"keep_num_dims": True})
    found = failure(sketch.map(result))
    assert (found.code, found.tensor) == ("nnapi-intermediate-type", result)


@pytest.mark.parametrize(("shape", "code"), [((2, 3), None), ((), "nnapi-division-by-zero"), ((2, 0), "nnapi-division-by-zero")])
def test_last_dimension_of_a_result_that_keeps_dimensions(shape, code):
    sketch = Sketch()
    operands = [sketch.input(shape=(2, 4)), sketch.constant("FLOAT32", (3, 4)), sketch.constant("FLOAT32", (3,))]
    found = sketch.map(sketch.node("FULLY_CONNECTED", operands, shape, options={"keep_num_dims": True})).failure
    assert (found and found.code) == code
    assert found is None or found.effect.is_crash


@pytest.mark.parametrize("inputs", [20, 24])
def test_float_lstm(inputs):
    sketch = Sketch()
    assert operations(sketch.map(lstm(sketch, inputs))) == [["LSTM"]]


def test_hybrid_lstm_dequantizes_every_weight():
    sketch = Sketch()
    assert operations(sketch.map(lstm(sketch, 20, weights="UINT8"))) == [["DEQUANTIZE"] * 17 + ["LSTM"]]


def test_basic_lstm():
    sketch = Sketch()
    assert operations(sketch.map(*lstm(sketch, 5, "UINT8", "UINT8"))) == [["QUANTIZED_16BIT_LSTM"]]


def test_quantized_lstm():
    sketch = Sketch()
    gates = [sketch.subgraph.tensor("gate", "INT16", (), scale=1.0) for _ in range(5)]
    assert operations(sketch.map(lstm(sketch, 20, "INT8", "INT8", gates))) == [["QUANTIZED_LSTM"]]


def test_nnapi_lstm_intermediates():
    sketch = Sketch()
    assert failure(sketch.map(lstm(sketch, 20, "INT8", "INT8"))).code == "nnapi-lstm-intermediates"


def test_state_counts_as_an_output():
    sketch = Sketch()
    state = sketch.subgraph.tensor("state", "FLOAT32", (2, 2), variable=True)
    weights = [sketch.constant("FLOAT32", (2, 2)) for _ in range(3)]
    assert operations(sketch.map(sketch.node("RNN", [sketch.input(), *weights, state], (0, 2)))) == [["RNN"]]

"""Lowering of recurrent layers."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, failure, lstm, operations


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

"""Prepare of SVDF, RNN and LSTM."""

from __future__ import annotations

import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import PrepareError

BASIC = 1
"""Value of the schema's LSTMKernelType."""

BATCHES, TIME, INPUTS, CELLS, OUTPUTS = 2, 5, 3, 4, 6
UNITS = CELLS


def svdf(kernels, *, kind="FLOAT32", filters=8, state=(2, 40), bias=4, rank=2, scaled=()):
    tensors = [
        kernels.arena(kind, 2, 3),
        kernels.arena(kind, filters, 3),
        kernels.arena(kind, filters, 5),
        kernels.arena("FLOAT32", bias) if bias else None,
        kernels.arena(kind, *state),
        kernels.arena(kind),
    ]
    for position in scaled:
        tensors[position] = kernels.quantized(tensors[position], 0.5)
    return kernels.prepare("SVDF", tensors[:5], tensors[5:], rank=rank)


def test_svdf_shape(kernels):
    kernels.assert_static(svdf(kernels), (2, 4))
    kernels.assert_static(svdf(kernels, bias=None), (2, 4))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rank": 0}, "the number of filters is not a multiple of the rank"),
        ({"rank": 3}, "the number of filters is not a multiple of the rank"),
        ({"state": (2, 39)}, "tensor 4 has the shape"),
        ({"state": (80,)}, "tensor 4 has the shape"),
        ({"bias": 3}, "the bias does not have one element for each unit"),
        ({"kind": "UINT8"}, "tensor 0 is UINT8"),
    ],
)
def test_svdf_refuses(kernels, wrong, message):
    with pytest.raises(PrepareError, match=message):
        svdf(kernels, **wrong)


def test_svdf_integer_kernel_needs_quantization(kernels):
    kernels.assert_static(svdf(kernels, kind="INT8", scaled=(0, 1, 2, 4, 5)), (2, 4))
    with pytest.raises(PrepareError, match="quantization"):
        svdf(kernels, kind="INT8", scaled=(0, 1, 2, 4))


def rnn_cell(kernels, kind="FLOAT32", units=UNITS, bias=True):
    return [
        kernels.arena(kind, units, INPUTS),
        kernels.arena(kind, units, units),
        kernels.arena("FLOAT32", units) if bias else None,
        kernels.arena("FLOAT32", BATCHES, units, is_variable=True),
    ]


@pytest.mark.parametrize("kind", ["FLOAT32", "INT8", "FLOAT16"])
def test_rnn(kernels, kind):
    source = kernels.arena("FLOAT32", BATCHES, INPUTS)
    node = kernels.prepare("RNN", [source, *rnn_cell(kernels, kind)], [kernels.arena("FLOAT32")])
    kernels.assert_static(node, (BATCHES, UNITS))


def test_rnn_refuses(kernels):
    source, cell = kernels.arena("FLOAT32", BATCHES, INPUTS), rnn_cell(kernels)
    for inputs, reason in (
        ([source, *rnn_cell(kernels, bias=False)], "missing"),
        ([source, cell[0]._replace(type="INT8"), *cell[1:]], "different types"),
        ([source._replace(type="INT8"), *cell], "INT8"),
        ([source, cell[0]._replace(shape=(UNITS, INPUTS + 1)), *cell[1:]], "shape"),
        ([source, *cell[:3], cell[3]._replace(shape=(BATCHES, UNITS + 1))], "shape"),
    ):
        with pytest.raises(PrepareError, match=reason):
            kernels.prepare("RNN", inputs, [kernels.arena("FLOAT32")])


@pytest.mark.parametrize(("time_major", "shape"), [(False, (BATCHES, TIME)), (True, (TIME, BATCHES))])
def test_unidirectional_sequence_rnn(kernels, time_major, shape):
    inputs = [kernels.arena("FLOAT32", *shape, INPUTS), *rnn_cell(kernels)]
    node = kernels.prepare("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [kernels.arena("FLOAT32")], time_major=time_major)
    kernels.assert_static(node, (*shape, UNITS))
    with pytest.raises(PrepareError, match="shape"):
        kernels.prepare("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [kernels.arena("FLOAT32")], time_major=not time_major)


def bidirectional_rnn(kernels, auxiliary=(None, None, None), outputs=2, **options):
    inputs = [
        kernels.arena("FLOAT32", BATCHES, TIME, INPUTS),
        *rnn_cell(kernels),
        *rnn_cell(kernels, units=UNITS + 1),
        *auxiliary,
    ]
    results = [kernels.arena("FLOAT32")] * outputs
    return kernels.prepare("BIDIRECTIONAL_SEQUENCE_RNN", inputs, results, **{"time_major": False, **options})


def test_bidirectional_sequence_rnn(kernels):
    kernels.assert_static(bidirectional_rnn(kernels), (BATCHES, TIME, UNITS), (BATCHES, TIME, UNITS + 1))
    merged = bidirectional_rnn(kernels, outputs=1, merge_outputs=True)
    kernels.assert_static(merged, (BATCHES, TIME, 2 * UNITS + 1))
    with pytest.raises(PrepareError, match="outputs"):
        bidirectional_rnn(kernels, outputs=2, merge_outputs=True)


def test_bidirectional_sequence_rnn_auxiliary_input(kernels):
    auxiliary = kernels.arena("FLOAT32", BATCHES, TIME, 7)
    forward, backward = kernels.arena("FLOAT32", UNITS, 7), kernels.arena("FLOAT32", UNITS + 1, 7)
    bidirectional_rnn(kernels, (auxiliary, forward, backward))
    with pytest.raises(PrepareError, match="only one"):
        bidirectional_rnn(kernels, (auxiliary, forward, None))
    with pytest.raises(PrepareError, match="shape"):
        bidirectional_rnn(kernels, (auxiliary, forward, forward))


def lstm_cell(kernels, kind="FLOAT32", *, outputs=OUTPUTS, cells=CELLS, has_projection=True):
    """The operands of one cell without peepholes, from the weights of the input gate to the bias of the projection."""
    bias = "INT32" if kind == "INTEGER" else "FLOAT32"
    weights = "INT8" if kind == "INTEGER" else kind
    return [
        *[kernels.arena(weights, cells, INPUTS)] * 4,
        *[kernels.arena(weights, cells, outputs)] * 4,
        *[None] * 3,
        *[kernels.arena(bias, cells)] * 4,
        kernels.arena(weights, outputs, cells) if has_projection else None,
        kernels.arena(bias, outputs) if has_projection else None,
    ]


def lstm_states(kernels, kind="FLOAT32", *, outputs=OUTPUTS, cells=CELLS):
    return [
        kernels.arena(kind, BATCHES, outputs, is_variable=True),
        kernels.arena("INT16" if kind == "INT8" else kind, BATCHES, cells, is_variable=True),
    ]


def full_lstm(kernels, changes=None, kind="FLOAT32", norms=(None,) * 4, **given):
    """An LSTM with some operands (by position) replaced by others."""
    is_integer = kind == "INTEGER"
    data = "INT8" if is_integer else "FLOAT32"
    inputs = [kernels.arena(data, BATCHES, INPUTS), *lstm_cell(kernels, kind), *lstm_states(kernels, data), *norms]
    for position, change in (changes or {}).items():
        inputs[position] = change and inputs[position]._replace(**change)
    return kernels.prepare("LSTM", inputs, [kernels.arena(data)], **{"cell_clip": 0.0, **given})


@pytest.mark.parametrize("kind", ["FLOAT32", "UINT8", "INT8"])
def test_lstm_shape(kernels, kind):
    kernels.assert_static(full_lstm(kernels, kind=kind), (BATCHES, OUTPUTS))


def test_lstm_without_layer_normalization_may_have_20_inputs(kernels):
    kernels.assert_static(full_lstm(kernels, norms=()), (BATCHES, OUTPUTS))
    with pytest.raises(PrepareError, match="inputs"):
        full_lstm(kernels, norms=(None,))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({2: {"type": "FLOAT16"}}, "FLOAT16"),
        ({3: {"type": "INT8"}}, "different types"),
        ({6: {"type": "INT8"}}, "different types"),
        ({3: {"shape": (CELLS, INPUTS + 1)}}, "shape"),
        ({7: {"shape": (CELLS, OUTPUTS + 1)}}, "shape"),
        ({6: {"shape": (CELLS,)}}, "shape"),
        ({1: None}, "input gate lacks"),
        ({5: None}, "input gate lacks"),
        ({1: None, 5: None}, "bias but no weights for the input gate"),
        ({12: None}, "missing"),
        ({13: {"type": "INT32"}}, "INT32"),
        ({16: None}, "bias but no weights for the projection"),
        ({18: {"is_variable": False}}, "variable"),
        ({19: {"shape": (BATCHES, CELLS + 1)}}, "elements"),
    ],
)
def test_lstm_refuses_operands(kernels, changes, reason):
    with pytest.raises(PrepareError, match=reason):
        full_lstm(kernels, changes)


@pytest.mark.parametrize("changes", [{1: None, 5: None, 12: None}, {17: None}, {18: {"shape": (BATCHES * OUTPUTS,)}}])
def test_lstm_takes_what_may_be_left_out(kernels, changes):
    kernels.assert_static(full_lstm(kernels, changes), (BATCHES, OUTPUTS))


def test_lstm_refuses_negative_clips(kernels):
    with pytest.raises(PrepareError, match="clip"):
        full_lstm(kernels, cell_clip=-1.0)


def with_peepholes(kernels, positions, kind="FLOAT32"):
    cell = lstm_cell(kernels)
    for position in positions:
        cell[position - 1] = kernels.arena(kind, CELLS)
    inputs = [kernels.arena("FLOAT32", BATCHES, INPUTS), *cell, *lstm_states(kernels)]
    return kernels.prepare("LSTM", inputs, [kernels.arena("FLOAT32")], cell_clip=0.0)


def test_lstm_peepholes_are_all_or_none(kernels):
    with_peepholes(kernels, (9, 10, 11))
    for positions in ((9,), (10, 11), (9, 10)):
        with pytest.raises(PrepareError, match="peephole"):
            with_peepholes(kernels, positions)
    with pytest.raises(PrepareError, match="INT16"):
        with_peepholes(kernels, (9, 10, 11), "INT16")


def test_lstm_layer_normalization(kernels):
    norm = kernels.arena("FLOAT32", CELLS)
    full_lstm(kernels, norms=(norm,) * 4)
    full_lstm(kernels, norms=(norm, None, norm, norm._replace(shape=(9,))))  # Without that of the forget gate none counts.
    with pytest.raises(PrepareError, match="missing"):
        full_lstm(kernels, norms=(None, norm, norm, norm))
    with pytest.raises(PrepareError, match="coefficients but no weights"):
        full_lstm(kernels, {1: None, 5: None, 12: None}, norms=(norm,) * 4)
    with pytest.raises(PrepareError, match="INT16"):
        full_lstm(kernels, norms=(norm, norm, norm._replace(type="INT16"), norm))


@pytest.mark.parametrize("count", [5, 12])
def test_integer_lstm(kernels, count):
    intermediates = [kernels.quantized(kernels.arena("INT16"), 0.5)] * count
    node = full_lstm(kernels, kind="INTEGER", intermediates=intermediates)
    kernels.assert_static(node, (BATCHES, OUTPUTS))
    with pytest.raises(PrepareError, match="intermediate tensors"):
        full_lstm(kernels, kind="INTEGER", intermediates=intermediates[1:])
    with pytest.raises(PrepareError, match="quantization"):
        full_lstm(kernels, kind="INTEGER", intermediates=[*intermediates[:4], kernels.arena("INT16"), *intermediates[5:]])


def basic_lstm(kernels, weights=(16, 7), bias=16):
    inputs = [
        kernels.arena("FLOAT32", BATCHES, 3),
        kernels.arena("FLOAT32", BATCHES, 4),
        kernels.arena("FLOAT32", *weights),
        kernels.arena("FLOAT32", bias),
        kernels.arena("FLOAT32", BATCHES, 4),
    ]
    return kernels.prepare("LSTM", inputs, [kernels.arena("FLOAT32")] * 4, kernel_type=BASIC)


def test_basic_lstm(kernels):
    node = basic_lstm(kernels)
    kernels.assert_static(node, (BATCHES, 4), (BATCHES, 4), (BATCHES, 7), (BATCHES, 16))
    assert node.input(1).allocation is Allocation.VARIABLE
    assert node.input(4).allocation is Allocation.VARIABLE
    for wrong in ({"weights": (16, 8)}, {"weights": (15, 7)}, {"bias": 15}):
        with pytest.raises(PrepareError, match="shape"):
            basic_lstm(kernels, **wrong)


def unidirectional_lstm(kernels, changes=None, source=(BATCHES, TIME, INPUTS), outputs=OUTPUTS, **options):
    cell = lstm_cell(kernels, outputs=outputs)
    inputs = [kernels.arena("FLOAT32", *source), *cell, *lstm_states(kernels, outputs=outputs)]
    for position, change in (changes or {}).items():
        inputs[position] = inputs[position]._replace(**change)
    return kernels.prepare("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [kernels.arena("FLOAT32")], **{"cell_clip": 0.0, **options})


def test_unidirectional_sequence_lstm(kernels):
    kernels.assert_static(unidirectional_lstm(kernels), (BATCHES, TIME, OUTPUTS))
    node = unidirectional_lstm(kernels, source=(TIME, BATCHES, INPUTS), time_major=True)
    kernels.assert_static(node, (TIME, BATCHES, OUTPUTS))
    with pytest.raises(PrepareError, match="elements"):
        unidirectional_lstm(kernels, time_major=True)


def test_unidirectional_sequence_lstm_takes_diagonal_weights(kernels):
    diagonal = {position: {"shape": (CELLS,)} for position in range(5, 9)}
    kernels.assert_static(unidirectional_lstm(kernels, diagonal, outputs=CELLS), (BATCHES, TIME, CELLS))
    with pytest.raises(PrepareError, match="row"):
        unidirectional_lstm(kernels, {**diagonal, 5: {"shape": (CELLS + 1,)}}, outputs=CELLS)


def test_unidirectional_sequence_lstm_compares_the_types_of_recurrent_weights_only(kernels):
    unidirectional_lstm(kernels, {3: {"type": "INT8"}})
    unidirectional_lstm(kernels, {16: {"type": "INT8"}})
    with pytest.raises(PrepareError, match="different types"):
        unidirectional_lstm(kernels, {6: {"type": "INT8"}})
    with pytest.raises(PrepareError, match="different types"):
        unidirectional_lstm(kernels, {8: {"type": "INT8"}})


def bidirectional_lstm(kernels, forward=None, backward=None, auxiliary=(None,) * 9, results=2, **options):
    inputs = [
        kernels.arena("FLOAT32", BATCHES, TIME, INPUTS),
        *lstm_cell(kernels, **(forward or {})),
        *lstm_cell(kernels, **(backward or {})),
        *lstm_states(kernels),
        *lstm_states(kernels),
        *auxiliary,
    ]
    outputs = [kernels.arena("FLOAT32")] * results
    return kernels.prepare("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, **{"cell_clip": 0.0, **options})


def test_bidirectional_sequence_lstm(kernels):
    kernels.assert_static(bidirectional_lstm(kernels), (BATCHES, TIME, OUTPUTS), (BATCHES, TIME, OUTPUTS))
    merged = bidirectional_lstm(kernels, results=1, merge_outputs=True)
    kernels.assert_static(merged, (BATCHES, TIME, 2 * OUTPUTS))


def test_bidirectional_sequence_lstm_needs_cells_alike(kernels):
    for other, reason in (({"cells": CELLS + 1}, "shape"), ({"outputs": OUTPUTS + 1}, "shape"), ({"kind": "INT8"}, "types")):
        with pytest.raises(PrepareError, match=reason):
            bidirectional_lstm(kernels, backward=other)


def test_bidirectional_sequence_lstm_auxiliary_input(kernels):
    auxiliary, weights = kernels.arena("FLOAT32", BATCHES, TIME, 7), kernels.arena("FLOAT32", CELLS, 7)
    bidirectional_lstm(kernels, auxiliary=(auxiliary, *[weights] * 8))
    bidirectional_lstm(kernels, auxiliary=(auxiliary._replace(shape=(BATCHES, TIME, INPUTS)), *[None] * 8))
    for operands, reason in (
        ((auxiliary, *[None] * 8), "shape"),
        ((None, *[weights] * 8), "no auxiliary input"),
        ((auxiliary, *[weights] * 7, None), "auxiliary weights are missing"),
        ((auxiliary, None, *[weights] * 7), "lacks auxiliary weights"),
        ((auxiliary, *[weights] * 7, kernels.arena("FLOAT32", CELLS, 8)), "shape"),
    ):
        with pytest.raises(PrepareError, match=reason):
            bidirectional_lstm(kernels, auxiliary=operands)

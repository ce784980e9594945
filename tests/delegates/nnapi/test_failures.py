"""Mapping partitions to NNAPI operations: what makes a kernel fail."""

from __future__ import annotations

import string

import pytest

from delegate_sim.delegates.nnapi import failures
from delegate_sim.delegates.nnapi.lowering.partition import OPERATIONS
from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_5, NNAPI_1_2, NNAPI_1_3
from tests.support.delegates.nnapi_sketch import SPARSITY, Sketch, failure, lstm, operations, sparse_convolution


@pytest.mark.parametrize("code", failures.KINDS)
def test_every_failure_is_worded_from_what_was_found(code):
    message, kind = failures._WORDINGS[code].message, failures._WORDINGS[code].kind
    assert {name for _, name, _, _ in string.Formatter().parse(message) if name} <= {
        "tensor", "type", "op", "found", "known", "axis", "shape", "count", "size", "outputs", "side",
    }  # fmt: skip
    assert kind.hint
    assert all(kind.explanation)


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


@pytest.mark.parametrize("axis", [-1, -9])
def test_nnapi_axis_of_pack(axis):
    sketch = Sketch()
    result = sketch.node("PACK", [sketch.input()], (2, 2, 1), options={"axis": axis, "values_count": 1})
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


# Divisions


@pytest.mark.parametrize(("shape", "code"), [((2, 3), None), ((), "nnapi-division-by-zero"), ((2, 0), "nnapi-division-by-zero")])
def test_last_dimension_of_a_result_that_keeps_dimensions(shape, code):
    sketch = Sketch()
    operands = [sketch.input(shape=(2, 4)), sketch.constant("FLOAT32", (3, 4)), sketch.constant("FLOAT32", (3,))]
    found = sketch.map(sketch.node("FULLY_CONNECTED", operands, shape, options={"keep_num_dims": True})).failure
    assert (found and found.code) == code
    assert found is None or found.is_crash


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

"""Differences from the reference kernels, and which of them are right."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.graph.graph import file_graph
from delegate_sim.verification.comparison import ErrorTolerance, compared, step_of, tolerance_for, with_float_weights
from fixtures.builder import ModelBuilder

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("reference", "value", "is_wrong"),
    [
        ([1, 100], [1.05, 100], False),
        ([1, 100], [1.2, 100], True),
        ([NAN, 100], [3, 100], False),
        ([INF, 100], [3e38, 100], False),
        ([1, 100], [NAN, 100], True),
        ([0, 0], [0, 0], False),
        ([0, 0], [1e-9, 0], True),
    ],
)
def test_errors_are_shares_of_the_largest_finite_value(reference, value, is_wrong):
    arrays = [[np.array(values, np.float32)] for values in (reference, value)]
    assert ErrorTolerance(0.001).excludes(compared("y", *arrays), 0) is is_wrong


@pytest.mark.parametrize(("step", "error", "is_wrong"), [(1, 1, False), (1, 2, True), (0, 1, True)])
def test_a_quantized_output_may_be_off_by_one_step(step, error, is_wrong):
    difference = compared("y", [np.array([50], np.int8)], [np.array([50 + error], np.int8)])
    assert ErrorTolerance(0.001).excludes(difference, step) is is_wrong


def test_another_shape_is_wrong():
    difference = compared("y", [np.zeros(2, np.float32)], [np.zeros(3, np.float32)])
    assert ErrorTolerance(1).excludes(difference, 0)


def weighted(kind, **quantization):
    """Return a FULLY_CONNECTED of floats, with weights of a type."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [1, 2]), graph.tensor("y", "FLOAT32", [1, 3])
    weights = graph.tensor("w", kind, [3, 2], data=np.array([[1, 2], [3, 4], [5, 6]]), **quantization)
    graph.node("FULLY_CONNECTED", [x, weights, -1], [y], 1, {})
    graph.outputs(y)
    return load(builder.bytes())


@pytest.mark.parametrize(
    ("kind", "quantization", "share"),
    [("FLOAT32", {}, 1e-3), ("FLOAT16", {}, 1e-2), ("INT8", {"scale": 0.5}, 5e-3)],
)
def test_the_tolerance_depends_on_the_weights(kind, quantization, share):
    assert tolerance_for(weighted(kind, **quantization)) == ErrorTolerance(share)


@pytest.mark.parametrize(
    ("quantization", "values"),
    [
        ({"scale": 0.5}, [[0.5, 1], [1.5, 2], [2.5, 3]]),
        ({"scale": [1, 2, 0.5], "zero_point": [0, 0, 0]}, [[1, 2], [6, 8], [2.5, 3]]),
        ({"scale": 0.5, "zero_point": 1}, [[0, 0.5], [1, 1.5], [2, 2.5]]),
    ],
)
def test_quantized_weights_of_float_nodes_become_floats(quantization, values):
    model = with_float_weights(weighted("INT8", **quantization))
    (node,) = model.subgraphs[0].nodes
    tensor = model.subgraphs[0].tensors[node.inputs[1]]
    assert tensor.type == "FLOAT32"
    assert np.asarray(model.constant(tensor)).reshape(3, 2).tolist() == values


@pytest.mark.parametrize(
    ("kind", "stored", "values"),
    [("INT4", [0x21, 0xE3, 0x8F], [1, 2, 3, -2, -1, -8]), ("INT2", [0b11_10_01_00, 0b0001], [0, 1, -2, -1, 1, 0])],
)
def test_weights_with_several_elements_in_a_byte(kind, stored, values):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [1, 2]), graph.tensor("y", "FLOAT32", [1, 3])
    weights = graph.tensor("w", kind, [3, 2], data=bytes(stored), scale=1.0)
    graph.node("FULLY_CONNECTED", [x, weights, -1], [y], 1, {})
    graph.outputs(y)
    model = with_float_weights(load(builder.bytes()))
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].nodes[0].inputs[1]]
    assert np.asarray(model.constant(tensor)).tolist() == values


def test_a_model_without_such_nodes_stays():
    model = weighted("FLOAT32")
    assert with_float_weights(model) is model


@pytest.mark.parametrize(("kind", "scale", "step"), [("INT8", 0.25, [1, 0.25]), ("FLOAT16", None, [0, 0])])
def test_a_step_of_dequantized_values_is_the_scale(kind, scale, step):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", kind, [2], scale=scale), graph.tensor("y", "FLOAT32", [2])
    graph.node("DEQUANTIZE", [x], [y], 2, {})
    graph.outputs(y)
    model = load(builder.bytes())
    assert [step_of(file_graph(model, model.subgraphs[0]), index) for index in (x, y)] == step

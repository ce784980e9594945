"""Outputs that are never written, and nodes that ML Drift merges with a neighbor or removes."""

from __future__ import annotations

import itertools

import pytest

import delegate_sim
from delegate_sim.delegates.mldrift.numbers.rule import GraphPart
from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import Quantized, ints, model_of, one, risks_of, zeros

IMAGE = (1, 4, 4, 8)
SAME = {"padding": schema.enum_values("Padding")["SAME"], "stride_h": 1, "stride_w": 1}
KEPT = {"keep_dims": True}

REDUCED = [
    ("REDUCE_MAX", (1, 2), "y", [(1, "add-then-max", "may be wrong")]),
    ("REDUCE_MAX", (0, 1), "y", []),
    ("REDUCE_MAX", (0,), "y", [(1, "add-then-max", "may be wrong")]),
    ("SUM", (1, 2), "y", []),
    ("SUM", (1, 2), "s y", [(1, "add-reduce-output", "wrong")]),
    ("MEAN", (1, 2), "y s", [(1, "add-reduce-output", "wrong")]),
]


@pytest.mark.parametrize(("op", "axes", "outputs", "risks"), REDUCED)
def test_a_reduced_sum(op, axes, outputs, risks):
    result = tuple(1 if axis in axes else size for axis, size in enumerate(IMAGE))
    tensors = {"a": IMAGE, "b": IMAGE, "s": IMAGE, "c": ints(*axes), "y": result}
    assert risks_of(model_of(tensors, [("ADD", "a b", "s", {}), (op, "s c", "y", KEPT)], outputs)) == risks


@pytest.mark.parametrize(
    ("op", "window", "risks"),
    [
        ("AVERAGE_POOL_2D", 4, [(1, "add-reduce-output", "wrong")]),
        ("AVERAGE_POOL_2D", 2, []),
        ("MAX_POOL_2D", 4, []),
    ],
)
def test_a_pool_of_a_sum(op, window, risks):
    options = {"padding": 1, "stride_h": window, "stride_w": window, "filter_height": window, "filter_width": window}
    tensors = {"a": IMAGE, "b": IMAGE, "s": IMAGE, "y": (1, 4 // window, 4 // window, 8)}
    assert risks_of(model_of(tensors, [("ADD", "a b", "s", {}), (op, "s", "y", options)], "s y")) == risks


def test_a_sum_of_a_tensor_with_itself_is_not_merged():
    tensors = {"a": IMAGE, "s": IMAGE, "c": ints(1), "y": (1, 1, 4, 8)}
    assert risks_of(model_of(tensors, [("ADD", "a a", "s", {}), ("SUM", "s c", "y", KEPT)], "s y")) == []


CONVOLUTION = {"x": IMAGE, "w": zeros(8, 3, 3, 8), "b": zeros(8), "q": IMAGE, "c": zeros(8), "y": IMAGE, "z": IMAGE}
FUSED = [
    ([("MUL", "q c", "y", {})], "q y", [(1, "fused-output", "wrong")]),
    ([("ADD", "q c", "y", {})], "q y", [(1, "fused-output", "wrong")]),
    ([("SUB", "q c", "y", {})], "q y", []),
    ([("MUL", "q c", "y", {})], "y", []),
    ([("MUL", "q c", "y", {}), ("ADD", "y c", "z", {})], "y z", [(2, "fused-output", "wrong")]),
    ([("MUL", "q c", "y", {}), ("RELU", "q", "z", {})], "q y z", []),
]


@pytest.mark.parametrize(("steps", "outputs", "risks"), FUSED)
def test_a_merged_output(steps, outputs, risks):
    assert risks_of(model_of(CONVOLUTION, [("CONV_2D", "x w b", "q", SAME), *steps], outputs)) == risks


@pytest.mark.parametrize(("window", "risks"), [(3, [(1, "fused-output", "wrong")]), (1, [])])
def test_an_output_after_widened_weights_is_merged(window, risks):
    """A convolution with INT8 weights and a window of 1x1 becomes a matrix product, which keeps its weights."""
    tensors = {**CONVOLUTION, "w": Quantized(8, window, window, 8)}
    assert risks_of(model_of(tensors, [("CONV_2D", "x w b", "q", SAME), ("MUL", "q c", "y", {})], "q y")) == risks


def test_an_output_after_a_fused_activation_is_not_merged():
    steps = [("CONV_2D", "x w b", "q", {**SAME, "fused_activation_function": 1}), ("MUL", "q c", "y", {})]
    assert risks_of(model_of(CONVOLUTION, steps, "q y")) == []


COPIES = {"x": IMAGE, "q": IMAGE, "y": IMAGE, "z": IMAGE, "o": ints(0, 0, 0, 0), "s": ints(*IMAGE), "n": ints(4, 4)}
COPIED = [
    ([("SLICE", "q o s", "y", {})], "q y", [(1, "noop-output", "wrong")]),
    ([("SLICE", "q o s", "y", {}), ("ABS", "y", "z", {})], "q z", []),
    ([("SLICE", "q o s", "y", {}), ("SLICE", "y o s", "z", {})], "q z", [(1, "noop-output", "wrong")]),
    ([("RESIZE_BILINEAR", "q n", "y", {}), ("ABS", "y", "z", {})], "q z", [(1, "noop-output", "wrong")]),
    ([("RESHAPE", "q s", "y", {})], "q y", []),
    ([("CONCATENATION", "q", "y", {"axis": 3})], "q y", [(1, "concat-of-one", "wrong")]),
    ([("CONCATENATION", "q", "y", {"axis": 3})], "y", []),
]


@pytest.mark.parametrize(("steps", "outputs", "risks"), COPIED)
def test_a_removed_node(steps, outputs, risks):
    assert risks_of(model_of(COPIES, [("NEG", "x", "q", {}), *steps], outputs)) == risks


def test_a_concatenation_of_an_input_may_be_right():
    model = model_of({"x": IMAGE, "y": IMAGE}, [("CONCATENATION", "x", "y", {"axis": 3})])
    assert risks_of(model) == [(0, "concat-of-one", "may be wrong")]


HALF = (1, 4, 4, 4)
SPLIT = [
    ("SLICE", "p", "y q", [(1, "noop-split", "wrong")]),
    ("SLICE", "q", "y p", []),
    ("RESIZE_BILINEAR", "p", "y q", [(1, "noop-split", "wrong")]),
    ("CONCATENATION", "p", "y q", [(1, "concat-of-one", "wrong")]),
    ("CONCATENATION", "q", "y p", []),
]


@pytest.mark.parametrize(("op", "source", "outputs", "risks"), SPLIT)
def test_a_copied_output_of_a_split(op, source, outputs, risks):
    tensors = {"c": one(3), "x": IMAGE, "p": HALF, "q": HALF, "y": HALF}
    tensors |= {"o": ints(0, 0, 0, 0), "s": ints(*HALF), "n": ints(4, 4)}
    further = {"SLICE": " o s", "RESIZE_BILINEAR": " n", "CONCATENATION": ""}[op]
    steps = [("SPLIT", "c x", "p q", {"num_splits": 2}), (op, f"{source}{further}", "y", {"axis": 3} if not further else {})]
    assert risks_of(model_of(tensors, steps, outputs)) == risks


def test_outputs_that_are_inputs_or_listed_twice():
    model = model_of({"x": IMAGE, "y": IMAGE}, [("NEG", "x", "y", {})], "x y y")
    assert risks_of(model) == [(None, "input-is-output", "wrong"), (None, "output-twice", "wrong")]


def test_an_input_that_is_an_output_is_written_if_the_gpu_takes_only_a_part():
    tensors = {"x": (1, 4), "y": (1, 4), "z": (1, 4)}
    model = model_of(tensors, [("NEG", "x", "y", {}), ("LOG_SOFTMAX", "y", "z", {})], "x z")
    assert not delegate_sim.analyze(model, "mldrift", defaults="benchmark").runs[0].subgraphs[0].delegated.issuperset({0, 1})
    assert risks_of(model) == []


RINGS = [
    ("slices", [("RELU", "x", "o"), ("SLICE", "o b n", "p"), ("SLICE", "p b n", "q"), ("SLICE", "q b n", "p")], "o"),
    ("one slice", [("RELU", "x", "o"), ("SLICE", "o b n", "p"), ("SLICE", "p b n", "p")], "o"),
    ("products", [("RELU", "x", "p"), ("MUL", "p c", "q"), ("MUL", "q c", "p")], "p q"),
]


@pytest.mark.parametrize(("nodes", "outputs"), [row[1:] for row in RINGS], ids=[row[0] for row in RINGS])
def test_nodes_in_a_ring_are_passed_once(monkeypatch, nodes, outputs):
    steps, reader, writer = itertools.count(), GraphPart.only_reader, GraphPart.writer

    def follow(own):
        def followed(part, tensor):
            assert next(steps) < 200
            return own(part, tensor)

        return followed

    monkeypatch.setattr(GraphPart, "only_reader", follow(reader))
    monkeypatch.setattr(GraphPart, "writer", follow(writer))
    sizes = {"b": ints(0, 0, 0, 0), "n": ints(*IMAGE), "c": zeros(1)}
    tensors = {**dict.fromkeys("xopq", IMAGE), **sizes}
    assert risks_of(model_of(tensors, [(*node, {}) for node in nodes], outputs)) == []

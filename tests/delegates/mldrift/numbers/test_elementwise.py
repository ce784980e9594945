"""Elementwise nodes with a constant operand: each case follows a record of LiteRT's GPU accelerator."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.gpu_compatibility import Bhwc, bhwc
from delegate_sim.delegates.mldrift.numbers.elementwise import is_read_elsewhere
from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import model_of, risks_of, zeros

CONST, RUNTIME, BATCH = "elementwise-const-layout", "elementwise-runtime-layout", "elementwise-const-batch"


def added(shape, constant, result, op="ADD", **options):
    return model_of({"x": shape, "c": constant, "y": result}, [(op, "x c", "y", options)])


LAYOUTS = [
    # A constant of one element is always right
    ((3, 5), zeros(1), None),
    # The constant is aligned to the last axis, and the first dimension of the runtime operand is the batch
    ((3, 5), zeros(3, 5), CONST),
    ((2, 4, 8), zeros(2, 4, 8), CONST),
    ((2, 4, 8), zeros(2, 1, 1), CONST),
    ((1, 4, 8), zeros(1, 4, 8), None),
    ((8,), zeros(8), CONST),
    ((2, 4, 4, 8), zeros(8), None),
    ((2, 4, 4, 8), zeros(1, 1, 1, 8), None),
    ((2, 4, 4, 8), zeros(4, 8), None),
    ((2, 4, 4, 8), zeros(2, 4, 4, 8), None),
    # Other constants keep their own axes
    (("INT32", (3, 5)), np.ones((3, 5), np.int32), None),
    (("INT32", (3, 5)), np.ones(5, np.int32), CONST),
    # Only batch 0 of the constant is used
    ((1, 4, 4, 8), zeros(2, 1, 1, 8), BATCH),
    # The runtime operand has a lower rank than the result
    ((5,), zeros(1, 1), RUNTIME),
    ((4, 5), zeros(1, 1, 1), RUNTIME),
]


@pytest.mark.parametrize(("shape", "constant", "code"), LAYOUTS)
def test_the_layout_of_a_constant(shape, constant, code):
    kind, size = shape if isinstance(shape[0], str) else ("FLOAT32", shape)
    result = (kind, np.broadcast_shapes(size, constant.shape))
    model = added(shape, constant, result)
    assert risks_of(model) == ([] if code is None else [(0, code, "wrong")])


def test_the_constant_and_the_other_operand_can_both_be_read_elsewhere():
    codes = [code for _, code, _ in risks_of(added((4, 17), zeros(3, 1, 1), (3, 4, 17)))]
    assert codes == [CONST, RUNTIME]


def test_two_runtime_operands_of_different_rank_are_right():
    model = model_of({"x": (2, 4, 8), "z": (4, 8), "y": (2, 4, 8)}, [("ADD", "x z", "y", {})])
    assert risks_of(model) == []


def places(layout, result):
    """Return the flat index of the operand's element that the GPU reads for each element of the result."""
    order = np.arange(int(np.prod(layout))).reshape(layout)
    return np.broadcast_to(order, bhwc(result)).reshape(result)


SHAPES = [(4,), (3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 4), (1, 3, 1), (5, 1, 4), (2, 1, 3, 4)]
RESULTS = [(4,), (3, 4), (2, 3, 4), (2, 1, 3, 4), (2, 5, 3, 4)]


def fits(shape, result):
    """Return whether a shape can be broadcast to a result."""
    pairs = zip(shape[::-1], result[::-1], strict=False)
    return len(shape) <= len(result) and all(size in (1, whole) for size, whole in pairs)


PAIRS = [(shape, result) for shape in SHAPES for result in RESULTS if fits(shape, result)]


@pytest.mark.parametrize(("shape", "result"), PAIRS)
def test_strides_say_what_index_arrays_say(shape, result):
    aligned = Bhwc(*(1,) * (4 - len(shape)), *shape)
    meant = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), result)
    for layout in (aligned, bhwc(shape)):
        try:
            is_same = np.array_equal(places(layout, result), meant)
        except ValueError:  # the layout does not fit into the result
            is_same = False
        assert is_read_elsewhere(shape, layout, result) != is_same


@pytest.mark.parametrize(
    ("runtime", "shape", "expected"),
    [
        ("litert-2.1.5", (20, 3, 4), [(0, "elementwise-mixed-ranks", "may be wrong")]),
        ("litert-2.1.5", (1, 20, 3, 4), []),
        ("litert-2.1.6", (20, 3, 4), []),
    ],
)
def test_operands_of_different_rank_in_old_releases(runtime, shape, expected):
    model = model_of({"x": shape, "z": (1, 1, 3, 4), "y": (1, 20, 3, 4)}, [("ADD", "x z", "y", {})])
    assert risks_of(model, runtime) == expected


@pytest.mark.parametrize(
    ("op", "kind", "shapes", "is_wrong"),
    [
        ("ADD", "INT8", ((6, 8), (1, 6, 8)), True),
        ("SUB", "UINT8", ((1, 2, 4, 8), (8,)), True),
        ("MAXIMUM", "INT8", ((4, 8), (1,)), True),
        ("ADD", "INT8", ((1, 6, 8), (1, 6, 8)), False),
        ("ADD", "INT8", ((1, 2, 4, 8), (1, 1, 1, 8)), False),
        ("GREATER", "INT8", ((6, 8), (1, 6, 8)), False),
        ("ADD", "FLOAT32", ((6, 8), (1, 6, 8)), False),
    ],
)
def test_quantized_operands_of_different_rank(op, kind, shapes, is_wrong):
    """Measured on WebGPU with LiteRT 2.1.6, 2.2.0 and 2.3.0; with a RESHAPE to the same rank, the numbers are right."""
    result = ("BOOL" if op == "GREATER" else kind, np.broadcast_shapes(*shapes))
    model = model_of({"x": (kind, shapes[0]), "z": (kind, shapes[1]), "y": result}, [(op, "x z", "y", {})])
    assert risks_of(model) == ([(0, "elementwise-quantized-ranks", "wrong")] if is_wrong else [])


SELECTED = [
    ("SELECT_V2", (8,), (2, 4, 3, 8), True),
    ("SELECT_V2", (1, 1, 1, 8), (2, 4, 3, 8), False),
    ("SELECT_V2", (2, 4, 3, 8), (2, 4, 3, 8), False),
    ("SELECT_V2", (1,), (2, 4, 3, 8), False),
    ("SELECT", (2,), (2, 4, 3, 8), False),
]


@pytest.mark.parametrize(("op", "condition", "shape", "is_wrong"), SELECTED)
def test_the_condition_of_a_selection(op, condition, shape, is_wrong):
    model = model_of({"c": ("BOOL", condition), "a": shape, "b": shape, "y": shape}, [(op, "c a b", "y", {})])
    assert risks_of(model) == ([(0, "select-cond-layout", "wrong")] if is_wrong else [])


POWERS = [
    ([], (1, 4), np.full(1, 2.0, np.float32), False),
    ([], (1, 4), np.full(1, 3.0, np.float32), False),
    ([], (1, 4), np.full(1, 0.5, np.float32), True),
    (["RELU"], (1, 4), np.full(1, 0.5, np.float32), False),
    ([], (1, 4), (1, 4), True),
    (["RELU"], (1, 4), (1, 4), True),
    (["EXP"], (1, 4), (1, 4), False),
]


@pytest.mark.parametrize(("before", "shape", "exponent", "is_possible"), POWERS)
def test_a_power(before, shape, exponent, is_possible):
    steps = [(op, "x", "b", {}) for op in before]
    model = model_of({"x": shape, "b": shape, "e": exponent, "y": shape}, [*steps, ("POW", "b e" if before else "x e", "y", {})])
    assert risks_of(model) == ([(len(before), "pow-negative", "may be wrong")] if is_possible else [])


@pytest.mark.parametrize(("alpha", "is_possible"), [(0.1, False), (1.0, False), (1.5, True), (-0.5, True)])
def test_a_slope(alpha, is_possible):
    model = model_of({"x": (1, 4), "y": (1, 4)}, [("LEAKY_RELU", "x", "y", {"alpha": alpha})])
    assert risks_of(model) == ([(0, "leaky-relu-alpha", "may be wrong")] if is_possible else [])


@pytest.mark.parametrize(("activation", "code"), [("NONE", None), ("RELU", None), ("TANH", "fused-tanh")])
def test_a_fused_activation(activation, code):
    options = {"fused_activation_function": schema.enum_values("ActivationFunctionType")[activation]}
    model = model_of({"x": (1, 4), "z": (1, 4), "y": (1, 4)}, [("ADD", "x z", "y", options)])
    assert risks_of(model) == ([] if code is None else [(0, code, "wrong")])

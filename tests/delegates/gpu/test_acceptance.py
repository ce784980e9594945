"""What is said of a partition's model without building it is what building it comes to."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu import build
from delegate_sim.delegates.gpu.build import acceptance
from delegate_sim.graph.alike import AlikeAnswers

from .sketch import Sketch, assert_fails


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Have it tried however few nodes are alike."""
    monkeypatch.setattr(AlikeAnswers, "_is_worthwhile", True)


@pytest.fixture
def told(monkeypatch):
    """What is said of each partition."""
    found = []

    def noted(*given):
        found.append(acceptance.is_accepted(*given))
        return found[-1]

    monkeypatch.setattr(build, "is_accepted", noted)
    return found


def reshaped(sketch, source, *shape):
    return sketch.node("RESHAPE", [source, sketch.vector(*shape)], shape)


def chain(sketch, make, length=5):
    last = sketch.input(2, 3)
    for _ in range(length):
        last = make(last)
    return sketch.build(last)


def test_nodes_that_only_follow_each_other_are_accepted(sketch, told):
    assert chain(sketch, lambda last: sketch.node("ABS", [last], (2, 3))) is None
    assert told == [True]


def test_one_node_of_a_class_is_built(sketch, told, monkeypatch):
    built = []
    monkeypatch.setattr(build, "PARSERS", {"ABS": lambda reader: built.append(build.elementwise.parse_one_operand(reader))})
    assert chain(sketch, lambda last: sketch.node("ABS", [last], (2, 3))) is None
    assert len(built) == 1


def test_a_result_that_is_quantised_is_accepted(sketch, told):
    make = lambda last: sketch.node("ABS", [last], (2, 3), type="INT8", scale=0.5)  # noqa: E731
    assert chain(sketch, make) is None
    assert told == [True]


def test_a_constant_that_one_node_reads_is_accepted(sketch, told):
    x = sketch.input(1, 2, 2, 1)
    joined = sketch.node("CONCATENATION", [x, sketch.constant(1, 2, 2, 3, value=0)], (1, 2, 2, 4), axis=3)
    assert sketch.build(joined) is None
    assert told == [True]


def test_a_node_that_cannot_be_built_is_named(sketch, told):
    scalar = sketch.node("SUM", [sketch.node("ABS", [sketch.input(2, 3)], (2, 3)), sketch.vector(0, 1)], ())
    assert_fails(sketch.build(sketch.node("ABS", [scalar], (2,))), "gpu-build-rank", 1, tensor=scalar)
    assert told == [False]


def test_an_identity_read_by_itself_is_accepted(sketch, told):
    assert chain(sketch, lambda last: sketch.node("ABS", [reshaped(sketch, last, 2, 3)], (2, 3))) is None
    assert told == [True]


def test_an_identity_beside_what_it_is_given_is_looked_at(sketch, told):
    x = sketch.node("ABS", [sketch.input(2, 3)], (2, 3))
    again = reshaped(sketch, reshaped(sketch, x, 2, 3), 2, 3)
    assert_fails(sketch.build(sketch.node("ADD", [x, again], (2, 3))), "gpu-build-identity", 2, x)
    assert told == [False]


def test_two_identities_of_one_tensor_are_looked_at(sketch, told):
    x = sketch.node("ABS", [sketch.input(2, 3)], (2, 3))
    result = sketch.node("ADD", [reshaped(sketch, x, 2, 3), reshaped(sketch, x, 2, 3)], (2, 3))
    assert sketch.build(result) is not None
    assert told == [False]


def test_a_reshape_to_another_shape_beside_its_operand_is_accepted(sketch, told):
    x = sketch.input(2, 3)
    assert sketch.build(sketch.node("ADD", [x, reshaped(sketch, x, 1, 2, 3)], (1, 2, 3))) is None
    assert told == [True]


def test_a_variable_is_looked_at(sketch, told):
    state = sketch.variable(2, 3)
    assert_fails(sketch.build(sketch.node("ABS", [state], (2, 3))), "gpu-build-variable", 0, tensor=state)
    assert told == [False]


def test_a_constant_that_other_nodes_read_is_looked_at(told):
    sketch = Sketch()
    weights = sketch.node("DEQUANTIZE", [sketch.constant(1, 2, 2, 3, type="INT8", scale=0.5)], (1, 2, 2, 3))
    assert sketch.build(sketch.node("ADD", [sketch.input(1, 2, 2, 3), weights], (1, 2, 2, 3))) is None
    assert told == [False]

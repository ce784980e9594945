"""Constants with many elements that become lists: each element costs steps, for each node that reads the constant."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import analyze, load
from delegate_sim.errors import LimitError
from delegate_sim.foundation import limits, work_budget
from delegate_sim.hypothetical.code_changes import with_float_arithmetic
from delegate_sim.hypothetical.model_editing import NodeKey
from delegate_sim.model.numbers import _FEW, FloatNumbers, RepeatedNumber, StoredNumbers, as_float32, as_list, bounds
from fixtures.builder import ModelBuilder

MANY = 1_200
READING = "reading the elements of constants takes more than the limit of 1,000 steps"


@pytest.fixture(autouse=True)
def _small_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1_000)


def numbers(count):
    return StoredNumbers.read("<i4", bytes(4 * count))


def test_many_elements_cost_steps():
    with work_budget.work_budget():
        assert as_list(numbers(4_000)) == [0] * 4_000
        assert [as_list(numbers(_FEW)) for _ in range(100)] == [[0] * _FEW] * 100
        with pytest.raises(LimitError, match=READING):
            as_list(numbers(_FEW + 1))


def test_no_list_has_more_elements_than_a_limit(monkeypatch):
    monkeypatch.setattr(limits, "_MOST_ELEMENTS", 999)
    with pytest.raises(LimitError, match="1,000 elements of a constant are more than the limit of 999"):
        as_list(numbers(1_000))


def test_the_bounds_of_many_elements_cost_steps():
    with work_budget.work_budget():
        assert bounds(numbers(60_000)) == (0, 0)
        with pytest.raises(LimitError, match=READING):
            bounds(numbers(60_000))


@pytest.mark.parametrize("count", [3, 10_000])
def test_integers_as_float_numbers(count):
    integers = StoredNumbers.of("<i4", [16_777_217, *range(1 - count, 0)])
    floats = as_float32(integers)
    assert floats.tolist() == [16_777_216.0, *range(1 - count, 0)]
    assert (floats[0], floats[-1], len(floats), floats.kind, floats.nbytes) == (16_777_216.0, -1.0, count, "<f4", 4 * count)
    assert floats[1:3].tolist() == [1 - count, 2 - count]
    assert np.asarray(floats).tolist() == floats.tolist()
    assert as_float32(RepeatedNumber("<i8", 16_777_217, count)).tolist() == [16_777_216.0] * count


def test_float_numbers_cost_steps_when_they_are_read():
    with work_budget.work_budget():
        floats = as_float32(numbers(600_000))
        assert not any(floats.tolist())
        with pytest.raises(LimitError, match=READING):
            floats.tolist()


def test_float_arithmetic_with_a_large_constant():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    large, result = graph.tensor("large", "INT32", [10_000], data=[7] * 10_000), graph.tensor("y", "INT32", [10_000])
    graph.node("ADD", [graph.input("x", "INT32", [10_000]), large], [result], options={})
    graph.outputs(result)
    tensors = with_float_arithmetic(load(builder.bytes()), [NodeKey(0, 0)]).model.subgraphs[0].tensors
    (value,) = [tensor.value for tensor in tensors if tensor.value is not None]
    assert isinstance(value, FloatNumbers)
    assert value.tolist() == [7.0] * 10_000


def shared(op, node_count, with_operands, options=None):
    """Return a model with nodes that read the same large constant."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    buffer = builder.buffer(bytes(4 * MANY))
    large = graph.tensor("large", "INT32", [MANY], buffer=buffer)
    results = []
    for _ in range(node_count):
        source, result = graph.input("x", "FLOAT32", [1, 2, 2, 4]), graph.tensor("y", "FLOAT32", [1, 2, 2, 4])
        graph.node(op, with_operands(source, large), [result], options=options)
        results.append(result)
    graph.outputs(*results)
    return builder.bytes()


CASES = {
    "MEAN": (lambda source, large: [source, large], {"keep_dims": True}),
    "SCATTER_ND": (lambda source, large: [large, source, large], None),
    "SPLIT": (lambda source, large: [large, source], {"num_splits": 1}),
    "STRIDED_SLICE": (lambda source, large: [source, large, large, large], {}),
    "TRANSPOSE": (lambda source, large: [source, large], {}),
}


@pytest.mark.parametrize("op", CASES)
def test_an_operand_with_many_elements(monkeypatch, op):
    model = load(shared(op, 1, *CASES[op]))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", MANY // 4 - 1)
    with work_budget.work_budget(), pytest.raises(LimitError, match=r"reading the elements of constants"):
        analyze(model, "xnnpack", defaults="api")


def test_nodes_that_share_one_constant():
    with work_budget.work_budget():
        analyze(load(shared("MEAN", 1, *CASES["MEAN"])), "gpu", defaults="api")
    with work_budget.work_budget(), pytest.raises(LimitError, match=READING):
        analyze(load(shared("MEAN", 4, *CASES["MEAN"])), "gpu", defaults="api")


def test_a_message_does_not_repeat_a_large_permutation():
    model = load(shared("TRANSPOSE", 1, *CASES["TRANSPOSE"]))
    (run,) = analyze(model, "xnnpack", defaults="api").runs
    assert run.refusal.code == "xnnpack-kernel-permutation"
    assert run.refusal.found == "1,200 axes"

"""Constants with many elements that become lists: each element costs steps, for each node that reads the constant."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import analyze, load
from delegate_sim.errors import LimitError
from delegate_sim.foundation import limits, work_budget
from delegate_sim.hypothetical.code_changes import with_float_arithmetic
from delegate_sim.hypothetical.model_editing import NodeKey
from delegate_sim.model.numbers import (
    _FEW,
    FloatNumbers,
    RepeatedNumber,
    StoredNumbers,
    as_float32,
    as_list,
    bounds,
    distinct,
    picked,
    read_as,
)
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
        assert as_list(numbers(3_000)) == [0] * 3_000
        assert [as_list(numbers(_FEW)) for _ in range(100)] == [[0] * _FEW] * 100
        with pytest.raises(LimitError, match=READING):
            as_list(numbers(500))


def test_no_list_has_more_elements_than_a_limit(monkeypatch):
    monkeypatch.setattr(limits, "_MOST_ELEMENTS", 999)
    with pytest.raises(LimitError, match="1,000 elements of a constant are more than the limit of 999"):
        as_list(numbers(1_000))


def test_the_bounds_of_many_elements_cost_steps():
    with work_budget.work_budget():
        zeros = numbers(40_000)
        assert [bounds(zeros) for _ in range(100)] == [(0, 0)] * 100  # found once
        with pytest.raises(LimitError, match=READING):
            bounds(numbers(40_000))


READS = {
    "array": np.asarray,
    "bytes": StoredNumbers.tobytes,
    "comparison": lambda stored: stored == StoredNumbers.read(stored.kind, b""),
    "distinct": distinct,
    "hash": hash,
    "iteration": list,
    "list": StoredNumbers.tolist,
    "other type": lambda stored: read_as(stored, "<i2"),
    "picked": lambda stored: picked(stored, [1]),
    "zeros": StoredNumbers.any,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_every_way_to_read_many_elements_costs_steps(read):
    with work_budget.work_budget():
        read(numbers(8_000))
        with pytest.raises(LimitError, match=READING):
            [read(numbers(8_000)) for _ in range(40)]


@pytest.mark.parametrize("delegate", ["mldrift", "gpu", "nnapi", "xnnpack"])
def test_tensors_over_the_same_bytes_share_what_is_found(monkeypatch, delegate):
    """A file decides how many tensors use a buffer, so the number of reads does not depend on the number of tensors."""
    read, stored = [], StoredNumbers._stored
    monkeypatch.setattr(StoredNumbers, "_stored", lambda own: (len(own) == MANY and read.append(own), stored(own))[1])
    counts = []
    for count in (1, 5):
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        buffer = builder.buffer(np.ones(MANY, np.float32).tobytes())
        source, results = graph.input("x", "FLOAT32", [1, MANY]), []
        for op in ("ADD", "DIV", "MAXIMUM", "MUL", "POW", "PRELU", "SUB") * count:
            constant = graph.tensor("c", "FLOAT32", [1, MANY], buffer=buffer)
            results.append(graph.tensor("y", "FLOAT32", [1, MANY]))
            graph.node(op, [source, constant], results[-1:], options={} if op in ("ADD", "DIV", "MUL", "SUB") else None)
        graph.outputs(*results)
        read.clear()
        analyze(load(builder.bytes()), delegate, defaults="api").to_dict()
        counts.append(len(read))
    assert counts[0] == counts[1]
    assert counts[0] or delegate != "mldrift"


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
        floats = as_float32(numbers(13_000))
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

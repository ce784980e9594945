"""A node that lacks operands has one answer, whatever the delegate; one that tests this says so in its own words."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from delegate_sim.options import parse_options
from delegate_sim.prepare import prepare
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules.kinds import MALFORMED_OPERANDS
from delegate_sim.rules.malformed import FEWEST
from fixtures.builder import ModelBuilder

CODE = MALFORMED_OPERANDS.name
DECIDING = [name for name in DELEGATE_NAMES if not find_delegate(name).is_plugin]
SMALLER_THAN_PREPARED = frozenset(
    ["ADD_N", "BIDIRECTIONAL_SEQUENCE_RNN", "LSTM", "PADV2", "RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_RNN", "UNPACK"]
)
"""Operators of which a real delegate was seen to take nodes with fewer operands than the CPU kernel does."""


def model(op, inputs, outputs, *, is_left_out=False, shape=(1, 4, 4, 4)):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", shape)
    results = [graph.tensor(f"y{number}", "FLOAT32", shape) for number in range(outputs)]
    graph.node(op, [-1 if is_left_out else source] * inputs, results)
    graph.outputs(*(results or [source]))
    return load(builder.bytes())


def verdict(read, name):
    delegate = find_delegate(name)
    decision = delegate.decide(file_graphs(read)[0], parse_options(name, delegate.options, {}, "api"), NEWEST)
    return decision.verdicts[0]


@pytest.mark.parametrize("name", DECIDING)
@pytest.mark.parametrize("op", FEWEST)
def test_no_delegate_takes_a_node_that_lacks_operands(op, name):
    inputs, outputs = FEWEST[op]
    fewest = inputs if name == "vx" else min(inputs, 1)  # others may count operands themselves, and do with fewer
    for counts in [(fewer, outputs) for fewer in range(fewest)] + [(inputs, fewer) for fewer in range(outputs)]:
        assert not verdict(model(op, *counts), name).is_supported, counts
    if inputs:
        assert not verdict(model(op, inputs, outputs, is_left_out=True), name).is_supported


@pytest.mark.parametrize(
    ("name", "op", "code"),
    [("vx", "RELU", CODE), ("gpu", "CONCATENATION", CODE), ("coreml", "RELU", "coreml-operand-count")]
    + [(name, "ADD", f"{name}-operand-count") for name in ("xnnpack", "gpu", "hexagon", "coreml", "mldrift")],
)
def test_a_test_of_the_delegates_own_comes_first(name, op, code):
    assert verdict(model(op, 0, 1), name).reasons[0].code == code


def test_words():
    reason = verdict(model("ADD", 1, 1), "vx").reasons[0]
    assert reason.message.startswith("has 1 input and 1 output; needs the operands and results without which")
    assert verdict(model("ADD", 2, 1, is_left_out=True), "vx").reasons[0].found == "input 0 is left out"
    assert CODE in find_delegate("vx").kinds


@pytest.mark.parametrize("op", sorted(set(FEWEST) - SMALLER_THAN_PREPARED))
def test_no_cpu_kernel_takes_fewer_either(op):
    inputs, outputs = FEWEST[op]
    for counts in [(fewer, outputs) for fewer in range(inputs)]:
        assert prepare(model(op, *counts))[0].failure is not None


def test_custom_operators_have_no_counts():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.node("CUSTOM", [], [graph.tensor("y", "FLOAT32", (1,))], custom="mine")
    assert verdict(load(builder.bytes()), "vx").reasons[0].code != CODE

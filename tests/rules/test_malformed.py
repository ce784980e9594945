"""A node that lacks operands has one answer, whatever the delegate; one that tests this says so in its own words."""

from __future__ import annotations

import re

import pytest

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from delegate_sim.model.schema import FAMILY_OF
from delegate_sim.prepare.preparation import has_kernel, prepare
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules import operands
from delegate_sim.rules.kinds import MALFORMED_OPERANDS
from delegate_sim.rules.operands import FEWEST
from fixtures.builder import ModelBuilder
from tests.support.tables import for_each

CODE = MALFORMED_OPERANDS.name
DECIDING = [name for name in DELEGATE_NAMES if not find_delegate(name).is_plugin]
FEWER_THAN_PREPARED = {"ADD_N": 2, "RNN": 5, "UNIDIRECTIONAL_SEQUENCE_RNN": 5}
"""The number of operands that the CPU kernel demands, for operators that VX takes with fewer."""
OPTIONS = {
    **{key: {"merge_outputs": True} for key in ("BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN")},
    **{key: {"num_splits": 1} for key in ("SPLIT", "SPLIT_V")},
    "LSTM": {"kernel_type": 1},
    "UNPACK": {"num": 1},
}
"""The options with which CPU kernels demand least."""
RESULTS_COUNTED_LATE = {"NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "PACK", "SPLIT", "SPLIT_V", "UNPACK"}
"""Operators whose CPU kernels look at something else before they count the results."""
OF_BOOLEANS = {"REDUCE_ALL", "REDUCE_ANY"}


def model(op, inputs, outputs, *, is_left_out=False, shape=(1, 4, 4, 4), type="FLOAT32", options=None):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", type, shape)
    results = [graph.tensor(f"y{number}", type, shape) for number in range(outputs)]
    graph.node(op, [-1 if is_left_out else source] * inputs, results, 1, options)
    graph.outputs(*(results or [source]))
    return load(builder.bytes())


def verdict(read, name):
    delegate = find_delegate(name)
    decision = delegate.decide(file_graphs(read)[0], parse_options(name, delegate.options, {}, "api"), NEWEST)
    return decision.verdicts[0]


@for_each(FEWEST)
def test_no_delegate_takes_a_node_that_lacks_operands(op):
    inputs, outputs = FEWEST[op]
    with_fewer = {fewer: model(op, fewer, outputs) for fewer in range(inputs)}
    lacking = [model(op, inputs, fewer) for fewer in range(outputs)]
    if inputs:
        lacking.append(model(op, inputs, outputs, is_left_out=True))
    taken = []
    for name in DECIDING:
        fewest = inputs if name == "vx" else min(inputs, 1)  # others may count operands themselves, and do with fewer
        models = [with_fewer[fewer] for fewer in range(fewest)] + lacking
        taken += [f"{name} takes case {number}" for number, one in enumerate(models) if verdict(one, name).is_supported]
    assert taken == []


@pytest.mark.parametrize(
    ("name", "op", "code"),
    [("vx", "RELU", CODE), ("gpu", "CONCATENATION", CODE), ("coreml", "RELU", "coreml-operand-count")]
    + [(name, "ADD", f"{name}-operand-count") for name in ("xnnpack", "gpu", "hexagon", "coreml", "mldrift")],
)
def test_a_test_of_the_delegates_own_comes_first(name, op, code):
    assert verdict(model(op, 0, 1), name).reasons[0].code == code


def test_words():
    reason = verdict(model("ADD", 1, 1), "vx").reasons[0]
    assert reason.message.startswith("has 1 input and 1 output; needs ")
    assert "input 0" in verdict(model("ADD", 2, 1, is_left_out=True), "vx").reasons[0].found
    assert CODE in find_delegate("vx").kinds


def test_cpu_kernels_count_the_same():
    """One test of all: what changes the table is tried with few tests (``make mutation``)."""
    counted = re.compile(r"has \d+ inputs?|is missing|does not have")

    def is_refused_for_its_counts(op, *counts):
        kind, options = "BOOL" if op in OF_BOOLEANS else "FLOAT32", OPTIONS.get(op)
        failure = prepare(model(op, *counts, type=kind, options=options))[0].failure
        return failure is not None and counted.search(failure.message) is not None

    assert {op for op in FAMILY_OF if has_kernel(op, is_custom=False) and not op.startswith("STABLEHLO_")} - FEWEST.keys() == {
        "CALL_ONCE",
        "IF",
        "WHILE",
    }
    for op, counts in FEWEST.items():
        inputs, outputs = (
            FEWER_THAN_PREPARED.get(op, counts[0]),
            4 if op == "LSTM" else counts[1],
        )  # five operands give four results
        assert not is_refused_for_its_counts(op, inputs, outputs), op
        assert not inputs or is_refused_for_its_counts(op, inputs - 1, outputs), op
        assert not outputs or op in RESULTS_COUNTED_LATE or is_refused_for_its_counts(op, inputs, outputs - 1), op


@for_each(FEWEST)
def test_no_cpu_kernel_takes_fewer_either(op):
    inputs, outputs = FEWEST[op]
    for fewer in range(FEWER_THAN_PREPARED.get(op, inputs)):
        assert prepare(model(op, fewer, outputs))[0].failure is not None


@pytest.mark.parametrize("op", FEWER_THAN_PREPARED)
def test_vx_takes_fewer_than_the_cpu_kernel(op):
    assert FEWEST[op][0] < FEWER_THAN_PREPARED[op]
    reasons = verdict(model(op, *FEWEST[op]), "vx").reasons
    assert CODE not in [reason.code for reason in reasons]


@pytest.mark.parametrize("op", ["PAD", "PADV2"])
def test_one_kernel_pads_with_two_operands_or_three(op):
    for values in (0, 1):
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        operands = [graph.input("x", "FLOAT32", (2,)), graph.tensor("paddings", "INT32", (1, 2), [1, 1])]
        operands += [graph.tensor("value", "FLOAT32", (1,), [0.0])] * values
        graph.node(op, operands, [graph.tensor("y", "FLOAT32", (4,))])
        read = load(builder.bytes())
        assert prepare(read)[0].failure is None
        assert verdict(read, "nnapi").is_supported


def test_custom_operators_have_no_counts():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.node("CUSTOM", [], [graph.tensor("y", "FLOAT32", (1,))], custom="mine")
    assert verdict(load(builder.bytes()), "vx").reasons[0].code != CODE


@pytest.mark.parametrize("op", ["STABLEHLO_ADD", "CUSTOM"])
def test_of_other_operators_nothing_is_asked(op):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("x", "FLOAT32", (2,)), graph.tensor("y", "FLOAT32", (2,))]
    for inputs, results in [((-1, tensors[0]), (-1, tensors[1])), ((), ())]:
        graph.node(op, inputs, results, **({"custom": "Own"} if op == "CUSTOM" else {}))
    (found,) = file_graphs(load(builder.bytes()))
    assert [operands.malformed_verdict(found.view(node)).is_supported for node in found.nodes] == [True, True]
    assert [operands.is_whole(node) for node in found.nodes] == [False, False]


def test_the_first_tensor_may_be_a_result():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", (2,))
    graph.node("RELU", [graph.input("x", "FLOAT32", (2,))], [result])
    (found,) = file_graphs(load(builder.bytes()))
    assert result == 0
    assert operands.malformed_verdict(found.view(found.nodes[0])).is_supported
    assert operands.is_whole(found.nodes[0])


def test_a_delegate_that_counts_operands_is_not_asked_for_them_again():
    (found,) = file_graphs(model("ADD", 1, 1))
    view = found.view(found.nodes[0])
    assert operands.malformed_verdict(view, is_counted=True).is_supported
    assert not operands.malformed_verdict(view).is_supported
    assert not operands.is_whole(found.nodes[0])
    (found,) = file_graphs(model("ADD", 0, 1))
    assert not operands.malformed_verdict(found.view(found.nodes[0]), is_counted=True).is_supported


@pytest.mark.parametrize(
    ("op", "inputs", "results", "words"),
    [("SELECT", (0, 0, -1), (1,), "input 2 is left out"), ("RELU", (0,), (-1,), "output 0 is left out")],
)
def test_what_is_left_out_is_named(op, inputs, results, words):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.input("x", "BOOL", (2,))
    graph.tensor("y", "BOOL", (2,))
    graph.node(op, inputs, results)
    (found,) = file_graphs(load(builder.bytes()))
    assert operands.malformed_verdict(found.view(found.nodes[0])).reasons[0].found == words

"""The changes of advice, each with the result that a simulation has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.conversion.settings import parse_settings
from delegate_sim.diagnosis.advice.simulated_changes import with_results
from delegate_sim.diagnosis.causes.change import IF_TAKEN, Assumed, result_text
from delegate_sim.diagnosis.examiner import Examined
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, simulate_if
from delegate_sim.hypothetical.model_editing import unchanged
from delegate_sim.results.report.measures import measure
from delegate_sim.rules.kinds import Problem
from fixtures.builder import ModelBuilder
from tests.support.conversion.sweep_conversions import dense
from tests.support.diagnoses import diagnosed, target
from tests.support.models import chain_model


def hybrid_layers():
    """Dense layers with INT8 weights per channel and float data, as the default of the converter writes them."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 4])
    for number in range(2):
        weights = graph.tensor(f"w{number}", "INT8", [4, 4], data=[1] * 16, scale=[0.5, 0.25, 0.5, 0.5])
        bias = graph.tensor(f"b{number}", "FLOAT32", [4], data=[0] * 4)
        result = graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("FULLY_CONNECTED", [x, weights, bias], [result], 12, {"asymmetric_quantize_inputs": True})
        x = result
    graph.outputs(x)
    return builder


def branching():
    """An IF between two element-wise nodes."""
    builder = ModelBuilder()
    main = builder.subgraph("main")
    chosen, x = main.input("chosen", "BOOL", [1]), main.input("x", "FLOAT32", [1, 4])
    before, y = main.tensor("before", "FLOAT32", [1, 4]), main.tensor("y", "FLOAT32", [1, 4])
    result = main.tensor("result", "FLOAT32", [1, 4])
    main.node("TANH", [x], [before])
    main.node("IF", [chosen, before], [y], 1, {"then_subgraph_index": 1, "else_subgraph_index": 2})
    main.node("LOGISTIC", [y], [result])
    main.outputs(result)
    for name, op in (("then", "TANH"), ("else", "LOGISTIC")):
        branch = builder.subgraph(name)
        output = branch.tensor(f"{name} y", "FLOAT32", [1, 4])
        branch.node(op, [branch.input(f"{name} x", "FLOAT32", [1, 4])], [output])
        branch.outputs(output)
    return builder


def counter(kind="INT32", op="ADD"):
    """A sum of integers beside nodes that the GPU takes."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    count, x = graph.input("count", kind, [1, 4]), graph.input("x", "FLOAT32", [1, 4])
    one = graph.tensor("one", kind, [1, 4], data=[1] * 4)
    total, y = graph.tensor("total", kind, [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node(op, [count, one] if op == "ADD" else [count], [total], options={})
    graph.node("TANH", [x], [y])
    graph.outputs(total, y)
    return builder


def test_each_alternative_is_said_with_the_result_of_its_simulation():
    builder = hybrid_layers()
    (finding,) = diagnosed(builder, "nnapi").findings
    alternatives = finding.cause.alternatives
    assert (alternatives[0].name, alternatives[0].helps) == ("float", True)
    assert alternatives[0].cost == finding.alone
    assert alternatives[0].cost.measures == measure(
        simulate_if(load(builder.bytes()), target("nnapi"), HypotheticalChanges(conversion="float"))
    )
    assert f"({result_text(alternatives[0])})" in finding.cause.change


def test_an_alternative_that_does_not_help_comes_last_with_its_result():
    alternatives = diagnosed(hybrid_layers(), "nnapi").findings[0].cause.alternatives
    assert (alternatives[0].name, alternatives[0].helps) == ("float", True)
    (useless,) = [each for each in alternatives if each.name == "one scale per tensor"]
    assert (useless.helps, useless.cost.measures.delegated_nodes) == (False, 0)


def test_beyond_the_effort_an_alternative_is_not_simulated(monkeypatch):
    monkeypatch.setattr("delegate_sim.diagnosis.advice.simulated_changes._TRIED_AT_LEAST", 0)
    monkeypatch.setattr("delegate_sim.diagnosis.advice.simulated_changes._TRIED_AT_MOST", 0)
    cause = diagnosed(hybrid_layers(), "nnapi").findings[0].cause
    assert {alternative.cost for alternative in cause.alternatives} == {None}
    assert "; not simulated: " in cause.change


def test_both_branches_of_an_if_are_simulated():
    (finding,) = diagnosed(branching(), "nnapi").findings
    assert finding.cause.name == "operator:control-flow:IF"
    measures = finding.alone.measures
    assert (measures.nodes, measures.delegated_nodes, measures.delegate_kernels) == (5, 4, 2)
    assert "tf.where (4 of 5 nodes in 2 kernels)" in finding.cause.change


@pytest.mark.parametrize(
    ("op", "kind", "words"),
    [
        ("ADD", "INT64", "use int32 instead of int64"),
        ("RESHAPE", "INT64", "use int32 instead of int64"),
        ("RESHAPE", "INT32", "leave the nodes on the CPU"),
    ],
)
def test_only_integers_that_int32_may_replace_are_changed(op, kind, words):
    (finding,) = [each for each in diagnosed(counter(kind, op), "gpu").findings if "type" in each.cause.name]
    assert words in finding.cause.change


def test_integer_arithmetic_stays_on_the_cpu_if_float_makes_it_no_better():
    (finding,) = diagnosed(counter(), "gpu").findings
    assert [alternative.name for alternative in finding.cause.alternatives] == ["float32 with tf.cast"]


def test_a_composite_between_delegated_nodes_is_replaced_by_its_body():
    builder = ModelBuilder()
    main = builder.subgraph("main")
    tensors = [main.input("x", "FLOAT32", [1, 4]), *[main.tensor(name, "FLOAT32", [1, 4]) for name in "abc"]]
    main.node("RELU", [tensors[0]], [tensors[1]])
    options = {"name": "odml.softmax", "decomposition_subgraph_index": 1}
    main.node("STABLEHLO_COMPOSITE", [tensors[1]], [tensors[2]], 1, options)
    main.node("RELU", [tensors[2]], [tensors[3]])
    main.outputs(tensors[3])
    body = builder.subgraph("body")
    result = body.tensor("result", "FLOAT32", [1, 4])
    body.node("SOFTMAX", [body.input("operand", "FLOAT32", [1, 4])], [result], 1, {"beta": 1.0})
    body.outputs(result)
    cause = diagnosed(builder, "gpu").findings[0].cause
    assert cause.suggestion == "replace-operator"
    assert result_text(cause.alternatives[0]) == "3 of 3 nodes in 1 kernel"


def test_a_mask_of_the_smallest_float_is_made_smaller():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "INT8", [1, 4], scale=0.01), graph.tensor("y", "INT8", [1, 4], scale=1e36)
    mask = graph.tensor("mask", "INT8", [1, 4], data=[-128] * 4, scale=2.6e36)
    large, z = graph.input("large", "INT8", [1, 4], scale=1e20), graph.tensor("z", "INT8", [1, 4], scale=1e36)
    graph.node("MUL", [x, mask], [y], 2)
    graph.node("MUL", [y, large], [z], 2)
    graph.outputs(z)
    cause = diagnosed(builder, "nnapi").findings[0].cause
    assert {alternative.remedy.conversion: alternative.helps for alternative in cause.alternatives} == {
        "mask-100": True,
        "float": True,
        "mask-1e4": False,
    }
    assert "inf" not in cause.needed


def test_float16_weights_are_not_advised_as_layers():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", "FLOAT16", [1, 4], data=np.ones((1, 4), np.float16))
    wide, x = graph.tensor("wide", "FLOAT32", [1, 4]), graph.input("x", "FLOAT32", [1, 4])
    y = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("DEQUANTIZE", [weights], [wide], 3)
    graph.node("SIGN", [x], [x2 := graph.tensor("x2", "FLOAT32", [1, 4])])
    graph.node("ADD", [x2, wide], [y])
    graph.outputs(y)
    (cause,) = [
        finding.cause for finding in diagnosed(builder, "hexagon").findings if finding.cause.operators == (("DEQUANTIZE", 1),)
    ]
    assert "layer" not in cause.change


@pytest.mark.parametrize(
    ("axis", "is_resize"), [(2, True), (3, True), (1, False), (4, False)], ids=["rows", "columns", "images", "channels"]
)
def test_repeated_rows_and_columns_are_advised_as_a_resize(axis, is_resize):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    before, after = [(*[1, 4, 4, 8][:axis], times, *[1, 4, 4, 8][axis:]) for times in (1, 2)]
    x, z = graph.input("x", "FLOAT32", [1, 4, 4, 8]), graph.tensor("z", "FLOAT32", [2, 4, 4, 8])
    made = [graph.tensor("wide", "FLOAT32", shape) for shape in (before, after)]
    multiples = [2 if place == axis else 1 for place in range(5)]
    graph.node("RESHAPE", [x], [made[0]], 1, {"new_shape": before})
    graph.node("TILE", [made[0], graph.tensor("multiples", "INT32", [5], data=multiples)], [made[1]])
    graph.node("RESHAPE", [made[1]], [z], 1, {"new_shape": [2, 4, 4, 8]})
    graph.outputs(z)
    cause = diagnosed(builder, "gpu").findings[0].cause
    assert cause.identity.problem.value == "rank"
    assert ("tf.image.resize" in cause.change) == is_resize
    assert ("RESHAPE" in cause.change) != is_resize


@pytest.mark.parametrize(("op", "is_folded"), [("TANH", True), ("SOFTMAX", False)])
def test_a_reshape_that_the_converter_folds_away_again_is_left_to_fix(op, is_folded):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    shape = [1, 2, 2, 2, 2]
    x, y, z = graph.input("x", "FLOAT32", shape), graph.tensor("y", "FLOAT32", shape), graph.tensor("z", "FLOAT32", shape)
    graph.node(op, [x], [y], 1, {"beta": 1.0} if op == "SOFTMAX" else None)
    graph.node(op, [y], [z], 1, {"beta": 1.0} if op == "SOFTMAX" else None)
    graph.outputs(z)
    cause = diagnosed(builder, "gpu").findings[0].cause
    assert cause.identity.problem.value == "rank"
    assert ("removes a RESHAPE" in cause.change) == is_folded


@pytest.mark.parametrize(
    ("ops", "words"),
    [
        (
            "RELU RELU ROUND DIV",
            "remove the nodes that split the graph; does not help: --max-delegated-partitions=2 or more (0 of 4 nodes)",
        ),
        (
            "RELU RELU RELU ROUND RELU RELU ROUND RELU RELU ROUND DIV",
            "--max-delegated-partitions=3 but not more, because with 4 the delegate rejects the model (7 of 11 nodes ",
        ),
    ],
)
def test_a_limit_is_raised_only_as_far_as_the_delegate_does_not_fail(ops, words):
    """The last node takes one tensor as both operands, which the delegate fails to build."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = graph.input("x", "FLOAT32", [1, 8])
    for number, op in enumerate(ops.split()):
        result = graph.tensor(f"y{number}", "FLOAT32", [1, 8])
        graph.node(op, [last, last] if op == "DIV" else [last], [result])
        last = result
    graph.outputs(last)
    causes = diagnosed(builder, "gpu").blockers.causes
    (change,) = [cause.change for cause in causes if "partition-limit" in cause.codes]
    assert change.startswith(words)


def needing_a_level(op="LOG"):
    return chain_model(["TANH", op, "TANH"])


LEAVE = "use another delegate, or leave the nodes on the CPU"
DEVICES = "devices with a higher feature level take the nodes"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, f"{LEAVE}; {DEVICES}: --feature-level=29 (3 of 3 nodes in 1 kernel)"),
        (
            {"driver_rejects": ("LOG",)},
            f"{LEAVE}; {DEVICES}: "
            "--feature-level=29 (with the other causes fixed, 3 of 3 nodes in 1 kernel; alone, 2 of 3 nodes in 2 kernels)",
        ),
        (
            {"nnapi_runtime": "9"},
            f"{LEAVE}; devices with Android 10 or later take the nodes: "
            "--feature-level=29 --android=10 (3 of 3 nodes in 1 kernel)",
        ),
    ],
)
def test_devices_of_a_higher_feature_level_are_named_with_the_result_of_their_simulation(options, words):
    level = {} if "nnapi_runtime" in options else {"feature_level": 28}
    diagnosis = diagnosed(needing_a_level(), **level, **options)
    [cause] = [cause for cause in diagnosis.blockers.causes if cause.suggestion == "raise-target-level"]
    assert cause.change == words
    assert [(each.helps, each.name.split()[0]) for each in cause.alternatives] == [(True, "--feature-level=29")]


@pytest.mark.parametrize(
    ("level", "is_offered"), [(29, True), pytest.param(28, False, id="EXP needs a higher feature level too")]
)
def test_another_way_to_write_an_operator_comes_before_devices_of_a_higher_feature_level(level, is_offered):
    [cause] = diagnosed(needing_a_level("ELU"), feature_level=level).blockers.causes
    assert (cause.suggestion == "replace-operator") is is_offered
    first = f"ELU can be written as relu(x) - relu(1 - exp(x)); {IF_TAKEN}: 3 of 3 nodes in 1 kernel"
    assert cause.change == f"{first if is_offered else LEAVE}; {DEVICES}: --feature-level=30 (3 of 3 nodes in 1 kernel)"
    assert cause.remedy.accepts is is_offered


def test_of_a_feature_level_that_does_not_help_it_is_said():
    diagnosis = diagnosed(needing_a_level(), feature_level=28)
    same = Examined(diagnosis.run, unchanged(diagnosis.model))
    [cause] = with_results(diagnosis.blockers, diagnosis.model, diagnosis.target, lambda *_: same, Effort(diagnosis.model)).causes
    assert cause.change == f"{LEAVE}; does not help: --feature-level=29 (2 of 3 nodes in 2 kernels)"
    assert cause.has_no_known_change


def test_unknown_input_sizes_are_fixed_before_a_conversion_is_judged():
    diagnosis = diagnosed(dense(parse_settings("int8")), "hexagon", min_nodes_per_partition=1)
    advices = {finding.cause.identity.problem: finding.cause.advice for finding in diagnosis.findings}
    assumed = {problem: {change.assumed for change in advice.changes} for problem, advice in advices.items()}
    assert Assumed.SIZES in assumed[Problem.QUANTIZATION]
    assert Assumed.OTHERS in assumed[Problem.TYPE]


@pytest.mark.parametrize(("delegate", "first"), [("ethosu-imx93", "int8"), ("hexagon", "int8"), ("nnapi", "float")])
def test_accelerators_for_integers_get_the_integer_conversion_first(delegate, first):
    diagnosis = diagnosed(Path("fixtures/models/mobilenet_block.tflite").read_bytes(), delegate)
    conversions = [
        change.remedy.conversion
        for finding in diagnosis.findings
        for change in finding.cause.advice.changes
        if change.remedy is not None and change.remedy.conversion
    ]
    assert conversions[0].startswith(first)

"""Verdicts on whole models."""

from __future__ import annotations

import pytest

from delegate_sim import analyze_micro, load
from delegate_sim.errors import LimitError, OptionError
from delegate_sim.micro.delegate import micro_target
from delegate_sim.micro.kernels import slicing
from delegate_sim.micro.preparation import Status
from delegate_sim.micro.report import Outcome, micro_warnings
from delegate_sim.results.report.number_risks import number_risks
from delegate_sim.runtime.interpreter import simulate
from fixtures.builder import ModelBuilder
from tests.support.hostile_names import hostile_model
from tests.support.micro_models import chain, hybrid, single


def report_of(builder, **arguments):
    return analyze_micro(builder.bytes(), **arguments)


def test_a_model_that_runs():
    report = report_of(chain("RELU", "LOGISTIC"))
    assert report.runs
    assert report.computes
    assert report.outcome is Outcome.ALLOCATED
    assert [node.status for node in report.nodes] == [Status.OK, Status.OK]
    assert [operator.name for operator in report.operators] == ["LOGISTIC", "RELU"]


def test_every_missing_operator_is_named_and_nothing_is_planned():
    report = report_of(chain("RELU", "GELU", "RELU_N1_TO_1", "GELU"))
    assert report.outcome is Outcome.MISSING_OPERATOR
    assert report.missing_operators == ("GELU", "RELU_N1_TO_1")
    assert report.failing_node == (0, 1)
    assert report.arena is None
    assert {reason.code for node in report.refused for reason in node.reasons} == {"micro-missing-operator"}


def test_an_operator_that_the_application_does_not_register_is_missing():
    report = report_of(chain("RELU", "LOGISTIC"), registered={"RELU"})
    assert report.missing_operators == ("LOGISTIC",)
    assert report.refused[0].reasons[0].hint == "add resolver.AddLogistic()"


@pytest.mark.parametrize("code", ["MyOp", "edgetpu-custom-op", "ethos-u"])
def test_a_registered_custom_operator_runs_if_code_that_is_not_simulated_accepts_it(code):
    builder = single("CUSTOM", [("FLOAT32", [1])], [("FLOAT32", [1])], custom=code, custom_options=b"\1\4\1")
    assert [node.is_assumed for node in report_of(builder).nodes] == [False]
    report = report_of(builder, registered={code})
    assert (report.runs, report.missing_operators, [node.is_assumed for node in report.nodes]) == (True, (), [True])
    assert report.arena is not None
    (warning,) = micro_warnings(load(builder.bytes()), report)
    assert warning.startswith(f"1 {code} node runs if ")
    assert "not simulated" in warning


def test_a_node_of_ethos_u_needs_an_input():
    report = report_of(single("CUSTOM", [], [("FLOAT32", [1])], custom="ethos-u"), registered={"ethos-u"})
    assert [(reason.found, reason.code) for reason in report.refused[0].reasons] == [("no inputs", "micro-operand-count")]
    assert not report.nodes[0].is_assumed


@pytest.mark.parametrize(("names", "count"), [((), 0), (("a",), 1), (("a", "b", "a"), 2)])
def test_variables_need_resources_of_the_interpreter(names, count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    for name in names:
        handle = graph.tensor("handle", "RESOURCE", [])
        graph.node("VAR_HANDLE", [], [handle], options={"shared_name": name})
        graph.node("ASSIGN_VARIABLE", [handle, source], [])
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    report = report_of(builder)
    assert report.runs
    assert report.variables == count
    lines = report.to_dict()["resolver"]
    created = [line for line in lines if "MicroResourceVariables::Create(allocator" in line]
    assert created == ([f"auto* variables = tflite::MicroResourceVariables::Create(allocator, {count});"] if count else [])
    assert any("MicroInterpreter interpreter(" in line for line in lines) == bool(count)


def test_hybrid_weights_are_refused_in_prepare():
    report = report_of(hybrid())
    assert report.outcome is Outcome.PREPARE_FAILED
    (reason,) = report.nodes[0].reasons
    assert reason.code == "micro-hybrid"
    assert reason.hint == "quantize fully to int8, with a representative data set"


def test_a_type_that_only_invoke_refuses():
    report = report_of(chain("RELU", kind="INT32"))
    assert report.outcome is Outcome.ALLOCATED
    assert report.arena is not None
    assert not report.runs
    assert report.nodes[0].status is Status.INVOKE


def test_all_problems_are_found_at_once():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    first, second, third = (graph.tensor(name, "FLOAT32", [1, 4]) for name in "abc")
    weights = graph.tensor("w", "INT8", [4, 4], data=[1] * 16, scale=0.5, zero_point=0)
    graph.node("GELU", [source], [first])
    graph.node("FULLY_CONNECTED", [first, weights], [second], 1, {})
    graph.node("RELU6", [second], [third])
    graph.outputs(third)
    statuses = [node.status for node in report_of(builder).nodes]
    assert statuses == [Status.MISSING, Status.PREPARE, Status.OK]


def test_a_result_without_a_fixed_size_cannot_be_planned():
    report = report_of(single("RELU", [("FLOAT32", [1, 4])], [("FLOAT32", [0, 4])]))
    assert not report.runs


def test_the_head_of_a_chain():
    report = report_of(chain("RELU", "RELU", "RELU", shape=(1, 64)))
    assert report.arena.head == 512
    assert [placed.buffer.requirement.size for placed in report.arena.buffers] == [256] * 4
    assert report.arena.total >= report.arena.head + report.arena.tail


def test_unknown_kernels_are_refused():
    with pytest.raises(OptionError, match="xtensa"):
        report_of(chain("RELU"), kernels="xtensa")


def test_a_node_of_a_branch_fails_only_if_it_is_called():
    builder = ModelBuilder()
    main, then, other = builder.subgraph("main"), builder.subgraph("then"), builder.subgraph("else")
    for graph, op in ((then, "RELU"), (other, "NEG")):
        value = graph.input("v", "INT32", [1, 4])
        result = graph.tensor("r", "INT32", [1, 4])
        graph.node(op, [value], [result])
        graph.outputs(result)
    condition, value = main.input("c", "BOOL", [1]), main.input("v", "INT32", [1, 4])
    result = main.tensor("r", "INT32", [1, 4])
    main.node("IF", [condition, value], [result], 1, {"then_subgraph_index": 1, "else_subgraph_index": 2})
    main.outputs(result)
    report = report_of(builder)
    assert {node.status for node in report.nodes if node.subgraph} == {Status.INVOKE_IF_CALLED}
    assert not report.runs


def test_names_of_operators_in_the_report_are_those_of_the_file():
    report = report_of(single("CUSTOM", [("FLOAT32", [1])], [("FLOAT32", [1])], custom="MyOp"))
    assert report.missing_operators == ("CUSTOM:MyOp",)


def test_hostile_names_do_not_break_a_report():
    report = analyze_micro(hostile_model().bytes())
    assert report.to_dict()["nodes"]


def test_too_many_buffers_for_a_memory_plan(monkeypatch):
    monkeypatch.setattr("delegate_sim.micro.planner._MOST_PAIRS", 0)
    with pytest.raises(LimitError, match="1 pairs of buffers are used at the same time, too many for a memory plan"):
        analyze_micro(load(chain("RELU").bytes()))


@pytest.mark.parametrize(
    ("source", "signature", "codes"),
    [
        ("a shape", (-1, 4), []),
        ("an input", (-1, 4), ["micro-constant-operand"]),
        ("an input", None, []),
    ],
)
def test_a_slice_whose_size_is_computed(source, signature, codes):
    """tflite-micro issue 3674: the kernel writes as many elements as ``size`` says, past the end of the result."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    data = graph.input("x", "FLOAT32", [1, 4])
    begin = graph.tensor("begin", "INT32", [2], data=[0, 0])
    if source == "a shape":
        size = graph.tensor("size", "INT32", [2])
        graph.node("SHAPE", [data], [size], options={"out_type": 2})
    else:
        size = graph.input("size", "INT32", [2])
    result = graph.tensor("y", "FLOAT32", [1, 4], signature=signature)
    graph.node("SLICE", [data, begin, size], [result], options={})
    graph.outputs(result)
    report = report_of(builder)
    assert [reason.code for node in report.refused for reason in node.reasons] == codes
    assert report.runs is (not codes)


def test_the_tensors_that_follow_from_shapes_are_found_once_for_all_slices(monkeypatch):
    calls = []
    find = slicing._known_tensors
    monkeypatch.setattr(slicing, "_known_tensors", lambda graph: calls.append(graph) or find(graph))
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    data, size = graph.input("x", "FLOAT32", [1, 4]), graph.input("size", "INT32", [2])
    begin = graph.tensor("begin", "INT32", [2], data=[0, 0])
    results = [graph.tensor(f"y{number}", "FLOAT32", [1, 4], signature=(-1, 4)) for number in range(3)]
    for result in results:
        graph.node("SLICE", [data, begin, size], [result], options={})
    graph.outputs(*results)
    assert (len(report_of(builder).refused), len(calls)) == (3, 1)


@pytest.mark.parametrize(("use", "count", "risks"), [("input", 1, [0]), ("output", 1, [None]), ("none", 0, [])])
def test_only_data_that_is_read_counts_as_outside_the_flatbuffer(use, count, risks):
    builder = ModelBuilder(external_buffers=True)
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    outside = graph.tensor("c", "FLOAT32", [1, 4], data=[1.0] * 4)
    graph.node("ADD", [source, outside if use == "input" else source], [result], 1, {})
    graph.outputs(*([result, outside] if use == "output" else [result]))
    run = simulate(load(builder.bytes()), micro_target())
    assert (run.application.external_tensors, run.application.computes) == (count, not count)
    assert [risk.node for risk in number_risks(run)] == risks

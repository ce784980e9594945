"""Work grows as the file does: counted in calls of functions, which no load of the machine changes."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from delegate_sim import analyze, analyze_micro, load
from delegate_sim.model.control_dependencies import control_dependencies
from delegate_sim.prepare.preparation import prepare
from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder

DELEGATES = ("nnapi", "gpu", "mldrift", "hexagon", "coreml", "vx", "xnnpack", "npu-google")
MOST = 2.2
"""The factor that a file of twice the size may cost."""


def calls(model, delegate):
    """Count the functions that Python enters while it analyses a model, those of generators each time."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        analyze(load(model), delegate, defaults="api").to_dict()
    finally:
        sys.setprofile(before)
    return count


def subgraphs(count):
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.subgraph(f"s{number}")
        result = graph.tensor("y", "FLOAT32", [1, 2, 2, 1])
        graph.node("RELU", [graph.input("x", "FLOAT32", [1, 2, 2, 1])], [result])
        graph.outputs(result)
    return builder.bytes()


def operands(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 2, 2, count])
    graph.node("CONCATENATION", [graph.input("x", "FLOAT32", [1, 2, 2, 1]) for _ in range(count)], [result], options={"axis": 3})
    graph.outputs(result)
    return builder.bytes()


def repeated(count):
    """One tensor joined with itself, again and again."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 2, 2, 1]), graph.tensor("y", "FLOAT32", [1, 2, 2, count])
    graph.node("CONCATENATION", [source] * count, [result], options={"axis": 3})
    graph.outputs(result)
    return builder.bytes()


def written_again(count):
    """Nodes that all write what the others read."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    for number in range(count):
        op = {"op": "ADD", "options": {}} if number % 2 else {"op": "CUSTOM", "custom": "Own"}
        graph.node(inputs=[result, source], outputs=[result], **op)
    graph.outputs(result)
    return builder.bytes()


def results(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    made = [graph.tensor("y", "FLOAT32", [1, 2, 2, 1]) for _ in range(count)]
    axis = graph.tensor("axis", "INT32", [], [3])
    graph.node("SPLIT", [axis, graph.input("x", "FLOAT32", [1, 2, 2, count])], made, options={"num_splits": count})
    graph.outputs(*made)
    return builder.bytes()


def scratch(count):
    """Nodes that each need a scratch buffer of TensorFlow Lite Micro."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor, axes = graph.input("x", "FLOAT32", [1, 4, 4, 4]), graph.tensor("axes", "INT32", [1], data=[1])
    for _ in range(count):
        mean, result = graph.tensor("m", "FLOAT32", [1, 1, 4, 4]), graph.tensor("y", "FLOAT32", [1, 4, 4, 4])
        graph.node("MEAN", [tensor, axes], [mean], options={"keep_dims": True})
        graph.node("ADD", [tensor, mean], [result], options={})
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()


def other_shapes(count):
    """Nodes whose kernels give their results other shapes than the file."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4, 4, 1])
    for _ in range(count):
        result = graph.tensor("y", "FLOAT32", [1, 3, 3, 1])
        options = {"filter_width": 1, "filter_height": 1, "stride_w": 1, "stride_h": 1}
        graph.node("L2_POOL_2D", [tensor], [result], options=options)
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()


def lines_run(action):
    """Count the lines of Python that run, those of loops and generators each time."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "line")
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("made", [scratch, other_shapes, written_again])
def test_twice_the_file_costs_twice_the_work_for_micro(made):
    def plan(count):
        return lines_run(lambda: analyze_micro(load(made(count))))

    plan(2)
    assert plan(400) < MOST * plan(200)


def ordered_subgraphs(count):
    """Subgraphs with control dependencies in the metadata."""
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.subgraph(f"s{number}")
        result = graph.tensor("y", "FLOAT32", [1, 2, 2, 1])
        graph.node("RELU", [graph.input("x", "FLOAT32", [1, 2, 2, 1])], [result])
        graph.outputs(result)
    assert count < 1 << 14
    builder.metadata("model_control_dependencies", bytes([1, count % 128 | 128, count // 128, *[1, 0, 0] * count]))
    return builder.bytes()


@pytest.mark.slow
def test_twice_the_control_dependencies_cost_twice_the_work():
    def read(count):
        model = load(ordered_subgraphs(count))
        assert control_dependencies(model) is not None
        return lines_run(lambda: prepare(model))

    read(2)
    assert read(400) < MOST * read(200)


def own_operators(count):
    """Custom operators, each of which is a cause of its own."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    for number in range(count):
        result = graph.tensor("y", "FLOAT32", [1, 4])
        graph.node("CUSTOM", [tensor], [result], custom=f"Own{number}")
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "made"),
    [
        (["analyze", "--delegate", "nnapi"], subgraphs),
        (["diagnose", "--micro"], own_operators),
        (["micro"], own_operators),
        (["inspect", "--verbose"], subgraphs),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value.__name__,
)
def test_twice_the_file_is_printed_with_twice_the_work(tmp_path, command, made):
    def show(count):
        (tmp_path / "model.tflite").write_bytes(made(count))
        return lines_run(lambda: CliRunner().invoke(program, [*command, str(tmp_path / "model.tflite")], catch_exceptions=False))

    show(2)
    assert show(400) < MOST * show(200)


@pytest.mark.parametrize("delegate", DELEGATES)
@pytest.mark.parametrize("made", [subgraphs, operands, repeated, written_again, results])
def test_twice_the_file_costs_twice_the_work(made, delegate):
    calls(made(2), delegate)
    assert calls(made(400), delegate) < MOST * calls(made(200), delegate)

"""Work grows as the file does: counted in calls of functions, which no load of the machine changes."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from delegate_sim import analyze, analyze_micro, load
from delegate_sim.diagnosis.advice.surroundings import Surroundings
from delegate_sim.inference.inputs import generated_inputs
from delegate_sim.inference.models import _ends
from delegate_sim.model.model import control_dependencies
from delegate_sim.model.numbers import StoredNumbers
from delegate_sim.prepare.preparation import prepare
from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder
from tests.support.growth import calls_while

DELEGATES = ("nnapi", "gpu", "mldrift", "hexagon", "coreml", "vx", "xnnpack", "npu-google")
MOST = 2.2
"""The factor that a file of twice the size may cost."""


def calls(model, delegate):
    """Count the functions that Python enters while it analyses a model, those of generators each time."""
    count, _ = calls_while(lambda: analyze(load(model), delegate, defaults="api").to_dict())
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


def copied(count, *, is_split):
    """Outputs that slices copy: results of one SPLIT, or with one result of all slices and a chain of slices behind it."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    begin, size = graph.tensor("b", "INT32", [1], data=[0]), graph.tensor("s", "INT32", [1], data=[1])
    sources = [graph.tensor("o", "FLOAT32", [1]) for _ in range(count)]
    last = graph.tensor("y", "FLOAT32", [1])
    if is_split:
        axis = graph.tensor("axis", "INT32", [], data=[0])
        graph.node("SPLIT", [axis, graph.input("x", "FLOAT32", [count])], sources, options={"num_splits": count})
        results = [graph.tensor("y", "FLOAT32", [1]) for _ in sources]
    else:
        x, results = graph.input("x", "FLOAT32", [1]), [last] * count
        for source in sources:
            graph.node("RELU", [x], [source])
    for source, result in zip(sources, results, strict=True):
        graph.node("SLICE", [source, begin, size], [result])
    for _ in range(0 if is_split else count):
        source, last = last, graph.tensor("z", "FLOAT32", [1])
        graph.node("SLICE", [source, begin, size], [last])
    graph.node("RELU", [last if not is_split else results[0]], [graph.tensor("r", "FLOAT32", [1])])
    graph.outputs(*sources, *(results if is_split else ()))
    return builder.bytes()


def copied_results_of_a_split(count):
    return copied(count, is_split=True)


def copied_into_one_tensor(count):
    return copied(count, is_split=False)


def splits(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    axis, source, made = graph.tensor("axis", "INT32", [], data=[3]), graph.input("x", "FLOAT32", [1, 2, 2, 4]), []
    for _ in range(count):
        halves = [graph.tensor("y", "FLOAT32", [1, 2, 2, 2]) for _ in range(2)]
        graph.node("SPLIT", [axis, source], halves, options={"num_splits": 2})
        made += halves
    graph.outputs(*made)
    return builder.bytes()


def written_and_read(count):
    """Nodes that all write one tensor, and nodes that all read it. Half of the readers are on the CPU."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shared, made = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("m", "FLOAT32", [1, 4]), []
    for _ in range(count):
        graph.node("RELU", [source], [shared])
    for number in range(count):
        made.append(graph.tensor("y", "FLOAT32", [1, 4]))
        graph.node("SIN" if number % 2 else "RELU", [shared], made[-1:])
    graph.outputs(*made)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "made"),
    [
        (["analyze", "--delegate", "nnapi"], subgraphs),
        (["inspect", "--verbose"], subgraphs),
        (["analyze", "--delegate", "mldrift"], copied_results_of_a_split),
        (["analyze", "--delegate", "mldrift"], copied_into_one_tensor),
        (["analyze", "--delegate", "armnn", "--option", "backends=CpuAcc,CpuRef"], splits),
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
    assert calls(made(200), delegate) < MOST * calls(made(100), delegate)


def convolutions_with_shared_scales(nodes, scales):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    quantization = {"scale": [0.5] * scales, "zero_point": [0] * scales}
    source = graph.input("x", "INT8", [1, 4, 4, 1], scale=0.5, zero_point=0)
    weights = graph.tensor("w", "INT8", [scales, 1, 1, 1], data=bytes(scales), **quantization)
    bias = graph.tensor("b", "INT32", [scales], data=[0] * scales, **quantization)
    result = graph.tensor("y", "INT8", [1, 4, 4, scales], axis=3, **quantization)
    options = {"stride_w": 1, "stride_h": 1, "fused_activation_function": 3}
    for _ in range(nodes):
        graph.node("CONV_2D", [source, weights, bias], [result], 3, options)
    graph.outputs(result)
    return builder.bytes()


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", "--delegate", "teflon", "--option", "mesa=main"],
        ["analyze", "--delegate", "ethosu-imx93"],
        ["analyze", "--delegate", "xnnpack"],
        ["micro"],
    ],
    ids=" ".join,
)
def test_scales_that_nodes_share_are_read_once(tmp_path, monkeypatch, command):
    def read(nodes, scales):
        count = 0

        def stored(numbers, _stored=StoredNumbers._stored):
            nonlocal count
            count += len(numbers) > scales // 2
            return _stored(numbers)

        (tmp_path / "model.tflite").write_bytes(convolutions_with_shared_scales(nodes, scales))
        with monkeypatch.context() as patched:
            patched.setattr(StoredNumbers, "_stored", stored)
            CliRunner().invoke(program, [*command, str(tmp_path / "model.tflite")], catch_exceptions=False)
        return count

    assert read(100, 1000) < read(20, 1000) + 40


def inputs_before_a_chain(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "INT32", [count])
    graph.node(
        "CONCATENATION", [graph.input(f"x{number}", "INT32", [1]) for number in range(count)], [result], options={"axis": 0}
    )
    for _ in range(count):
        source, result = result, graph.tensor("z", "INT32", [count])
        graph.node("RESHAPE", [source], [result], options={"new_shape": [count]})
    graph.outputs(result)
    builder.signature("k", graph, {f"x{number}": number + 1 for number in range(count)}, {"y": result})
    return load(builder.bytes())


@pytest.mark.parametrize(
    "action",
    [lambda model: generated_inputs(model, model.subgraphs[0], 0, {}), _ends],
    ids=["generated inputs", "names of inputs"],
)
def test_twice_the_inputs_cost_twice_the_work(action):
    action(inputs_before_a_chain(2))
    small, large = inputs_before_a_chain(200), inputs_before_a_chain(400)
    assert lines_run(lambda: action(large)) < MOST * lines_run(lambda: action(small))


def test_twice_the_writers_and_readers_of_a_tensor_cost_twice_the_work():
    def connect(count):
        run = analyze(load(written_and_read(count)), "coreml", defaults="api").runs[0]
        surroundings = Surroundings(SimpleNamespace(run=run, change=None))
        return lines_run(lambda: surroundings._connected(forwards=True))

    assert connect(400) < MOST * connect(200)

"""Commands on files whose shapes claim far more elements than the file holds."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import delegate_sim
from delegate_sim.errors import LimitError
from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder

HUGE = 1 << 30
COMMANDS = (
    ["analyze"],
    ["diagnose", "--delegate", "all", "--format", "json"],
    ["whatif", "--delegate", "xnnpack", "--to", "int8"],
    ["whatif", "--delegate", "nnapi", "--fix-shapes"],
    ["fix", "--delegate", "all", "--plan"],
)


def weights_without_data():
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, weights = graph.input("x", "FLOAT32", [1, 1]), graph.tensor("w", "FLOAT32", [HUGE, 1], data=bytes(16))
    result = graph.tensor("y", "FLOAT32", [1, HUGE])
    graph.node("FULLY_CONNECTED", [source, weights, -1], [result])
    graph.outputs(result)
    return builder


def scales_to_repeat():
    builder = ModelBuilder()
    graph = builder.subgraph()
    size, results = graph.tensor("s", "INT32", [4], data=[1, 1, 1, HUGE]), []
    source = graph.input("x", "FLOAT32", [1, 1, 1, 1])
    for number in range(50):
        weights = graph.tensor(f"w{number}", "INT8", [HUGE, 1, 1, 1], scale=0.5, zero_point=0)
        results.append(graph.tensor(f"y{number}", "FLOAT32", [1, 1, 1, HUGE]))
        graph.node("TRANSPOSE_CONV", [size, weights, source], results[-1:], options={"stride_w": 1, "stride_h": 1})
    graph.outputs(*results)
    return builder


def many_folded_constants():
    builder = ModelBuilder()
    graph = builder.subgraph()
    source = graph.input("x", "FLOAT32", [1, 1024, 1024], signature=[-1, 1024, 1024])
    shape, value = graph.tensor("s", "INT32", [3]), graph.tensor("v", "FLOAT32", [], data=[1.0])
    graph.node("SHAPE", [source], [shape], options={"out_type": 2})
    results = [graph.tensor(f"y{number}", "FLOAT32", [1, 1024, 1024], signature=[-1, -1, -1]) for number in range(50)]
    for result in results:
        graph.node("FILL", [shape, value], [result])
    graph.outputs(*results)
    return builder


def products_of_zeros():
    builder = ModelBuilder()
    graph = builder.subgraph()
    source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    other, zeros = graph.input("o", "FLOAT32", [HUGE, HUGE, 4]), graph.tensor("z", "FLOAT32", [1, 4], signature=[-1, 4])
    product, result = graph.tensor("p", "FLOAT32", [HUGE, HUGE, 4]), graph.tensor("y", "FLOAT32", [HUGE, HUGE, 4])
    graph.node("ZEROS_LIKE", [source], [zeros])
    graph.node("MUL", [zeros, other], [product])
    graph.node("NEG", [product], [result])
    graph.outputs(result)
    return builder


def many_dimensions():
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, weights = graph.input("x", "FLOAT32", [1] * 100), graph.tensor("w", "FLOAT32", [1] * 100, data=[1.0])
    middle, result = graph.tensor("m", "FLOAT32", [1] * 100), graph.tensor("y", "FLOAT32", [1] * 100)
    graph.node("MUL", [weights, weights], [middle])
    graph.node("ADD", [source, middle], [result])
    graph.outputs(result)
    return builder


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    "make", [weights_without_data, scales_to_repeat, many_folded_constants, products_of_zeros, many_dimensions]
)
def test_commands_come_to_an_end(tmp_path, make, command):
    make().write(tmp_path / "model.tflite")
    done = CliRunner().invoke(program, [command[0], str(tmp_path / "model.tflite"), *command[1:]])
    assert done.exit_code in (0, 1, 2) or isinstance(done.exception, delegate_sim.DelegateSimError), done.exception


def test_a_shape_with_too_many_dimensions_is_not_simulated(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph()
    result = graph.tensor("y", "FLOAT32", [1])
    graph.node("RESHAPE", [graph.input("x", "FLOAT32", [1]), graph.tensor("s", "INT32", [257], data=[1] * 257)], [result])
    graph.outputs(result)
    path = tmp_path / "model.tflite"
    builder.write(path)
    with pytest.raises(
        LimitError, match=re.escape(f"{path}: not simulated: a tensor has 257 dimensions, more than the limit of 256")
    ):
        delegate_sim.analyze(path, "nnapi", defaults="api")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_diagnosis_names_the_conversion_that_is_not_simulated(tmp_path, form):
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, weights = graph.input("x", "FLOAT32", [1, 1]), graph.input("w", "FLOAT32", [HUGE, 1])
    result = graph.tensor("y", "FLOAT32", [1, HUGE])
    graph.node("FULLY_CONNECTED", [source, graph.tensor("c", "FLOAT32", [HUGE, 1], data=bytes(4)), -1], [result])
    graph.node("ABS", [weights], [graph.tensor("z", "FLOAT32", [HUGE, 1])])
    graph.outputs(result)
    path = tmp_path / "model.tflite"
    builder.write(path)
    done = CliRunner().invoke(program, ["diagnose", str(path), "--delegate", "hexagon", "--format", form])
    reason = "conversion to int8: 1,073,741,824 scales of a tensor are more than the limit of 4,194,304"
    if form == "json":
        assert json.loads(done.stdout)["not_simulated"][0].startswith(reason)
    else:
        assert f"Not simulated: {reason}" in " ".join(done.stdout.split())
    with pytest.raises(LimitError, match=re.escape(f"{path}: not simulated: 1,073,741,824 scales of a tensor")):
        delegate_sim.whatif(path, "hexagon", conversion="int8", defaults="api")

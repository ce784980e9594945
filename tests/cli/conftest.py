from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "DELEGATE_SIM_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run():
    """Run the program in this process; the result has stdout, stderr and exit_code."""

    def run(*arguments, **environment):
        return CliRunner().invoke(program, [str(argument) for argument in arguments], env=environment)

    return run


@pytest.fixture
def run_json(run):
    def run_json(*arguments):
        result = run(*arguments, "--format", "json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run_json


def mixed_model() -> ModelBuilder:
    """ADD, then two nodes that NNAPI does not take, then ADD: three partitions."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [1, 4], data=[1, 2, 3, 4])
    tensors = [graph.tensor(f"t{number}", "FLOAT32", [1, 4]) for number in range(4)]
    graph.node("ADD", [source, weights], [tensors[0]], options={})
    graph.node("ROUND", [tensors[0]], [tensors[1]])
    graph.node("ADD", [tensors[1], weights], [tensors[2]], version=4, options={})
    graph.node("ADD", [tensors[2], weights], [tensors[3]], options={})
    graph.outputs(tensors[3])
    return builder


@pytest.fixture
def model(tmp_path):
    """The path of a small model."""
    path = tmp_path / "model.tflite"
    mixed_model().write(path)
    return path

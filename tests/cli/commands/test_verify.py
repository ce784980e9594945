"""``verify`` of one model: on a delegate, and in float16."""

from __future__ import annotations

import json

import numpy as np
import pytest

from delegate_sim.errors import MissingPackageError
from delegate_sim.verification import half_precision as precision_module
from delegate_sim.verification import verify as module
from fixtures.builder import ModelBuilder
from tests.support.accelerator import live
from tests.support.cli.own_schemas import validate
from tests.support.fake_execution import FakeExecutor


@pytest.fixture
def model(tmp_path):
    """Return the path of a model: x -> SQUARE -> ABS -> y."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, middle, y = (graph.tensor(name, "FLOAT32", [2]) for name in ("x", "middle", "y"))
    graph.inputs(x)
    graph.node("SQUARE", [x], [middle], 1, {})
    graph.node("ABS", [middle], [y], 1, {})
    graph.outputs(y)
    builder.write(tmp_path / "m.tflite")
    return tmp_path / "m.tflite"


@pytest.fixture
def fake(monkeypatch):
    """Return a function that sets the executors: which operators the delegate computes wrongly, and which do not run."""

    def set_executors(wrong=(), failing=()):
        def start(verifier, on, python=""):
            verifier.on, verifier.software, verifier.is_accelerator, verifier.delegate = on, "litert-2.3.0", False, None
            verifier.references, verifier.real = [FakeExecutor()], FakeExecutor(wrong, failing)
            verifier.time = module.RunningTime()

        monkeypatch.setattr(module.Verifier, "__init__", start)

    return set_executors


@pytest.mark.parametrize(("scale", "code"), [(1.0, 0), (0.0, 1)])
def test_equal_outputs_that_do_not_depend_on_the_inputs_are_a_finding(run, tmp_path, scale, code):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [2]), graph.tensor("y", "FLOAT32", [2])
    graph.node("MUL", [x, graph.tensor("scale", "FLOAT32", [], data=[scale])], [y], 1, {})
    graph.outputs(y)
    path = tmp_path / "scaled.tflite"
    builder.write(path)
    result = run("verify", path, path, "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["is_same"]) == (code, True)


@pytest.mark.parametrize(
    ("wrong", "failing", "code", "node"),
    [((), (), 0, None), (["ABS"], (), 1, 1), (["SQUARE"], (), 1, 0), ((), ["ABS"], 1, 1)],
)
def test_on_a_delegate(model, run, fake, wrong, failing, code, node):
    fake(wrong, failing)
    result = run("verify", model, "--on", "xnnpack", "--format", "json")
    found = json.loads(result.stdout)
    validate("verification", found)
    assert (result.exit_code, found["is_right"], found["on"]) == (code, code == 0, "xnnpack")
    culprit = found["entries"][0]["culprit"]
    assert (None if culprit is None else culprit["node"]) == node
    text = run("verify", model, "--on", "xnnpack")
    assert text.exit_code == code
    assert ("First node at fault" in text.stdout) is (node is not None)


@pytest.mark.parametrize(("value", "code", "kinds"), [(2, 0, []), (300, 1, ["result-overflows", "result-overflows"])])
def test_in_float16(model, run, tmp_path, monkeypatch, value, code, kinds):
    monkeypatch.setattr(precision_module, "ProcessExecutor", lambda *_, **__: FakeExecutor())
    np.savez(tmp_path / "x.npz", x=np.full(2, value, np.float32))
    command = ("verify", model, "--precision", "fp16", "--samples", 0, "--data", tmp_path / "x.npz")
    result = run(*command, "--format", "json")
    found = json.loads(result.stdout)
    validate("half-precision", found)
    assert (result.exit_code, [problem["kind"] for problem in found["problems"]]) == (code, kinds)
    assert run(*command).exit_code == code


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give a second model, --on or --precision, and only one of them"),
        (["--on", "cpu", "--precision", "fp16"], "give a second model, --on or --precision, and only one of them"),
        (["m.tflite", "--on", "cpu"], "give a second model, --on or --precision, and only one of them"),
        (["m.tflite", "--python", "p"], "--python needs --on or --precision"),
        (["--on", "gpu"], "'gpu' is not one of"),
        (["--on", "cpu", "--samples", "0"], "no inputs to run the models on"),
    ],
)
def test_wrong_command_lines(model, run, options, words):
    result = run("verify", model, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_delegate_that_cannot_run_here_is_one_line(model, run, monkeypatch):
    def start(*_):
        raise MissingPackageError("mldrift cannot run here: it lacks a driver")

    monkeypatch.setattr(module.Verifier, "__init__", start)
    result = run("verify", model, "--on", "mldrift")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


@live
def test_the_real_accelerator(model, run):
    result = run("verify", model, "--on", "mldrift", "--format", "json")
    validate("verification", json.loads(result.stdout))
    assert result.exit_code == 0

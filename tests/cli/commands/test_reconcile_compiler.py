"""``delegate-sim reconcile`` with a log of the Edge TPU's compiler, and what ``explain --log`` says about failures and notes."""

from __future__ import annotations

import json

import pytest

from tests.support.edge_tpu import COMPILED, DISPATCH, FAILURE, INVOKE_FAILS, SOURCE, TABLE, edge_tpu_model


@pytest.fixture
def paths(tmp_path):
    """The source model, the compiled model, and a log of the compiler."""
    source, compiled, log = tmp_path / "source.tflite", tmp_path / "compiled.tflite", tmp_path / "compiler.txt"
    source.write_bytes(edge_tpu_model(*SOURCE))
    compiled.write_bytes(edge_tpu_model(COMPILED))
    log.write_text(TABLE, encoding="utf-8")
    return source, compiled, log


def test_the_table_with_nodes(run, paths):
    result = run("reconcile", paths[0], "--log", paths[2])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("The Edge TPU runs 2 of 4 nodes")
    assert "RELU: 2 nodes likely [0-1]" in result.stdout
    assert "LOGISTIC: 1 node [2]" in result.stdout
    assert "Use edgetpu_compiler -a to map several parts" in result.stdout


def test_the_table_as_data(run, paths):
    result = run("reconcile", paths[0], "--log", paths[2], "--format", "json")
    content = json.loads(result.stdout)
    assert (content["schema"], content["status"]) == ("delegate-sim/reconcile-compiler/1", "joined")


def test_the_compiled_model_is_the_wrong_one(run, paths):
    result = run("reconcile", paths[1], "--log", paths[2])
    assert result.exit_code == 2
    assert "already compiled for the Edge TPU; give the original model, source.tflite, instead" in result.stderr


def test_a_model_that_could_not_be_compiled(run, paths):
    paths[2].write_text(FAILURE, encoding="utf-8")
    result = run("reconcile", paths[0], "--log", paths[2])
    assert result.exit_code == 1
    assert result.stdout.startswith("Not compiled: the Edge TPU compiler did not compile the model")
    assert "large activation tensors" in result.stdout


def test_explain_shows_the_table(run, paths):
    result = run("explain", "--log", paths[2])
    assert "outcome        the model was compiled for this chip; the log shows no run\n" in result.stdout
    assert "Mapped to Edge TPU: RELU 2" in result.stdout


def test_a_compiler_that_maps_nothing(run, paths):
    paths[2].write_text(
        "Edge TPU Compiler version 1.0\n\nModel compiled successfully in 1 ms.\n\n"
        "Number of operations that will run on Edge TPU: 0\nNumber of operations that will run on CPU: 9\n",
        encoding="utf-8",
    )
    assert "the compiler mapped no operator to this chip" in run("explain", "--log", paths[2]).stdout


def test_a_failure_while_the_model_ran_has_a_cause(run, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(INVOKE_FAILS, encoding="utf-8")
    result = run("explain", "--log", path)
    outcome = "delegated part of the graph: 9 of 11 nodes in 2 partitions, and failed while the model ran"
    assert f"outcome {outcome} cause NN API returned error" in " ".join(result.stdout.split())


def test_lines_that_are_no_errors(run, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(DISPATCH, encoding="utf-8")
    result = run("explain", "--log", path)
    assert "also in the log\n" in result.stdout
    assert "not an error by itself" in result.stdout
    assert "  errors\n" not in result.stdout

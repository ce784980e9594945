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
    result = run("reconcile", paths[0], "--log", paths[2], "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    content = json.loads(result.stdout)
    assert (content["schema"], content["status"]) == ("delegate-sim/reconcile-compiler/1", "joined")
    rows = [(row["operator"], row["is_mapped"], row["nodes"], row["is_certain"]) for row in content["rows"]]
    assert rows == [("RELU", True, [0, 1], False), ("RELU", False, [3], False), ("LOGISTIC", False, [2], True)]


def test_the_compiled_model_is_the_wrong_one(run, paths):
    result = run("reconcile", paths[1], "--log", paths[2])
    assert (result.exit_code, "source.tflite" in result.stderr) == (2, True)


def test_a_model_that_could_not_be_compiled(run, paths):
    paths[2].write_text(FAILURE, encoding="utf-8")
    result = run("reconcile", paths[0], "--log", paths[2], "--format", "json")
    content = json.loads(result.stdout)
    assert (result.exit_code, content["status"], content["compiler"]["is_done"]) == (1, "not-compared", False)


def test_an_error_before_the_failure_of_the_compiler_is_shown(run, paths):
    tensors = "static-sized tensors with a graph that has dynamic-sized tensors"
    error = f"ERROR: Attempting to use a delegate that only supports {tensors}."
    paths[2].write_text(f"{error}\n{FAILURE}", encoding="utf-8")
    content = json.loads(run("reconcile", paths[0], "--log", paths[2], "--format", "json").stdout)
    assert [note for note in content["notes"] if "dynamic-sized tensors" in note]


def test_a_log_without_a_table_does_not_say_that_nothing_was_compiled(run, paths):
    text = "Edge TPU Compiler version 16.0\nModel compiled successfully in 2 ms.\nTotal number of operations: 84\n"
    paths[2].write_text(text, encoding="utf-8")
    result = run("reconcile", paths[0], "--log", paths[2])
    assert (result.exit_code, "Not compiled" in result.stdout, "no table" in result.stdout) == (1, False, True)


def test_explain_shows_the_table(run, paths):
    (only,) = json.loads(run("explain", "--log", paths[2], "--format", "json").stdout)["runs"]
    assert [(row["op"], row["count"]) for row in only["edge_tpu"]["rows"]] == [("RELU", 2), ("RELU", 1), ("LOGISTIC", 1)]


def test_a_failure_while_the_model_ran_has_a_cause(run, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(INVOKE_FAILS, encoding="utf-8")
    (only,) = json.loads(run("explain", "--log", path, "--format", "json").stdout)["runs"]
    assert (only["delegate"]["outcome"], only["delegate"]["failed_running"]) == ("part", True)
    assert only["cause"].startswith("NN API returned error")


def test_lines_that_are_no_errors(run, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(DISPATCH, encoding="utf-8")
    result = run("explain", "--log", path)
    assert result.exit_code == 0
    assert "  errors\n" not in result.stdout

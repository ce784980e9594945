"""``reduce``: the command line, the text, the report and the JSON."""

from __future__ import annotations

import json
import sys

import pytest

from delegate_sim import load
from delegate_sim.reduction.reduce import KeptContent
from delegate_sim_cli.commands import reduce as module
from tests.support.cli.own_schemas import validate
from tests.support.refusals import ModelTest


@pytest.fixture
def fake(monkeypatch):
    """Replace programs by a test that refuses ROUND."""

    def start(command, match, seconds):
        return ModelTest(lambda model: "error: ROUND" if any(node.op == "ROUND" for node in model.subgraphs[0].nodes) else "")

    monkeypatch.setattr(module, "ProgramTest", start)


def test_text_json_and_report(model, run, tmp_path, fake):
    small = tmp_path / "small.tflite"
    command = ("reduce", model, "--command", "fake {model}", "-o", small)
    text = run(*command)
    assert text.exit_code == 0
    assert [node.op for node in load(small).subgraphs[0].nodes] == ["ROUND"]
    result = json.loads(run(*command, "--force", "--format", "json").stdout)
    validate("reduction", result)
    assert (result["nodes"], result["original_nodes"], result["operators"]) == (1, 4, ["ROUND"])
    assert (result["message"], result["status"], result["kept"]) == ("error: ROUND", "exit code 1", [])
    assert (result["written"], result["command"]) == (str(small), f"fake {small}")
    report = run(*command, "--force", "--format", "markdown").stdout
    assert "    Command: fake small.tflite\n    Result: exit code 1: error: ROUND\n" in report
    assert report in text.stdout
    assert str(tmp_path) not in report


def test_what_is_kept_is_said(model, run, tmp_path, fake, monkeypatch):
    kept = (KeptContent("names"), *[KeptContent("constant", number, "INT32", "PAD", (4, 2)) for number in range(9)])
    monkeypatch.setattr("delegate_sim.reduction.reduce._Reducer._kept", lambda *_: iter(kept))
    text = run("reduce", model, "--command", "fake", "-o", tmp_path / "small.tflite").stdout
    for words in ("the names of tensors", "constant 7 (INT32 [4, 2], read by PAD)", "1 more constant"):
        assert words in text


def test_an_unfinished_search_and_a_doubtful_command_are_said(model, run, tmp_path, fake, monkeypatch):
    monkeypatch.setattr("delegate_sim.reduction.reduce._Reducer._shrink_shapes", _raise_limit_error)
    monkeypatch.setattr(module, "ProgramTest", lambda *_: ModelTest(lambda _: "error"))
    text = run("reduce", model, "--command", "fake", "-o", tmp_path / "small.tflite").stdout
    assert "time limit" in text
    assert "without nodes" in text


def _raise_limit_error(_):
    from delegate_sim.errors import LimitError

    raise LimitError("no time")


@pytest.mark.slow
def test_a_real_program(model, run, tmp_path):
    program = tmp_path / "compiler.py"
    program.write_text(
        "import sys\nfrom delegate_sim.model.reader import load\n"
        "bad = [node for node in load(sys.argv[1]).subgraphs[0].nodes if node.op == 'ROUND']\n"
        "sys.exit(f'error: node {bad[0].index} is not supported' if bad else 0)\n"
    )
    result = run("reduce", model, "--command", f"{sys.executable} {program} {{model}}", "-o", tmp_path / "s.tflite")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "error: node 0 " in result.stdout
    assert [node.op for node in load(tmp_path / "s.tflite").subgraphs[0].nodes] == ["ROUND"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "give one of --command, --live and --on"),
        (["--command", "a", "--on", "cpu"], "give one of --command, --live and --on"),
        (["--live", "xnnpack", "--match", "a"], "--match needs --command"),
        (["--command", "a", "--option", "a=b"], "--option and --sdk need --live"),
        (["--live", "xnnpack", "--option", "a"], "takes KEY=VALUE, not 'a'"),
        (["--live", "nnapi"], "'nnapi' is not one of"),
        (["--command", "/no/such/program {model}"], "the command cannot be started: there is no program '/no/such/program'"),
    ],
)
def test_wrong_command_lines(model, run, tmp_path, options, words):
    result = run("reduce", model, "-o", tmp_path / "small.tflite", *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert words in result.stderr
    assert not (tmp_path / "small.tflite").exists()


def test_a_model_that_does_not_fail_is_one_line(model, run, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ProgramTest", lambda *_: ModelTest(lambda _: ""))
    result = run("reduce", model, "--command", "fake", "-o", tmp_path / "small.tflite")
    assert (result.exit_code, result.stdout, result.stderr.startswith(f"error: {model}: ")) == (2, "", True)


def test_an_existing_file_is_refused_before_anything_runs(model, run, tmp_path):
    (tmp_path / "small.tflite").write_text("old")
    result = run("reduce", model, "--command", "/no/such/program", "-o", tmp_path / "small.tflite")
    assert (result.exit_code, "already exists" in result.stderr) == (2, True)

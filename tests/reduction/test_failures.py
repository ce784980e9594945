"""Programs that fail, and the comparison of failures."""

from __future__ import annotations

import os
import sys

import pytest

from delegate_sim import load
from delegate_sim.errors import OptionError
from delegate_sim.reduction.failures import FailureComparison, ObservedFailure, ProgramTest, error_line, neutral_name
from tests.support.models import chain_model

MODEL = load(chain_model(["ABS", "NEG"]).bytes())
PROGRAM = f"{sys.executable} -c"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", ""),
        ("one\ntwo\n", "two"),
        ("loading\nERROR: no\nFailed too\n", "ERROR: no"),
        ("WARNING: could not find x\nI0000 invalid\nnot supported: y\n", "not supported: y"),
        ("WARNING: could not find x\ndone\n", "WARNING: could not find x"),
        ("Traceback (most recent call last):\n  raise ValueError(x)\nValueError: x\n", "ValueError: x"),
        ("  cannot\n", "cannot"),
    ],
)
def test_the_line_that_reports_an_error(output, line):
    assert error_line(output) == line


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("node 3 of 17 failed", "node 0 of 1 failed", True),
        ("node 0x1f failed", "node 0x7 failed", True),
        ("'t0': failed", f"'{neutral_name(4)}': failed", True),
        ("'t0': failed", "'t1': failed", True),
        ("'t0': failed", "'other': failed", False),
        ("CONV_2D failed", "CONV_3D failed", False),
        ("INT8 failed", "INT16 failed", False),
    ],
)
def test_numbers_and_names_do_not_count(one, other, is_same):
    comparison = FailureComparison(MODEL)
    assert comparison.is_same(ObservedFailure("exit code 1", one), ObservedFailure("exit code 1", other)) is is_same
    assert not comparison.is_same(ObservedFailure("exit code 1", one), ObservedFailure("exit code 2", one))
    assert comparison.is_same(ObservedFailure("", one, "text"), ObservedFailure("", other, "text"))


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("pass", None),
        ("import sys; sys.exit('error: no')", ObservedFailure("exit code 1", "error: no")),
        ("import os; os.abort()", ObservedFailure("SIGABRT", "")),
        ("import os; os.kill(os.getpid(), 40)", ObservedFailure("signal 40", "")),
        ("import os; print('error', os.listdir(), os.getcwd() == '/', flush=True); os._exit(3)",
         ObservedFailure("exit code 3", "error ['model.tflite'] False")),
        ("import sys; sys.exit('error: ' + sys.argv[1])", ObservedFailure("exit code 1", "error: model.tflite")),
        ("import time; print('fails soon', flush=True); time.sleep(50)", ObservedFailure("time limit", "fails soon")),
    ],
)  # fmt: skip
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names of signals")
def test_a_program_runs_in_a_new_folder(code, failure):
    assert ProgramTest(f'{PROGRAM} "{code}" {{model}}', seconds=3).run(b"x") == failure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "failure"), [("0", ObservedFailure("", "a bad b", "bad")), ("1", ObservedFailure("", "a bad b", "bad"))]
)
def test_only_the_text_of_match_counts(code, failure):
    command = f"{PROGRAM} \"import sys; print('error\\na bad b'); sys.exit({code})\""
    assert ProgramTest(command, "bad").run(b"x") == failure
    assert ProgramTest(command, "worse").run(b"x") is None


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "is empty"),
        ("'open", "cannot be split"),
        ("/bin/false \0", "cannot be split"),
        ("no-such-program {model}", "there is no program 'no-such-program'"),
        ("./no-such-program", "there is no program"),
    ],
)
def test_a_command_that_cannot_be_started(command, words):
    with pytest.raises(OptionError, match=words):
        ProgramTest(command)


def test_a_program_of_the_current_folder_must_be_named_by_its_path(tmp_path, monkeypatch):
    program = tmp_path / "compiler"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}/usr/bin")
    with pytest.raises(OptionError, match="there is no program 'compiler'"):
        ProgramTest("compiler")
    assert ProgramTest("./compiler").run(b"x") == ObservedFailure("exit code 1", "")


def test_a_file_that_is_no_program(tmp_path):
    program = tmp_path / "compiler"
    program.write_bytes(b"\0\1\2")
    program.chmod(0o755)
    with pytest.raises(OptionError, match="cannot be started"):
        ProgramTest(str(program)).run(b"x")


@pytest.mark.parametrize(("text", "line"), [("a {model} b", "a 'm y' b"), ("a", "a 'm y'")])
def test_the_command_for_a_reader(text, line, monkeypatch):
    monkeypatch.setattr("delegate_sim.reduction.failures._program", lambda word: word)
    assert ProgramTest(text).command("m y") == line

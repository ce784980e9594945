"""``delegate-sim sweep``, with converters that are none."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.conversion.convert import Failure, FailureKind
from delegate_sim.conversion.converters import Converter
from delegate_sim.sweeping import sweep as sweep_module
from delegate_sim_cli.commands import sweep as command_module
from tests.support.cli.own_schemas import validate
from tests.support.conversion.fake_converters import make_environment, make_source
from tests.support.conversion.sweep_conversions import Fake

pytest.importorskip("ai_edge_litert", reason="ranking needs the runtime: install the extra 'fix'")

PHONE = ("--delegate", "nnapi", "--option", "nnapi_runtime=13")


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A file that is taken for a Keras model; the fake that converts it is ``source.fake``."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.keras"
    zipfile.ZipFile(path, "w").writestr("config.json", "{}")
    return path


@pytest.fixture
def convert(tmp_path, monkeypatch):
    folder = tmp_path / "made"
    folder.mkdir()

    def use(converter=None, **of_fake):
        fake = Fake(folder, **of_fake)
        found = converter or Converter("tensorflow", "2.99.0", "/python")
        monkeypatch.setattr(sweep_module, "convert", fake)
        monkeypatch.setattr(command_module, "find_converters", lambda pythons: (found,))
        return fake

    return use


@pytest.fixture
def sweep(run, source, convert):
    def call(*options, **of_fake):
        call.fake = convert(**of_fake)
        return run("sweep", source, *PHONE, "--no-cache", *options, COLUMNS="160")

    return call


def test_the_table_as_text(sweep):
    result = sweep("--setting", "int8+fixed")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    told = "nnapi: best is row 3, tensorflow: float+fixed, with 100 % of multiply-adds delegated, 1 kernel"
    todo = "--best-for TARGET -o FILE writes the best model; its Python code is at the end. converters:"
    assert text.startswith(told)
    assert todo in text
    assert text.index(told) < text.index("calibrated: rows 2, 4")
    assert "* 3 float+fixed 100 % 100 % 1" in text
    assert "rejected 0 % 0 0" in text
    assert "nnapi on litert-2.3 --android=13: best is row" in text
    assert "dynamic-shape:inputs (row 1)" in text


@pytest.mark.slow
def test_the_code_of_the_best_row_is_shown_and_of_others_when_asked_for(sweep):
    result = sweep()
    assert "convert('float+fixed')" in result.stdout
    assert "convert('float')" not in result.stdout
    assert "convert('float')" in sweep("--show-code", "1").stdout
    assert "convert(" not in sweep("--no-code").stdout
    wrong = sweep("--show-code", "9")
    assert (wrong.exit_code, "row 9" in wrong.stderr) == (2, True)


def test_json_follows_its_schema(sweep):
    crash = Failure(FailureKind.CRASHED, "gone")
    result = sweep("--format", "json", "--setting", "int16x8", failures={"int16x8": crash})
    found = json.loads(result.stdout)
    validate("sweep", found)
    assert found["best_for"] == {"nnapi": 3}
    assert found["rows"][1]["failure"] == {"kind": "crashed", "line": "gone"}
    assert found["rows"][1]["targets"] == {}
    assert found["rows"][2]["targets"]["nnapi"]["multiply_add_share"] == 1
    assert found["calibration"]["is_drawn"]


def test_comma_separated_values_have_a_row_for_each_conversion(sweep):
    rows = list(csv.DictReader(io.StringIO(sweep("--format", "csv").stdout)))
    assert [row["settings"] for row in rows] == ["float", "float16", "dynamic-range", "float+fixed"]
    assert (rows[0]["nnapi_outcome"], rows[-1]["nnapi_outcome"]) == ("refused", "delegated")
    assert rows[-1]["best"] == "true"


def test_markdown_has_the_tables_and_the_code(sweep):
    text = sweep("--format", "markdown").stdout
    answer = "- nnapi: best is row 4, tensorflow: float+fixed, with 100 % of multiply-adds delegated, 1 kernel\n"
    assert 0 < text.index(answer) < text.index("| row | converter | settings |")
    assert "**nnapi on litert-2.3 --android=13: best is row 4, tensorflow: float+fixed**" in text
    assert "```python\n# tensorflow\nconvert('float+fixed')\n```" in text


@pytest.mark.slow
def test_the_best_model_is_written_and_nothing_is_overwritten(sweep, tmp_path, source):
    result = sweep("--best-for", "nnapi", "-o", "best.tflite")
    assert result.exit_code == 0, result.stderr
    said, _, rest = result.stdout.partition("converters: ")
    assert "\nbest.tflite: the best model for nnapi, " in said
    assert "best.tflite" not in rest, "the file is named once"
    assert "--best-for TARGET" not in result.stdout
    assert [node.op for node in load(tmp_path / "best.tflite").subgraphs[0].nodes] == ["FULLY_CONNECTED"]
    again = sweep("--best-for", "nnapi", "-o", "best.tflite")
    assert again.exit_code == 2
    assert "best.tflite: already exists; --force replaces it" in again.stderr
    assert sweep.fake.asked == [], "nothing is converted for a file that is not written"
    assert sweep("--best-for", "nnapi", "-o", "best.tflite", "--force").exit_code == 0
    assert sweep("--best-for", "nnapi", "-o", source, "--force").exit_code == 2


def test_a_page_that_exists_is_replaced_only_with_force(sweep, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old", "utf-8")
    assert f"{page}: already exists; --force replaces it" in sweep("--report", page).stderr
    assert sweep.fake.asked == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--best-for", "nnapi"], "--best-for TARGET and -o FILE must be given together"),
        (["-o", "x.tflite"], "--best-for TARGET and -o FILE must be given together"),
        (["--best-for", "gpu", "-o", "x.tflite"], "--best-for takes a target of this sweep (nnapi), not gpu"),
        (["--setting", "int9"], "there is no quantization 'int9'"),
        (["--shape", "x=a"], "a shape is INPUT=1,224,224,3, not 'x=a'"),
        (["--cache", "folder"], "either --cache or --no-cache"),
        (["--data", "none.npz"], "none.npz: does not exist"),
        (["--time-limit", "0"], "0.0 is not in the range x>0"),
    ],
)
def test_wrong_usage_is_one_line(sweep, options, words):
    result = sweep(*options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert sweep.fake.asked == []


def test_a_source_that_is_not_there(run, source, convert):
    convert()
    result = run("sweep", "none.keras", *PHONE, "--no-cache")
    assert result.exit_code == 2
    assert "none.keras" in result.stderr


def test_no_model_at_all_is_told_by_the_exit_code(sweep):
    result = sweep(converter=Converter("tensorflow", install="pip install '.[sweep-tf]'"))
    assert result.exit_code == 2
    told = "row 1, tensorflow: float: missing: not installed: pip install '.[sweep-tf]', or name another"
    assert told in " ".join(result.stdout.split())


def test_an_interruption_leaves_the_finished_rows(sweep):
    result = sweep(failures={"float+fixed": KeyboardInterrupt()})
    assert result.exit_code == 130
    assert "3 conversions" in result.stdout
    assert "not applied" in result.stdout


def test_a_row_that_cannot_be_the_best_is_told_with_the_reason(sweep):
    """Only the conversion that was calibrated with random numbers has delegated nodes."""
    failures = dict.fromkeys(("float16", "dynamic-range", "float+fixed"), Failure(FailureKind.CRASHED, "gone"))
    result = sweep("--setting", "int8+fixed", failures=failures)
    text = " ".join(result.stdout.split())
    assert text.startswith("nnapi: no row can be the best: row 4, tensorflow: int8+dense-per-tensor+fixed, ")
    assert "--data" in text


def test_what_a_converter_says_is_harmless_on_a_terminal(sweep):
    """Names of settings hold names of inputs."""
    result = sweep("--shape", "\x1b[2Jx=1,2", "--format", "text")
    assert "\x1b" not in result.stdout


def test_the_page_shows_the_first_and_the_best(sweep, tmp_path):
    result = sweep("--report", "page.html")
    assert result.exit_code == 0, result.stderr
    assert "page.html: 2 views" in result.stdout
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "1 float.tflite" in page
    assert "4 float+fixed.tflite" in page


def test_the_bar_shows_what_is_done_of_what_is_known(sweep, monkeypatch):
    shown = []
    monkeypatch.setattr(command_module, "show_progress", lambda *told: shown.append(told))
    assert sweep("--setting", "int8").exit_code == 0
    assert [share for _, share in shown[:2]] == [0.0, 1 / 3]
    assert all(0 <= share < 1 for _, share in shown)


def test_limits_and_the_folder_are_handed_on(run, source, convert, tmp_path, monkeypatch):
    fake = convert()
    seen = {}

    def spy(source, route, settings, cache, calibration, limits):
        seen.update(folder=cache.folder, limits=limits)
        return fake(source, route, settings, cache, calibration, limits)

    monkeypatch.setattr(sweep_module, "convert", spy)
    run("sweep", source, *PHONE, "--cache", tmp_path / "kept", "--time-limit", 7, "--memory-limit", 2)
    assert seen["folder"] == str(tmp_path / "kept")
    assert (seen["limits"].seconds, seen["limits"].memory) == (7, 2 << 30)


@pytest.mark.slow
def test_the_code_that_is_shown_runs_and_makes_the_same_file(run, tmp_path, monkeypatch):
    """Pasted from the text into the converter's own Python; the converter is a fake one in an environment of its own."""
    monkeypatch.chdir(tmp_path)
    python = make_environment(tmp_path / "environment")
    source = make_source(tmp_path, "good")
    kept = tmp_path / "kept"
    given = ("sweep", source, *PHONE, "--setting", "int8", "--python", python, "--cache", kept, "--no-code")
    found = json.loads(run(*given, "--format", "json").stdout)
    (row,) = [row for row in found["rows"] if (row["converter"], row["settings"]) == ("tensorflow", "int8")]
    shown = run(*given, "--show-code", row["number"]).stdout
    code = shown[shown.index("# tensorflow 9.9.1") :]
    assert code.strip() == row["code"].strip()
    pasted = tmp_path / "pasted"
    pasted.mkdir()
    subprocess.run([python, "-"], input=code, text=True, cwd=pasted, check=True, capture_output=True)
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in kept.glob("*.tflite")}
    assert hashlib.sha256((pasted / "model.tflite").read_bytes()).hexdigest() in digests


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), [("crashing", "crashed"), ("chatting", "output too large"), ("hanging", "timed out")])
def test_a_converter_that_misbehaves_is_a_row_with_one_line(run, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    python = make_environment(tmp_path / "environment")
    source = make_source(tmp_path, name)
    limit = ("--time-limit", 2) if name == "hanging" else ()
    monkeypatch.setenv("FAKE_NOTE", str(tmp_path / "note"))
    result = run("sweep", source, *PHONE, "--python", python, "--no-cache", *limit, "--format", "json")
    assert result.exit_code == 2
    row = json.loads(result.stdout)["rows"][0]
    assert row["failure"]["kind"] == words
    assert "\n" not in row["failure"]["line"]
    assert len(row["failure"]["line"]) < 1000
    assert processes_given(tmp_path / "note") == []


def processes_given(note):
    """The processes that were started with a note of this path, which they hand on to their own."""
    mark = f"FAKE_NOTE={note}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_leaves_the_finished_rows_and_no_process(tmp_path):
    """The whole program, interrupted while a converter hangs."""
    python = make_environment(tmp_path / "environment")
    source = make_source(tmp_path, "hanging")
    note = tmp_path / "note"
    # Who runs the tests may have told its processes to ignore the signal.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from delegate_sim_cli.main import main; main()"
    )
    command = [sys.executable, "-c", program, "sweep", source, *PHONE, "--python", python, "--no-cache"]
    environment = {**os.environ, "FAKE_NOTE": str(note)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as began:
        try:
            deadline = time.monotonic() + 120
            while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
                time.sleep(0.1)
            began.send_signal(signal.SIGINT)
            output, errors = began.communicate(timeout=60)
        finally:
            began.kill()
    assert began.returncode == 130
    assert "--run-model-code" in errors
    assert "interrupted" in output
    assert processes_given(note) == []


def test_the_first_line_and_the_help_say_that_code_runs(sweep, run):
    warning = "Converting can run the model's code: if "
    assert sweep().stderr.startswith(warning)
    assert sweep("--run-model-code").stderr.endswith("net.keras is allowed, and it runs.\n")
    assert warning[:35] in " ".join(run("sweep", "--help").stdout.split())

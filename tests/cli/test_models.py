"""Folders, patterns, standard input and models that cannot be read, in every command that takes models."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest
from click.testing import CliRunner

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.model_files import matching_files, models_below
from delegate_sim_cli.main import program
from delegate_sim_cli.progress import Progress
from tests.models import MIXED, chain_model

VX = ("--delegate", "vx")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with models at two levels, a file that is none, hidden ones, and links that lead round in circles."""
    for name in ("a.tflite", "sub/b.tflite", "sub/deep/c.TFLITE", ".hidden/d.tflite"):
        path = tmp_path / "models" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        chain_model(MIXED).write(path)
    (tmp_path / "models" / "notes.txt").write_text("no model")
    for number in range(12):
        (tmp_path / "models" / "sub" / f"loop{number}").symlink_to(tmp_path / "models", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALL = ["models/a.tflite", "models/sub/b.tflite", "models/sub/deep/c.TFLITE"]


def test_models_below_a_folder_in_spite_of_loops(folder):
    assert models_below("models") == ALL
    assert matching_files("models/**/*.tflite") == ALL[:2]
    assert matching_files("models/*") == ALL[:1]
    assert matching_files("models/sub/[ab].*") == ALL[1:2]
    assert matching_files("models/**") == ALL
    assert matching_files("none/*.tflite") == []
    assert matching_files(str(folder / "models" / "*.tflite")) == [str(folder / "models" / "a.tflite")]


@pytest.mark.parametrize(("given", "expected"), [("models", ALL), ("models/**/*.tflite", ALL[:2]), ("models/*", ALL[:1])])
def test_folders_and_patterns(run_json, folder, given, expected):
    assert [report["model"]["path"] for report in run_json("analyze", given, *VX)] == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", "models", *VX],
        ["inspect", "models"],
        ["diagnose", "models", *VX],
        ["releases", "models", *VX],
        ["whatif", "models", *VX, "--accept", "ROUND"],
        ["compare", "models", *VX, "--with", "delegate=gpu"],
        ["compare", "models", "models/**/*", *VX, "--with", "delegate=gpu"],
    ],
    ids=" ".join,
)
def test_every_command_takes_a_folder(run, folder, arguments):
    (folder / "models" / "b.tflite").write_bytes(b"no model")
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: models/b.tflite: ")
    entries = json.loads(result.stdout)
    assert len(entries) == len(ALL) + 1
    assert [entry["model"]["path"] for entry in entries if "error" in entry] == ["models/b.tflite"]
    text = run(*arguments)
    assert text.exit_code == 2
    assert "b.tflite" in text.stdout


def test_check_takes_a_folder(run, folder):
    (folder / "delegate-sim.toml").write_text('models = ["models"]\n[targets.t]\ndelegate = "vx"\n')
    assert "3 models on 1 target" in run("check", "--update").stdout
    assert "2 models on 1 target: 2 passed" in run("check", "models/sub").stdout
    assert "1 model on 1 target: 1 passed" in run("check", "models/*.tflite").stdout


def test_standard_input(folder):
    for command in ("analyze", "inspect", "diagnose"):
        content = (folder / "models" / "a.tflite").read_bytes()
        assert CliRunner().invoke(program, [command, "-"], input=content).exit_code == 0
    broken = CliRunner().invoke(program, ["analyze", "-"], input=b"no model")
    assert (broken.exit_code, broken.stderr[:22]) == (2, "error: standard input:")


def test_text_has_a_table_beyond_three_models(run, folder):
    chain_model(MIXED).write(folder / "models" / "z.tflite")
    (folder / "models" / "broken.tflite").write_bytes(b"no model")
    result = run("analyze", "models", *VX, COLUMNS="140")
    assert result.exit_code == 2
    assert [line.split()[:3] for line in result.stdout.splitlines()[1:7]] == [
        ["model", "delegate", "delegated"],
        ["a.tflite", "vx", "75"],
        ["sub/b.tflite", "vx", "75"],
        ["sub/deep/c.TFLITE", "vx", "75"],
        ["z.tflite", "vx", "75"],
        ["broken.tflite", "unreadable"],
    ]
    assert "Coverage" in run("analyze", "models", *VX, "--verbose").stdout
    rows = list(csv.DictReader(io.StringIO(run("analyze", "models", "--format", "csv").stdout)))
    assert len(rows) == 5 * len(DELEGATE_NAMES)
    assert {row["status"] for row in rows if row["model"] == "models/broken.tflite"} == {"unreadable"}


def test_a_pointer_of_git_lfs(run, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n")
    result = run("analyze", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: {path}: is a pointer of Git LFS, not the model itself: run git lfs pull\n"


def test_a_name_with_brackets_is_no_pattern(run, folder):
    os.rename("models/a.tflite", "models/a[1].tflite")
    assert run("analyze", "models/a[1].tflite", *VX).exit_code == 0
    result = run("analyze", "models/x[1].tflite", *VX)
    assert (result.exit_code, result.stderr) == (2, "error: models/x[1].tflite: matches no file\n")


def test_progress_appears_after_a_while_and_goes_away(monkeypatch):
    monkeypatch.setattr("delegate_sim_cli.progress._AFTER", 0.0)
    monkeypatch.setattr("delegate_sim_cli.progress._EVERY", 0.001)
    stream = io.StringIO()
    progress = Progress(stream, "delegate-sim")
    progress.show("2 of 9: model.tflite")
    while "2 of 9: model.tflite" not in stream.getvalue():
        pass
    progress.stop()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_nothing_but_a_terminal_sees_progress(run, folder):
    assert run("analyze", "models", *VX).stderr == ""


def test_an_update_warns_of_a_model_of_which_nothing_is_delegated(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain_model(["ROUND", "ROUND"]).write(tmp_path / "model.tflite")
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.t]\ndelegate = "gpu"\n')
    assert "warning: the delegate takes nothing of this model" in run("check", "--update").stdout

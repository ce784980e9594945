"""Folders, patterns, standard input and models that cannot be read, in every command that takes models."""

from __future__ import annotations

import csv
import io
import json
import os

import pytest

from delegate_sim.bundles.model_files import matching_files, models_below
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.errors import ModelError
from delegate_sim.foundation import files
from delegate_sim_cli.console.progress import ProgressLine
from delegate_sim_cli.console.terminal import report_progress
from delegate_sim_cli.models import read_model
from fixtures.builder import ModelBuilder
from tests.support.models import MIXED, chain_model

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
    assert "\nNot answered: 1 model\n  models/b.tflite: " in text.stdout


def test_an_empty_folder_is_reported_once(run, folder):
    (folder / "empty").mkdir()
    fault = "error: empty: contains no model (no file below it ends in .tflite or .lite)\n"
    for arguments in (["analyze", *VX], ["diagnose", *VX], ["inspect"], ["releases", *VX], ["scan", *VX, "-o", "out.csv"]):
        command, *rest = arguments
        result = run(command, "empty", *rest)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", fault)
    assert not (folder / "out.csv").exists()


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ModelError, match="standard input is closed"):
        read_model("-")


def test_standard_input_without_end(run, monkeypatch):
    monkeypatch.setattr(files, "_MOST_STREAM", 1000)
    result = run("analyze", "-", *VX, given=bytes(1001))
    assert (result.exit_code, "1,000 bytes" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "headings"),
    [
        (["inspect", "models"], ["bytes", "subgraphs", "nodes"]),
        (["releases", "models", *VX], ["delegate", "loads", "from", "fully", "delegated"]),
        (["whatif", "models", *VX, "--accept", "ROUND"], ["delegated", "multiply-adds", "kernels"]),
        (["whatif", "models", *VX, "--search", "kernels=1"], ["causes", "delegated", "multiply-adds"]),
        (["compare", "models", *VX, "--with", "delegate=gpu"], ["delegated", "multiply-adds", "kernels"]),
    ],
    ids=" ".join,
)
def test_beyond_three_models_every_command_has_a_table(run, folder, arguments, headings):
    chain_model(MIXED).write(folder / "models" / "z.tflite")
    (folder / "models" / "broken.tflite").write_bytes(b"no model")
    result = run(*arguments, COLUMNS="160")
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0] == "5 models"
    assert lines[1].split()[: 1 + len(headings)] == ["model", *headings]
    assert [line.split()[0] for line in lines[2:7]] == [
        "a.tflite",
        "sub/b.tflite",
        "sub/deep/c.TFLITE",
        "z.tflite",
        "broken.tflite",
    ]
    assert lines[6].split() == ["broken.tflite", "no", "answer"]
    assert lines[8:9] == ["Not answered: 1 model"]
    assert max(map(len, run(*arguments, COLUMNS="60").stdout.splitlines())) <= 60
    assert "=== models/sub/b.tflite ===" in run(*arguments, "--verbose").stdout


def test_the_table_of_a_hypothetical_says_what_moves(run, folder):
    chain_model(MIXED).write(folder / "models" / "z.tflite")
    lines = run("whatif", "models", *VX, "--accept", "ROUND", COLUMNS="160").stdout.splitlines()
    assert lines[2].split() == ["a.tflite", "75", "%", "->", "100", "%", "-", "2", "->", "1", "64", "->", "32", "1", "0"]


def test_a_hypothetical_that_a_model_has_no_use_for_names_the_model(run, folder):
    for path in ALL[1:]:
        chain_model(["RELU"]).write(folder / path)
    chain_model(["ROUND"]).write(folder / ALL[0])
    result = run("whatif", "models", *VX, "--accept", "RELU")
    assert result.exit_code == 2
    assert result.stderr == "error: models/a.tflite: the model has no node of RELU; its operators are ROUND\n"


def test_models_of_two_folders_are_compared_by_their_paths_below_them(run_json, run, folder):
    for name, ops in (("before/x", MIXED), ("before/y", ["ROUND"]), ("after/x", MIXED), ("after/y", ["ROUND"])):
        (folder / name).mkdir(parents=True)
        chain_model(ops).write(folder / name / "model.tflite")
    for a, b in (("before", "after"), ("before/**/*.tflite", "after/**/*.tflite"), ("before", "after/**/*.tflite")):
        found = run_json("compare", a, b, *VX)
        pairs = [(each["a"]["model"]["path"], each["b"]["model"]["path"]) for each in found]
        assert pairs == [(f"before/{name}/model.tflite", f"after/{name}/model.tflite") for name in "xy"]
    (folder / "after" / "y" / "model.tflite").unlink()
    missing = run("compare", "before", "after", *VX)
    assert missing.stderr == "error: before/y/model.tflite: after has no models with this name\n"
    (folder / "after" / "z").mkdir()
    chain_model(MIXED).write(folder / "after" / "z" / "model.tflite")
    two = run("compare", "before/y/*", "after", *VX)
    assert two.stderr == "error: before/y/model.tflite: after has 2 models with this name\n"


def test_a_folder_is_not_compared_with_itself_unless_something_differs(run, folder):
    for models in (["models", "models"], ["models"]):
        result = run("compare", *models, *VX)
        assert (result.exit_code, result.stdout, "A and B" in result.stderr) == (2, "", True)


def test_check_takes_a_folder(run, folder):
    (folder / "delegate-sim.toml").write_text('models = ["models"]\n[targets.t]\ndelegate = "vx"\n')
    assert "3 models on 1 target" in run("check", "--update").stdout
    assert "2 models on 1 target: 2 passed" in run("check", "models/sub").stdout
    assert "1 model on 1 target: 1 passed" in run("check", "models/*.tflite").stdout


def test_standard_input(run, folder):
    content = (folder / "models" / "a.tflite").read_bytes()
    commands = (
        ["analyze"], ["analyze", *VX], ["inspect"], ["diagnose"], ["releases"], ["whatif", "--accept", "ROUND"],
        ["whatif", "--search", "kernels=1"], ["compare", "--with", "delegate=gpu"], ["compare", "models/a.tflite"],
    )  # fmt: skip
    for command in commands:
        result = run(*command, "-", given=content)
        assert (result.exit_code, result.stderr) == (0, "")
        assert "None" not in result.stdout
    broken = run("analyze", "-", given=b"no model")
    assert (broken.exit_code, broken.stderr[:22]) == (2, "error: standard input:")


def test_text_has_a_table_beyond_three_models(run, folder):
    chain_model(MIXED).write(folder / "models" / "z.tflite")
    (folder / "models" / "broken.tflite").write_bytes(b"no model")
    result = run("analyze", "models", *VX, COLUMNS="140")
    assert result.exit_code == 2
    assert [line.split()[:3] for line in result.stdout.splitlines()[2:8]] == [
        ["model", "delegated", "multiply-adds"],
        ["a.tflite", "75", "%"],
        ["sub/b.tflite", "75", "%"],
        ["sub/deep/c.TFLITE", "75", "%"],
        ["z.tflite", "75", "%"],
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
    told = f"error: {path}: is a Git LFS pointer, not the model itself: run git lfs pull\n"
    assert result.stderr == told
    assert run("compare", path).stderr == told


def test_a_name_with_brackets_is_no_pattern(run, folder):
    os.rename("models/a.tflite", "models/a[1].tflite")
    assert run("analyze", "models/a[1].tflite", *VX).exit_code == 0
    result = run("analyze", "models/x[1].tflite", *VX)
    assert (result.exit_code, result.stderr) == (2, "error: models/x[1].tflite: matches no file\n")


def test_progress_appears_after_a_while_and_goes_away(monkeypatch):
    monkeypatch.setattr("delegate_sim_cli.console.progress._AFTER", 0.0)
    monkeypatch.setattr("delegate_sim_cli.console.progress._EVERY", 0.001)
    stream = io.StringIO()
    progress = ProgressLine(stream, "delegate-sim")
    progress.show("2 of 9: model.tflite")
    while "2 of 9: model.tflite" not in stream.getvalue():
        pass
    progress.show("3 of 4: long/" + 100 * "x", 0.75)
    while "3 of 4" not in stream.getvalue():
        pass
    progress.stop()
    assert stream.getvalue().endswith("\r\x1b[K")
    bar = next(line for line in stream.getvalue().split("\r\x1b[K") if "3 of 4" in line)
    assert bar.startswith("[###############.....] 3 of 4: long/xx")
    assert 70 < len(bar) < 80


@pytest.mark.parametrize(
    "command",
    [["analyze", "models", *VX], ["inspect", "models"], ["diagnose", "models", *VX], ["releases", "models", *VX], ["check"]],
    ids=" ".join,
)
def test_progress_names_each_model(run, folder, monkeypatch, command):
    (folder / "delegate-sim.toml").write_text('models = ["models"]\nbaseline = false\n[targets.t]\ndelegate = "vx"\n')
    shown = []
    for module in ("models", "commands.check"):
        monkeypatch.setattr(f"delegate_sim_cli.{module}.show_progress", lambda *told: shown.append(told))
    assert run(*command).exit_code == 0
    shown = [told[:2] for told in shown]
    assert shown == [(f"{number} of 3: {path}", (number - 1) / 3) for number, path in enumerate(ALL, 1)]


def test_progress_names_each_target_of_a_model(run, folder):
    shown = []
    report_progress(lambda *told: shown.append(told))
    assert run("analyze", *ALL[:2], *VX, "--delegate", "gpu").exit_code == 0
    assert shown == [
        (f"1 of 2: {ALL[0]}", 0.0),
        (f"1 of 2: {ALL[0]}: vx", 0.0),
        (f"1 of 2: {ALL[0]}: gpu", 0.25),
        (f"2 of 2: {ALL[1]}", 0.5),
        (f"2 of 2: {ALL[1]}: vx", 0.5),
        (f"2 of 2: {ALL[1]}: gpu", 0.75),
    ]


def test_nothing_but_a_terminal_sees_progress(run, folder):
    assert run("analyze", "models", *VX).stderr == ""


def test_an_update_warns_of_a_model_of_which_nothing_is_delegated(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain_model(["ROUND", "ROUND"]).write(tmp_path / "model.tflite")
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.t]\ndelegate = "gpu"\n')
    assert "note: the delegate takes no node" in run("check", "--update").stdout


@pytest.mark.parametrize(
    "command",
    [
        ["whatif", *VX, "--accept", "CUMSUM"],
        ["whatif", *VX, "--accept", "node:99"],
        ["fix", "--plan"],
        ["fix", "-o", "fixed.tflite", "--no-proof"],
        ["fix", "--micro", "--plan"],
    ],
    ids=" ".join,
)
def test_an_error_about_the_only_model_names_it(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", [1])
    graph.node("ADD", [x, x], [x], 1, {})  # a node that reads its own output cannot be rewritten
    graph.outputs(x)
    builder.write(tmp_path / "loop.tflite")
    result = run(command[0], "loop.tflite", *command[1:])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: loop.tflite: ")

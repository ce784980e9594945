"""A command on a model that is too large simulates less, and says what it left out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from delegate_sim.graph import effort
from delegate_sim.runtime import interpreter
from fixtures.language_models import bundle, decoder
from tests.support.models import chain_model, many_operators

LOG = Path(__file__).parents[2] / "fixtures" / "logs" / "gpu_refusals.log"


@pytest.fixture
def little(monkeypatch):
    """A model that a command may simulate three times."""
    model = many_operators(10)
    monkeypatch.setattr(effort, "_MOST_NODES", 180)
    return model


@pytest.fixture
def simulations(monkeypatch):
    """Return the list to which each simulation is added."""
    made = []
    simulate = interpreter._simulate_chain
    monkeypatch.setattr(interpreter, "_simulate_chain", lambda *arguments: made.append(arguments) or simulate(*arguments))
    return made


COMMANDS = [
    ["analyze", "--delegate", "all"],
    ["diagnose", "--delegate", "all"],
    ["releases", "--delegate", "all"],
    ["scan", "--delegate", "all", "--processes", "1", "--output", "table.csv"],
    ["export", "json", "--delegate", "all", "--output", "graph"],
    ["report", "--delegate", "all", "--output", "page.html"],
    ["fix", "--delegate", "all", "--plan", "--per-target"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_command_leaves_out_targets_and_says_so(run, simulations, little, tmp_path, monkeypatch, arguments):
    if arguments[0] == "export":
        pytest.importorskip("networkx", reason="export needs it")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.tflite").write_bytes(bytes(little.content))
    form = [arguments.pop(1)] if arguments[0] == "export" else []
    result = run(arguments[0], *form, "m.tflite", *arguments[1:])
    said = result.stderr + "".join(path.read_text() for path in tmp_path.glob("table.csv"))
    assert "m.tflite: not simulated: " in said
    assert "DELEGATE_SIM_LIMITS=10" in said
    assert result.exit_code == 2
    assert 0 < len(simulations) < 40


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_a_command_answers_every_target_with_fewer_simulations(run, little, tmp_path, monkeypatch, command):
    monkeypatch.setattr(effort, "_MOST_NODES", 16 * 9 * 58)
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    further = ["--output", tmp_path / "page.html"] if command == "report" else []
    result = run(command, path, "--delegate", "all", *further)
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_limit_names_the_bundle(run, tmp_path, monkeypatch):
    (tmp_path / "llm.litertlm").write_bytes(bundle(decoder()))
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 1)
    result = run("analyze", tmp_path / "llm.litertlm")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'llm.litertlm'}: not simulated: ")


def test_releases_of_the_platform_are_left_out(run, little, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    table = json.loads(run("releases", path, "--delegate", "nnapi", "--format", "json").stdout)
    assert table["not_simulated"][-1].startswith("android ")
    assert "DELEGATE_SIM_LIMITS=10" in table["not_simulated"][-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["diagnose", "--delegate", "nnapi"],
        ["whatif", "--delegate", "nnapi", "--search", "1"],
        ["releases", "--delegate", "xnnpack"],
        ["fix", "--delegate", "nnapi", "--plan"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_leaves_out_questions_and_says_so(run, little, tmp_path, monkeypatch, arguments):
    monkeypatch.setattr(effort, "_MOST_NODES", 1)
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content) if arguments[0] != "fix" else chain_model(["ADD 4", "ROUND"] * 10).bytes())
    assert "Not simulated: " in run(arguments[0], path, *arguments[1:]).stdout
    assert (
        "DELEGATE_SIM_LIMITS=10"
        in json.loads(run(arguments[0], path, *arguments[1:], "--format", "json").stdout)["not_simulated"][-1]
    )


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (["inspect"], "a simulation"),
        (["analyze", "--delegate", "nnapi"], "a simulation"),
        (["analyze", "--accelerators", "gpu,cpu"], "a simulation"),
        (["releases", "--delegate", "gpu"], "a simulation"),
        (["scan", "--delegate", "gpu", "--processes", "1", "--output", "table.csv"], "a simulation"),
        (["reconcile", "--log", str(LOG)], "a simulation"),
        (["export", "dot"], "a drawing of its graph"),
        (["report", "--no-causes"], "a drawing of its graph"),
        (["compare", "--with", "delegate=gpu"], "a comparison"),
        (["whatif", "--to", "int8"], "a comparison"),
        (["diagnose"], "a diagnosis"),
        (["whatif", "--search", "1"], "a diagnosis"),
        (["fix", "--delegate", "nnapi", "--plan"], "a search for rewrites"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_model_that_is_too_large_for_a_command(run, little, tmp_path, monkeypatch, arguments, question):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.tflite").write_bytes(bytes(little.content))
    form = [arguments[1]] if arguments[0] == "export" else []
    result = run(arguments[0], *form, "m.tflite", *arguments[1 + len(form) :])
    said = result.stderr + "".join(path.read_text() for path in tmp_path.glob("table.csv"))
    assert f"m.tflite: not simulated: 20 nodes (11 of them different) are too many for {question}; DELEGATE_SIM_LIMITS=10" in said
    assert result.exit_code == 2


def test_a_page_of_a_model_that_is_too_large_for_a_diagnosis(run, little, tmp_path, monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 58 * effort.DRAWING.simulations)
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    assert run("report", path, "--delegate", "gpu", "--output", tmp_path / "page.html").exit_code == 0
    assert "for a diagnosis" in (tmp_path / "page.html").read_text()


def test_the_defaults_of_the_api_are_left_out(run, little, tmp_path, monkeypatch):
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    monkeypatch.setattr(effort, "_MOST_NODES", 4 * 58)
    assert "defaults is not simulated: " in " ".join(run("analyze", path, "--delegate", "nnapi").stdout.split())


def test_assumptions_about_a_device_are_left_out(run, little, tmp_path, monkeypatch):
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    monkeypatch.setattr(effort, "_MOST_NODES", 1)
    result = json.loads(run("reconcile", path, "--log", LOG, "--format", "json").stdout)
    assert any("not simulated" in note for note in result["notes"])


@pytest.mark.parametrize("arguments", [["diagnose", "--delegate", "nnapi"], ["releases", "--delegate", "nnapi"]])
def test_comma_separated_values_say_what_was_left_out(run, little, tmp_path, arguments):
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(little.content))
    left_out = json.loads(run(arguments[0], path, *arguments[1:], "--format", "json").stdout)["not_simulated"]
    result = run(arguments[0], path, *arguments[1:], "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert (list(row)[-1], row["not_simulated"]) == ("not_simulated", " | ".join(left_out))
    assert result.stderr.splitlines() == [f"error: {path}: not simulated: nnapi: {reason}" for reason in left_out]
    assert result.exit_code == 0

"""The tasks for Visual Studio Code, the notebook, and the files for containers and dependency updates."""

from __future__ import annotations

import ast
import json
import re
import subprocess

import pytest
import yaml

from delegate_sim.foundation.parsing import toml
from tests.support.ready_parts import ROOT

TASKS = json.loads((ROOT / "templates" / "vscode" / "tasks.json").read_text(encoding="utf-8"))
NOTEBOOK = ROOT / "docs" / "notebooks" / "first-model.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
CONTAINER = (ROOT / "container" / "Containerfile").read_text(encoding="utf-8")


def test_the_problem_matcher_finds_the_file_and_the_message_of_each_finding(repository, program, environment):
    (check,) = [task for task in TASKS["tasks"] if task["problemMatcher"]]
    repository.make_worse()
    done = subprocess.run(
        [program, *check["args"]], cwd=repository.folder, env=environment, capture_output=True, text=True, check=False
    )
    pattern = check["problemMatcher"]["pattern"]
    findings = [line for line in done.stdout.splitlines() if re.match("::(error|warning|notice)", line)]
    matches = [re.match(pattern["regexp"], line) for line in findings]
    assert matches
    assert all(matches)
    assert {match[pattern["file"]] for match in matches} == {"models/detector.tflite"}
    assert all(match[pattern["message"]] for match in matches)
    assert {match[pattern["severity"]] for match in matches} <= {"error", "warning", "notice"}


def test_the_tasks_run_commands_that_exist(program):
    for task in TASKS["tasks"]:
        done = subprocess.run([program, task["args"][0], "--help"], capture_output=True, text=True, check=True)
        assert all(part in done.stdout for part in task["args"] if part.startswith("--"))


def test_the_notebook_has_no_outputs_and_valid_code():
    for cell in CELLS:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            ast.parse(re.sub(r"^!.*", "", "".join(cell["source"]), flags=re.MULTILINE))


@pytest.mark.slow
def test_the_notebook_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="the package nbclient is not installed (`make notebook` installs it)")
    nbformat = pytest.importorskip("nbformat", reason="the package nbformat is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source = first.source.replace("Path.cwd()", f"Path({str(ROOT)!r})")
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert all(cell.outputs for cell in notebook.cells[2:] if cell.cell_type == "code")
    assert (tmp_path / "fixed.tflite").is_file()


def test_the_extras_of_the_container_exist():
    extras = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (named,) = re.findall(r'"\$wheel\[([\w,-]+)\]"', CONTAINER)
    assert set(named.split(",")) <= set(extras)
    assert {"live", "vela"} <= set(named.split(","))


def test_the_folders_with_dependencies_exist():
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert all((ROOT / update["directory"].strip("/")).is_dir() for update in updates)
    assert json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))["postCreateCommand"]

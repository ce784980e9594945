from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
import yaml

from tests.support.ready_parts import ROOT

PATH = ROOT / "action.yml"
ACTION = yaml.safe_load(PATH.read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
"""The command that GitHub runs for ``shell: bash``."""

PYTHON = """\
#!/bin/sh
echo "$@" >> "$RUNNER_TEMP/python-calls"
if [ "$3" = venv ]; then
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
fi
"""
"""An interpreter that notes what it is called with, and makes environments with one like it."""


class Outcome(NamedTuple):
    """The result of running the action's own steps; those that use other actions are left out."""

    exit_codes: list[int]
    stdout: str
    stderr: str
    outputs: dict[str, str]
    summary: str
    python_calls: list[str]


def filled_in(text, context):
    """Fill in expressions that only name a value."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: context[match[1]], text)


def outputs_in(path):
    return dict(line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def run_action(tmp_path, program, environment):
    """Run the steps of the action in a workspace up to the first that fails."""
    temporary = tmp_path / "runner temp"
    (temporary / "delegate-sim" / "bin").mkdir(parents=True)
    (temporary / "delegate-sim" / "bin" / "delegate-sim").symlink_to(program)
    python = tmp_path / "python"
    python.write_text(PYTHON, encoding="utf-8")
    python.chmod(0o755)
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.touch()
    service = {
        **{name: str(file) for name, file in files.items()},
        "GITHUB_ACTION_PATH": str(ROOT),
        "RUNNER_TEMP": str(temporary),
    }

    def run_action(workspace, event="push", head_repository="", job_variables=MappingProxyType({}), **inputs):
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        context = {f"inputs.{name}": given.get(name, entry["default"]) for name, entry in ACTION["inputs"].items()}
        context |= {
            "github.event_name": event,
            "github.repository": "owner/models",
            "github.event.pull_request.head.repo.full_name": head_repository,
        }
        context["steps.python.outputs.python-path"] = str(python)
        done = []
        for step in STEPS:
            if "run" not in step:
                continue
            variables = {name: filled_in(value, context) for name, value in step.get("env", {}).items()}
            script = tmp_path / "script.sh"
            script.write_text(step["run"], encoding="utf-8")
            done.append(
                subprocess.run(
                    [*SHELL, script],
                    cwd=workspace / filled_in(step.get("working-directory", "."), context),
                    env={**environment, **service, "GITHUB_WORKSPACE": str(workspace), **job_variables, **variables},
                    capture_output=True,
                    text=True,
                    check=False,
                )
            )
            if done[-1].returncode:
                break
            context |= {f"steps.check.outputs.{name}": value for name, value in outputs_in(files["GITHUB_OUTPUT"]).items()}
        return Outcome(
            [step.returncode for step in done],
            "".join([step.stdout for step in done]),
            "".join([step.stderr for step in done]),
            outputs_in(files["GITHUB_OUTPUT"]),
            files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"),
            (temporary / "python-calls").read_text(encoding="utf-8").splitlines(),
        )

    return run_action


def findings_in(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    assert report["version"] == "2.1.0"
    return report["runs"][0]["results"]


def test_the_action_is_valid(schema_errors):
    assert schema_errors("vendor.github-actions", PATH) == ""


def test_no_input_reaches_a_script_as_source():
    assert not any("${{" in step.get("run", "") for step in STEPS)


def test_every_output_is_one_that_the_check_sets(run_action, repository):
    values = {name: output["value"] for name, output in ACTION["outputs"].items()}
    assert values == {name: f"${{{{ steps.check.outputs.{name} }}}}" for name in run_action(repository.folder).outputs}


def test_findings_are_uploaded_whatever_the_check_says():
    upload = next(step for step in STEPS if step.get("uses", "").startswith("github/codeql-action/upload-sarif@"))
    assert upload["if"] == "${{ !cancelled() && inputs.sarif == 'true' && steps.check.outputs.sarif != '' }}"
    assert upload["with"] == {"sarif_file": "${{ steps.check.outputs.sarif }}"}
    assert STEPS.index(upload) < len(STEPS) - 1


@pytest.mark.parametrize(
    ("inputs", "requirement"), [({}, str(ROOT)), ({"requirement": "delegate-sim == 0.1"}, "delegate-sim == 0.1")]
)
@pytest.mark.usefixtures("received")
def test_what_is_installed(run_action, workspace, tmp_path, inputs, requirement):
    assert run_action(workspace, **inputs).python_calls == [
        f"-I -m venv {tmp_path}/runner temp/delegate-sim",
        f"-I -m pip install --quiet --disable-pip-version-check -- {requirement}",
    ]


def test_a_clean_repository_passes(run_action, repository):
    outcome = run_action(repository.folder)
    assert (outcome.exit_codes, outcome.stderr) == ([0, 0, 0], "")
    assert (outcome.outputs["exit-code"], outcome.outputs["outcome"]) == ("0", "clean")
    assert findings_in(outcome.outputs["sarif"]) == []
    assert "detector.tflite" in outcome.summary


def test_a_regression_fails_at_the_end(run_action, repository):
    repository.make_worse()
    outcome = run_action(repository.folder)
    assert outcome.exit_codes == [0, 0, 1]
    assert (outcome.outputs["exit-code"], outcome.outputs["outcome"]) == ("1", "findings")
    assert "::error file=models/detector.tflite," in outcome.stdout
    places = [finding["locations"][0]["physicalLocation"] for finding in findings_in(outcome.outputs["sarif"])]
    assert {place["artifactLocation"]["uri"] for place in places} == {"models/detector.tflite"}
    assert "version 4; needs version at most 2" in outcome.summary
    with open(outcome.outputs["markdown"], encoding="utf-8") as file:
        assert file.read() == outcome.summary


def test_a_bad_configuration_fails_and_leaves_no_report(run_action, repository):
    repository.break_configuration()
    outcome = run_action(repository.folder)
    assert outcome.exit_codes == [0, 0, 2]
    assert outcome.outputs == {"exit-code": "2", "outcome": "error"}
    assert "::error title=delegate-sim::The check could not be run (exit code 2)" in outcome.stdout
    assert "delegate-sim.toml" in outcome.stderr


def test_findings_of_a_folder_are_placed_in_the_repository(run_action, make_repository, tmp_path):
    make_repository("workspace/vision").make_worse()
    outcome = run_action(tmp_path / "workspace", working_directory="vision")
    assert outcome.exit_codes == [0, 0, 1]
    assert "::error file=vision/models/detector.tflite," in outcome.stdout


def test_models_and_targets_are_chosen_line_by_line(run_action, repository):
    repository.make_worse()
    repository.configuration.rename(repository.folder / "other name.toml")
    outcome = run_action(repository.folder, config="other name.toml", models="models/*.tflite\n", targets="pixel\n")
    assert (outcome.exit_codes, outcome.stderr) == ([0, 0, 1], "")
    assert "::error file=models/detector.tflite," in outcome.stdout


@pytest.fixture
def workspace(tmp_path):
    """A checked-out repository in which no file matters."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def received(program, tmp_path):
    """Replace the program by one that writes down its arguments and variables. Return them after a run of the action."""
    program.write_text(
        '#!/bin/bash\nprintf "%s\\0" "$@" > "$RUNNER_TEMP/arguments"\nprintenv -0 > "$RUNNER_TEMP/variables"\n', encoding="utf-8"
    )

    def received():
        texts = [(tmp_path / "runner temp" / name).read_text("utf-8") for name in ("arguments", "variables")]
        arguments, variables = [text.rstrip("\0").split("\0") for text in texts]
        return arguments, dict(variable.split("=", 1) for variable in variables)

    return received


HOSTILE = (
    '"; touch run; $(touch run) `touch run`',
    "'; touch run; '",
    "$(touch run)",
    "x\n; touch run",
    "--help",
    "-",
    "${IFS}",
    "a\\",
)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["config", "models", "targets", "requirement", "run-configured-code", "sarif"])
def test_an_input_is_never_run(run_action, received, workspace, name, text):
    outcome = run_action(workspace, **{name: text})
    assert outcome.exit_codes == [0, 0, 0]
    assert list(workspace.iterdir()) == []
    assert (f"--config={text}" in received()[0]) == (name == "config")


NAMES = (
    "$(touch run).tflite", "`touch run`.tflite", "a;touch run;.tflite", "a b.tflite", "-rf.tflite", "--config=x.tflite",
    "*.tflite", "[a].tflite", "a'b.tflite", 'a"b.tflite', "a\\b.tflite", "::error::x.tflite", "a\n::error::x.tflite",
    "%0A::x.tflite", "~.tflite",
)  # fmt: skip


def test_names_of_files_reach_the_program_as_they_are(run_action, received, workspace):
    for name in NAMES:
        (workspace / name).touch()
    outcome = run_action(workspace, models="*.tflite", targets="$(touch run)\n--update", config="-x")
    arguments = received()[0]
    assert outcome.exit_codes == [0, 0, 0]
    assert sorted(arguments[arguments.index("--") + 1 :]) == sorted(NAMES)
    assert arguments[arguments.index("--") - 3 : arguments.index("--")] == [
        "--config=-x",
        "--target=$(touch run)",
        "--target=--update",
    ]
    assert sorted(path.name for path in workspace.iterdir()) == sorted(NAMES)


def test_names_of_files_cannot_write_commands_of_the_runner(run_action, make_repository):
    repository = make_repository()
    content = repository.model.read_bytes()
    for name in NAMES:
        (repository.model.parent / name).write_bytes(content)
    outcome = run_action(repository.folder)
    assert outcome.exit_codes == [0, 0, 1]  # the models have no entries in the baseline
    commands = [line for line in (outcome.stdout + outcome.stderr).splitlines() if line.startswith("::")]
    own = (
        "::error file=models/",
        "::group::",
        "::endgroup::",
        "::error title=delegate-sim::6 more findings; see the job summary",
    )
    assert [line for line in commands if not line.startswith(own)] == []
    assert not (repository.folder / "run").exists()


def test_names_of_branches_are_never_run(run_action, received, workspace):
    names = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "GITHUB_REF", "GITHUB_BASE_REF", "GITHUB_ACTOR")
    outcome = run_action(
        workspace,
        "pull_request",
        '"; touch run; $(touch run)',
        dict.fromkeys(names, "$(touch run)`touch run`;touch run"),
        run_configured_code="true",
    )
    assert outcome.exit_codes == [0, 0, 0]
    assert not (workspace / "run").exists()
    assert "--run-configured-code" not in received()[0]


@pytest.mark.parametrize(
    ("event", "head", "given", "is_allowed"),
    [
        ("push", "", "true", True),
        ("schedule", "", "true", True),
        ("workflow_dispatch", "", "true", True),
        ("pull_request", "owner/models", "true", True),
        ("pull_request", "stranger/models", "true", False),
        ("pull_request", "owner/models2", "true", False),
        ("pull_request", "", "true", False),
        ("pull_request_target", "stranger/models", "true", False),
        ("pull_request_target", "owner/models", "true", False),
        ("workflow_run", "", "true", False),
        ("issue_comment", "", "true", False),
        ("merge_group", "", "true", False),
        ("push", "", "false", False),
        ("push", "", "True", False),
        ("pull_request", "owner/models", "", False),
    ],
)
def test_code_of_the_configuration_never_runs_for_forks(run_action, received, workspace, event, head, given, is_allowed):
    variables = {"DELEGATE_SIM_RUN_CONFIGURED_CODE": "1"}  # the job's variables are no consent either
    outcome = run_action(workspace, event, head, variables, run_configured_code=given)
    arguments, environment = received()
    assert ("--run-configured-code" in arguments) == is_allowed
    assert "DELEGATE_SIM_RUN_CONFIGURED_CODE" not in environment
    assert ("::notice title=delegate-sim::This event can come from a fork" in outcome.stdout) == (
        given == "true" and not is_allowed
    )


def test_modules_of_the_checked_repository_are_not_imported(run_action, received, workspace):
    outcome = run_action(workspace)
    assert all(call.startswith("-I ") for call in outcome.python_calls)
    assert received()[1]["PYTHONSAFEPATH"] == "1"


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_few_permissions_and_fill_no_expression_into_scripts(path: Path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow[True]  # YAML reads the key "on" as true
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not any("${{" in step.get("run", "") for step in steps)
    for step in steps:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    permissions = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert permissions in ({}, {"deploy": {"pages": "write", "id-token": "write"}}, {"publish": {"id-token": "write"}})

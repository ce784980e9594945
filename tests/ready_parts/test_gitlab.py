from __future__ import annotations

import json
import os
import subprocess
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.ready_parts import ROOT

PATH = ROOT / "templates" / "delegate-sim.gitlab-ci.yml"
JOB = yaml.safe_load(PATH.read_text(encoding="utf-8"))["delegate-sim"]
ARTIFACTS = JOB["artifacts"]


@pytest.fixture
def run_job(program, environment):
    """Run the script of the job, without what it installs before, and return the exit code."""

    def run_job(folder):
        path = f"{program.parent}{os.pathsep}{environment['PATH']}"
        variables = {**environment, "PATH": path, "CI_PROJECT_DIR": str(folder), "GITLAB_CI": "true"}
        command = ["bash", "-eo", "pipefail", "-c", "\n".join(JOB["script"])]
        return subprocess.run(command, cwd=folder, env=variables, capture_output=True, check=False).returncode

    return run_job


def reports(folder):
    """Return the failures of the tests and the entries of the code quality report."""
    failures = ElementTree.parse(folder / ARTIFACTS["reports"]["junit"]).findall(".//failure")
    quality = json.loads((folder / ARTIFACTS["reports"]["codequality"]).read_text(encoding="utf-8"))
    return failures, quality


def test_the_job_is_valid(schema_errors):
    assert schema_errors("vendor.gitlab-ci", PATH) == ""


def test_what_is_installed_can_be_chosen():
    assert JOB["before_script"] == ['python -m pip install --quiet --disable-pip-version-check "$DELEGATE_SIM_REQUIREMENT"']
    assert "DELEGATE_SIM_REQUIREMENT" in JOB["variables"]


def test_reports_are_kept_whatever_the_check_says():
    assert ARTIFACTS["when"] == "always"


def test_a_clean_repository_passes(run_job, repository):
    assert run_job(repository.folder) == 0
    assert reports(repository.folder) == ([], [])
    assert all((repository.folder / path).is_file() for path in ARTIFACTS["paths"])


def test_a_regression_fails_and_is_reported(run_job, repository):
    repository.make_worse()
    assert run_job(repository.folder) == 1
    failures, quality = reports(repository.folder)
    assert failures
    assert {entry["location"]["path"] for entry in quality} == {"models/detector.tflite"}
    assert "version at most 2" in (repository.folder / ARTIFACTS["paths"][0]).read_text(encoding="utf-8")


def test_a_bad_configuration_fails(run_job, repository):
    repository.break_configuration()
    assert run_job(repository.folder) == 2

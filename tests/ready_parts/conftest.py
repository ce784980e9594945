from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import program as in_this_process
from tests.support.models import chain_model
from tests.support.ready_parts import CONFIGURATION


@pytest.fixture
def environment():
    """The environment without what a service or a hook that runs these tests put there."""
    foreign = ("CI_", "GIT_", "GITHUB_", "GITLAB_", "RUNNER_")
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}


@pytest.fixture
def program(tmp_path):
    """The path of the program as this interpreter runs it, in a folder of its own."""
    path = tmp_path / "programs" / "delegate-sim"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m delegate_sim "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


class Repository:
    """A folder with a model, a configuration and a baseline that agrees with the model."""

    def __init__(self, folder):
        self.folder = folder
        self.model = folder / "models" / "detector.tflite"
        self.model.parent.mkdir(parents=True)
        self.configuration = folder / "delegate-sim.toml"
        self.configuration.write_text(CONFIGURATION, encoding="utf-8")
        chain_model(["ADD", "ADD", "ADD"]).write(self.model)

    def make_worse(self):
        """Replace the model by one of whose nodes NNAPI does not take the one in the middle."""
        chain_model(["ADD", "ADD 4", "ADD"]).write(self.model)

    def break_configuration(self):
        self.configuration.write_text("models = 1\n", encoding="utf-8")


@pytest.fixture
def make_repository(tmp_path, monkeypatch):
    def make_repository(path="repository"):
        repository = Repository(tmp_path / path)
        with monkeypatch.context() as there:
            there.chdir(repository.folder)
            assert CliRunner().invoke(in_this_process, ["check", "--update"]).exit_code == 0
        return repository

    return make_repository


@pytest.fixture
def repository(make_repository):
    return make_repository()


@pytest.fixture
def schema_errors():
    """Return what is wrong with a file by a schema that check-jsonschema brings along; nothing if it is valid."""

    def schema_errors(schema, path):
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    return schema_errors

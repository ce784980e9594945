from __future__ import annotations

import inspect
import json

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import program
from tests.support.models import MIXED, chain_model


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "DELEGATE_SIM_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run():
    """Run the program in this process, ``given`` on its standard input; the result has stdout, stderr and exit_code."""

    # Before click 8.2 both streams come as one unless that is switched off; since then there is no such switch.
    is_older = "mix_stderr" in inspect.signature(CliRunner).parameters

    def run(*arguments, given=None, **environment):
        runner = CliRunner(mix_stderr=False) if is_older else CliRunner()
        return runner.invoke(program, [str(argument) for argument in arguments], input=given, env=environment)

    return run


@pytest.fixture
def run_json(run):
    def run_json(*arguments):
        result = run(*arguments, "--format", "json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run_json


@pytest.fixture
def model(tmp_path):
    """The path of a small model."""
    path = tmp_path / "model.tflite"
    chain_model(MIXED).write(path)
    return path

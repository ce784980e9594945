"""Fixtures for the tests of the Python functions."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from delegate_sim_cli.main import program


@pytest.fixture
def run_json():
    """Return a function that runs a command and returns its JSON."""

    def run_json(*arguments):
        done = CliRunner().invoke(program, [*map(str, arguments), "--format", "json"])
        assert done.exit_code in (0, 1), done.output
        return json.loads(done.stdout)

    return run_json

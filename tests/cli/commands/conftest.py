from __future__ import annotations

import pytest

from tests.support.gate_models import restore


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A scratch repository with three models, which is the working directory."""
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    restore(tmp_path)
    return tmp_path


@pytest.fixture
def gated(repository, run):
    """The repository with a configuration and a baseline."""
    assert run("init", "--delegate", "nnapi").exit_code == 0
    assert run("check", "--update").exit_code == 0
    return repository

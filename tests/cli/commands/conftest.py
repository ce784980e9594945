from __future__ import annotations

import pytest

import delegate_sim
from tests.support.device.phone import PHONE, log_of, run_with
from tests.support.gate_models import restore
from tests.support.models import chain_model


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


@pytest.fixture
def phone_model(tmp_path):
    """A model with a node for each device of the phone."""
    path = tmp_path / "chain.tflite"
    chain_model(["RELU", "ABS", "TANH"]).write(path)
    return path


@pytest.fixture
def phone_log(phone_model, tmp_path):
    """A log of the phone that compiles the model."""
    path = tmp_path / "logcat.txt"
    path.write_text(log_of(run_with(delegate_sim.load(phone_model), PHONE, disallow_nnapi_cpu=False)), encoding="utf-8")
    return path

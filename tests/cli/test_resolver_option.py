"""Every command that asks about one target takes an application with operators of its own into account."""

from __future__ import annotations

import pytest

import delegate_sim
from tests.support.models import chain_model

UNKNOWN = ("TANH", "LOGISTIC 9", "TANH")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(UNKNOWN).write(path)
    return path


def outcomes(found):
    return [found[side]["measures"]["outcome"] for side in ("a", "b")]


def test_diagnose(run, run_json, model):
    assert run_json("diagnose", model)["now"]["outcome"] == "refused, not loaded"
    assert run_json("diagnose", model)["causes"][0]["name"] == "release:LOGISTIC:9"
    assert run_json("diagnose", model, "--own-resolver")["now"]["outcome"] == "delegated"
    assert "own-resolver" in run("analyze", model, "--delegate", "nnapi", "--own-resolver").stdout.splitlines()[-1]


def test_compare(run_json, model, tmp_path):
    other = tmp_path / "other.tflite"
    chain_model(["TANH", "LOGISTIC 9"]).write(other)
    arguments = ("compare", model, other)
    assert outcomes(run_json(*arguments)) == ["refused, not loaded", "refused, not loaded"]
    assert outcomes(run_json(*arguments, "--own-resolver")) == ["delegated", "delegated"]


def test_whatif(run_json, model):
    arguments = ("whatif", model, "--accept", "LOGISTIC")
    assert outcomes(run_json(*arguments)) == ["refused, not loaded", "refused, not loaded"]
    assert outcomes(run_json(*arguments, "--own-resolver")) == ["delegated", "delegated"]


def test_python(model):
    assert delegate_sim.diagnose(model).now.measures.outcome == "refused, not loaded"
    assert delegate_sim.diagnose(model, assume_ops_registered=True).now.measures.outcome == "delegated"
    found = delegate_sim.whatif(model, accept="LOGISTIC", assume_ops_registered=True)
    assert {side.run.outcome for side in (found.a, found.b)} == {"delegated"}
    found = delegate_sim.compare(model, changed={"feature_level": 30}, assume_ops_registered=True)
    assert {side.run.outcome for side in (found.a, found.b)} == {"delegated"}

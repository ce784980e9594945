"""``delegate_sim.fix`` and ``delegate_sim.verify``."""

from __future__ import annotations

import importlib.util

import pytest

import delegate_sim
from tests.support.models import chain_model

OPTIONS = {"feature_level": 28}
needs_runtime = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="needs the runtime: install the extra 'fix'"
)


@pytest.fixture
def source(tmp_path):
    chain_model(("ADD", "NEG", "ADD")).write(tmp_path / "model.tflite")
    return tmp_path / "model.tflite"


def test_a_plan(source, tmp_path):
    found = delegate_sim.fix(source, None, [("nnapi", OPTIONS)], defaults="api")
    assert ([step.name for step in found.plan.steps], found.path, found.difference) == (["neg-as-mul"], None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["model.tflite"]


@needs_runtime
def test_a_rewritten_model(source, tmp_path):
    found = delegate_sim.fix(source, tmp_path / "fixed.tflite", [("nnapi", OPTIONS)], allow="exact", defaults="api")
    assert found.path == str(tmp_path / "fixed.tflite")
    assert found.difference is not None
    assert found.difference.is_same
    assert delegate_sim.verify(source, tmp_path / "fixed.tflite").is_same


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"allow": "all"}, "passes are exact, rounding, approximate, not 'all'"),
        ({"delegates": []}, "no delegate is given"),
        ({"shapes": {"y": [1]}}, "the model has no input 'y'"),
    ],
)
def test_arguments_that_are_refused(source, arguments, words):
    with pytest.raises(delegate_sim.OptionError, match=words):
        delegate_sim.fix(source, None, **{"delegates": "nnapi", **arguments}, defaults="api")

"""The search for passes after which TensorFlow Lite Micro takes more of a model."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.fix import fix
from delegate_sim.fixing.micro_search import check_micro_prediction, search_micro
from delegate_sim.micro.target import MicroTarget
from tests.support.micro_models import chain
from tests.support.pages import MODELS

TARGET = MicroTarget()


def test_a_gelu_is_decomposed():
    plan = search_micro(load(chain("RELU", "GELU").bytes()), TARGET)
    assert plan.before.missing_operators == ("GELU",)
    assert plan.after.runs
    assert [step.name.startswith("gelu") for step in plan.plan.steps] == [True]


def test_a_model_that_runs_stays_as_it_is():
    plan = search_micro(load(chain("RELU").bytes()), TARGET)
    assert not plan.plan.is_changed
    assert plan.plan.simulations == 1


def test_a_written_model_is_analyzed_as_predicted(tmp_path):
    plan = search_micro(load(MODELS / "float16_weights.tflite"), TARGET)
    path = str(tmp_path / "fixed.tflite")
    fix(plan.plan, path, proves=False, check_file=lambda file: check_micro_prediction(plan, file))
    assert plan.after.runs


def test_a_file_that_is_not_as_predicted_is_refused(tmp_path):
    plan = search_micro(load(MODELS / "float16_weights.tflite"), TARGET)
    with pytest.raises(FixError, match="differs from the prediction"):
        check_micro_prediction(plan, str(MODELS / "float16_weights.tflite"))

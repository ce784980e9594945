"""The command lines that users can copy."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis.advice.commands import fix_command, output_name
from tests.support.diagnoses import target
from tests.support.models import chain_model


def api_options(delegate):
    return parse_options(delegate, find_delegate(delegate).options, {}, "api")


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (target(), "--delegate nnapi"),
        (target(options={"android": "11"}), "--delegate nnapi --android=11"),
        (target(options={"feature_level": 28}), "--delegate nnapi --feature-level=28"),
        (
            target("gpu", runtime="tf-2.15")._replace(defaults="api", options=api_options("gpu")),
            "--delegate gpu --runtime tf-2.15 --defaults api",
        ),
        (target(options={"driver_rejects": ("MEAN", "ADD")}), "--delegate nnapi --driver-rejects=MEAN,ADD"),
    ],
)
def test_a_command_describes_the_target(given, arguments):
    assert fix_command(load(chain_model(["ADD"]).bytes()), given) == f"delegate-sim fix - {arguments} -o fixed.tflite"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (None, "fixed.tflite"),
        ("model.tflite", "fixed.tflite"),
        ("models/fixed.tflite", "fixed2.tflite"),
        ("fixed9.tflite", "fixed10.tflite"),
    ],
)
def test_the_rewritten_model_has_another_name_than_the_model(path, name):
    assert output_name(path) == name

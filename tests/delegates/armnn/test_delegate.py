"""Arm NN's options and lines, and runs of whole models."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.armnn import delegate
from delegate_sim.errors import OptionError
from delegate_sim.refusal import Effect
from tests.support.models import chain_model

CREATED = "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate."


def run(options=None, ops=("RELU", "EMBEDDING_LOOKUP", "RELU")):
    return delegate_sim.analyze(chain_model(ops).bytes(), "armnn", options or {}, defaults="api").runs[0]


def test_the_default_backend_is_the_reference():
    assert run(ops=("RELU", "TANH")).outcome == "delegated"
    assert run(ops=("RELU", "TANH")).log_lines[0] == CREATED


@pytest.mark.parametrize("value", ["", ",", ()])
def test_backends_are_needed(value):
    with pytest.raises(OptionError, match="option "):
        run({"backends": value}, ("RELU",))


def test_there_are_not_too_many_backends(monkeypatch):
    monkeypatch.setattr(delegate, "MOST_BACKENDS", 2)
    assert run({"backends": ["CpuAcc", "CpuRef"]}, ("RELU",)).outcome == "delegated"
    with pytest.raises(OptionError, match="at most 2 backends"):
        run({"backends": ["CpuAcc", "CpuAcc", "CpuRef"]}, ("RELU",))


def test_unknown_backends_are_told_and_passed_over():
    lines = run({"backends": "Foo,CpuRef"}, ("RELU",)).log_lines
    assert lines[:2] == ("INFO: TfLiteArmnnDelegate: Requested unknown backend Foo", CREATED)


def test_spaces_belong_to_names():
    with pytest.raises(OptionError, match="option "):
        run({"backends": " CpuRef"}, ("RELU",))


def test_one_known_backend_is_needed():
    with pytest.raises(OptionError, match="option "):
        run({"backends": "Foo"}, ("RELU",))


def test_unknown_keys_are_errors():
    with pytest.raises(OptionError, match="backend"):
        run({"backend": "CpuRef"}, ("RELU",))


def test_the_gpu_is_not_simulated():
    with pytest.raises(OptionError, match="GpuAcc is not simulated"):
        run({"backends": "GpuAcc,CpuRef"}, ("RELU",))


def test_a_refused_operator_is_told_by_number():
    result = run(ops=("RELU", "COS", "RELU"))
    assert result.log_lines[1] == "ERROR: Operator COS [108] is not supported by armnn_delegate."
    assert [subset.nodes for subset in result.subgraphs[0].subsets if subset.is_delegated] == [(0,), (2,)]


def test_without_the_fallback_an_exception_leaves_the_delegate():
    result = run({"disable-tflite-runtime-fallback": True}, ("RELU", "COS"))
    assert (result.outcome, result.refusal.code, result.refusal.effect) == ("restored", "armnn-fallback-disabled", Effect.THROW)
    assert result.refusal.values == {"refused": 1, "total": 2}

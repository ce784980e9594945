"""ResNet-50 as TensorFlow 2.21 converts it to int8: refused behind the delegate, and taken after the change that is named."""

from __future__ import annotations

import re

import numpy as np
import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime.target import Target

_SIZE = 64
_SETTING = re.compile(r"converter\.(\w+) = (True|False)")


@pytest.fixture(scope="module")
def tensorflow():
    module = pytest.importorskip("tensorflow", reason="TensorFlow, whose converter makes the models, is not installed")
    if tuple(map(int, module.__version__.split(".")[:2])) < (2, 20):
        pytest.skip("older converters quantize dense layers per tensor")
    return module


@pytest.fixture(scope="module")
def network(tensorflow):
    return tensorflow.keras.applications.ResNet50(weights=None, input_shape=(_SIZE, _SIZE, 3))


def converted(tensorflow, network, **settings):
    """Quantize to int8 with random data, as the size of the ranges does not matter here."""
    converter = tensorflow.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tensorflow.lite.OpsSet.TFLITE_BUILTINS_INT8]
    source = np.random.default_rng(0)
    converter.representative_dataset = lambda: ([source.random((1, _SIZE, _SIZE, 3), np.float32)] for _ in range(2))
    for name, value in settings.items():
        assert hasattr(converter, name)
        setattr(converter, name, value)
    return delegate_sim.load(converter.convert())


def analyzed(model):
    return delegate_sim.analyze(model, "nnapi", defaults="api").to_dict()["runs"][0]


def test_resnet50_is_refused_explained_and_taken_after_the_named_change(tensorflow, network):
    model = converted(tensorflow, network)
    run = analyzed(model)
    refusal = run["refusal"]
    assert run["outcome"] == "restored"
    assert (refusal["code"], refusal["call"]) == ("nnapi-runtime-operation-input-type", "addOperation")
    assert (refusal["operation"], refusal["operand"]) == ("FULLY_CONNECTED", "input 1")
    assert (refusal["found"], refusal["needed"]) == ("TENSOR_QUANT8_SYMM_PER_CHANNEL", "TENSOR_QUANT8_ASYMM_SIGNED")

    nnapi = find_delegate("nnapi")
    target = Target(nnapi, parse_options(nnapi.name, nnapi.options, {}), NEWEST, "api")
    (finding,) = diagnose(model, target).findings
    name, value = _SETTING.search(finding.cause.change).groups()
    assert finding.alone.measures.outcome == "delegated"

    run = analyzed(converted(tensorflow, network, **{name: value == "True"}))
    assert run["outcome"] == "delegated"
    assert all(graph["nodes_delegated"] == graph["nodes_total"] for graph in run["subgraphs"])

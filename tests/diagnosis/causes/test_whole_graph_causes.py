"""A problem that keeps a whole graph from running is a cause of its own, before all others."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.causes import finder
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.model_loading import first_loading_after
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import cause_names, cost_without, diagnosed
from tests.support.models import chain_model, lstm


def per_channel(op="GELU"):
    """Dynamic range quantization with a scale for each channel, which needs version 12 of FULLY_CONNECTED."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.node(op, (layers.input("FLOAT32", 1, 8),))
    weights = layers.weights("INT8", 4, 8, scale=[0.1, 0.2, 0.1, 0.2], zero_point=[0] * 4)
    layers.node("FULLY_CONNECTED", (x, weights, -1), "FLOAT32", (1, 4), version=12, options={"asymmetric_quantize_inputs": True})
    layers.finish()
    return builder


def test_a_release_that_does_not_load_the_model_comes_first_and_a_later_one_is_foretold():
    builder = chain_model(["GELU", "SQRT 2", "GELU"])
    diagnosis = diagnosed(builder, "gpu", "litert-1.4")
    assert diagnosis.now.measures.outcome == "refused, not loaded"
    first = diagnosis.findings[0]
    assert first.cause.name == "release:SQRT:2"
    assert first.cause.nodes == (NodeKey(0, 0), NodeKey(0, 1), NodeKey(0, 2))
    assert first.cause.suggestion == "other-release"
    assert first.cause.change == (
        "use litert-2.0.2 or later or tf-2.21 or later (see 'delegate-sim releases'); or register the operator in "
        "the application (--assume-ops-registered)"
    )
    assert first.alone.measures == diagnosed(builder, "gpu", "litert-2.0.2").now.measures


def test_what_stands_behind_a_release_needs_it():
    diagnosis = diagnosed(chain_model(["TANH", "GELU", "SQRT 2", "TANH"]), "nnapi", "litert-1.4")
    assert cause_names(diagnosis)[0] == "release:SQRT:2"
    assert "operator:GELU" in cause_names(diagnosis)
    behind = next(finding for finding in diagnosis.findings if finding.cause.name == "operator:GELU")
    assert diagnosis.findings[0].cause.identity in behind.needs
    assert diagnosis.without_all.measures.fallback_nodes == 0


def test_an_own_resolver_leaves_no_release_to_blame():
    builder = chain_model(["TANH", "GELU", "SQRT 2", "TANH"])
    diagnosis = diagnosed(builder, "nnapi", "litert-1.4", assume_ops_registered=True)
    assert diagnosis.now.measures.outcome == "delegated"
    assert not any(name.startswith("release") for name in cause_names(diagnosis))


def test_what_raised_the_version_is_said_with_the_release():
    diagnosis = diagnosed(per_channel(), "xnnpack", "tf-2.14")
    first = diagnosis.findings[0].cause
    assert first.name == "release:FULLY_CONNECTED:12"
    assert "_experimental_disable_per_channel" in first.change


def test_without_a_release_that_loads_the_model_an_own_resolver_is_foretold():
    diagnosis = diagnosed(chain_model(["TANH", "LOGISTIC 9", "TANH"]))
    first = diagnosis.findings[0]
    assert first.cause.name == "release:LOGISTIC:9"
    assert first.cause.change == "register the operator in the application (--assume-ops-registered)"
    assert first.alone.measures.outcome == "delegated"


def test_the_first_later_release_of_each_family():
    model = load(chain_model(["SQRT 2"]).bytes())
    assert list(map(str, first_loading_after(model, parse_release("tf-2.14")))) == ["tf-2.21", "litert-2.0.2"]
    assert first_loading_after(load(chain_model(["LOGISTIC 9"]).bytes()), parse_release("tf-2.14")) == ()


def unprepared(*ops):
    """A chain in which CONCATENATION has an activation, which its kernel on the CPU lacks."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 4)
    for op in ops:
        if op == "CONCATENATION":
            x = layers.node(op, (x,), options={"axis": 1, "fused_activation_function": 1})
        else:
            x = layers.node(op, (x,))
    layers.finish()
    return builder


def test_nodes_that_cpu_kernels_refuse_are_one_cause_for_each_operator_and_what_is_behind_shows():
    diagnosis = diagnosed(unprepared("TANH", "CONCATENATION", "GELU", "CONCATENATION", "TANH"), "gpu")
    assert diagnosis.now.measures.outcome == "refused, not prepared"
    first = diagnosis.findings[0]
    assert first.cause.name == "model:cpu-kernel-not-prepared:CONCATENATION"
    assert first.cause.suggestion == "repair-node"
    assert "node 1 (CONCATENATION)" in first.cause.title
    assert len(first.cause.nodes) == 5
    assert first.cause.remedy.repaired_nodes == {NodeKey(0, 1), NodeKey(0, 3)}
    assert first.alone.measures.outcome == "delegated"
    assert diagnosis.without_all.measures.fallback_nodes == 0
    assert cost_without(diagnosis, [finding.cause for finding in diagnosis.findings]).measures == diagnosis.without_all.measures


def test_fewer_nodes_of_a_large_model_are_assumed_to_be_accepted(monkeypatch):
    monkeypatch.setattr(finder, "_REPAIRED_AT_MOST", 1)
    diagnosis = diagnosed(unprepared("CONCATENATION", "TANH", "CONCATENATION"), "gpu")
    assert diagnosis.findings[0].cause.remedy.repaired_nodes == {NodeKey(0, 0)}
    assert diagnosis.without_all.measures.outcome == "refused, not prepared"


@pytest.mark.parametrize("delegate", ["nnapi", "xnnpack", "vx"])
def test_every_delegate_says_of_a_node_that_cannot_be_prepared_what_it_is(delegate):
    diagnosis = diagnosed(unprepared("SIGN", "CONCATENATION", "SIGN"), delegate)
    if diagnosis.now.measures.outcome == "refused, not prepared":
        assert cause_names(diagnosis)[0] == "model:cpu-kernel-not-prepared:CONCATENATION"
    assert diagnosis.findings


def test_the_fix_of_a_model_that_the_loader_of_litert_refuses_is_simulated():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    layers.node("ADD", (layers.state("FLOAT32", 1, 8), layers.input("FLOAT32", 1, 8)))
    layers.finish()
    diagnosis = diagnosed(builder, "mldrift")
    assert diagnosis.now.measures.outcome == "refused"
    (finding,) = diagnosis.findings
    assert finding.cause.name == "model:litert-loader"
    assert (finding.alone.measures.outcome, finding.needs) == ("delegated", ())
    assert diagnosis.without_all.measures.fallback_nodes == 0


def test_a_cause_behind_the_loader_of_litert_needs_its_fix():
    diagnosis = diagnosed(lstm(is_quantized=True), "mldrift")
    needs = {finding.cause.name: finding.needs for finding in diagnosis.findings}
    assert needs["operator:UNIDIRECTIONAL_SEQUENCE_LSTM"] is not None
    assert diagnosis.without_all.measures.fallback_nodes == 0

"""The causes for which TensorFlow Lite Micro refuses nodes."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.micro import diagnose_micro
from delegate_sim.errors import LimitError
from delegate_sim.fixing.micro_search import search_micro
from delegate_sim.graph import effort
from delegate_sim.micro.target import MicroTarget
from fixtures.builder import ModelBuilder
from tests.support.micro_models import chain, hybrid, single


def causes_of(builder):
    return diagnose_micro(load(builder.bytes()), MicroTarget()).causes


def test_nodes_of_one_operator_that_is_lacking_are_one_cause_with_its_pass():
    (cause,) = causes_of(chain("GELU", "RELU", "GELU"))
    assert [node.index for node in cause.nodes] == [0, 2]
    assert cause.code == "micro-missing-operator"
    assert any(pass_.name.startswith("gelu") for pass_ in cause.passes)


def test_no_passes_are_tried_for_a_model_that_is_too_large(monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 100)
    (cause,) = causes_of(chain("GELU"))
    assert (len(cause.nodes), cause.passes) == (1, ())
    with pytest.raises(LimitError, match="1 subgraphs are too many for a search for rewrites"):
        search_micro(load(chain("GELU").bytes()), MicroTarget())


def test_each_lacking_operator_is_a_cause():
    causes = causes_of(chain("GELU", "SIGN", "GELU"))
    assert [cause.operators for cause in causes] == [(("GELU", 2),), (("SIGN", 1),)]


def test_hybrid_weights_are_to_be_quantized_fully():
    (cause,) = causes_of(hybrid())
    assert "int8" in cause.advice
    assert cause.multiply_adds == 16


def test_uint8_is_to_be_converted_to_int8():
    fields = {"scale": 0.5, "zero_point": 128}
    (cause,) = causes_of(single("LOGISTIC", [("UINT8", [1, 4], fields)], [("UINT8", [1, 4], fields)]))
    assert "int8" in cause.advice


@pytest.mark.parametrize("kind", ["INT8", "UINT8"])
def test_a_kernel_that_takes_only_float_is_not_to_be_converted_to_int8(kind):
    fields = {"scale": 0.5, "zero_point": 0}
    (cause,) = causes_of(single("EXP", [(kind, [1, 4], fields)], [(kind, [1, 4], fields)]))
    assert (cause.code, cause.needed) == ("micro-tensor-type", "input 0 of type FLOAT32")
    assert "int8" not in cause.advice


def test_a_model_that_runs_has_no_causes():
    assert causes_of(chain("RELU")) == ()


def test_a_node_without_its_operand_is_a_cause():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.node("RELU", [], [graph.tensor("y", "INT8", [1, 4])])
    (cause,) = causes_of(builder)
    assert (cause.code, [node.index for node in cause.nodes]) == ("malformed-operands", [0])


def test_a_node_whose_result_is_its_operand_is_a_cause():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "STRING", [2])
    graph.node("SPLIT", [graph.tensor("axis", "INT32", [], data=[0]), tensor], [tensor, tensor], 1, {"num_splits": 2})
    (cause,) = causes_of(builder)
    assert (cause.code, [node.index for node in cause.nodes]) == ("micro-tensor-type", [0])

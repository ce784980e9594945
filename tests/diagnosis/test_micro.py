"""The causes for which TensorFlow Lite Micro refuses nodes."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.errors import LimitError
from delegate_sim.fixing.search import search
from delegate_sim.graph import effort
from delegate_sim.micro.delegate import micro_target
from fixtures.builder import ModelBuilder
from tests.support.micro_models import chain, hybrid, single


def diagnosed(builder):
    return diagnose(load(builder.bytes()), micro_target())


def causes_of(builder):
    return [finding.cause for finding in diagnosed(builder).findings]


def test_nodes_of_one_operator_that_is_lacking_are_one_cause_with_its_pass():
    diagnosis = diagnosed(chain("GELU", "RELU", "GELU"))
    (finding,) = diagnosis.findings
    assert [key.node for key in finding.cause.nodes] == [0, 2]
    assert finding.cause.codes == ("micro-missing-operator",)
    assert diagnosis.pass_for(finding).name.startswith("gelu")
    assert finding.alone.measures.outcome == "delegated"


def test_no_passes_are_tried_for_a_model_that_is_too_large(monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 100)
    with pytest.raises(LimitError, match="1 subgraphs are too many for a search for rewrites"):
        search(load(chain("GELU").bytes()), [micro_target()])


def test_each_lacking_operator_is_a_cause():
    causes = causes_of(chain("GELU", "SIGN", "GELU"))
    assert [cause.operators for cause in causes] == [(("GELU", 2),), (("SIGN", 1),)]


def test_hybrid_weights_are_to_be_quantized_fully():
    (cause,) = causes_of(hybrid())
    assert (cause.codes, cause.remedy.conversion) == (("micro-hybrid",), "int8")


def test_uint8_is_to_be_converted_to_int8():
    fields = {"scale": 0.5, "zero_point": 128}
    (cause,) = causes_of(single("LOGISTIC", [("UINT8", [1, 4], fields)], [("UINT8", [1, 4], fields)]))
    assert cause.remedy.conversion == "int8"


@pytest.mark.parametrize("kind", ["INT8", "UINT8"])
def test_a_kernel_that_takes_only_float_is_not_to_be_converted_to_int8(kind):
    fields = {"scale": 0.5, "zero_point": 0}
    (cause,) = causes_of(single("EXP", [(kind, [1, 4], fields)], [(kind, [1, 4], fields)]))
    assert (cause.codes, cause.needed) == (("micro-tensor-type",), "input 0 of type FLOAT32")
    assert "int8" not in cause.change


def test_a_model_that_runs_has_no_causes():
    assert causes_of(chain("RELU")) == []


def test_a_node_without_its_operand_is_a_cause():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.node("RELU", [], [graph.tensor("y", "INT8", [1, 4])])
    (cause,) = causes_of(builder)
    assert (cause.codes, [key.node for key in cause.nodes]) == (("malformed-operands",), [0])


def test_nodes_that_the_interpreter_leaves_out_have_no_causes():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "STRING", [2])
    graph.node("SPLIT", [graph.tensor("axis", "INT32", [], data=[0]), tensor], [tensor, tensor], 1, {"num_splits": 2})
    diagnosis = diagnosed(builder)
    assert diagnosis.findings == ()
    assert diagnosis.not_simulated[0].startswith("the causes")


@pytest.mark.parametrize("operators", [("RELU",), ("TILE", "RELU")])
def test_a_model_runs_if_the_causes_of_results_without_a_fixed_size_are_fixed(operators):
    diagnosis = diagnosed(chain(*operators, shape=[0, 4]))
    assert "micro-dynamic-tensor" in [code for finding in diagnosis.findings for code in finding.cause.codes]
    assert (diagnosis.now.measures.outcome, diagnosis.without_all.measures.outcome) == ("none, then fails", "delegated")


@pytest.mark.parametrize("operator", ["DEPTH_TO_SPACE", "GATHER_ND", "L2_POOL_2D"])
def test_a_node_with_wrong_operands_is_assumed_to_be_accepted_with_the_shapes_of_the_file(operator):
    assert diagnosed(chain(operator)).without_all.measures.outcome == "delegated"


def test_a_model_of_text_is_not_told_to_run_without_a_delegate():
    builder = ModelBuilder()
    graph = builder.subgraph()
    graph.node("ADD", [graph.input("x", "STRING", [2]), graph.input("y", "STRING", [2])], [graph.tensor("z", "STRING", [2])])
    (finding,) = diagnosed(builder).findings
    assert "process text in the application" in finding.cause.change
    assert "delegate" not in finding.cause.change

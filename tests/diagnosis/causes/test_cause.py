from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.diagnosis.causes.cause import loops_around
from delegate_sim.diagnosis.causes.change import Problem, result_text
from delegate_sim.diagnosis.examiner import Examiner
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from fixtures.runtime_cases import int64_tensor

from ...support.diagnoses import cause_names, cost_without, diagnosed
from ...support.gate_models import classifier, reshaper
from ...support.models import chain_model, lstm

OPS = ("ADD", "RELU", "GELU", "ROUND", "TANH", "ADD 4", "CEIL", "ELU")


def test_refusals_that_one_change_would_end_are_one_cause():
    diagnosis = diagnosed(chain_model(["ADD", "GELU", "ADD", "ROUND", "GELU", "ADD 4", "ADD"]))
    assert cause_names(diagnosis) == ["operator:GELU", "operator-version:ADD:4", "operator:ROUND"]
    gelu = diagnosis.findings[0].cause
    assert gelu.nodes == (NodeKey(0, 1), NodeKey(0, 4))
    assert (gelu.operators, gelu.codes) == ((("GELU", 2),), ("nnapi-operator",))
    assert "pow(x, 3)" in gelu.change


def test_what_would_be_without_a_cause_and_without_all_so_far():
    diagnosis = diagnosed(chain_model(["ADD", "GELU", "ADD", "ROUND", "ADD"]))
    assert diagnosis.now.measures.partitions == 5
    first, second = diagnosis.findings
    assert (first.alone.measures.partitions, first.together.measures.partitions) == (3, 3)
    assert (second.alone.measures.partitions, second.together.measures.partitions) == (3, 1)
    assert diagnosis.without_all.measures.fallback_nodes == 0


def test_the_feature_behind_a_version():
    builder = chain_model(["ADD", "ADD 4", "ADD"])
    assert cause_names(diagnosed(builder)) == ["operator-version:ADD:4"]
    assert diagnosed(builder).findings[0].cause.node_versions == {NodeKey(0, 1): 2}


def test_a_dynamic_shape_comes_first_and_what_is_behind_it_shows():
    diagnosis = diagnosed(reshaper(is_dynamic=True))
    assert diagnosis.is_dynamic
    assert cause_names(diagnosis)[0] == "dynamic-shape:0:1"
    assert diagnosis.findings[0].cause.suggestion == "fix-shapes"
    assert {finding.cause.identity.problem for finding in diagnosis.findings[1:]} == {Problem.CONSTANT}
    assert diagnosis.without_all.measures.fallback_nodes == 0


def test_a_driver_is_a_cause():
    diagnosis = diagnosed(classifier(), driver_rejects=("FULLY_CONNECTED",))
    assert cause_names(diagnosis) == ["driver:FULLY_CONNECTED"]
    assert diagnosis.findings[0].multiply_adds == diagnosis.total_multiply_adds == 64


def test_nodes_beyond_a_limit_are_told_from_those_refused():
    diagnosis = diagnosed(chain_model(["ADD", "GELU", "ADD", "ADD"]), max_number_delegated_partitions=1)
    assert diagnosis.limited == 1
    assert "limit:max_number_delegated_partitions=0" in cause_names(diagnosis)


def test_nothing_to_find():
    diagnosis = diagnosed(classifier())
    assert diagnosis.findings == ()
    assert diagnosis.without_all == diagnosis.now


@pytest.mark.slow
@pytest.mark.parametrize("delegate", [name for name in DELEGATE_NAMES if name != "edgetpu"])  # its compiler decides
@given(ops=st.lists(st.sampled_from(OPS), min_size=1, max_size=8))
def test_every_node_on_the_cpu_has_a_cause_and_without_all_of_them_none_is_left(delegate, ops):
    options = {"min_nodes_per_partition": 1} if delegate in ("coreml", "hexagon") else {}
    diagnosis = diagnosed(chain_model(ops), delegate, **options)
    with_cause = {key for finding in diagnosis.findings for key in finding.cause.nodes}
    delegated = {NodeKey(0, index) for index in diagnosis.run.subgraphs[0].delegated}
    assert with_cause | delegated == {NodeKey(0, index) for index in range(len(ops))}
    assert cost_without(diagnosis, [finding.cause for finding in diagnosis.findings]).measures == diagnosis.without_all.measures
    examiner = Examiner(diagnosis.model, diagnosis.target, diagnosis.effort)
    left = examiner.simulate(diagnosis.blockers.without([finding.cause for finding in diagnosis.findings])).on_cpu
    # The QUANTIZE and DEQUANTIZE nodes of a conversion may split the graph into more partitions than a limit allows.
    assert all({reason.code for reason in refused.reasons} == {"partition-limit"} for refused in left)


def test_a_kernel_that_cannot_be_made_is_a_cause():
    diagnosis = diagnosed(int64_tensor())
    assert diagnosis.run.outcome == "restored"
    assert [(cause.identity.problem, cause.codes) for cause in causes(diagnosis)] == [(Problem.TYPE, ("nnapi-tensor-type",))]
    assert diagnosis.without_all.measures.outcome == "delegated"


def test_a_kernel_failure_of_one_of_several_alike_nodes_names_this_node():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4, 4, 1])
    for size in (2, 1, 1):
        weights, bias = graph.tensor("w", "FLOAT32", [1, 3, 3, 1], data=[1.0] * 9), graph.tensor("b", "FLOAT32", [1], data=[0.0])
        result = graph.tensor("y", "FLOAT32", [1, size, size, 1])
        graph.node("CONV_2D", [tensor, weights, bias], [result], options={"padding": 1, "stride_w": 1, "stride_h": 1,
                   "dilation_w_factor": 1, "dilation_h_factor": 1})  # fmt: skip
        tensor = result
    graph.outputs(tensor)
    (cause,) = causes(diagnosed(builder, "xnnpack"))
    assert (cause.codes, [key.node for key in cause.nodes]) == (("xnnpack-kernel-window",), [1])


def test_a_partition_that_fails_as_a_whole_is_a_cause():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", "FLOAT32", [4], data=[1.0] * 4)
    result = graph.tensor("y", "FLOAT32", [4])
    graph.node("EXP", [weights], [result])
    graph.outputs(result)
    diagnosis = diagnosed(builder)
    assert diagnosis.run.refusal.code == "nnapi-runtime-model-boundary-pointers"
    assert [cause.name for cause in causes(diagnosis)] == ["constant:nnapi-runtime-model-boundary-pointers"]


def causes(diagnosis):
    return [finding.cause for finding in diagnosis.findings]


def test_a_level_that_is_lowered_is_not_called_newer():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [4])
    graph.node("RESHAPE", [source], [result], options={"new_shape": [4]})
    graph.outputs(result)
    [cause] = [each for each in causes(diagnosed(builder, "coreml")) if each.suggestion == "raise-target-level"]
    assert cause.change.startswith("--coreml-version=2 (")


def quantized_dense():
    """An int8 FULLY_CONNECTED with weights per channel between two nodes that nothing keeps off the delegate."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "INT8", [1, 2], scale=0.5)
    before, middle, after = [graph.tensor(name, "INT8", [1, 2], scale=0.5) for name in ("a", "b", "c")]
    weights = graph.tensor("w", "INT8", [2, 2], data=[1, 2, 3, 4], scale=[0.5, 0.25])
    graph.node("RELU", [tensor], [before])
    graph.node("FULLY_CONNECTED", [before, weights], [middle], options={})
    graph.node("RELU", [middle], [after])
    graph.outputs(after)
    return builder


def test_what_a_stage_behind_the_delegate_refuses_is_a_cause_of_the_node_alone():
    diagnosis = diagnosed(quantized_dense())
    (finding,) = diagnosis.findings
    assert diagnosis.run.outcome == "restored"
    assert [(key.subgraph, key.node) for key in finding.cause.nodes] == [(0, 1)]
    assert finding.cause.found == "input 1: TENSOR_QUANT8_SYMM_PER_CHANNEL"
    first, other = finding.cause.alternatives
    assert "_experimental_disable_per_channel_quantization_for_dense_layers = True" in first.text
    assert (first.helps, result_text(first)) == (True, "3 of 3 nodes in 1 kernel, 100 % of multiply-adds")
    assert (other.name, other.helps) == ("float", False)
    assert finding.alone.measures.outcome == "delegated"
    assert finding.alone.measures.fallback_nodes == 0


def test_a_level_that_a_stage_behind_the_delegate_lacks_is_raised():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [])
    graph.node("FLOOR", [graph.input("x", "FLOAT32", [])], [result])
    graph.outputs(result)
    (finding,) = diagnosed(builder, feature_level=27).findings
    assert finding.cause.name == "target-level:feature_level=29"
    assert finding.alone.measures.outcome == "delegated"


@pytest.mark.parametrize(("rank", "taken"), [(4, True), (6, False)])
def test_other_delegates_are_named_if_they_take_the_nodes(rank, taken):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    layers.node("RELU", (layers.node("GELU", (layers.node("RELU", (layers.input("FLOAT32", *[1] * rank),)),)),))
    layers.finish()
    cause = next(finding.cause for finding in diagnosed(builder).findings if finding.cause.name == "operator:GELU")
    names = cause.change.partition("; other delegates that take GELU: ")[2].split(", ")
    assert "xnnpack" in names
    assert ("gpu" in names) == taken


def test_a_delegate_that_does_not_run_the_model_is_not_named():
    """The rules of NNAPI accept a quantized LSTM, and the runtime behind them refuses its operands."""
    cause = next(
        finding.cause
        for finding in diagnosed(lstm(is_quantized=True), "gpu").findings
        if finding.cause.name == "operator:UNIDIRECTIONAL_SEQUENCE_LSTM"
    )
    names = cause.change.partition("; other delegates that take UNIDIRECTIONAL_SEQUENCE_LSTM: ")[2].split(", ")
    assert "vx-nxp" in names
    assert "nnapi" not in names


def loop():
    builder = ModelBuilder()
    main, condition, body = (builder.subgraph(name) for name in ("main", "condition", "body"))
    layers = Layers(main)
    x = layers.node("ROUND", (layers.input("FLOAT32", 1, 4),), shape=(1, 4))
    result = layers.tensor("FLOAT32", 1, 4)
    layers.node("WHILE", (x,), outputs=(result,), options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    layers.finish()
    layers = Layers(condition)
    less = layers.node("LESS", (layers.input("FLOAT32", 1, 4), layers.constant("FLOAT32", 1.0)), "BOOL")
    layers.node("REDUCE_ANY", (less, layers.constant("INT32", (0, 1))), shape=())
    layers.finish()
    layers = Layers(body)
    layers.node("SIGN", (layers.input("FLOAT32", 1, 4),), shape=(1, 4))
    layers.finish()
    return builder


def test_causes_in_the_subgraphs_of_a_loop_come_after_the_loop():
    diagnosis = diagnosed(loop(), "gpu")
    inside = loops_around(diagnosis.model, diagnosis.blockers.causes)
    names = cause_names(diagnosis)
    assert {identity.name for identity in inside} == {"operator:REDUCE_ANY", *(name for name in names if "LESS" in name)}
    assert {loop.name for loop in inside.values()} == {"operator:control-flow:WHILE"}
    for identity in inside:
        assert names.index(identity.name) > names.index("operator:control-flow:WHILE")

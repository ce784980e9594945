"""Causes are followed to what the user controls: the inputs, the conversion, and what no conversion changes."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.converter_settings import ConverterSetting, settings_for
from delegate_sim.diagnosis.causes.cause import Identity
from delegate_sim.diagnosis.causes.conversion_causes import form
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.results.report.verdict import verdict
from delegate_sim.rules.kinds import Problem
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from fixtures.runtime_cases import dynamic_shape_chain
from tests.support.diagnoses import cause_names, cost_without, diagnosed
from tests.support.models import chain_model, lstm
from tests.support.type_conversions import convolutions, open_batch

INPUTS = Identity(Problem.DYNAMIC_SHAPE, ("inputs",))


@pytest.mark.parametrize(("is_quantized", "expected"), [(True, "integer"), (False, "float")])
def test_the_int16_state_of_an_lstm_is_no_16_bit_data(is_quantized, expected):
    assert form(load(lstm(is_quantized=is_quantized).bytes())) == expected


@pytest.mark.parametrize("delegate", ["nnapi", "gpu", "xnnpack", "vx"])
def test_what_is_made_of_an_open_batch_has_one_cause(delegate):
    diagnosis = diagnosed(open_batch(), delegate)
    assert cause_names(diagnosis) == ["dynamic-shape:inputs"]
    first = diagnosis.findings[0]
    assert "image [-1, 4, 4, 2]" in first.cause.title
    assert "fixed batch" in first.cause.change
    assert "delegate-sim fix MODEL --shape image=1,4,4,2 -o " in first.cause.change
    assert first.alone.measures.fallback_nodes == 0
    assert first.alone.measures.nodes == 2, "the chain is folded away"


def test_a_float_model_on_a_delegate_for_integers_has_one_cause():
    diagnosis = diagnosed(convolutions(), "hexagon")
    assert cause_names(diagnosis) == ["quantization:float:to-int8"]
    assert "representative_dataset" in diagnosis.findings[0].cause.change
    assert diagnosis.findings[0].alone.multiply_add_share == 1


def test_what_stands_behind_another_cause_says_what_it_needs():
    builder = open_batch(("GELU",))
    diagnosis = diagnosed(builder, "nnapi")
    assert cause_names(diagnosis) == ["dynamic-shape:inputs", "operator:GELU"]
    assert diagnosis.findings[0].needs == ()
    assert diagnosis.findings[1].needs == (INPUTS,)


def test_what_brings_most_comes_first_and_a_limit_that_brings_nothing_last():
    def build(layers):
        x = layers.input("FLOAT32", 1, 8, 8, 4)
        for op in ("RELU", "ROUND", "RELU", "ROUND", "RELU"):
            x = layers.node(op, (x,))
        weights, bias = layers.weights("FLOAT32", 4, 1, 1, 4), layers.weights("FLOAT32", 4)
        layers.node("CONV_2D", (x, weights, bias), version=8, options={"stride_w": 1, "stride_h": 1})

    diagnosis = diagnosed(_built(build), "nnapi", max_number_delegated_partitions=1)
    assert cause_names(diagnosis)[0] == "operator-version:CONV_2D:8", "it is one node, and all of the multiply-adds"
    assert diagnosis.findings[0].multiply_adds == diagnosis.total_multiply_adds


@pytest.mark.parametrize(
    ("custom", "name", "suggestion"),
    [
        ("edgetpu-custom-op", "operator:compiled:edgetpu-custom-op", "analyse-source"),
        ("DISPATCH_OP", "operator:compiled:DISPATCH_OP", "analyse-source"),
        ("NeutronGraph", "operator:compiled:NeutronGraph", "analyse-source"),
        ("FlexErf", "operator:flex", "avoid-flex"),
    ],
)
def test_operators_that_no_rewriting_helps(custom, name, suggestion):
    def build(layers):
        x = layers.node("RELU", (layers.input("FLOAT32", 1, 8),))
        layers.node("RELU", (layers.node("CUSTOM", (x,), custom=custom),))

    diagnosis = diagnosed(_built(build))
    assert [(finding.cause.name, finding.cause.suggestion) for finding in diagnosis.findings] == [(name, suggestion)]
    if suggestion == "analyse-source":
        assert cost_without(diagnosis, [diagnosis.findings[0].cause]).measures == diagnosis.now.measures, "nothing is foretold"


def test_what_a_compiler_must_compile_first_is_one_cause_without_a_prediction():
    def build(layers):
        layers.node("TANH", (layers.node("RELU", (layers.input("FLOAT32", 1, 8, signature=(-1, 8)),)),))

    diagnosis = diagnosed(_built(build), "edgetpu")
    (cause,) = [finding.cause for finding in diagnosis.findings]
    assert (cause.name, cause.suggestion, cause.is_simulated) == ("operator:compile", "compile-model", False)
    assert "edgetpu_compiler" in cause.change
    assert diagnosis.without_all == diagnosis.now


@pytest.mark.parametrize("has_open_batch", [True, False])
def test_lists_of_a_loop_go_with_an_open_batch(has_open_batch):
    def build(layers):
        x = layers.input("FLOAT32", 1, 8, **({"signature": (-1, 8)} if has_open_batch else {}))
        layers.node("RELU", (layers.node("CUSTOM", (layers.node("RELU", (x,)),), custom="FlexTensorListReserve"),))

    diagnosis = diagnosed(_built(build))
    causes = {finding.cause.name: finding.cause for finding in diagnosis.findings}
    found = causes["operator:lists"]
    assert found.suggestion == "unroll-control-flow"
    assert ("fixed batch" in found.change) == has_open_batch
    settings = {ConverterSetting.UNROLL, *([ConverterSetting.FIXED_SHAPES] if has_open_batch else [])}
    assert settings_for(diagnosis.model, diagnosis.target, found) == (settings,)
    assert diagnosis.now.measures.outcome != "delegated"
    assert diagnosis.without_all.measures.outcome == "delegated", "the operators of the loop are then gone"
    assert diagnosis.registered_verdict.startswith("NNAPI")
    assert "--assume-ops-registered" in verdict(diagnosis.run)
    assert diagnosis.plain_fix is None


def test_the_type_of_a_list_is_a_loop_to_unroll():
    def build(layers):
        held = layers.node("CUSTOM", (layers.input("FLOAT32", 1, 8),), "VARIANT", shape=(1,), custom="TensorListReserve")
        layers.node("CUSTOM", (held,), shape=(1, 8), custom="TensorListStack")

    for delegate in ("npu-google", "mldrift"):
        diagnosis = diagnosed(_built(build), delegate)
        assert "unroll the loop" in diagnosis.findings[0].cause.change
        assert "int64" not in diagnosis.findings[0].cause.change


def test_the_last_step_of_a_detector_is_left_to_the_application():
    def build(layers):
        boxes = layers.node("RELU", (layers.input("FLOAT32", 1, 8, 4),))
        scores = layers.node("LOGISTIC", (layers.input("FLOAT32", 1, 8, 2),))
        outputs = [
            layers.tensor("FLOAT32", 1, 4, 4),
            *[layers.tensor("FLOAT32", 1, 4) for _ in range(2)],
            layers.tensor("FLOAT32", 1),
        ]
        operands = (boxes, scores, layers.weights("FLOAT32", 8, 4))
        layers.node("CUSTOM", operands, outputs=outputs, custom="TFLite_Detection_PostProcess")

    diagnosis = diagnosed(_built(build), "vx", assume_ops_registered=True)
    found = {finding.cause.name: finding.cause for finding in diagnosis.findings}
    cause = found["operator:application:TFLite_Detection_PostProcess"]
    assert cause.suggestion == "leave-to-application"


def test_text_is_left_to_the_application():
    def build(layers):
        words = layers.input("STRING", 4)
        layers.node("RESHAPE", (words, layers.constant("INT32", (2, 2))), shape=(2, 2), options={"new_shape": (2, 2)})
        layers.node("RELU", (layers.input("FLOAT32", 1, 8),))

    diagnosis = diagnosed(_built(build), "vx")
    assert cause_names(diagnosis) == ["operator:text"]
    assert diagnosis.findings[0].cause.suggestion == "leave-to-application"


def test_text_of_unknown_size_is_not_to_be_given_a_shape():
    def build(layers):
        layers.node("GATHER", (layers.input("STRING", 4), layers.constant("INT32", (0,))), "STRING", shape=(1,))

    diagnosis = diagnosed(_built(build))
    assert diagnosis.is_dynamic
    assert cause_names(diagnosis) == ["operator:text"]
    cause = diagnosis.findings[0].cause
    assert cause.suggestion == "leave-on-cpu"
    assert diagnosis.without_all.measures.nodes == 0


def test_without_its_work_on_text_the_rest_of_a_model_is_delegated():
    def build(layers):
        words = layers.input("STRING", 4)
        chosen = layers.node("GATHER", (words, layers.constant("INT32", (0, 1))), "STRING", shape=(2,))
        numbers = layers.node("CUSTOM", (chosen,), "FLOAT32", shape=(1, 8), custom="FlexStringToNumber")
        layers.node("RELU", (numbers,))

    diagnosis = diagnosed(_built(build), "gpu", assume_ops_registered=True)
    assert cause_names(diagnosis) == ["operator:text"]
    first = diagnosis.findings[0]
    assert first.cause.title.startswith("GATHER, FlexStringToNumber: ")
    assert first.cause.nodes == (NodeKey(0, 0), NodeKey(0, 1), NodeKey(0, 2)), "the runtime refuses the graph as a whole"
    assert first.cause.suggestion == "leave-to-application"
    measures = first.alone.measures
    assert (measures.outcome, measures.nodes, measures.delegated_nodes) == ("delegated", 1, 1)


def test_operators_of_tensorflow_are_one_cause():
    def build(layers):
        x = layers.input("FLOAT32", 1, 8)
        for op in ("FlexErf", "FlexTan", "FlexErf"):
            x = layers.node("RELU", (layers.node("CUSTOM", (x,), custom=op),))

    diagnosis = diagnosed(_built(build))
    assert cause_names(diagnosis) == ["operator:flex"]
    assert diagnosis.findings[0].cause.operators == (("FlexErf", 2), ("FlexTan", 1))


@pytest.mark.parametrize("delegate", ["gpu", "xnnpack", "vx"])
def test_shapes_of_known_sizes_that_are_computed_have_one_cause(delegate):
    diagnosis = diagnosed(dynamic_shape_chain(), delegate)
    assert cause_names(diagnosis) == ["dynamic-shape:shapes"]
    first = diagnosis.findings[0]
    assert "float32_input_0 [1, 4, 4, 2]" in first.cause.change
    assert first.alone.measures.nodes == 2, "the chain is folded away"
    assert first.alone.measures.fallback_nodes == 0


def test_a_loop_of_unknown_results_is_one_cause_with_its_lists():
    """Nodes behind the loop are prepared from sizes that are guesses, and are not to blame for refusing them."""
    builder = ModelBuilder()
    main, condition, body = (builder.subgraph(name) for name in ("main", "condition", "body"))
    layers = Layers(main)
    x = layers.input("FLOAT32", 1, 4)
    results = (layers.tensor("FLOAT32", 1, 4),)
    layers.node("WHILE", (x,), outputs=results, options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    layers.node("CONCATENATION", (results[0], layers.input("FLOAT32", 1, 4)), shape=(1, 9), options={"axis": 1})
    layers.finish()
    layers = Layers(condition)
    layers.node(
        "REDUCE_ANY",
        (
            layers.node("GREATER", (layers.input("FLOAT32", 1, 4), layers.constant("FLOAT32", 1.0)), "BOOL"),
            layers.constant("INT32", (0, 1)),
        ),
        shape=(),
    )
    layers.finish()
    layers = Layers(body)
    y = layers.input("FLOAT32", 1, 4)
    layers.node("CONCATENATION", (y, y), shape=(1, 8), options={"axis": 1})
    layers.finish()
    diagnosis = diagnosed(builder, "gpu")
    assert diagnosis.is_dynamic
    assert cause_names(diagnosis)[0] == "operator:control-flow:WHILE"
    assert diagnosis.findings[0].cause.suggestion == "unroll-control-flow"
    assert not any(name.startswith(("dynamic-shape", "model")) for name in cause_names(diagnosis))


def test_a_node_that_only_its_neighbors_keep_on_the_cpu_has_a_cause():
    def build(layers):
        x = layers.input("FLOAT32", 1, 4, 4, 2)
        layers.node("LESS", (x, layers.weights("FLOAT32", 1, 4, 4, 2)), "BOOL")

    diagnosis = diagnosed(_built(build), "gpu")
    assert diagnosis.now.measures.fallback_nodes == 1
    assert len(diagnosis.findings) == 1
    assert diagnosis.findings[0].cause.change


def test_what_ends_the_model_is_left_where_it_is():
    diagnosis = diagnosed(chain_model(["ADD", "RELU", "SIGN"]))
    assert diagnosis.findings[0].cause.suggestion == "leave-on-cpu"
    diagnosis = diagnosed(chain_model(["ADD", "SIGN", "ADD"]))
    assert diagnosis.findings[0].cause.suggestion == "replace-operator"


def test_what_splits_nodes_that_a_limit_leaves_on_the_cpu_is_not_said_to_split_nothing():
    diagnosis = diagnosed(chain_model(["ADD", "ADD", "ZEROS_LIKE", "ADD"]), "gpu")
    (cause,) = [finding.cause for finding in diagnosis.findings if finding.cause.operators[0][0] == "ZEROS_LIKE"]
    assert diagnosis.limited == 1
    assert cause.suggestion == "replace-operator"


def test_what_runs_between_two_partitions_is_not_said_to_split_nothing():
    def build(layers):
        x, y = layers.input("FLOAT32", 1, 4), layers.input("FLOAT32", 1, 4)
        first = layers.node("RELU", (x,), "FLOAT32")
        layers.node("ADD", (first, layers.node("SIGN", (y,), "FLOAT32")), "FLOAT32")

    diagnosis = diagnosed(_built(build), "npu-mediatek")
    (finding,) = diagnosis.findings
    assert finding.cause.operators == (("SIGN", 1),)
    assert (diagnosis.now.measures.partitions, finding.alone.measures.partitions) == (3, 1)
    assert finding.cause.suggestion == "replace-operator"


def _built(build):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    build(layers)
    layers.finish()
    return builder


def test_nodes_that_a_conversion_adds_are_no_reason_for_it():
    def build(layers):
        parts = [layers.input("FLOAT32", 1, 8) for _ in range(2)]
        layers.node("PACK", parts, shape=(2, 1, 8), options={"axis": 0, "values_count": 2})

    assert cause_names(diagnosed(_built(build), "xnnpack")) == ["operator:PACK"], (
        "QUANTIZE and DEQUANTIZE around it would be taken"
    )


def test_a_version_goes_with_the_rank_that_raised_it():
    def build(layers):
        x = layers.input("FLOAT32", 1, 2, 2, 2, 4)
        bounds = [layers.constant("INT32", values) for values in ([0] * 5, [1, 2, 2, 2, 4], [1] * 5)]
        layers.node("STRIDED_SLICE", (x, *bounds), version=4)

    (finding,) = diagnosed(_built(build)).findings
    assert finding.cause.identity.problem is Problem.RANK
    assert len(finding.cause.codes) == 2, "that of the version is among them"
    assert finding.alone.measures.fallback_nodes == 0


def test_a_version_goes_with_the_type_that_raised_it():
    def build(layers):
        layers.node("ADD", (layers.input("INT64", 1, 8), layers.input("INT64", 1, 8)), version=4)

    (finding,) = diagnosed(_built(build), "gpu").findings
    assert finding.cause.identity.problem is Problem.TYPE
    assert set(finding.cause.codes) == {"gpu-operator-version", "gpu-tensor-type"}


def test_no_conversion_fixes_how_many_elements_are_chosen():
    def build(layers):
        found = layers.node("WHERE", (layers.input("BOOL", 8),), "INT64", shape=(8, 1))
        layers.node("CAST", (found,), "FLOAT32")

    first = diagnosed(_built(build)).findings[0]
    assert first.cause.name == "dynamic-shape:0:0"
    assert "constant" not in first.cause.change


def test_sizes_that_are_computed_must_be_fixed_before_a_compiler_compiles():
    def build(layers):
        source = layers.input("INT8", 1, 8, signature=(-1, 8))
        layers.node("SHAPE", (source,))

    (cause,) = [finding.cause for finding in diagnosed(_built(build), "edgetpu").findings]
    assert (cause.suggestion, cause.change.startswith("fix the input sizes (fix --shape)")) == ("compile-model", True)


def test_the_size_that_is_computed_is_named_if_all_inputs_have_fixed_sizes():
    def build(layers):
        layers.node("RESHAPE", (layers.input("INT8", 1, 8), layers.input("INT32", 2)), shape=(2, 4))

    (cause,) = [finding.cause for finding in diagnosed(_built(build), "edgetpu").findings]
    assert cause.change.startswith("make tensor 1 (RESHAPE 0 reads it) constant")

"""The settings of a converter that causes ask for."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.converter_settings import (
    OF_CONVERSIONS,
    OF_FEATURES,
    OF_FORMS,
    ConverterSetting,
    boundary_setting,
    settings_for,
)
from delegate_sim.diagnosis.advice.layer_rewrites import REWRITES
from delegate_sim.graph.graph import file_graphs
from delegate_sim.hypothetical.hypothetical_changes import CONVERSIONS
from delegate_sim.versions.explanation import FEATURES
from fixtures.builder import ModelBuilder

from ...support.diagnoses import diagnosed
from ...support.models import chain_model


def asked(model, delegate="nnapi", **options):
    found = diagnosed(model, delegate, **options)
    return [settings_for(found.model, found.target, each.cause) for each in found.findings]


def names(alternatives):
    return [sorted(each.value for each in together) for together in alternatives]


def dense(scales, *, op="FULLY_CONNECTED", shape=(4, 2)):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "INT8", (1, 2), scale=0.5), graph.tensor("y", "INT8", (1, 4), scale=0.5)
    weights = graph.tensor("w", "INT8", shape, data=[1] * 8, scale=scales)
    graph.node(op, (source, weights), (result,), options={})
    graph.outputs(result)
    return builder


def test_tables_name_what_there_is():
    assert set(OF_CONVERSIONS) <= set(CONVERSIONS)
    assert set(OF_FEATURES) <= set(FEATURES)
    assert set(OF_FORMS) == {"float", "float16", "dynamic-range", "int16", "integer"}
    told = {way.setting for ways in REWRITES.values() for way in ways} - {""}
    assert told <= {each.value for each in ConverterSetting}
    assert told


def test_inputs_of_unknown_size_ask_for_fixed_ones():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    shape, flat = graph.tensor("shape", "INT32", [2]), graph.tensor("flat", "FLOAT32", [1, 4], signature=[-1, 4])
    packed = graph.tensor("packed", "INT32", [1, 2])
    sizes = graph.tensor("sizes", "INT32", [2])
    two = graph.tensor("two", "INT32", [1], data=[2])
    graph.node("SHAPE", [source], [shape], 1, {"out_type": 2})
    graph.node("PACK", [shape], [packed], 1, {"values_count": 1, "axis": 0})
    graph.node("RESHAPE", [packed, two], [sizes], 1, None)
    graph.node("RESHAPE", [source, sizes], [flat], 1, None)
    graph.outputs(flat)
    assert names(asked(builder)[0]) == [["fixed-shapes"]]


def test_a_scale_for_each_channel_of_a_dense_layer_asks_for_one():
    (found,) = asked(dense([0.5] * 4), nnapi_runtime="13")
    assert names(found)[0] == ["dense-per-tensor"]
    assert "per-tensor" not in [each for together in names(found) for each in together]


def test_a_delegate_of_integers_asks_for_them():
    found = asked(chain_model(["ADD", "ADD", "LOGISTIC"]), "hexagon")
    assert ["int8"] in names(found[0])


def test_a_version_asks_for_what_its_features_come_from():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (1, 2)), graph.tensor("y", "FLOAT32", (1, 4))
    weights = graph.tensor("w", "INT8", (4, 2), data=[1] * 8, scale=[0.5] * 4)
    graph.node("FULLY_CONNECTED", (source, weights), (result,), 12, {"asymmetric_quantize_inputs": True})
    graph.outputs(result)
    alternatives = [together for found in asked(builder) for together in names(found)]
    assert ["float"] in alternatives
    assert ["int8"] in alternatives


@pytest.mark.parametrize(
    ("delegate", "options", "expected"),
    [
        ("hexagon", {}, [["unfold-batch-matmul"]]),
        pytest.param("coreml", {}, [], id="Core ML has no SPLIT"),
        ("nnapi", {"nnapi_runtime": "11"}, [["unfold-batch-matmul"]]),
        pytest.param("nnapi", {"nnapi_runtime": "10"}, [], id="NNAPI of Android 10 has no PACK"),
    ],
)
def test_products_of_matrices_ask_to_be_unfolded_where_the_delegate_has_what_comes_of_it(delegate, options, expected):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    one, other = graph.input("x", "FLOAT32", (2, 3, 4)), graph.input("y", "FLOAT32", (2, 4, 5))
    result = graph.tensor("z", "FLOAT32", (2, 3, 5))
    graph.node("BATCH_MATMUL", (one, other), (result,), 1, {})
    graph.outputs(result)
    found = asked(builder, delegate, **options)
    assert found
    assert [together for each in found for together in names(each)] == expected


def quantized(kind="INT8", *, is_at_ends=True):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    if not is_at_ends:
        wide, tensor = tensor, graph.tensor("a", "FLOAT32", [1, 4])
        graph.node("TANH", [wide], [tensor])
    for number, op in enumerate(("QUANTIZE", "LOGISTIC", "DEQUANTIZE")):
        own = "FLOAT32" if op == "DEQUANTIZE" else kind
        scale = {} if own == "FLOAT32" else {"scale": [1 / 256], "zero_point": [-128 if kind == "INT8" else 0]}
        result = graph.tensor(f"y{number}", own, [1, 4], **scale)
        graph.node(op, [tensor], [result])
        tensor = result
    if not is_at_ends:
        inner, tensor = tensor, graph.tensor("z", "FLOAT32", [1, 4])
        graph.node("TANH", [inner], [tensor])
    graph.outputs(tensor)
    return builder


def views(builder):
    graph = file_graphs(load(builder.bytes()))[0]
    return {node.op: graph.view(node) for node in graph.nodes}


@pytest.mark.parametrize(
    ("kind", "op", "setting"),
    [
        ("INT8", "QUANTIZE", "converter.inference_input_type = tf.int8"),
        ("UINT8", "DEQUANTIZE", "converter.inference_output_type = tf.uint8"),
        ("INT8", "LOGISTIC", ""),
    ],
)
def test_the_setting_for_the_ends_of_a_model(kind, op, setting):
    assert boundary_setting([views(quantized(kind))[op]]) == setting


def test_nodes_inside_of_a_model_and_different_ends_have_no_setting():
    inside, ends = views(quantized(is_at_ends=False)), views(quantized())
    assert boundary_setting([inside["QUANTIZE"]]) == ""
    assert boundary_setting([ends["QUANTIZE"], ends["DEQUANTIZE"]]) == ""
    assert boundary_setting([]) == ""


def test_a_diagnosis_names_the_settings():
    diagnosis = diagnosed(quantized(), "ethosu-imx93")
    changes = {finding.cause.operators[0][0]: finding.cause.change for finding in diagnosis.findings}
    assert "inference_input_type = tf.int8" in changes["QUANTIZE"]
    assert "inference_output_type = tf.int8" in changes["DEQUANTIZE"]

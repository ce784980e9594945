from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.converter_settings import boundary_setting
from delegate_sim.graph.graph import file_graphs
from fixtures.builder import ModelBuilder
from tests.support.diagnoses import diagnosed


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

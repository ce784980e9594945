"""Texts that many nodes repeat are short, however much there is to say."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.foundation.printable import LONGEST_SAID
from delegate_sim_cli.console.terminal import plain
from delegate_sim_cli.text.analysis.report import report_lines
from delegate_sim_cli.text.analysis.view import View
from fixtures.builder import ModelBuilder


def reasons_of(builder, delegate="gpu"):
    report = delegate_sim.analyze(load(builder.bytes()), delegate, defaults="api").to_dict()
    return report["runs"][0], [reason for node in report["runs"][0]["subgraphs"][0]["nodes"] for reason in node["reasons"]]


@pytest.fixture
def not_loaded():
    """Return a model with sixty tensors that the runtime does not load."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    for number in range(60):
        graph.tensor(f"short{number}", "FLOAT32", (1, 4), data=b"1234")
        result = graph.tensor(f"y{number}", "FLOAT32", (1, 4))
        graph.node("RELU", [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    return builder


def test_a_model_with_much_that_is_not_loaded(not_loaded):
    run, reasons = reasons_of(not_loaded)
    assert run["refusal"]["message"].count(" is not loaded: ") == 20
    assert run["refusal"]["message"].endswith("; and 40 more")
    assert len(run["log_lines"]) >= 60
    assert len(reasons) == 60
    assert {len(reason["found"]) for reason in reasons} == {LONGEST_SAID}
    assert all(reason["found"].endswith("...") for reason in reasons)


def test_only_the_verdict_and_the_cause_say_what_is_not_loaded(not_loaded):
    report = delegate_sim.analyze(load(not_loaded.bytes()), "gpu", defaults="api")
    text = " ".join(plain(report_lines(report, View(200, verbose=True))).split())
    assert text.count("tensor 1 of subgraph 0 is not loaded") == 2


def test_a_diagnosis_counts_what_is_not_loaded():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    operators = (
        "ABS CEIL COS ELU EXP FLOOR GELU HARD_SWISH LOG LOGISTIC NEG RELU RELU6 ROUND RSQRT SIGN SIN SQRT SQUARE TANH "
        "RELU_N1_TO_1 LEAKY_RELU SOFTMAX LOG_SOFTMAX L2_NORMALIZATION"
    )
    for op in operators.split():
        result = graph.tensor(op, "FLOAT32", (1, 4))
        graph.node(op, [tensor], [result], 99)
        tensor = result
    graph.outputs(tensor)
    first = delegate_sim.diagnose(load(builder.bytes()), "nnapi", defaults="api").to_dict()["causes"][0]
    assert first["title"].endswith(", and 24 more")


def test_an_operator_with_a_long_name():
    builder = ModelBuilder()
    graph = builder.subgraph()
    result = graph.tensor("y", "FLOAT32", (1, 4))
    graph.node("CUSTOM", [graph.input("x", "FLOAT32", (1, 4))], [result], custom="O" * 10_000)
    graph.outputs(result)
    _, reasons = reasons_of(builder, "nnapi")
    assert reasons
    assert all(len(reason["message"]) <= LONGEST_SAID + 200 for reason in reasons)


@pytest.mark.parametrize(("name", "number"), [("float16_weights", 4), ("transformer_block", 0)])
def test_dequantize_nodes_of_float16_weights_are_taken_with_all_other_nodes(name, number):
    report = delegate_sim.analyze(f"fixtures/models/{name}.tflite", "gpu")
    text = " ".join(plain(report_lines(report, View(200, verbose=True))).split())
    assert text.count(f"also {number} DEQUANTIZE nodes of float16 weights") == bool(number)

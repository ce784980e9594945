"""What is said again for each of many nodes is short, however much there is to say."""

from __future__ import annotations

import delegate_sim
from delegate_sim import load
from delegate_sim.text import LONGEST_SAID
from fixtures.builder import ModelBuilder


def reasons_of(builder, delegate="gpu"):
    report = delegate_sim.analyze(load(builder.bytes()), delegate).to_dict()
    return report["runs"][0], [reason for node in report["runs"][0]["subgraphs"][0]["nodes"] for reason in node["reasons"]]


def test_a_model_with_much_that_is_not_loaded():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    for number in range(60):
        graph.tensor(f"short{number}", "FLOAT32", (1, 4), data=b"1234")
        result = graph.tensor(f"y{number}", "FLOAT32", (1, 4))
        graph.node("RELU", [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    run, reasons = reasons_of(builder)
    assert run["refusal"]["message"].count(" is not loaded: ") == 20
    assert run["refusal"]["message"].endswith("; and 40 more")
    assert len(run["log_lines"]) >= 60
    assert len(reasons) == 60
    assert {len(reason["found"]) for reason in reasons} == {LONGEST_SAID}
    assert all(reason["found"].endswith("...") for reason in reasons)


def test_an_operator_with_a_long_name():
    builder = ModelBuilder()
    graph = builder.subgraph()
    result = graph.tensor("y", "FLOAT32", (1, 4))
    graph.node("CUSTOM", [graph.input("x", "FLOAT32", (1, 4))], [result], custom="O" * 10_000)
    graph.outputs(result)
    _, reasons = reasons_of(builder, "nnapi")
    assert reasons
    assert all(len(reason["message"]) <= LONGEST_SAID + 200 for reason in reasons)

"""The partitions that the delegate takes, and the lines that it prints."""

from __future__ import annotations

import pytest

import delegate_sim
from fixtures.builder import ModelBuilder

QUANTIZED = {"scale": 0.5, "zero_point": 0}


def run(runs_of_nodes, options=None, subgraphs=1, **arguments):
    """A chain of LOGISTIC in runs of these lengths, with refused nodes between them."""
    builder = ModelBuilder()
    for number in range(subgraphs):
        graph = builder.subgraph(f"g{number}")
        tensor = graph.input("in", "INT8", (1, 4), **QUANTIZED)
        ops = [op for length in runs_of_nodes for op in (*["LOGISTIC"] * length, "DEQUANTIZE", "QUANTIZE")][:-2]
        for op in ops:
            kind, quantization = ("FLOAT32", {}) if op == "DEQUANTIZE" else ("INT8", {"scale": 1 / 256, "zero_point": -128})
            result = graph.tensor(op, kind, (1, 4), **quantization)
            graph.node(op, (tensor,), (result,))
            tensor = result
        graph.outputs(tensor)
    return delegate_sim.analyze(builder.bytes(), "hexagon", options or {}, **{"defaults": "api", **arguments}).to_dict()["runs"][
        0
    ]


def kept(result):
    return [len(part["nodes"]) for part in result["subgraphs"][0]["partition_list"] if part["kind"] == "delegate"]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, [2, 2, 2, 2]), (-1, [2, 2, 2, 2]), (2, [2, 2]), (16, [2] * 16), (17, [2] * 16)],
)
def test_limit_on_partitions(limit, expected):
    assert kept(run([2] * 18, {"max_delegated_partitions": limit})) == expected


@pytest.mark.parametrize(("minimum", "expected"), [(0, [2, 3]), (1, [1, 2, 3]), (2, [2, 3]), (3, [3]), (4, [])])
def test_minimum_of_nodes(minimum, expected):
    result = run([1, 2, 3], {"min_nodes_per_partition": minimum})
    assert kept(result) == expected
    left_out = {
        reason["code"]
        for node in result["subgraphs"][0]["nodes"]
        if node["supported"] and not node["delegated"]
        for reason in node["reasons"]
    }
    assert left_out <= {"partition-minimum"}


def test_the_minimum_is_explained_by_the_option():
    [reason] = run([1, 2])["subgraphs"][0]["nodes"][0]["reasons"]
    assert reason["hint"].startswith("lower --min-nodes-per-partition, ")


def test_log_lines_count_partitions_before_limits():
    assert run([1, 2, 3])["log_lines"] == [
        "TfLiteHexagonDelegate delegate: 5 nodes delegated out of 10 nodes with 3 partitions.",
        "Replacing 5 out of 10 node(s) with delegate (TfLiteHexagonDelegate) node, yielding 4 partitions for subgraph 0 (g0).",
    ]


def test_own_line_is_printed_once_and_even_if_nothing_is_taken():
    assert run([1], subgraphs=2)["log_lines"] == [
        "TfLiteHexagonDelegate delegate: 0 nodes delegated out of 1 nodes with 1 partitions."
    ]


def test_capping_is_told():
    [warning] = run([2], {"max_delegated_partitions": 17})["warnings"]
    assert warning == "--max-delegated-partitions is 17, but the delegate takes at most 16 partitions"


def test_benchmark_line():
    assert run([2], defaults="benchmark")["log_lines"][-1].startswith("Explicitly applied Hexagon delegate")

"""Composites, and calls to the NPU and the CPU."""

from __future__ import annotations

import itertools

import pytest

from delegate_sim.delegates.npu.composites import Inlining
from delegate_sim.delegates.npu.composites import attributes as attributes_of
from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import attributes, groups, lines, run, selected, with_composites


def test_a_composite_that_is_not_taken_is_inlined_and_its_nodes_are_judged():
    entry = run(with_composites(["RELU", ("other", 1, b""), "RELU"], [["TANH", "SHAPE"]]), "npu-google")
    assert groups(entry) == [[(0, 0), (1, 0)], [(0, 2)]]
    assert lines(entry) == [
        "Inlined 1 composite ops into subgraph<0>",
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 3 ops, from a total of 4 ops. resulted in 2 partitions.",
    ]
    assert selected(entry) == [0, 2], "a part of the composite stays on the CPU"
    assert selected(entry, 1) == [0]
    assert entry["subgraphs"][1]["nodes"][1]["reasons"][0]["code"] == "npu-google-unsupported-operator"


def test_only_one_level_is_inlined():
    entry = run(with_composites([("outer", 1, b"")], [["TANH", ("inner", 2)], ["TANH"]]), "npu-google")
    assert groups(entry) == [[(1, 0)]]
    assert selected(entry, 2) == []


def test_a_composite_that_is_taken_keeps_its_body():
    entry = run(with_composites([("odml.rms_norm", 1, b"")], [["SHAPE"]]), "npu-google")
    assert groups(entry) == [[(0, 0)]]
    assert selected(entry, 1) == [0], "its nodes run as part of it"
    assert "groups" not in entry["subgraphs"][1]


def test_a_call_to_the_npu_is_a_partition_of_its_own():
    entry = run(with_composites(["SHAPE", ("odml.npu_call", 1, b"")], [["SHAPE"]]), "npu-google")
    assert groups(entry) == []
    assert selected(entry) == [1]
    assert lines(entry)[-1].endswith("selected 0 ops, from a total of 2 ops. resulted in 0 partitions.")
    assert groups(run(with_composites([("odml.npu_call", 1, b"")], [["RELU"]]), "npu-samsung")) == [[(0, 0)]]


def test_a_call_to_the_cpu_stays_there():
    builder = with_composites(["RELU", ("odml.cpu_call", 1, b""), "RELU"], [["RELU"]])
    for name in ("npu-google", "npu-samsung"):
        entry = run(builder, name)
        assert groups(entry) == [[(0, 0)], [(0, 2)]]
        assert entry["subgraphs"][0]["nodes"][1]["reasons"][0]["code"] == f"{name}-cpu-call"
    assert groups(run(builder, "npu-mediatek", release="litert-2.1.3")) == [[(0, 0), (1, 0), (0, 2)]]


def test_a_composite_with_attributes_that_are_no_map_is_an_ordinary_node():
    builder = with_composites(["RELU", ("other", 1, b"\x01\x02\x03")], [["RELU"]])
    entry = run(builder, "npu-intel")
    assert groups(entry) == [[(0, 0)]]
    assert groups(entry, 1) == [[(1, 0)]], "its body is an ordinary subgraph"
    assert groups(run(builder, "npu-intel", release="litert-2.1.5")) == [[(0, 0), (1, 0)]]
    assert groups(run(with_composites([("other", 1, attributes(a=1))], [["RELU"]]), "npu-intel")) == [[(1, 0)]]


NESTED = attributes(a=[1, [2, 3.5, "text"], {"b": None, "c": [True, {}]}], d=[1.5, 2.5, 3.5], e=[], f=b"bytes", g="text")
ONE, VECTOR, MAP = 1 << 2, 10 << 2, 9 << 2
"""The types of an integer, a vector and a map."""


def with_shared_parts(depth):
    """Return a map with a vector that contains two references to the same vector, and so on, in all 2**depth integers."""
    content = bytearray([1, 7, ONE])
    place = 1
    for _ in range(depth):
        start = len(content) + 1
        content += bytes([2, start - place, start + 1 - place, VECTOR, VECTOR])
        place = start
    key = len(content)
    content += b"a\0"
    content += bytes([1, len(content) + 1 - key])
    content += bytes([1, 1, 1, len(content) + 3 - place, VECTOR])
    return bytes([*content, 2, MAP, 1])


@pytest.mark.parametrize("content", [NESTED, with_shared_parts(3)])
def test_all_parts_of_attributes_are_read(content):
    model = load(with_composites([("other", 1, content)], [["RELU"]]).bytes())
    assert attributes_of(model, model.subgraphs[0].nodes[0]) is not None


def test_attributes_with_a_part_outside_the_buffer_are_no_map():
    model = load(with_composites([("other", 1, b"\xff" * 8 + NESTED[8:])], [["RELU"]]).bytes())
    assert attributes_of(model, model.subgraphs[0].nodes[0]) is None


def test_parts_that_are_shared_cost_steps(monkeypatch):
    model = load(with_composites([("other", 1, with_shared_parts(12))], [["RELU"]]).bytes())
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the attributes of composites"):
        attributes_of(model, model.subgraphs[0].nodes[0])


def test_a_body_of_another_type_is_not_inlined():
    entry = run(with_composites([("other", 1, b"")], [["RELU"]], kinds=("FLOAT32", "INT32")), "npu-intel")
    assert groups(entry) == []
    assert lines(entry)[:2] == [
        "Tensors of destination op and source subgraph does not have the same element type.",
        "Inlined 1 composite ops into subgraph<0>",
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_composites_that_read_each_other_s_results_are_inlined_in_any_order(order):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("x", "FLOAT32", [1]), *[graph.tensor("t", "FLOAT32", [1]) for _ in range(3)]]
    for read, written in itertools.pairwise(tensors):
        graph.node("STABLEHLO_COMPOSITE", [read], [written], 1, {"name": "any", "decomposition_subgraph_index": 1})
    graph.outputs(tensors[-1])
    body = builder.subgraph("body")
    a, b = body.input("a", "FLOAT32", [1]), body.tensor("b", "FLOAT32", [1])
    body.node("ABS", [a], [b])
    body.outputs(b)
    work = Inlining(file_graphs(load(builder.bytes()))[0])
    assert all(work.inline(index, 1) for index in order)
    inlined = work.graph
    run = [inlined.nodes[index] for index in inlined.execution_plan]
    assert [node.op for node in run] == ["ABS"] * 3
    assert run[0].inputs == inlined.inputs
    assert [node.inputs for node in run[1:]] == [node.outputs for node in run[:-1]]
    assert inlined.outputs == run[-1].outputs


def test_the_development_build_logs_a_table_of_unselected_nodes():
    builder = with_composites(["RELU", ("other", 1, b""), "SHAPE"], [["TANH"]])
    head = [
        "CPU-offloaded operations:",
        "  Op Index | Op Code                | Reason",
        f"  {'-' * 9}+{'-' * 24}+{'-' * 67}",
    ]
    shape = "tfl.shape              | Op is not supported on the Google Tensor NPU."
    assert run(builder, "npu-google", release="litert-2.4")["log_lines"] == [
        "unsupported composite op: other",
        "Partitioning summary: 1 ops on NPU, 2 ops offloaded to CPU (Total: 3).",
        *head,
        "  1        | shlo.composite         | Composite operation is not supported.",
        f"  2        | {shape}",
        "Inlined 1 composite ops into subgraph<0>",
        "Partitioning summary: 2 ops on NPU, 1 ops offloaded to CPU (Total: 3).",
        *head,
        f"  2        | {shape}",
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 2 ops, from a total of 3 ops. resulted in 1 partitions.",
    ]


def test_the_table_of_unselected_nodes_has_five_rows():
    lines_of_run = run(with_composites(["SHAPE"] * 7, []), "npu-google", release="litert-2.4")["log_lines"]
    assert len([line for line in lines_of_run if "tfl.shape" in line]) == 5
    (omitted,) = [line for line in lines_of_run if "omitted" in line]
    assert omitted.startswith("  ... 2 additional unsupported op diagnostics omitted")


@pytest.mark.parametrize(("release", "is_selected"), [("litert-2.3", False), ("litert-2.4", True)])
def test_intel_selects_reduce_any_since_the_development_build(release, is_selected):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "BOOL", [2, 4]), graph.tensor("y", "BOOL", [2])
    graph.node("REDUCE_ANY", [source, graph.tensor("axes", "INT32", [1], [1])], [result], options={"keep_dims": False})
    graph.outputs(result)
    assert selected(run(builder, "npu-intel", release=release)) == ([0] if is_selected else [])

"""Whole runs of the VX delegates: lines, partitions, options and warnings, and what public issues are about."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim import OptionError
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.releases.wording import cpu_kernels_note
from delegate_sim.results.report.outcome_words import plugin_notes
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model

VARIANTS = ("vx", "vx-nxp")


def run(builder, delegate="vx", options=None, **arguments):
    return delegate_sim.analyze(builder.bytes(), delegate, options, **{"defaults": "api", **arguments}).to_dict()["runs"][0]


def chain(builder, *ops):
    """A subgraph of unary operators, one after the other."""
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return graph


def reasons(result, node):
    return [(reason["code"], reason["kind"]) for reason in result["subgraphs"][0]["nodes"][node]["reasons"]]


@pytest.mark.parametrize("delegate", VARIANTS)
def test_a_graph_that_is_taken_whole(delegate):
    builder = ModelBuilder()
    chain(builder, "RELU", "TANH")
    result = run(builder, delegate, runtime="tf-2.15", defaults="benchmark")
    assert result["outcome"] == "delegated"
    assert result["log_lines"] == [
        "Replacing 2 out of 2 node(s) with delegate (Vx Delegate) node, yielding 1 partitions for the whole graph.",
        "Explicitly applied EXTERNAL delegate, and the model graph will be completely executed by the delegate.",
    ]
    assert result["warnings"] == [str(cpu_kernels_note(parse_release("tf-2.15")))]


def test_partitions_are_not_limited():
    builder = ModelBuilder()
    chain(builder, *["RELU", "CEIL"] * 20)
    result = run(builder)
    assert (result["subgraphs"][0]["partitions"], result["subgraphs"][0]["delegate_kernels"]) == (40, 20)
    assert result["warnings"] == []


def test_nothing_taken():
    builder = ModelBuilder()
    chain(builder, "CEIL")
    result = run(builder, defaults="benchmark")
    assert result["outcome"] == "none"
    assert result["log_lines"] == [
        "Though EXTERNAL delegate is explicitly applied, the model graph will not be executed by the delegate."
    ]


# Public issues of VeriSilicon/tflite-vx-delegate


def packed_in_the_middle():
    """8-bit vectors that PACK joins between two operators, as in the box decoder of SSD MobileNet V2 (issue 62)."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    quantization = {"scale": 0.5, "zero_point": 0}
    boxes = graph.input("boxes", "INT8", (2, 8), **quantization)
    vectors = [graph.tensor(f"vector{number}", "INT8", (8,), **quantization) for number in range(2)]
    graph.node("UNPACK", (boxes,), vectors, options={"num": 2, "axis": 0})
    packed = graph.tensor("packed", "INT8", (8, 2), **quantization)
    graph.node("PACK", vectors, (packed,), options={"values_count": 2, "axis": 1})
    result = graph.tensor("result", "INT8", (8, 2), **quantization)
    graph.node("RELU", (packed,), (result,))
    graph.outputs(result)
    return builder


def test_issue_62_pack_of_int8_vectors_does_not_split_the_graph_upstream():
    result = run(packed_in_the_middle())
    assert (result["subgraphs"][0]["nodes_delegated"], result["subgraphs"][0]["partitions"]) == (3, 1)


@pytest.mark.parametrize("release", ["lf-6.6.3", "lf-5.15.71"])
def test_issue_62_pack_of_int8_vectors_splits_the_graph_on_nxp_boards(release):
    result = run(packed_in_the_middle(), "vx-nxp", {"release": release}, runtime="tf-2.11")
    assert result["log_lines"] == ["Replacing 2 node(s) with delegate (Vx Delegate) node, yielding 3 partitions."]
    assert reasons(result, 1) == [("vx-rank", "rank")]


def test_issue_206_operator_32_is_named():
    builder = ModelBuilder()
    graph = chain(builder, "RELU")
    results = [graph.tensor(f"detection{number}", "FLOAT32", (1, 4)) for number in range(4)]
    anchors = graph.tensor("anchors", "FLOAT32", (1, 4), data=[0.0] * 4)
    graph.node("CUSTOM", (1, 1, anchors), results, custom="TFLite_Detection_PostProcess", custom_options=b"")
    result = run(builder)
    node = result["subgraphs"][0]["nodes"][1]
    assert node["op"] == "TFLite_Detection_PostProcess"
    assert reasons(result, 1) == [("vx-custom-operator", "custom-operator")]
    assert "TFLite_Detection_PostProcess" in node["reasons"][0]["message"]
    assert "op 32" in node["reasons"][0]["message"]


# Options

WITHOUT_EFFECT = {
    "allowed_builtin_code": 3,
    "error_during_init": True,
    "error_during_prepare": "true",
    "error_during_invoke": "1",
    "device_id": 1,
    "cache_file_path": "network.nb",
    "allowed_cache_mode": True,
}


@pytest.mark.parametrize("delegate", VARIANTS)
@pytest.mark.parametrize(("name", "value"), WITHOUT_EFFECT.items())
def test_an_option_without_effect_is_said_to_have_none(delegate, name, value):
    builder = ModelBuilder()
    chain(builder, "RELU", "CEIL")
    plain, given = run(builder, delegate), run(builder, delegate, {name: value})
    assert plain["warnings"] == []
    assert len(given["warnings"]) == 1
    assert given["warnings"][0].startswith(f"option {name} ")
    assert given["subgraphs"] == plain["subgraphs"]


def test_an_option_is_said_to_have_no_effect_once_for_all_subgraphs():
    builder = ModelBuilder()
    chain(builder, "RELU")
    chain(builder, "RELU")
    assert len(run(builder, options={"allowed_builtin_code": 3})["warnings"]) == 1


@pytest.mark.parametrize(("ops", "warned"), [(("RELU", "CEIL"), False), (("RELU", "CEIL", "RELU"), True), (("CEIL",), False)])
def test_a_cache_file_holds_one_network(ops, warned):
    builder = ModelBuilder()
    chain(builder, *ops)
    warnings = run(builder, options={"allowed_cache_mode": True, "cache_file_path": "network.nb"})["warnings"]
    assert [("2 delegate kernels" in warning and "cache file" in warning) for warning in warnings] == [True] * warned


@pytest.mark.parametrize("value", ["lf-5.15.71", "lf-5.15.71_2.2.0", " lf-5.15.71 "])
def test_releases_by_their_short_and_full_names(value):
    builder = ModelBuilder()
    chain(builder, "GELU", "RELU")
    assert run(builder, "vx-nxp", {"release": "lf-6.6.3_1.0.0"})["subgraphs"][0]["nodes_supported"] == 2
    older = run(builder, "vx-nxp", {"release": value})
    assert older["options"]["release"] == "lf-5.15.71"
    assert older["subgraphs"][0]["nodes_supported"] == 1


@pytest.mark.parametrize("value", ["lf-1.0", "5.15.71", "", None])
def test_an_unknown_release_names_the_known_ones(value):
    builder = ModelBuilder()
    chain(builder, "RELU")
    with pytest.raises(OptionError, match=r"lf-6\.6\.3 or lf-5\.15\.71"):
        run(builder, "vx-nxp", {"release": value})


def test_upstream_has_no_releases():
    builder = ModelBuilder()
    chain(builder, "RELU")
    with pytest.raises(OptionError, match="release"):
        run(builder, "vx", {"release": "lf-6.6.3"})


# Dynamic tensors


def with_computed_operand(op, *, followers=()):
    """An operator whose result has a size that its computed second operand decides, and others after it."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    operand = graph.input("operand", "INT32", (2, 2) if op == "PAD" else (2,))
    tensor = graph.tensor("sized at run time", "FLOAT32", (1, 4))
    graph.node(op, (source, operand), (tensor,))
    for number, name in enumerate(followers):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(name, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder


def test_a_dynamic_tensor_that_the_delegate_makes_has_no_memory():
    result = run(with_computed_operand("PAD", followers=["RELU"]))
    assert (result["outcome"], result["subgraphs"][0]["nodes_delegated"]) == ("delegated", 2)
    (warning,) = result["warnings"]
    assert "tensor 2 (sized at run time)" in warning
    assert "node 0 (PAD)" in warning


def test_kernels_after_a_dynamic_tensor_keep_the_sizes_of_the_first_invoke():
    result = run(with_computed_operand("TILE", followers=["RELU"]))
    assert (result["outcome"], result["subgraphs"][0]["nodes_delegated"]) == ("delegated", 1)
    (warning,) = result["warnings"]
    assert "node 0 (TILE)" in warning


def test_notes_below_a_table_have_the_warnings():
    model = with_computed_operand("TILE", followers=["RELU"]).bytes()
    runs = delegate_sim.simulate(model, [("vx", {}), ("gpu", {})]).runs
    (warning,) = runs[0].warnings
    assert [note for note in plugin_notes(runs) if warning in note] == [f"vx: {warning}"]
    assert not [note for note in plugin_notes(runs, only_plugins=True) if warning in note]
    models = {id(run): f"{place}.tflite" for place, run in enumerate(runs)}
    assert [note for note in plugin_notes(runs, models=models) if warning in note] == [f"0.tflite on vx: {warning}"]


def test_a_warning_names_the_targets_that_give_it():
    model = with_computed_operand("TILE", followers=["RELU"]).bytes()
    (run,) = delegate_sim.simulate(model, [("vx", {})]).runs
    other = replace(run, target=run.target._replace(release=parse_release("litert-2.0")), warnings=())
    (warning,) = run.warnings
    assert [note for note in plugin_notes([run, other]) if warning in note] == [f"vx {run.release}: {warning}"]
    assert [note for note in plugin_notes([run, replace(other, warnings=(warning,))]) if warning in note] == [
        f"Warning: {warning}"
    ]


def test_a_dynamic_graph_of_which_nothing_is_taken_needs_no_warning():
    result = run(with_computed_operand("TILE", followers=["CEIL"]))
    assert (result["outcome"], result["warnings"]) == ("none", [])


def test_taken_nodes_are_not_yet_compiled():
    from delegate_sim.results.report.outcome_words import not_built, outcome_notes, plugin_notes

    (run,) = delegate_sim.simulate(chain_model(["ADD"]).bytes(), [("vx", {})]).runs
    (other,) = delegate_sim.simulate(chain_model(["ADD"]).bytes(), [("gpu", {})]).runs
    note = not_built(run.delegate)
    assert outcome_notes(run)[0] == note
    assert list(plugin_notes([run])) == [note]
    assert list(plugin_notes([run, other])) == [f"vx: {note}"]
    assert note not in outcome_notes(other)

"""Composites, and custom operators of the same names: what ML Drift says of each, None where it lowers it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

import delegate_sim
from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.mldrift.delegate import RULES
from delegate_sim.device.compare.observed_delegation import simulated_tally
from delegate_sim.model.options import Options
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from delegate_sim.results.report.measures import measure
from fixtures.builder import ModelBuilder
from tests.support.graphs import arena, constant, node_view

F = arena("FLOAT32", 1, 4, 4, 8, name="x")
ROWS = arena("FLOAT32", 1, 4, 8, name="r")
SCALE = constant(np.ones(8), "FLOAT32")
OTHER_SCALE = constant(np.ones(4), "FLOAT32")
PARAMETERS = arena("INT32", 1, 1, 1, 7, name="p")
POSITIONS = arena("FLOAT32", 1, 1, 4, 8, name="pos")


def flexbuffer(attributes: dict[str, Any]) -> bytes:
    return bytes(flexbuffers.Dumps(attributes))


def axes(*values: int) -> dict[str, Any]:
    return {"_TENSOR_V1_reduction_axes": {"TENSOR_DATA": list(values)}}


def said(name, inputs, outputs, attributes=None, release=DEFAULT_RELEASE, custom=False):
    node = node_view(name if custom else "STABLEHLO_COMPOSITE", inputs, outputs, custom=custom)
    if not custom:
        content = tuple(flexbuffer(attributes or {}))
        options = {"name": name, "decomposition_subgraph_index": 1, "composite_attributes": content}
        node._options = Options("StableHLOCompositeOptions", options)
    verdict = RULES.validate(node, ReleaseOnly(parse_release(release)))
    return verdict.reasons[0].kind if verdict.reasons else None


CACHE = {"kv_cache_batch_size": 1, "cache_size": 4}
ROTARY = "custom_call.rotary_positional_embedding"
HEADS = "gated_delta_update requires D_k and D_v to be powers of 2 (at least 16) and multiples of 4."
GROUPS = {"num_groups": 2, "epsilon": 1e-5}


@pytest.mark.parametrize(
    ("inputs", "attributes", "expected"),
    [
        ([F, SCALE, SCALE], {**GROUPS, **axes(3)}, None),
        ([F], {**GROUPS, "sub_type": 0, **axes(1, 2, 3)}, None),
        (
            [F],
            {**GROUPS, "sub_type": 0, **axes(3)},
            "GroupNorm has unexpected reduction axes. Expected axes [1, 2, 3] but got [3]",
        ),
        ([F], {"epsilon": 1e-5, "sub_type": 0}, "GroupNorm is missing num_groups."),
        ([F], {"num_groups": 2, "sub_type": 0}, "GroupNorm is missing epsilon."),
        ([F, OTHER_SCALE], {**GROUPS, **axes(3)}, "Scale tensor channels don't match input tensor channels."),
        ([F, SCALE, OTHER_SCALE], {**GROUPS, **axes(3)}, "Beta tensor channels don't match input tensor channels."),
        ([F, constant(np.ones((1, 8)), "FLOAT32")], {**GROUPS, **axes(3)}, "GroupNorm has bad gamma tensor dims."),
        (
            [arena("FLOAT32", 1, 1, 4, 4, 8)],
            {**GROUPS, **axes(3)},
            "GroupNorm has bad input tensor dims. Expected at most 4D input, got 1, 1, 4, 4, 8",
        ),
        (
            [F],
            {**GROUPS, "sub_type": 0, "channel_axis": 1},
            "Only channel-last tensor is supported for GroupNorm. Expected axis 3 but got 1",
        ),
        ([F, SCALE], {"epsilon": 1e-5}, None),
        ([F], {}, "LayerNorm is missing epsilon."),
        (
            [F],
            {"epsilon": 1e-5, "sub_type": 1, **axes(2)},
            "LayerNorm has unexpected reduction axes. Expected axes [3] but got [2]",
        ),
    ],
)
def test_group_norm(inputs, attributes, expected):
    assert said("odml.group_norm", inputs, [F], attributes) == expected


def test_group_norm_before_litert_2_1_5():
    attributes = {**GROUPS, "sub_type": 0, **axes(1, 2, 3)}
    expected = "Only reduction on the last axis is supported for GroupNorm. Expected axis 3 but got 1"
    assert said("odml.group_norm", [F], [F], attributes, "litert-2.1.3") == expected
    assert said("odml.group_norm", [F], [F], {"sub_type": 0, "epsilon": 1.0}, "litert-2.1.3") is None


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "attributes", "expected"),
    [
        ("odml.rms_norm", [F, SCALE], [F], {}, None),
        ("odml.rms_norm", [F, arena("FLOAT32", 8)], [F], {}, "src has no data."),
        ("odml.rms_norm", [F, OTHER_SCALE], [F], {}, "Scale tensor channels don't match input tensor channels."),
        ("odml.scaled_dot_product_attention", [F, F, F], [F], {}, None),
        ("odml.scaled_dot_product_attention", [F, F], [F], {}, "Invalid number of inputs: 2, while expected 3 or 4."),
        (
            "odml.scaled_dot_product_attention",
            [F, F, F, ROWS],
            [F],
            {},
            "K tensor's height must match Mask tensor's channels, but they are: K = {bhwc, {1, 4, 4, 8}}, "
            "Mask = {bhwc, {1, 1, 4, 8}}.",
        ),
        ("odml.cache_update", [F, F, PARAMETERS], [F, F], {**CACHE, "head_size": 8}, None),
        (
            "odml.cache_update",
            [F, F, PARAMETERS],
            [F, F],
            CACHE,
            "odml.cache_update is missing head_size.",
        ),
        ("odml.cache_update", [F, F, PARAMETERS], [F], {}, "odml.cache_update expects 2 outputs."),
        ("odml.cache_update", [F, F], [F, F], {}, "odml.cache_update expects 3 or 7 inputs."),
        ("odml.runtime_bmm", [F, F, PARAMETERS], [F], {"is_global": True, "is_src": True}, None),
        ("odml.runtime_bmm", [F, F, PARAMETERS], [F], {"is_src": True}, "Runtime BatchedMatMul is missing is_global."),
        ("odml.runtime_bmm", [F, F, POSITIONS], [F], {}, "Param tensor shape expected to be [1, 1, 1, 7]."),
        ("odml.sdpa_transposed", [F, F, F], [F], {}, None),
        ("odml.sdpa_transposed", [F, F], [F], {}, "SDPA transposed expects between 3 and 5 inputs."),
        ("odml.rope", [F, PARAMETERS], [F], {}, None),
        ("odml.rope", [F], [F], {}, "Invalid number of inputs: 1, while expected 2 or 3."),
        ("custom_call.rotary_positional_embedding", [F, POSITIONS], [F], {}, None),
        (
            "custom_call.rotary_positional_embedding",
            [F, arena("FLOAT32", 1, 1, 9, 8)],
            [F],
            {},
            "src and pos must have the same width for PositionalEmbedding.",
        ),
        (
            "custom_call.rotary_positional_embedding",
            [F, POSITIONS],
            [F, F],
            {},
            "Invalid number of outputs: 2, while expected 1.",
        ),
        ("odml.swiglu", [F], [F], {}, None),
        ("odml.swiglu", [F, F, F], [F], {}, "SwiGLU expects 1 or 2 inputs, but got 3"),
        ("odml.short_conv_step", [F, F, F], [F], {}, "ShortConvStep expects 2 outputs, but got 1"),
        (
            "gated_delta_update",
            [POSITIONS] * 6,
            [F, F],
            {},
            "gated_delta_update requires D_k and D_v to be powers of 2 (at least 16) and multiples of 4.",
        ),
        ("gated_delta_update", [arena("FLOAT32", 1, 1, 4, 16)] * 6, [F, F], {}, None),
        ("odml.detector", [F], [F], {}, "odml.detector"),
        ("moe", [F], [F], {}, "moe has unsupported op carrier."),
    ],
)
def test_composites(name, inputs, outputs, attributes, expected):
    assert said(name, inputs, outputs, attributes) == expected


@pytest.mark.parametrize(("name", "release"), [("odml.swiglu", "litert-2.2.0"), ("odml.rope", "litert-2.1.5")])
def test_composites_of_later_releases(name, release):
    assert said(name, [F, PARAMETERS], [F], release=release) == name


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("custom_call.GroupNorm", [F, SCALE, SCALE], None),
        ("custom_call.LayerNorm", [F, SCALE, OTHER_SCALE], "Bias tensor channels don't match input tensor channels."),
        ("custom_call.RmsNorm", [F, OTHER_SCALE], "Scale tensor channels don't match input tensor channels."),
        ("custom_call.PixelShuffle", [F], None),
        ("custom_call.absolute_positional_embedding", [F], "Invalid number of inputs: 1, while expected 2."),
        ("TFLite_Detection_PostProcess", [F], "TFLite_Detection_PostProcess"),
        ("moe", [F], "moe is missing custom options."),
        ("Resampler", [F], "Expected 2 runtime input tensor(s), but node has 1 runtime input(s)."),
    ],
)
def test_custom_operators(name, inputs, expected):
    assert said(name, inputs, [F], custom=True) == expected


def composite_model(decomposition_op: str) -> bytes:
    return chains([RMS_NORM], [decomposition_op])


RMS_NORM = "odml.rms_norm", 1


def chains(*subgraphs: list[str | tuple[str, int]]) -> bytes:
    """A model in which each subgraph is a chain of operators, and of composites with the subgraphs of their decompositions."""
    builder = ModelBuilder()
    for number, ops in enumerate(subgraphs):
        graph = builder.subgraph(f"graph{number}")
        tensor = graph.input("x", "FLOAT32", [1, 4, 4, 8])
        for op in ops:
            source, tensor = tensor, graph.tensor("y", "FLOAT32", [1, 4, 4, 8])
            if isinstance(op, str):
                graph.node(op, [source], [tensor])
                continue
            content = list(flexbuffer({"epsilon": 1e-5}))
            options = {"name": op[0], "decomposition_subgraph_index": op[1], "composite_attributes": content}
            graph.node("STABLEHLO_COMPOSITE", [source], [tensor], 1, options)
        graph.outputs(tensor)
    return builder.bytes()


@pytest.mark.parametrize(("skips", "outcome"), [(False, "refused"), (True, "delegated")])
def test_with_the_hint_an_option_ignores_the_decompositions_of_composites_that_are_taken(skips, outcome):
    options = {"hint_fully_delegated": True, "skip_decompositions": skips}
    (run,) = delegate_sim.analyze(composite_model("L2_NORMALIZATION"), "mldrift", options, defaults="api").to_dict()["runs"]
    assert run["outcome"] == outcome


def test_the_decomposition_of_a_composite_that_is_refused_is_not_ignored():
    options = {"hint_fully_delegated": True, "skip_decompositions": True}
    content = composite_model("ABS").replace(b"odml.rms_norm", b"odml.rms_nope")
    (run,) = delegate_sim.analyze(content, "mldrift", options, defaults="api").to_dict()["runs"]
    assert (run["outcome"], run["refusal"]["code"]) == ("refused", "hint-not-met")


@pytest.mark.parametrize(
    ("op", "hint", "outcome"),
    [("ABS", False, "delegated"), ("L2_NORMALIZATION", False, "delegated"), ("L2_NORMALIZATION", True, "refused")],
)
def test_the_decomposition_of_a_composite_that_is_taken_is_not_looked_at(op, hint, outcome):
    options = {"hint_fully_delegated": hint}
    (run,) = delegate_sim.analyze(composite_model(op), "mldrift", options, defaults="api").to_dict()["runs"]
    assert run["outcome"] == outcome
    if not hint:
        assert [subgraph["partitions"] for subgraph in run["subgraphs"]] == [1, 0]
        assert len(run["log_lines"]) == 1


def test_the_nodes_of_a_decomposition_run_with_the_composite_that_is_taken():
    delegates = [("mldrift", {"cpu_fallback": False}), ("xnnpack", {})]
    report = delegate_sim.simulate(composite_model("L2_NORMALIZATION"), delegates, defaults="api")
    assert [node.state for node in report.cpu_nodes] == []
    assert len(report.log_lines) == 1
    measures, tally = measure(report.runs[0]), simulated_tally(report.runs[0])
    assert (measures.nodes, measures.fallback_nodes, tally.delegated, tally.on_cpu) == (2, 0, 1, 0)


def test_a_decomposition_that_another_decomposition_calls_too_runs_with_its_composite():
    inner = "odml.rms_norm", 2
    model = chains([RMS_NORM, inner], [inner, "ABS"], ["L2_NORMALIZATION"])
    measures = measure(delegate_sim.analyze(model, "mldrift", defaults="api").runs[0])
    assert (measures.nodes, measures.fallback_nodes) == (5, 0)


def test_no_later_delegate_gets_a_decomposition_that_one_of_two_calls_runs_on_the_cpu():
    model = chains([RMS_NORM, ("other", 1)], ["ABS"])
    report = delegate_sim.simulate(model, [("mldrift", {}), ("xnnpack", {})], defaults="api")
    assert [(node.subgraph, node.op) for node in report.cpu_nodes] == [(0, "STABLEHLO_COMPOSITE"), (1, "ABS")]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("AlignmentPointsToTransformMatrix", 1),
        ("KeepIfMax2D", 1),
        ("Landmarks2TransformMatrix", 1),
        ("Landmarks2TransformMatrixV2", 1),
        ("RoIToTransformMatrix", 1),
        ("TransformLandmarks", 2),
        ("TransformTensor", 2),
        ("TransformTensorBilinear", 2),
    ],
)
def test_operators_of_mediapipe(name, count):
    assert said(name, [F] * count, [F], custom=True) is None
    assert said(name, [*[F] * count, SCALE], [F], custom=True) is None
    assert said(name, [F] * 3, [F], custom=True) == (
        f"Expected {count} runtime input tensor(s), but node has 3 runtime input(s)."
    )
    assert said(name, [F] * count, [F, F], custom=True) == "Expected 1 output tensor(s), but node has 2 output(s)."
    integers = arena("INT32", 1, 4, name="i")
    assert said(name, [integers] * count, [F], custom=True) == "Tensor type(INT32) is not supported. i"
    assert said(name, [F] * count, [F], custom=True, release="litert-2.2.0") == name

"""The verdict on a run in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.results.report.blockers import main_blocker
from delegate_sim.results.report.coverage import best_run, coverage_verdict
from delegate_sim.results.report.multiply_adds import compute_of
from delegate_sim.results.report.verdict import subject, verdict, verdict_summary
from fixtures.builder import ModelBuilder
from tests.support.edge_tpu import COMPILED, edge_tpu_model
from tests.support.models import chain_model

MODELS = Path(__file__).resolve().parents[3] / "fixtures" / "models"


@pytest.mark.parametrize(
    ("model", "delegate", "sentence"),
    [
        ("transformer_block", "npu-google", "The plugin npu-google takes all nodes (63) in 1 partition"),
        ("several_subgraphs", "xnnpack", "XNNPACK runs 66.6 % of nodes; 1 ADD and 1 other node stay with TFLite's own kernels"),
        ("variables", "hexagon", "Hexagon takes none of 9 nodes; everything runs on the CPU, mainly because of 2 VAR_HANDLE"),
        ("five_dimensions", "nnapi", "NNAPI on Android 13 rejects the model; everything runs on the CPU, because node 0: "),
        ("dynamic_reshape", "gpu", "GPU is not applied; everything runs on the CPU, because tensor 5 (reshape_5) of subgraph 0 "),
        (
            "dynamic_reshape",
            "mldrift",
            "ML Drift is not applied; CompiledModel is not created, because tensor 5 (reshape_5) of ",
        ),
        ("cannot_prepare", "vx", "The model does not run, although the VX delegate takes 9 of 17 nodes: the CPU runtime cannot "),
    ],
)
def test_verdicts(model, delegate, sentence):
    report = delegate_sim.analyze(str(MODELS / f"{model}.tflite"), delegate, defaults="benchmark")
    assert verdict(report.runs[0]).startswith(sentence)


def test_a_verdict_has_the_reason_without_a_long_name_and_whole():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, mask = graph.input("x", "INT8", [1, 4], scale=0.5), graph.tensor("m", "INT8", [1, 4], data=[-128] * 4, scale=1e38)
    product = graph.tensor("layer/" * 30 + "mul", "INT8", [1, 4], scale=3.4901964198476944e29)
    graph.node("MUL", [x, mask], [product], 2)
    graph.outputs(product)
    sentence = verdict(delegate_sim.analyze(delegate_sim.load(builder.bytes()), "nnapi", defaults="benchmark").runs[0])
    assert "(...er/layer/layer/layer/layer/mul): found 3.49e+29, needed more than 5e+37" in sentence
    assert not sentence.endswith("...")


@pytest.mark.parametrize(
    ("model", "delegate", "summary"),
    [
        ("transformer_block", "npu-google", "all nodes in 1 partition"),
        ("several_subgraphs", "xnnpack", "1 ADD and 1 other node stay with TFLite's own kernels"),
        ("variables", "hexagon", "no node, mainly because of 2 VAR_HANDLE"),
        ("five_dimensions", "nnapi", "rejects the model: node 0: "),
        ("dynamic_reshape", "gpu", "is not applied: tensor 5 (reshape_5) of subgraph 0 "),
        ("cannot_prepare", "vx", "The model does not run: the CPU runtime cannot "),
    ],
)
def test_summaries_leave_out_the_target_and_the_shares(model, delegate, summary):
    report = delegate_sim.analyze(str(MODELS / f"{model}.tflite"), delegate, defaults="benchmark")
    assert verdict_summary(report.runs[0]).startswith(summary)


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        ({"android": "11"}, "NNAPI on Android 11 runs "),
        ({"feature_level": 30}, "NNAPI at feature level 30 on Android 13 runs "),
        ({"android": "8.1"}, "NNAPI on Android 8.1 runs "),
    ],
)
def test_a_feature_level_below_that_of_android_is_named(options, beginning):
    report = delegate_sim.analyze(str(MODELS / "transformer_block.tflite"), "nnapi", options, defaults="benchmark")
    assert verdict(report.runs[0]).startswith(beginning)


def test_no_deprecated_target_with_a_larger_share_leads():
    """Two targets with NNAPI run different shares, both larger than that of VX."""
    targets = [("nnapi", {}), ("nnapi", {"feature_level": 29}), ("vx", {})]
    path = str(MODELS / "recurrent.tflite")
    runs = [delegate_sim.analyze(path, name, options, defaults="benchmark").runs[0] for name, options in targets]
    assert [best_run(own).target.delegate.name for own in (runs, runs[::-1], runs[:2])] == ["vx", "vx", "nnapi"]


def test_the_coverage_verdict_names_what_is_not_compared():
    def run_of(model, delegate):
        return delegate_sim.analyze(str(MODELS / f"{model}.tflite"), delegate, defaults="benchmark").runs[0]

    gpu, plugin = run_of("transformer_block", "gpu"), run_of("transformer_block", "npu-google")
    assert coverage_verdict([gpu, plugin]).startswith("GPU runs ")
    assert coverage_verdict([gpu, plugin]).endswith(" A share is not speed; not ranked: NPU plugins (they only select nodes)")
    nothing = run_of("variables", "hexagon")
    assert coverage_verdict([nothing, plugin]).startswith("1 NPU plugin (no other target runs a node): the plugin ")
    both = coverage_verdict([plugin, run_of("transformer_block", "npu-mediatek")])
    assert both.startswith("2 NPU plugins, without a ranking: they take 95.2 % to 100 % of nodes; this is no promise, ")
    assert coverage_verdict([nothing]).startswith("Hexagon ")


@pytest.mark.parametrize(
    ("model", "delegates", "beginning"),
    [
        ("transformer_block", ("nnapi", "gpu", "mldrift"), "Largest share of 3 targets: GPU and ML Drift run 98.4 % "),
        (
            "quantized_block",
            ("nnapi", "gpu", "hexagon"),
            "2 of 3 targets run all nodes (7): GPU and NNAPI on Android 13 (deprecated since Android 15). A share is not speed",
        ),
        (
            "quantized_block",
            ("nnapi", "neutron-imx95"),
            "The Neutron delegate (lf-6.6.23) takes 42.8 % of nodes and 100 % of multiply-adds; 1 QUANTIZE and 3 other nodes "
            "stay on the CPU. A share is not speed; not ranked: NNAPI on Android 13 (deprecated since Android 15, takes more)",
        ),
        (
            "quantized_block",
            ("nnapi", "coreml"),
            "1 of 2 targets runs all nodes (7): NNAPI on Android 13 (deprecated since Android 15)",
        ),
        ("transformer_block", ("hexagon", "xnnpack"), "Hexagon runs no node. XNNPACK runs 88.8 % of nodes "),
        ("transformer_block", ("hexagon", "xnnpack", "gpu"), "1 of 2 targets runs nodes: GPU runs 98.4 % "),
    ],
)
def test_all_targets_with_the_largest_share_are_named(model, delegates, beginning):
    path = str(MODELS / f"{model}.tflite")
    runs = [delegate_sim.analyze(path, name, defaults="benchmark").runs[0] for name in delegates]
    assert coverage_verdict(runs).startswith(beginning)


@pytest.mark.parametrize(
    ("delegate", "options", "release"),
    [
        ("armnn", {}, "23.08"),
        ("teflon", {}, "Mesa 25.0"),
        ("teflon", {"mesa": "main", "driver": "rocket"}, "Mesa main"),
        ("neutron-imx95", {"release": "lf-6.6.3"}, "lf-6.6.3"),
        ("ethosu-imx93", {}, "lf-6.6.3"),
        ("vx", {}, ""),
    ],
)
def test_the_release_of_the_delegates_own_software(delegate, options, release):
    (run,) = delegate_sim.analyze(chain_model(["ADD"]).bytes(), delegate, options).runs
    assert run.delegate.own_release(run.target.options) == release
    assert f"({release})" in subject(run.target) or not release


NOT_COMPILED = (
    "The model is not compiled for the Edge TPU yet: compile it with edgetpu_compiler, which compiles only integer nodes. Which "
    "nodes the compiler takes is not simulated"
)
WAITING = "the Edge TPU's delegate (not compiled yet)"
WRONG = "Teflon (Mesa 25.0) (computes nodes wrongly)"


@pytest.mark.parametrize(
    ("model", "delegates", "beginning", "end"),
    [
        ("quantized_block", ("edgetpu",), NOT_COMPILED, ""),
        (
            "transformer_block",
            ("edgetpu", "xnnpack"),
            f"{NOT_COMPILED}. XNNPACK ",
            "",
        ),
        (
            "quantized_block",
            ("edgetpu", "gpu"),
            "GPU runs all nodes ",
            "the Edge TPU's delegate (not compiled yet)",
        ),
        ("quantized_block", ("edgetpu", "npu-google"), f"{NOT_COMPILED}. 1 NPU plugin ", "not yet compiled"),
        (
            "transformer_block",
            ("edgetpu", "hexagon"),
            "Hexagon ",
            "",
        ),
        ("mobilenet_block", ("teflon", "vx"), "The VX delegate takes ", WRONG),
        (
            "mobilenet_block",
            ("teflon", "hexagon"),
            "1 of 2 targets runs nodes: Teflon (Mesa 25.0) runs ",
            "A share is not speed",
        ),
        ("mobilenet_block", ("teflon", "xnnpack"), "Teflon (Mesa 25.0) runs ", "not ranked: XNNPACK (the CPU)"),
    ],
)
def test_targets_that_wait_for_a_compiler_or_compute_wrongly_are_not_ranked(model, delegates, beginning, end):
    path = str(MODELS / f"{model}.tflite")
    text = coverage_verdict([delegate_sim.analyze(path, name, defaults="benchmark").runs[0] for name in delegates])
    assert (text[: len(beginning)], text[len(text) - len(end) :]) == (beginning, end)


@pytest.mark.parametrize(
    ("ops", "keys", "compiler", "counted"),
    [
        (("RELU", "RELU"), {"awaits_compiler": "edgetpu_compiler"}, "edgetpu_compiler", False),
        ((COMPILED, "RELU"), {"has_programs": True}, "", True),
        ((COMPILED,), {"has_programs": True}, None, True),
    ],
)
def test_what_is_known_of_compiled_models(ops, keys, compiler, counted):
    report = delegate_sim.analyze(edge_tpu_model(*ops), "edgetpu", {})
    (run,) = report.runs
    (entry,) = report.to_dict()["runs"]
    compute = compute_of(run)
    blocker = main_blocker(report.model, run, compute)
    assert {key: entry[key] for key in ("awaits_compiler", "has_programs") if key in entry} == keys
    assert (None if blocker is None else blocker.compiler) == compiler
    assert compute.has_programs == counted
    is_part = 0 < len(run.subgraphs[0].delegated) < len(ops)
    assert ("a compiled program counts as one node" in verdict(run)) == is_part


def test_targets_with_the_same_name_are_told_apart():
    path = str(MODELS / "transformer_block.tflite")
    runs = [
        delegate_sim.analyze(path, "mldrift", {"backend": backend}, defaults="api").runs[0] for backend in ("opencl", "metal")
    ]
    assert coverage_verdict(runs).startswith(
        "Largest share of 2 targets: ML Drift (opencl) and ML Drift (metal) run 98.4 % of nodes"
    )
    assert coverage_verdict(runs[:1] * 2).startswith("Largest share of 2 targets: ML Drift runs 98.4 % of nodes")

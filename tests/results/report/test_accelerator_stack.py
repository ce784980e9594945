"""The nodes that CompiledModel gives to NPU, GPU and CPU, and its reaction to failures."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.results.report.accelerator_stack import Stack, parse_accelerators, simulate_stack, simulate_stacks
from delegate_sim.results.report.measures import FAILS_LATER, measure
from delegate_sim.results.report.placement import placements
from fixtures.builder import ModelBuilder
from tests.support.delegates.mldrift_build_cases import CASES, model_of
from tests.support.delegates.npu_models import chain, compiled, with_composites
from tests.support.gate_models import reshaper

ALL = ("npu", "gpu", "cpu")


def result(builder, accelerators=ALL, soc="mediatek:mt6991", **options):
    return simulate_stack(delegate_sim.load(builder.bytes()), Stack(accelerators, soc, options))


def places(found, subgraph=0):
    return [place for _, place in placements(found.report.runs)[subgraph]]


def test_each_takes_what_those_before_it_leave():
    found = result(chain(["TANH", "TANH", "ELU", "CEIL", "SIGN", "TANH", "ELU", "SIGN"]))
    assert places(found) == ["npu-mediatek"] * 2 + ["mldrift"] * 3 + ["npu-mediatek", "xnnpack", "cpu"]
    assert found.is_created
    assert [line for run in found.report.runs for line in run.log_lines] == [
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 3 ops, from a total of 8 ops. resulted in 2 partitions.",
        "Replacing 2 out of 7 node(s) with delegate (DispatchDelegate) node, yielding 4 partitions for subgraph 0 (main).",
        "Following operations are not supported by GPU delegate:",
        "DELEGATE DispatchDelegate: Operation is not supported.",
        "3 operations will run on the GPU, and the remaining 4 operations will run on the CPU.",
        "Replacing 3 out of 7 node(s) with delegate (LITERT_CL) node, yielding 3 partitions for subgraph 0 (main).",
        "Replacing 1 out of 5 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0 (main).",
    ]


def test_the_gpu_that_cannot_be_applied_is_no_failure_of_the_plugin():
    found = result(chain(["TANH", "ELU"]), hint_fully_delegated=True)
    assert not found.is_created
    assert [run.delegate.name for run in found.report.runs] == ["npu-mediatek", "mldrift"]


def test_kernels_that_cannot_be_made_fail_the_model():
    case = next(case for case in CASES if case.op == "PRELU" and case.code is not None)
    model = delegate_sim.load(model_of(case))
    for backend in ("webgpu", "opencl"):
        found = simulate_stack(model, Stack(("gpu", "cpu"), options={"backend": backend}))
        assert (found.is_created, bool(found.places())) == ((backend == "opencl"),) * 2
        assert [run.outcome for run in found.report.runs] == ["delegated"]
        assert bool(found.notes) == (backend == "webgpu")


def test_nodes_of_bodies_are_placed_where_they_run():
    found = result(with_composites(["TANH", ("other", 1, b"")], [["TANH", "CEIL"]]), ("npu", "cpu"))
    assert places(found) == ["npu-mediatek", "cpu"]
    assert places(found, 1) == ["npu-mediatek", "xnnpack"]


@pytest.mark.parametrize(
    ("builder", "accelerators", "words"),
    [
        (chain(["TANH"]), ALL, "and ML Drift then runs 100 % of nodes"),
        (chain(["TANH"]), ("npu", "cpu"), "and CompiledModel continues with the CPU"),
        (chain(["TANH"]), ("npu",), "and CompiledModel is not created, because it has no other accelerator"),
        (chain(["SOFTMAX"]), ("npu", "gpu"), "and CompiledModel is not created, because the CPU is not among the accelerators"),
        (
            reshaper(is_dynamic=True),
            ALL,
            "and CompiledModel is not created, because tensor 3 (flat) of subgraph 0 is dynamic",
        ),
    ],
)
def test_what_happens_without_the_npu(builder, accelerators, words):
    model = delegate_sim.load(builder.bytes())
    first, second = [
        [note for note in found.notes if note.startswith("selected nodes are not yet compiled")]
        for found in simulate_stacks(model, [Stack(accelerators, soc) for soc in ("google:Tensor_G5", "mediatek:mt6991")])
    ]
    assert f"nothing runs on the NPU, {words}" in first[0]
    assert first == second


def test_a_plugin_that_fails_leaves_everything_to_the_others():
    found = result(chain(["TANH"]), soc="mediatek:mt0")
    assert places(found) == ["mldrift"]
    assert found.is_created


def test_more_islands_than_allowed():
    found = result(chain(["TANH", "ELU", "TANH"]), max_partitions=1)
    assert "npu-mediatek" not in places(found)


def test_a_model_that_litert_does_not_load():
    found = result(chain(["RELU"], variable=True))
    assert not found.is_created
    assert len(found.report.runs) == 1


def test_without_the_cpu_everything_must_be_taken():
    assert result(chain(["TANH"]), ("npu",)).is_created
    found = result(chain(["TANH", "CEIL"]), ("npu",))
    assert not found.is_created
    assert "node 1 (CEIL)" in found.refusal
    (entry,) = found.to_dict()["runs"]
    assert (entry["outcome"], entry["refusal"]["code"]) == ("delegated", "not-fully-accelerated")
    assert measure(found.report.runs[0]).outcome == FAILS_LATER


def test_the_failure_of_the_only_plugin_is_the_reason():
    found = result(chain(["TANH"]), ("npu",), "mediatek:mt0")
    assert (found.is_created, found.refusal) == (False, "Unexpected SoC model: mt0")


@pytest.mark.parametrize(("soc", "is_told"), [("google:Tensor_G5", False), ("google:Tensor_G4", True), ("mediatek:mt6991", True)])
def test_code_for_another_soc_is_told(soc, is_told):
    for accelerators in (("npu", "gpu", "cpu"), ("npu",)):
        notes = result(compiled(), accelerators, soc).notes
        words = f"the compiled code is for Tensor_G5 and may not run on {soc}"
        assert any(words in note for note in notes) == is_told


def test_a_compiled_model_is_not_given_to_a_plugin_again():
    found = result(compiled())
    assert [run.delegate.name for run in found.report.runs] == ["mldrift", "xnnpack"]
    assert places(found)[1] == "npu"


@pytest.mark.parametrize(
    ("builder", "accelerators", "options", "sentence"),
    [
        (chain(["CEIL"]), ALL, {}, "selects no node"),
        (chain(["TANH"]), ALL, {"soc": "mediatek:mt0"}, "the plugin fails (Unexpected SoC model: mt0)"),
        (chain(["TANH", "ELU", "TANH"]), ALL, {"max_partitions": 1}, "exceeds the maximum allowed (1)"),
        (chain(["RELU"], variable=True), ALL, {}, "LiteRT cannot load the model"),
        (
            chain(["TANH", "CEIL"]), ("npu",), {},
            "the CPU is not among the accelerators, and node 1 (CEIL) stays on the CPU, so CompiledModel is not created",
        ),
        (
            chain(["TANH", "ELU"]), ALL, {"hint_fully_delegated": True},
            "mldrift cannot be applied, so CompiledModel is not created, and no other accelerator is tried",
        ),
        (compiled(), ALL, {}, "already compiled for Google Tensor_G5"),
    ],
)  # fmt: skip
def test_sentences_of_notes(builder, accelerators, options, sentence):
    assert any(sentence in note for note in result(builder, accelerators, **options).notes)


def test_the_cpu_alone():
    assert places(result(chain(["TANH"]), ("cpu",), "")) == ["xnnpack"]


def test_json():
    entry = result(chain(["TANH"])).to_dict()
    assert entry["compiled_model"]["soc"] == "mediatek:mt6991"
    assert entry["compiled_model"]["created"] is True
    assert entry["runs"][0]["state"] == "selected"


def test_accelerators_come_in_their_own_order():
    assert parse_accelerators("cpu, npu") == ("npu", "cpu")
    for text in ("", "tpu"):
        with pytest.raises(delegate_sim.OptionError, match="the accelerators are npu, gpu, cpu"):
            parse_accelerators(text)


@pytest.mark.parametrize("soc", ["", "qualcomm:SM8750", ":x", "acme:1", "google", "mediatek:", "mediatek: "])
def test_the_vendor_and_the_soc_must_be_named(soc):
    with pytest.raises(delegate_sim.OptionError, match=r"VENDOR:SOC|known vendors|cannot be simulated|give one of its SoCs"):
        result(chain(["TANH"]), soc=soc)


def test_a_plugin_comes_first():
    with pytest.raises(delegate_sim.OptionError, match="must be the first delegate"):
        delegate_sim.simulate(chain(["TANH"]).bytes(), [("gpu", {}), ("npu-google", {})], defaults="api")


@pytest.mark.parametrize(
    ("accelerators", "is_assumed", "code"),
    [
        (ALL, False, "stub-not-delegated"),
        (("gpu", "cpu"), False, "stub-not-delegated"),
        (("cpu",), False, "stub-not-delegated"),
        (("gpu",), False, "not-fully-accelerated"),
        (("npu",), False, "operator-not-registered"),
        (ALL, True, None),
    ],
)
def test_a_stub_that_no_accelerator_replaces_fails_when_it_is_invoked(accelerators, is_assumed, code):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("in", "FLOAT32", (1, 4)), *[graph.tensor(f"t{number}", "FLOAT32", (1, 4)) for number in range(2)]]
    graph.node("TANH", tensors[:1], tensors[1:2])
    graph.node("CUSTOM", tensors[1:2], tensors[2:3], custom="MaxUnpooling2D")
    graph.outputs(tensors[2])
    soc = "mediatek:mt6991" if "npu" in accelerators else ""
    model = delegate_sim.load(builder.bytes())
    found = simulate_stack(model, Stack(accelerators, soc, assume_ops_registered=is_assumed))
    refusals = [run.refusal for run in found.runs]
    assert {refusal.code if refusal else None for refusal in refusals} == {code}
    assert found.is_created == (code in (None, "stub-not-delegated"))
    assert bool(found.refusal) == (code is not None)
    assert all(refusal is None or refusal.node == 1 for refusal in refusals)

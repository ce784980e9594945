"""Models that were compiled ahead of time."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.model.precompiled import compiled_elsewhere, compiled_for, precompiled
from delegate_sim.results.report.verdict import verdict
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import chain, compiled, run


def test_the_soc_and_the_code_are_told():
    found = precompiled(delegate_sim.load(compiled().bytes()))
    assert (found.manufacturer, found.soc, found.is_stamped, found.other_nodes) == ("Google", "Tensor_G5", True, 2)
    assert found.code_sizes == (1234,)
    assert "Google Tensor_G5: 1 of its 3 nodes" in found.words[0]


def test_a_stamp_of_another_size_is_none():
    builder = compiled()
    builder.metadata("LiteRtStamp", b"short")
    found = precompiled(delegate_sim.load(builder.bytes()))
    assert (found.is_stamped, found.is_compiled) == (False, True)
    assert "SoC" not in found.words[1]


def test_names_are_made_safe():
    assert "\x1b" not in "".join(precompiled(delegate_sim.load(compiled(soc="\x1b[1m").bytes())).words)


def test_other_models_have_nothing_to_tell():
    assert precompiled(delegate_sim.load(chain(["RELU"]).bytes())).words == ()


def test_reports_say_so():
    for name in ("npu-google", "nnapi"):
        assert any("already compiled" in warning for warning in run(compiled(), name)["warnings"])


@pytest.mark.parametrize(
    ("code", "accelerator"),
    [
        ("edgetpu-custom-op", "the Edge TPU"),
        ("vsi-npu", "VeriSilicon's NPU"),
        ("NeutronGraph", "NXP's Neutron"),
        ("ethos-u", "Arm's Ethos-U"),
        ("DISPATCH_OP", "an NPU"),
    ],
)
def test_what_each_compiler_leaves_in_the_file(code, accelerator):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    output = graph.tensor("out", "INT8", (1, 4))
    graph.node("CUSTOM", (graph.input("in", "INT8", (1, 4)),), (output,), custom=code)
    graph.outputs(output)
    model = delegate_sim.load(builder.bytes())
    assert compiled_elsewhere(model) == accelerator
    assert compiled_elsewhere(model, (code,)) == ""
    sentences = [*compiled_for(model), *precompiled(model).words]
    assert "compiled for" in sentences[0]
    assert code in sentences[0]


def test_the_verdict_of_another_target_names_the_accelerator_first():
    builder = compiled()
    found = delegate_sim.analyze(builder.bytes(), "nnapi").runs[0]
    assert "Google Tensor_G5. " in verdict(found)


def test_a_program_that_the_target_runs_is_not_named_in_the_verdict():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    output = graph.tensor("out", "INT8", (1, 4), scale=0.5, zero_point=0)
    graph.node("CUSTOM", (graph.input("in", "INT8", (1, 4), scale=0.5, zero_point=0),), (output,), custom="vsi-npu")
    graph.outputs(output)
    own, other = (delegate_sim.analyze(builder.bytes(), name).runs[0] for name in ("vx", "edgetpu"))
    assert ["VeriSilicon's NPU. " in verdict(each) for each in (own, other)] == [False, True]

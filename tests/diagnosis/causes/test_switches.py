"""Options of a delegate that remove refusals of types, in `diagnose` and `reconcile`."""

from __future__ import annotations

import pytest

from delegate_sim import diagnose, load, reconcile
from fixtures.builder import ModelBuilder

LOG = """INFO: Created TensorFlow Lite delegate for GPU.
Following operations are not supported by GPU delegate:
RELU: OP is supported, but tensor type isn't matched!
No operations will run on the GPU, and all 1 operations will run on the CPU.
INFO: Created 0 GPU delegate kernels.
"""
XNNPACK_LOG = """INFO: Created TensorFlow Lite XNNPACK delegate for CPU.
Though XNNPACK delegate is explicitly applied, the model graph will not be executed by the delegate.
"""


def quantized_logistic():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "INT8", [1, 4], scale=0.5, zero_point=0)
    result = graph.tensor("y", "INT8", [1, 4], scale=1 / 256, zero_point=-128)
    graph.node("LOGISTIC", [source], [result])
    graph.outputs(result)
    return builder.bytes()


def relu(type):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    quantization = {"scale": 0.5, "zero_point": 0} if type == "INT8" else {}
    source, result = (graph.input("x", type, [1, 4, 4, 2], **quantization), graph.tensor("y", type, [1, 4, 4, 2], **quantization))
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    return builder.bytes()


@pytest.mark.parametrize(("type", "is_switch"), [("INT8", True), ("INT32", False)])
def test_quantized_nodes_without_the_option(type, is_switch):
    finding, *_ = diagnose(relu(type), "gpu", options={"gpu_experimental_enable_quant": False}).findings
    assert (finding.cause.suggestion == "set-option") == is_switch
    assert finding.cause.codes == ("gpu-tensor-type",)
    if is_switch:
        assert finding.cause.remedy.options == {"allow_quant_ops": True}
        assert finding.cause.advice.changes[0].cost.measures.delegated_nodes == 1
        assert finding.cause.change.startswith("--gpu-experimental-enable-quant=true (1 of 1 nodes")


@pytest.mark.parametrize(("flags", "name"), [(0, "qs8"), (2, "qs8"), (1, None)])
def test_quantized_nodes_without_the_flag_of_xnnpack(flags, name):
    findings = diagnose(quantized_logistic(), "xnnpack", options={"xnnpack_flags": flags}).findings
    assert [(finding.cause.suggestion, dict(finding.cause.remedy.options)) for finding in findings] == (
        [("set-option", {name: True})] if name else []
    )


def test_a_log_of_xnnpack_without_the_flag(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(XNNPACK_LOG)
    assert dict(reconcile(load(quantized_logistic()), log).account.options) == {"qs8": False}


@pytest.mark.parametrize(("type", "options"), [("INT8", {"allow_quant_ops": False}), ("FLOAT32", None)])
def test_a_log_of_a_delegate_without_the_option(type, options, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(LOG)
    account = reconcile(load(relu(type)), log).account
    assert (account and dict(account.options)) == options

"""A log of another model is said to be one, in one line."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_contents import UnknownDelegateError
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model

QUESTION = "is the log from this model?"


def notes_on(log, *ops, delegate="Created TensorFlow Lite XNNPACK delegate for CPU."):
    found = reconcile(delegate_sim.load(chain_model(ops).bytes()), read_log(f"INFO: {delegate}\n{log}\n"))
    return [note for note in found.notes if QUESTION in note]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            "Replacing 31 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.",
            "counts 31 replaced nodes",
        ),
        (
            "Replacing 2 out of 31 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for subgraph 0.",
            "counts 31 nodes, but the model has 2",
        ),
        ("Node number 1 (RESHAPE) failed to prepare.", "is RESHAPE in the log, but in the model it is MUL"),
        ("Node number 7 (RESHAPE) failed to invoke.", "does not exist"),
        (
            "Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors "
            "(tensor#900 is a dynamic-sized tensor).",
            "names tensor 900 as dynamic",
        ),
    ],
)
def test_a_log_of_another_model(line, what):
    (note,) = notes_on(line, "ADD", "MUL")
    assert what in note


@pytest.mark.parametrize(
    "line",
    [
        "Replacing 2 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.",
        "Node number 1 (MUL) failed to prepare.",
        "Node number 2 (TfLiteXNNPackDelegate) failed to prepare.",
    ],
)
def test_a_log_that_may_be_of_the_model(line):
    assert notes_on(line, "ADD", "MUL") == []


def test_several_signs_are_one_line():
    log = (
        "Following operations are not supported by GPU delegate:\nSPLIT: Operation is not supported.\n"
        "97 operations will run on the GPU, and the remaining 3 operations will run on the CPU.\n"
        "Node number 100 (TfLiteGpuDelegateV2) failed to prepare.\n"
    )
    assert len(notes_on(log, "ADD", "MUL", delegate="Created TensorFlow Lite delegate for GPU.")) == 1


def test_a_node_of_the_model_that_fails_is_no_error_of_a_driver():
    line = "Node number 1 (MUL) failed to prepare.\nRestored original execution plan after delegate application failure.\n"
    found = reconcile(
        delegate_sim.load(chain_model(("ADD", "MUL")).bytes()),
        read_log(f"INFO: Created TensorFlow Lite delegate for NNAPI.\n{line}"),
    )
    assert found.status == "unexplained"
    assert not any("driver" in note for note in found.notes)
    assert [error.node for error in found.errors] == [1]


RESIZED = """\
INFO: Created TensorFlow Lite delegate for GPU.
ERROR: Following operations are not supported by GPU delegate:
{refused}
2 operations will run on the GPU, and the remaining 1 operations will run on the CPU.
VERBOSE: Replacing 2 out of {total} node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions for subgraph 0 (main).
INFO: Created 1 GPU delegate kernels.
"""


def resizing():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor, size = graph.input("x", "FLOAT32", [1, 4, 4, 2]), graph.tensor("size", "INT32", [2], data=[8, 8])
    result = graph.tensor("y", "FLOAT32", [1, 8, 8, 2])
    graph.node("RESIZE_BILINEAR", [tensor, size], [result], 1, {})
    for name in ("ABS", "TANH"):
        tensor, result = result, graph.tensor(name, "FLOAT32", [1, 8, 8, 2])
        graph.node(name, [tensor], [result])
    graph.outputs(result)
    return delegate_sim.load(builder.bytes())


@pytest.mark.parametrize(("total", "agrees"), [(3, True), (4, None)])
def test_a_delegates_own_line_counts_the_nodes(total, agrees):
    log = read_log(f"INFO: EthosuDelegate: 1 nodes delegated out of {total} nodes with 1 partitions.\n")
    assert reconcile(resizing(), log).counts_agree is agrees


def test_a_log_of_micro_is_read_by_another_command():
    log = read_log("Didn't find op for builtin opcode 'RESHAPE' version '1'\nFailed to get registration from op code RESHAPE\n")
    with pytest.raises(UnknownDelegateError, match="use delegate-sim micro MODEL --resolver FILE"):
        reconcile(resizing(), log)


@pytest.mark.parametrize(
    ("refused", "is_other"),
    [
        ("RESIZE_BILINEAR: Expected 1 runtime input tensor(s), but node has 2 runtime input(s).", True),
        ("RESIZE_BILINEAR: Expected 2 runtime input tensor(s), but node has 1 runtime input(s).", False),
        ("RESIZE_BILINEAR: Max version supported: 2. Requested version 3.", True),
        ("RESIZE_BILINEAR: Max version supported: 0. Requested version 1.", False),
    ],
)
def test_a_refused_operator_of_another_form_is_of_another_conversion(refused, is_other):
    found = reconcile(resizing(), read_log(RESIZED.format(refused=refused, total=3)))
    assert (found.status, any("another conversion" in doubt for doubt in found.doubts)) == ("unexplained", is_other)
    assert (found.counts_agree, found.closest) == (True, None)
    assert reconcile(resizing(), read_log(RESIZED.format(refused=refused, total=4))).counts_agree is False

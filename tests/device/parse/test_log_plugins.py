"""LiteRT's log of what a compiler plugin selected, against the simulation."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.device.compare.row_matching import OTHER_MODEL
from delegate_sim.device.parse.log import join_logs, read_log
from delegate_sim.device.parse.log_contents import Count, ReconcileError
from tests.support.delegates.npu_models import chain
from tests.support.device.logs import summary

MODEL = chain(["RELU", "NEG", "RELU"]).bytes()
LINE = "Partitioned subgraph<0>, selected {} ops, from a total of 3 ops. resulted in {} partitions."
LOG = f"INFO: [compiler_plugin.cc:524] Partition strategy: 0\nINFO: [compiler_plugin.cc:742] {LINE.format(2, 2)}\n"


def test_the_line_is_read():
    (found,) = read_log(LOG).plugins
    assert found == Count(LINE.format(2, 2), "compiled", 2, 3, 1, 2, None, 0)
    assert join_logs([("a", read_log("")), ("b", read_log(LOG))]).plugins == (found,)


def test_the_same_is_reproduced():
    found = delegate_sim.reconcile(MODEL, read_log(LOG), "npu-mediatek")
    assert found.status == "reproduced"
    assert (found.device.delegated, found.device.partitions, found.device.on_cpu) == (2, 2, 1)


def test_only_releases_with_the_plugin_come_into_question():
    def releases(delegate):
        return [str(release) for release in delegate_sim.reconcile(MODEL, read_log(LOG), delegate).setting.releases]

    assert releases("npu-mediatek")[0] == "litert-2.1"
    assert releases("npu-mediatek") == releases("nnapi")[-3:]


def test_what_differs_is_told():
    found = delegate_sim.reconcile(MODEL, read_log(LOG), "npu-google")
    assert found.status == "unexplained"
    (difference,) = found.differences
    assert "device: Partitioned subgraph<0>, selected 2 ops" in difference


def test_a_log_without_a_plugin():
    line = "Replacing 1 out of 3 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for subgraph 0 (main)."
    with pytest.raises(ReconcileError, match="no line of a compiler plugin"):
        delegate_sim.reconcile(MODEL, read_log(line), "npu-google")


STACK = f"""{LOG}INFO: Replacing 2 out of 3 node(s) with delegate (DispatchDelegate) node, yielding 3 partitions for subgraph 0.
ERROR: Following operations are not supported by GPU delegate:
DELEGATE DispatchDelegate: Operation is not supported.
CUSTOM MyOp: Operation is not supported.
1 operations will run on the GPU, and the remaining 2 operations will run on the CPU.
INFO: Replacing 1 out of 3 node(s) with delegate (LITERT_CL) node, yielding 3 partitions for subgraph 0 (main).
"""


def test_lines_of_what_comes_after_a_plugin_are_not_foreign_to_it():
    found = delegate_sim.reconcile(MODEL, read_log(STACK), "npu-mediatek")
    assert found.status == "reproduced"
    assert not any("simulated delegate" in note for note in found.notes)


def test_kernels_and_custom_operators_among_what_the_gpu_refuses():
    found = summary(STACK)
    assert [refusal[:2] for refusal in found.refusals] == [
        ("DELEGATE DispatchDelegate", "Operation is not supported."),
        ("MyOp", "Operation is not supported."),
    ]
    assert found.errors == ()


def test_what_comes_after_a_plugin_is_no_sign_of_another_model():
    found = delegate_sim.reconcile(MODEL, read_log(STACK.replace("out of 3 node", "out of 30 node")), "mldrift")
    assert not any(OTHER_MODEL in note for note in found.notes)
    assert "give --accelerators npu,gpu,cpu --soc VENDOR:SOC" in found.notes[0]


def test_another_delegates_kernel_is_no_sign_of_another_model():
    found = delegate_sim.reconcile(MODEL, read_log(STACK), "mldrift")
    assert not any("DELEGATE" in note for note in found.notes)


def test_what_a_plugin_selects_is_counted_where_nothing_runs_it():
    delegate = summary(LOG).delegate
    assert delegate.outcome == "requested"
    (count,) = delegate.counts
    assert (count.source, count.delegated, count.total, count.partitions) == ("compiled", 2, 3, 2)


ONE = "does not show the vendor; give --delegate with one of npu-google, npu-intel"
SEVERAL = "shows several accelerators of LiteRT 2, npu and gpu; give --accelerators npu,gpu,cpu --soc VENDOR:SOC"


@pytest.mark.parametrize(("text", "words"), [(LOG, ONE), (STACK, SEVERAL)])
def test_a_plugins_log_needs_the_vendor(text, words):
    with pytest.raises(ReconcileError, match=words):
        delegate_sim.reconcile(MODEL, read_log(text))


def test_the_name_of_a_library_tells_the_vendor():
    library = "INFO: [compiler_plugin.cc:280] Loading plugin at: /data/local/tmp/libLiteRtCompilerPlugin_MediaTek.so\n"
    assert delegate_sim.reconcile(MODEL, read_log(library + LOG)).setting.delegate.name == "npu-mediatek"


def test_no_kernels_are_counted_of_what_is_only_selected():
    found = delegate_sim.reconcile(MODEL, read_log(LOG), "npu-mediatek")
    assert (found.simulated.delegated, found.simulated.partitions, found.simulated.kernels) == (2, 2, None)

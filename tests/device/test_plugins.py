"""LiteRT's log of what a compiler plugin selected, against the simulation."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.device.log import ReconcileError, join_logs, read_log
from tests.delegates.npu.models import chain

MODEL = chain(["RELU", "NEG", "RELU"]).bytes()
LINE = "Partitioned subgraph<0>, selected {} ops, from a total of 3 ops. resulted in {} partitions."
LOG = f"INFO: [compiler_plugin.cc:524] Partition strategy: 0\nINFO: [compiler_plugin.cc:742] {LINE.format(2, 2)}\n"


def test_the_line_is_read():
    (found,) = read_log(LOG).plugins
    assert found == (LINE.format(2, 2), 0, 2, 3, 2)
    assert join_logs([("a", read_log("")), ("b", read_log(LOG))]).plugins == (found,)


def test_the_same_is_reproduced():
    found = delegate_sim.reconcile(MODEL, read_log(LOG), "npu-mediatek")
    assert found.status == "reproduced"
    assert (found.device.delegated, found.device.kernels, found.device.on_cpu) == (2, 2, 1)


def test_what_differs_is_told():
    found = delegate_sim.reconcile(MODEL, read_log(LOG), "npu-google")
    assert found.status == "unexplained"
    (difference,) = found.differences
    assert difference.startswith("of subgraph 0 the device has: Partitioned subgraph<0>, selected 2 ops")


def test_a_log_without_a_plugin():
    line = "Replacing 1 out of 3 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for subgraph 0 (main)."
    with pytest.raises(ReconcileError, match="no line of a compiler plugin"):
        delegate_sim.reconcile(MODEL, read_log(line), "npu-google")

"""The Edge TPU's delegate takes its own custom operator alone, in one call for each."""

from __future__ import annotations

import pytest

import delegate_sim
from tests.support.edge_tpu import COMPILED, edge_tpu_model

LINE = (
    "Replacing 1 out of {nodes} node(s) with delegate (EdgeTpuDelegateForCustomOp) node, yielding {partitions} partitions for "
    "subgraph 0 (main)."
)


def run(*ops, name="edgetpu"):
    return delegate_sim.analyze(edge_tpu_model(*ops), name, {}).runs[0]


def lines_of(found):
    return [line for line in found.log_lines if line.startswith("Replacing")]


def test_the_whole_model():
    found = run(COMPILED)
    assert found.outcome == "delegated"
    assert lines_of(found) == [LINE.format(nodes=1, partitions=1)]


def test_what_was_not_compiled_stays_on_the_cpu():
    found = run("RELU", COMPILED, "RELU")
    (subgraph,) = found.subgraphs
    assert subgraph.delegated == {1}
    assert lines_of(found) == [LINE.format(nodes=3, partitions=3)]
    reason = subgraph.decision.verdicts[0].reasons[0]
    assert reason.kind == "unsupported-operator"
    assert "edgetpu_compiler" in reason.hint


def test_each_program_is_replaced_in_a_call_of_its_own():
    found = run(COMPILED, "RELU", COMPILED)
    assert [line.partition(" with")[0] for line in lines_of(found)] == ["Replacing 1 out of 3 node(s)"] * 2
    assert [len(subset.nodes) for subset in found.subgraphs[0].subsets] == [1, 1, 1]


def test_programs_that_follow_each_other_are_not_joined():
    assert [subset.is_delegated for subset in run(COMPILED, COMPILED).subgraphs[0].subsets] == [True, True]


def test_a_model_that_was_not_compiled():
    found = run("RELU", "RELU")
    assert not lines_of(found)
    assert found.outcome == "none"


@pytest.mark.parametrize("name", ["nnapi", "gpu", "vx", "xnnpack"])
def test_other_targets_say_what_the_model_was_compiled_for(name):
    found = run(COMPILED, "RELU", name=name)
    assert "compiled for the Edge TPU: 1 of its 2 nodes" in found.warnings[0]


def test_its_own_target_says_that_nothing_else_runs_it():
    assert "not even on the CPU" in run(COMPILED).warnings[0]

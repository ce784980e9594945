"""The sentence that says which side of a comparison is better."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.results.compare.comparison_verdict import better_side, comparison_verdict
from delegate_sim.results.report.measures import NOT_PREPARED, Measures

MEASURES = Measures("delegated", 10, 5, 3, 2, 100)


def side(delegate="gpu", multiply_adds=(50, 100), size=1000, **measures):
    delegated, total = multiply_adds
    return SimpleNamespace(
        measures=replace(MEASURES, **measures),
        compute=SimpleNamespace(multiply_adds=total, delegated_multiply_adds=delegated),
        model=SimpleNamespace(size=size),
        run=SimpleNamespace(delegate=find_delegate(delegate)),
    )


@pytest.mark.parametrize(
    ("a", "b", "better", "text"),
    [
        (side(), side(), "", "A and B are equal: both delegate 50 % of nodes and 50 % of multiply-adds"),
        (
            side("xnnpack"),
            side("mldrift"),
            "",
            "A and B are equal: both delegate 50 % of nodes and 50 % of multiply-adds; A computes on the CPU; these counts are "
            "not speed",
        ),
        (side("micro"), side("micro"), "", "A and B are equal: both accept 50 % of nodes and 50 % of multiply-adds"),
        (side(), side(multiply_adds=(90, 100)), "B", "B is better: 90 % instead of 50 % of multiply-adds"),
        (side(multiply_adds=(90, 100)), side(), "A", "A is better: 90 % instead of 50 % of multiply-adds"),
        (
            side(),
            side(multiply_adds=(90, 100), delegated_nodes=4, delegate_kernels=1, border_bytes=0),
            "B",
            "B is better: 90 % instead of 50 % of multiply-adds, 1 instead of 2 delegate kernels, "
            "but 40 % instead of 50 % of nodes",
        ),
        (
            side("mldrift", wrong_results=0, possibly_wrong_results=1),
            side("mldrift", multiply_adds=(90, 100), wrong_results=2, possibly_wrong_results=0),
            "A",
            "A is better: 0 instead of 2 wrong results, but 50 % instead of 90 % of multiply-adds, 1 instead of 0 possibly wrong "
            "results",
        ),
        (
            side("gpu", wrong_results=0, possibly_wrong_results=10),
            side("gpu", wrong_results=0, possibly_wrong_results=0, border_bytes=1000),
            "B",
            "B is better: 0 instead of 10 possibly wrong results",
        ),
        (
            side("mldrift", wrong_results=1, possibly_wrong_results=0),
            side("mldrift", wrong_results=1, possibly_wrong_results=0),
            "",
            "A and B are equal: both delegate 50 % of nodes and 50 % of multiply-adds; A has 1 wrong result; B has 1 wrong "
            "result",
        ),
        (
            side("gpu"),
            side("mldrift", multiply_adds=(90, 100), wrong_results=2, possibly_wrong_results=1),
            "",
            "No side is called better, because B has 2 wrong results and 1 possibly wrong result, and the numbers of gpu are not "
            "known",
        ),
        (
            side("gpu", multiply_adds=(90, 100)),
            side("mldrift", wrong_results=2),
            "A",
            "A is better: 90 % instead of 50 % of multiply-adds; B has 2 wrong results; the numbers of gpu are not known; these "
            "counts are not speed",
        ),
        (
            side("edgetpu", outcome="none", delegated_nodes=0, multiply_adds=(0, 100)),
            side(),
            "",
            "No side is called better, because the model of A is not compiled with edgetpu_compiler yet, and the compiler is not "
            "simulated",
        ),
        (side(nodes=8), side(), "A", "A is better: 3 instead of 5 nodes on the CPU"),
        (side(), side(nodes=7, delegated_nodes=2), "", "A and B are equal: both leave 5 nodes on the CPU"),
        (
            side(outcome="none", nodes=5, delegated_nodes=0, multiply_adds=(0, 9)),
            side(nodes=7, delegated_nodes=2, multiply_adds=(0, 9)),
            "",
            "A and B are equal: both leave 5 nodes on the CPU",
        ),
        (
            side("npu-google", nodes=8),
            side("npu-intel"),
            "A",
            "A is better: 3 instead of 5 nodes off the NPU; these counts are not speed",
        ),
        (
            side(outcome="none", nodes=8, delegated_nodes=0, multiply_adds=(0, 9)),
            side(outcome="none", delegated_nodes=0, multiply_adds=(0, 9)),
            "",
            "A and B are equal: no node is delegated",
        ),
        (side(), side(border_bytes=1000), "A", "A is better: 100 instead of 1,000 boundary bytes"),
        (
            side(multiply_adds=(50_000, 100_000)),
            side(multiply_adds=(50_001, 100_000)),
            "B",
            "B is better: 50,001 of 100,000 instead of 50,000 of 100,000 multiply-adds",
        ),
        (side(), side(delegate_kernels=1, size=3900), "B",
         "B is better: 1 instead of 2 delegate kernels; its file has 3.9 times the size of the other file"),
        (side(size=4000), side(delegate_kernels=1), "B",
         "B is better: 1 instead of 2 delegate kernels; its file has 25 % of the size of the other file"),
        (side(outcome=NOT_PREPARED), side(multiply_adds=(0, 0)), "B", "B is better: the model does not run with A"),
        (side(outcome=NOT_PREPARED), side(outcome=NOT_PREPARED), "", "A and B are equal: the model does not run"),
        (
            side(outcome="none", delegated_nodes=0, multiply_adds=(0, 9)),
            side(outcome="restored", delegated_nodes=0, multiply_adds=(0, 9)),
            "",
            "A and B are equal: no node is delegated",
        ),
        (
            side("npu-google"),
            side(),
            "",
            "No side is called better, because npu-google only selects nodes and does not run them",
        ),
        (
            side("npu-google"),
            side("npu-intel", delegate_kernels=1),
            "B",
            "B is better: 1 instead of 2 partitions to compile; these counts are not speed",
        ),
    ],
)  # fmt: skip
def test_verdict(a, b, better, text):
    assert better_side(a, b) == better
    assert comparison_verdict(a, b) == text


def test_a_comparison_has_its_verdict():
    comparison = delegate_sim.compare("fixtures/models/transformer_block.tflite", changed={"android": "11"})
    entry = comparison.to_dict()
    assert entry["better"] == "A"
    assert entry["verdict"] == comparison.verdict
    assert comparison.verdict.startswith("A is better: 11.1 % instead of 5.5 % of multiply-adds, ")

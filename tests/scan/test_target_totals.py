"""Verdicts on many models."""

from __future__ import annotations

import pytest

from delegate_sim.results.report.measures import TAKEN
from delegate_sim.scan.totals import TargetTotals


def totals(delegated: int, numbers=((), ())) -> TargetTotals:
    own = TargetTotals()
    for pair in numbers:
        own.add(TAKEN if delegated else "none", 10, delegated, 100, delegated * 10, *pair)
    return own


@pytest.mark.parametrize(
    ("taken", "verdict"),
    [
        (
            {"gpu": 5, "vx": 6, "nnapi 11": 4, "nnapi 13": 7},
            "Largest share of 3 targets: vx takes 60 % of nodes and 60 % of multiply-adds of 2 models. A share is not speed; not "
            "ranked: nnapi 13 (deprecated since Android 15, takes more)",
        ),
        (
            {"gpu": 0, "vx": 0, "nnapi 11": 4, "nnapi 13": 7},
            "Largest share of 4 targets: nnapi 13 runs 70 % of nodes and 70 % of multiply-adds of 2 models. A share is not speed",
        ),
        (
            {"gpu": 5, "vx": 6, "nnapi 11": 4, "npu-google": 10},
            "Largest share of 3 targets: vx takes 60 % of nodes and 60 % of multiply-adds of 2 models. A share is not speed; not "
            "ranked: NPU plugins (they only select nodes)",
        ),
        (
            {"gpu": 6, "vx": 6, "nnapi 11": 4, "xnnpack": 10},
            "Largest share of 3 targets: gpu and vx run 60 % of nodes and 60 % of multiply-adds of 2 models. A share is not "
            "speed; not ranked: XNNPACK (the CPU)",
        ),
        (
            {"gpu": 0, "vx": 0, "nnapi 11": 0, "xnnpack": 10},
            "None of 3 accelerators runs a node. xnnpack runs 100 % of nodes and 100 % of multiply-adds of 2 models. A share is "
            "not speed",
        ),
        (
            {"gpu": 0, "vx": 0, "npu-intel": 5, "npu-google": 10},
            "2 NPU plugins (no other target runs a node), without a ranking: they take 50 % to 100 % of nodes of 2 models; this "
            "is no promise, because selected nodes are not yet compiled",
        ),
        (
            {"gpu": 0, "vx": 0, "nnapi 11": 0, "npu-google": 10},
            "1 NPU plugin (no other target runs a node): npu-google takes 100 % of nodes and 100 % of multiply-adds of 2 models; "
            "this is no promise, because selected nodes are not yet compiled",
        ),
        ({"gpu": 0, "vx": 0, "nnapi 11": 0, "npu-google": 0}, "None of 4 targets runs a node of 2 models"),
    ],
)
def test_many_targets_have_the_verdict_of_a_single_model(taken, verdict):
    """Compiler plugins are named, but never ranked with delegates."""
    assert TargetTotals.verdicts({target: totals(nodes) for target, nodes in taken.items()}) == [verdict]


@pytest.mark.parametrize(
    ("counts", "judged", "text"),
    [
        ([(None, None), (None, None)], 0, ""),
        ([(0, 0), (0, 0)], 2, ""),
        ([(3, 1), (0, 2)], 2, "; the target computes parts of 1 model wrongly; the target may compute parts of 1 model wrongly"),
    ],
)
def test_a_verdict_counts_models_with_wrong_numbers(counts, judged, text):
    own = totals(10, counts)
    assert own.judged == judged
    assert own.verdict("mldrift") == f"mldrift runs 100 % of nodes and 100 % of multiply-adds of 2 models{text}"


@pytest.mark.parametrize(
    ("right", "leader"),
    [(10, "3 of 4 targets run all models: gpu, vx and nnapi "), (6, "Largest share of 4 targets: gpu, vx and nnapi run 60 %")],
)
def test_models_with_wrong_results_do_not_count(right, leader):
    own = {name: totals(right) for name in ("gpu", "vx", "nnapi")}
    (verdict,) = TargetTotals.verdicts({"mldrift": totals(10, ((1, 0), (0, 0))), **own})
    assert verdict.startswith(leader)


@pytest.mark.parametrize(("delegated", "is_told"), [(0, True), (10, False)])
def test_models_that_are_not_compiled_yet_are_counted(delegated, is_told):
    assert ("edgetpu_compiler" in totals(delegated).verdict("edgetpu")) == is_told
    assert "compile" not in totals(delegated).verdict("gpu")

"""The words for the result of a change."""

from __future__ import annotations

import pytest

from delegate_sim.diagnosis.causes.change import result_words
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.results.report.measures import TAKEN, Measures


@pytest.mark.parametrize(
    ("delegate", "kernels", "words"),
    [
        ("nnapi", 1, "9 of 10 nodes in 1 kernel, 99.9 % of multiply-adds"),
        ("nnapi", 2, "9 of 10 nodes in 2 kernels, 99.9 % of multiply-adds"),
        ("npu-google", 1, "9 of 10 nodes in 1 partition to compile, 99.9 % of multiply-adds"),
        ("npu-google", 2, "9 of 10 nodes in 2 partitions to compile, 99.9 % of multiply-adds"),
    ],
)
def test_kernels_of_delegates_and_partitions_of_plugins(delegate, kernels, words):
    measures = Measures(TAKEN, 10, 9, 3, kernels, 64)
    assert result_words(Cost(measures, 99_999, 100_000, delegate)) == words

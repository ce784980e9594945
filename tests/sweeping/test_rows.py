"""The choice of the best rows."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from delegate_sim.conversion.settings import parse_settings
from delegate_sim.results.report.measures import FAILS_LATER
from delegate_sim.sweeping.rows import best_for, best_for_all, delegated_share, excluded_for, pareto
from tests.support.conversion.sweep_conversions import cost, row

CALIBRATED_AT_RANDOM = dataclasses.replace(row(1, []).conversion, settings=parse_settings("int8"))


def test_a_row_with_more_delegated_beats_one_of_the_same_size():
    assert pareto([row(1, [50]), row(2, [100])]) == {2}


def test_a_smaller_row_with_less_delegated_is_best_too():
    assert pareto([row(1, [50], 1), row(2, [100], 2)]) == {1, 2}


def test_each_target_counts():
    assert pareto([row(1, [50, 100]), row(2, [100, 50]), row(3, [50, 50])]) == {1, 2}


def test_rows_that_are_equal_are_both_best_unless_their_file_is_the_same():
    assert pareto([row(1, [50]), row(2, [50])]) == {1, 2}
    assert pareto([row(1, [50]), row(2, [50], same_as=1)]) == {1}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (row(2, [100], error=None), "has an unknown difference"),
        (row(2, [100], error=math.inf), "has an unknown difference"),
        (row(2, [100], error=0.25), "has a difference of 25 %"),
        (dataclasses.replace(row(2, [100]), conversion=CALIBRATED_AT_RANDOM), "was calibrated with random numbers"),
    ],
)
def test_a_row_that_may_be_wrong_is_never_best(other, why):
    accurate = row(1, [50], error=0.1)
    assert other.why_not_best(0.1) == why
    assert pareto([accurate, other], 0.1) == {1}
    assert best_for([accurate, other], 0, 0.1) == accurate
    assert excluded_for([accurate, other], 0, 0.1) == other
    assert best_for([other], 0, 0.1) is None


def test_the_float_model_needs_no_measured_difference():
    float_model = dataclasses.replace(row(1, [50], error=None), is_float_model=True)
    assert (float_model.error, float_model.why_not_best(0.0)) == (0.0, "")
    assert excluded_for([float_model], 0, 0.0) is None


def test_a_model_that_does_not_run_is_worse_than_one_of_which_nothing_is_taken():
    assert pareto([row(1, [100], outcome=FAILS_LATER), row(2, [0])]) == {2}


def test_rows_without_a_model_do_not_count():
    assert pareto([row(1, []), row(2, [0])]) == {2}


@given(some.lists(some.tuples(*[some.integers(0, 3)] * 4), min_size=1, max_size=12))
def test_the_best_are_those_that_no_other_dominates(points):
    rows = [row(number, [one, two], size, float(error)) for number, (one, two, size, error) in enumerate(points)]
    best = pareto(rows, math.inf)
    assert best
    keys = [(-one, -two, size, error) for one, two, size, error in points]
    for number, own in enumerate(keys):
        beaten = any(other != own and all(a <= b for a, b in zip(other, own, strict=True)) for other in keys)
        assert (number in best) != beaten


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (row(1, [100], kernels=9), row(2, [99])),
        (row(1, [100], border=9), row(2, [100], kernels=2)),
        (row(1, [100], error=0.5), row(2, [100], border=1)),
        (row(1, [100], 9), row(2, [100], error=0.5)),
        (row(1, [0], outcome="none"), row(2, [100], outcome=FAILS_LATER)),
    ],
)
def test_what_is_best_for_a_target(better, worse):
    assert best_for([worse, better], 0, 1.0) == better
    assert best_for([better, worse], 0, 1.0) == better


def test_nothing_is_best_where_nothing_runs():
    assert best_for([row(1, []), row(2, [100], outcome=FAILS_LATER)], 0) is None


def test_a_model_without_multiply_adds_counts_by_its_nodes():
    assert delegated_share(cost(0, work=0)) == 0.5


def test_the_error_is_not_known_where_outputs_do_not_compare():
    found = row(1, [1])
    assert found.error == 0
    bad = dataclasses.replace(found.difference.outputs[0], problem="of another type")
    assert dataclasses.replace(found, difference=dataclasses.replace(found.difference, outputs=(bad,))).error is None
    none = dataclasses.replace(found.difference.outputs[0], range=0.0, greatest=1.0)
    assert dataclasses.replace(found, difference=dataclasses.replace(found.difference, outputs=(none,))).error is None


def test_the_best_for_all_targets_has_the_largest_smallest_share():
    uneven, even, failing = row(1, [100, 40]), row(2, [70, 60]), row(3, [100, 100], outcome=FAILS_LATER)
    assert best_for_all([uneven, even, failing, row(4, [])]) == even
    assert best_for_all([failing]) is None

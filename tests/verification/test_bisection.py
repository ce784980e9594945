"""The search for the first steps at fault, with judges that run nothing."""

from __future__ import annotations

import pytest

from delegate_sim.verification.cuts import FAILED, RIGHT, WRONG, Window, find_window

MOST_RUNS = 27
"""Bisecting 300 steps takes 9 runs, and the search for the window at most twice as many."""


def judge_of(faults, outcome=WRONG, failing=()):
    """Return a judge for faults, which are ranges (first, last) of steps that are wrong only together, and its calls."""
    calls = []

    def judge(start, stop):
        calls.append((start, stop))
        assert start < stop
        if (start, stop) in failing or stop in failing:
            return FAILED
        return outcome if any(start <= first and last < stop for first, last in faults) else RIGHT

    return judge, calls


@pytest.mark.parametrize("outcome", [WRONG, FAILED])
@pytest.mark.parametrize("place", [0, 1, 149, 150, 298, 299])
def test_each_step_is_found(place, outcome):
    judge, calls = judge_of([(place, place)], outcome)
    assert find_window(300, outcome, judge) == Window(place, place)
    assert len(calls) <= MOST_RUNS


@pytest.mark.parametrize("window", [(0, 1), (3, 4), (10, 17), (0, 299), (100, 228)])
def test_steps_that_are_wrong_together_are_found(window):
    judge, calls = judge_of([window])
    assert find_window(300, WRONG, judge) == Window(*window)
    assert len(calls) <= MOST_RUNS


def test_the_first_of_several_faults_is_found():
    judge, _ = judge_of([(40, 40), (90, 91), (200, 200)])
    assert find_window(300, WRONG, judge) == Window(40, 40)


def test_one_step_needs_no_bisection():
    judge, calls = judge_of([(0, 0)])
    assert find_window(1, WRONG, judge) == Window(0, 0)
    assert calls == []


def test_a_part_that_does_not_run_is_replaced_by_a_neighbor():
    judge, _ = judge_of([(20, 20)], failing={32, 16})
    assert find_window(64, WRONG, judge) == Window(20, 20)


def test_parts_that_do_not_run_leave_several_steps():
    judge, _ = judge_of([(20, 20)], failing=set(range(1, 64)))
    assert find_window(64, WRONG, judge) == Window(0, 63, is_narrow=False)

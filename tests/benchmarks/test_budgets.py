"""The table of budgets."""

from __future__ import annotations

import pytest

from benchmarks.budgets import Row


@pytest.mark.parametrize(("value", "met"), [(1.5, "yes"), (1.6, "no")])
def test_a_row_says_whether_its_budget_is_met(value, met):
    assert Row(("name", "2 s"), value, 1.5, " s").text() == f"| name | 2 s | {value:.2f} s | 1.50 s | {met} |"

"""The table of budgets."""

from __future__ import annotations

import sys

import pytest

from benchmarks import budgets
from benchmarks.budgets import Row, Sample


@pytest.mark.parametrize(("value", "met"), [(1.5, "yes"), (1.6, "no")])
def test_a_row_says_whether_its_budget_is_met(value, met):
    assert Row(("name", "2 s"), value, 1.5, " s").text() == f"| name | 2 s | {value:.2f} s | 1.50 s | {met} |"


def test_a_slow_fix_is_measured_by_simulation(monkeypatch, tmp_path):
    """Twice the time for twice as many simulations is no growth."""
    before = budgets._IMPORTS_BEFORE
    slow = [budgets.Slow("diagnose", "real", "model", 1.0), budgets.Slow("fix", "real", "model", 1.0, 10)]
    monkeypatch.setattr(budgets, "_SLOWEST", slow)
    monkeypatch.setattr(budgets, "extract", lambda folder, corpus, model: folder / model)
    monkeypatch.setattr(budgets, "measure", lambda runs, *commands: [Sample((before,)), Sample((2.0,))])
    monkeypatch.setattr(budgets, "count_simulations", lambda fix: 20)
    diagnose, fix = budgets.slow_rows(tmp_path, 1, "delegate-sim", ())
    assert (diagnose.value, diagnose.cells[-1]) == (pytest.approx(2), "")
    assert (fix.value, fix.cells[-1]) == (pytest.approx(1), "10 before, 20 now")


def test_simulations_are_counted_even_if_no_pass_helps():
    program = "import sys; print('{\"simulations\": 3}'); sys.exit(1)"
    assert budgets.count_simulations([sys.executable, "-c", program]) == 3

from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.foundation.work_budget import spend_bytes, spend_steps


@pytest.fixture(autouse=True)
def _small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10)


def test_all_inputs_share_a_budget():
    with work_budget.work_budget(), work_budget.work_budget():
        spend_steps(10, "reading the first file")
        with pytest.raises(LimitError, match=r"^reading the second file takes more than the limit of 10 steps; "):
            spend_steps(1, "reading the second file")


def test_a_model_gets_a_new_budget():
    with work_budget.work_budget():
        spend_steps(10, "reading")
        with work_budget.work_budget(is_new=True):
            spend_steps(10, "reading")
        with pytest.raises(LimitError):
            spend_steps(1, "reading")


def test_the_budget_ends_with_the_context():
    with work_budget.work_budget():
        spend_steps(10, "reading")
    spend_steps(11, "reading")


def test_bytes_are_cheaper_than_steps():
    with work_budget.work_budget():
        spend_bytes(9 * 256, "unpacking")
        with pytest.raises(LimitError):
            spend_bytes(256, "unpacking")


def test_the_limit_can_be_raised(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DELEGATE_SIM_LIMITS", "2")
    with work_budget.work_budget():
        spend_steps(20, "reading")
        with pytest.raises(LimitError, match="20 steps"):
            spend_steps(1, "reading")

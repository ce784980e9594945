from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.foundation.parsing.json_text import loads


@pytest.mark.parametrize("digits", ["9223372036854775807", "-9223372036854775808", "0"])
def test_integers_of_64_bits_are_read(digits):
    assert loads(f"[{digits}]", "reading") == [int(digits)]


@pytest.mark.parametrize("digits", ["9223372036854775808", "-9223372036854775809", "9" * 400, "9" * 5000])
def test_larger_integers_are_refused(digits):
    with pytest.raises(ValueError, match="an integer has more than 64 bits"):
        loads(f"[{digits}]", "reading")


def test_long_documents_use_up_the_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10)
    with work_budget.work_budget():
        loads("[" + "[]," * 10 + "[]]", "reading a file")
        with pytest.raises(LimitError, match="reading a file takes more than the limit of 10 steps"):
            loads("[" + "[]," * 10 + "[]]", "reading a file")

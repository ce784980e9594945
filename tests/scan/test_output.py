from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.scan.output import marked, unmarked

likely = st.text(st.sampled_from("=+-@';, a1\t\uff1d"), max_size=12)


@given(likely | st.text())
def test_marks_are_taken_away_again(text):
    assert unmarked(marked(text)) == text


@given(likely)
def test_no_cell_begins_as_a_formula(text):
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d")) for cell in marked(text).split(";"))


@pytest.mark.parametrize(
    ("text", "expected"), [("=1", "'=1"), ("'=1", "''=1"), ("a;-1", "a;'-1"), ("a=1", "a=1"), ("it's", "it's")]
)
def test_marks(text, expected):
    assert marked(text) == expected

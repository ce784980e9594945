"""The stored measurements of agreement."""

from __future__ import annotations

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.results.accuracy import KINDS, accuracy


def test_all_delegates_with_records_are_measured():
    table = accuracy()
    measured = {entry.target for entry in table.targets}
    assert set(DELEGATE_NAMES) - measured == {"edgetpu"}
    assert measured - set(DELEGATE_NAMES) == {"micro", "litert-lm"}


def test_no_count_is_larger_than_the_number_of_results():
    for entry in accuracy().targets:
        assert entry.agreement
        assert all(0 <= part.agree <= part.compared for part in entry.agreement)
        assert all(part.kind in {*KINDS.values(), "wrong outputs", "right outputs"} for part in entry.agreement)


def test_answers_to_new_questions_include_the_wrong_ones():
    assert sum(row.wrong for row in accuracy().unseen) > 0

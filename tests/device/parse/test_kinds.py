"""Every kind of line has a row in the table of kinds, and every reader of a log handles it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delegate_sim.device.parse import error_meanings
from delegate_sim.device.parse.kinds import ERRORS, KINDS, Event, kinds_with
from delegate_sim.device.parse.known_lines import PATTERNS

DEVICE = Path(__file__).resolve().parents[3] / "delegate_sim" / "device"
NAMES = {name: value for name, value in vars(Event).items() if name.isupper()}


def test_every_kind_has_one_row():
    assert len(set(NAMES.values())) == len(NAMES)
    assert set(KINDS) == set(NAMES.values())


def test_every_pattern_is_of_a_known_kind():
    assert {pattern.kind for pattern in PATTERNS} <= set(KINDS)


def test_every_kind_is_printed_and_used():
    """A kind that no pattern yields, or that nothing reads, is forgotten."""
    sources = "".join([path.read_text(encoding="utf-8") for path in DEVICE.rglob("*.py") if path.name != "kinds.py"])
    assert [name for name in NAMES if re.search(rf"\bEvent\.{name}\b", sources) is None] == []


@pytest.mark.parametrize("kind", sorted(ERRORS))
def test_every_error_is_explained_and_ranked(kind):
    explained = KINDS[kind].meaning or kind in error_meanings._BY_VALUES or kind in error_meanings._BY_WORDS
    assert explained
    assert KINDS[kind].rank is not None or kind in (Event.CRASH, Event.BENCHMARK_FAILED, Event.NOT_REGISTERED)


def test_only_errors_and_lines_like_errors_have_a_rank():
    assert {kind for kind, traits in KINDS.items() if traits.rank is not None} - ERRORS == {
        Event.COMPILER_ERROR,
        Event.PLAIN_ERROR,
    }


@pytest.mark.parametrize("trait", ["is_turn", "is_before", "is_first", "is_of_process", "is_numerous", "is_behind", "says_made"])
def test_kinds_with_a_trait(trait):
    assert kinds_with(trait)
    assert set(kinds_with(trait)) < set(KINDS)

"""The list of rules as a whole: each is broken by some test, and says where it is from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delegate_sim.nnapi_runtime.refusal import RULES

TESTS = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name)


@pytest.mark.parametrize("code", sorted(RULES))
def test_every_rule_is_broken_somewhere(code):
    assert f'"{code}"' in TESTS


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_every_rule_says_what_it_demands_and_where_it_is_from(rule):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.code)
    assert rule.summary.endswith(".")
    assert re.match(r"(common|runtime)/[\w/*., ]+\.cpp: \w", rule.source)
    assert RULES[rule.code] is rule

"""Patterns of RE2."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.npu.re2_patterns import translated


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("conv", "conv", True),
        ("conv", "conv1", False),
        (".*", "a\nb", False),
        ("(?s).*", "a\nb", True),
        ("[[:alpha:]]+", "abc", True),
        ("[[:digit:]-]+", "1-2", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"a\z", "a", True),
        ("a(?i)B", "ab", True),
        ("(a(?i)B)C", "abC", True),
        ("(a(?i)B)C", "abc", False),
        ("a{2}", "aa", True),
        ("a{,2}", "a{,2}", True),
        (r"\d+", "\u0661", False),
        (r"\x{41}", "A", True),
        ("[]a]", "]", True),
        ("(?P<n>a)|b", "b", True),
        ("a$", "a", True),
    ],
)
def test_patterns(pattern, name, matches):
    assert bool(translated(pattern).fullmatch(name)) == matches


@pytest.mark.parametrize(
    "pattern", ["(", "a)", "(?=a)", r"(a)\1", "a**", "a*+", "a{1001}", "[", "[[:none:]]", r"\k", "(?U)a", "\\", "*"]
)
def test_patterns_that_re2_does_not_take(pattern):
    assert translated(pattern) is None

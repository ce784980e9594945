"""Patterns of RE2."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim.delegates.npu import re2_patterns
from delegate_sim.delegates.npu.re2_patterns import LAST, Re2Pattern, character_set, others, with_other_case
from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget


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
    assert Re2Pattern(pattern).fullmatch(name) == matches


@pytest.mark.parametrize(
    "pattern", ["(", "a)", "(?=a)", r"(a)\1", "a**", "a*+", "a{1001}", "[", "[[:none:]]", r"\k", "(?U)a", "\\", "*"]
)
def test_patterns_that_re2_does_not_take(pattern):
    with pytest.raises(ValueError, match="RE2 does not accept"):
        Re2Pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a{100}){11}", "(?:a{2,}){501}", "a{2,1}", "a{99999999999}", "{2}", "(|*)", "[b-a]", "(" * 5000]
)
def test_further_patterns_that_re2_does_not_take(pattern):
    with pytest.raises(ValueError, match="RE2 does not accept"):
        Re2Pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("(a{100}){10}", "a" * 1000, True),
        ("(a{100}){10}", "a" * 999, False),
        ("a(?i)b|c", "C", True),
        ("a(?i)b|c", "ac", False),
        (r"\Qab\E*", "abb", True),
        ("(?m)a$\n^b", "a\nb", True),
        ("a$\nb", "a\nb", False),
        (r"(?m-i:a$)\n(?-m)b$", "a\nb", True),
        ("^*a", "a", True),
        (r"\ba\b.\Bb", "a b", False),
        (r"\ba\b..\Bb", "a xb", True),
        ("", "", True),
        ("a|", "", True),
        ("(?i)[a-c]{2,}?", "BcA", True),
        (r"\B", "", True),
        (r"\101\07", "A\x07", True),
        (r"(?s)\x{1}-\x{10FFFF}.", "\x01-\U0010ffffa", True),
    ],
)
def test_further_patterns(pattern, name, matches):
    assert Re2Pattern(pattern).fullmatch(name) == matches


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("[b-d]", "bcd", "aeBCD-"),
        ("[^b-d]", "aeB\n\u20ac", "bcd"),
        ("(?i)[b-d]", "bcdBCD", "aeAE"),
        ("(?i)[^b-d]", "aeAE", "bcdBCD"),
        (r"(?i)[\x{1}-\x{ffff}]", "aA\x01\uffff", "\0\U00010000"),
        (r"[\x{10000}-\x{10ffff}a]", "a\U00010000\U0010ffff", "b\uffff"),
        (r"[^\d\s]", "a\v", "1 "),
        (r"[\D1]", "a1", "2"),
        (r"[\s-z]", " -z", "ay"),
        (r"[\d-a]", "1-a", "b"),
        ("[[:digit:]-a]", "1-a", "b"),
        ("[[:^alpha:]]", "1-", "aZ"),
        ("(?i)[[:^upper:]]", "1-", "aZ"),
        ("(?i)[[:upper:]]", "aZ", "1-"),
        ("[0-[:alpha:]", "0A[:alph", "bc]-"),
        ("[a-]", "a-", "b]"),
        ("[--0]", "-./0", ",1"),
        ("[&~|&&]", "&~|", "a["),
    ],
)
def test_classes(pattern, matching, others):
    compiled = Re2Pattern(pattern)
    assert [character for character in matching + others if compiled.fullmatch(character)] == list(matching)


@pytest.mark.parametrize("pattern", ["[b-a]", r"[a-\d]", r"[\b]", "[a-", "[\\", r"\x{110000}", r"\8", r"\1", "[[:^none:]]"])
def test_characters_and_classes_that_re2_does_not_take(pattern):
    with pytest.raises(ValueError, match="RE2 does not accept"):
        Re2Pattern(pattern)


PARTS = st.recursive(
    st.sampled_from(["a", "b", "1", ".", "[ab]", "[^a]", r"\d", r"\W", r"\b", r"\B", "^", r"\A", "(?i:A)", "(?s:.)", r"\n"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])).map(
            lambda part: f"(?:{part[0]}){part[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(PARTS, st.text("ab1_ \n", max_size=6))
def test_a_pattern_that_re_also_takes_matches_the_same(pattern, name):
    same = re.compile(pattern.replace(r"\B", r"(?!\b)"), re.ASCII)  # in re, \B does not match an empty text
    assert Re2Pattern(pattern).fullmatch(name) == bool(same.fullmatch(name))


@pytest.mark.parametrize("pattern", ["((a|a)*)*b", "(a*)*b", ".*a.*a.*a.*a.*a.*b", "(a+){10}(a+){20}b", "(|a)*b", "([^b]*a?)*b"])
def test_the_work_grows_with_the_length_of_the_name(pattern, monkeypatch):
    def steps(length):
        spent = []
        monkeypatch.setattr(re2_patterns, "spend_steps", lambda count, activity: spent.append(count))
        names = ["".join(chr(97 + 2 * (7 * place % 11 < 5)) for place in range(length)), "a" * length]
        assert not any(map(Re2Pattern(pattern).fullmatch, names))
        return sum(spent)

    assert steps(400) <= 2.2 * steps(200)


def test_large_patterns_and_names_use_up_the_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 20_000)
    with pytest.raises(
        LimitError, match="matching names with the patterns of op filters takes more than the limit of 20,000 steps"
    ):
        Re2Pattern("(ab){1000}c{1000}" * 5)
    with work_budget.work_budget(), pytest.raises(LimitError, match="matching names"):
        Re2Pattern("(a|b)*a(a|b){100}").fullmatch("".join(random.Random(1).choices("ab", k=5000)))


ENDS = st.tuples(st.integers(0, 130), st.integers(0, 130)).map(lambda ends: (min(ends), max(ends)))
RANGES = st.lists(st.one_of(ENDS, st.just((100, LAST)), st.just((LAST, LAST))), max_size=5)


def members(ranges):
    return {chr(code) for first, last in ranges for code in range(first, min(last, 200) + 1)}


@given(RANGES)
def test_a_set_has_the_characters_of_its_ranges_and_no_others(ranges):
    inside, outside = character_set(ranges), character_set(others(ranges))
    for character in map(chr, [*range(200), LAST]):
        is_member = character in members(ranges) or (ord(character) == LAST and any(last == LAST for _, last in ranges))
        assert (inside.has(character), outside.has(character)) == (is_member, not is_member)


@given(RANGES)
def test_the_other_case_is_added_for_ascii_letters(ranges):
    found, own = character_set(with_other_case(ranges)), members(ranges)
    for character in map(chr, range(200)):
        assert found.has(character) == (character in own or (character.isascii() and character.swapcase() in own))


def test_ranges_that_touch_are_one():
    assert character_set([(5, 6), (1, 2), (3, 4)]).bounds == (1, 7)
    assert character_set([]).bounds == ()
    assert others([(0, LAST)]) == []

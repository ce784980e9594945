"""Sets of characters in patterns of RE2."""

from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.delegates.npu.re2_characters import LAST, character_set, others, with_other_case

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

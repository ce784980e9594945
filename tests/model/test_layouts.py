"""Fields that are read at once of each table are those that are read one by one."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim.model.flatbuffer import Flatbuffer, Malformed, Tables, spread
from delegate_sim.model.layouts import OFFSET, OUTSIDE, read_columns

FIELDS = {0: OFFSET, 1: "<b", 2: "<?", 3: "<Q", 5: "<H"}
ABSENT = -7


def written(layouts, chosen, padding):
    """A file with a vtable for each layout, and tables of the chosen ones; and where the tables are."""
    content = bytearray(struct.pack("<I4s", 0, b"TFL3") + bytes(padding))
    vtables = []
    for offsets in layouts:
        vtables.append(len(content))
        size = 2 * max(offsets, default=-1) + 6
        entries = [offsets.get(slot, 0) for slot in range((size - 4) // 2)]
        content += struct.pack(f"<{2 + len(entries)}H", size, 0, *entries)
    positions = []
    for number, layout in enumerate(chosen):
        positions.append(len(content))
        content += struct.pack("<i", len(content) - vtables[layout])
        content += bytes((number * 37 + place * 11) % 256 for place in range(30))
        content += bytes(2 if padding % 2 == 0 else 1)
    return bytes(content), positions


def columns_of(tables):
    """What is read of each field, or the error."""
    found = {}
    for slot, kind in FIELDS.items():
        try:
            found[slot] = list(tables.targets(slot, "it") if kind == OFFSET else tables.numbers(slot, kind, ABSENT))
        except Malformed as error:
            found[slot] = str(error)
    return found


OFFSETS = st.dictionaries(st.sampled_from(sorted(FIELDS)), st.integers(4, 26), max_size=5)
APART = st.permutations([4, 8, 12, 20, 24]).flatmap(
    lambda places: st.sets(st.sampled_from(sorted(FIELDS))).map(lambda slots: dict(zip(sorted(slots), places, strict=False)))
)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(APART | OFFSETS, min_size=1, max_size=4).flatmap(
        lambda layouts: st.tuples(st.just(layouts), st.lists(st.integers(0, len(layouts) - 1), min_size=1, max_size=12))
    ),
    st.integers(0, 5),
    st.integers(0, 40),
)
def test_at_once_and_one_by_one(layouts_and_chosen, padding, cut):
    layouts, chosen = layouts_and_chosen
    content, positions = written(layouts, chosen, padding)
    content = content[: max(len(content) - cut, positions[-1] + 4)]
    one_by_one = Tables(Flatbuffer(memoryview(content)), "Some", positions)
    expected = columns_of(one_by_one)
    assert columns_of(Tables(Flatbuffer(memoryview(content)), "Some", positions, FIELDS)) == expected
    spaced = [place for position in positions for place in (0, position)]
    numbers, filled = Tables(Flatbuffer(memoryview(content)), "Some", spaced).with_any(FIELDS)
    assert numbers == [2 * number + 1 for number, layout in enumerate(chosen) if layouts[layout]]
    for slot, column in columns_of(filled).items():
        if isinstance(expected[slot], str):
            assert column == expected[slot]
        else:
            absent = 0 if FIELDS[slot] == OFFSET else ABSENT
            assert spread(column, numbers, len(spaced), absent)[1::2] == expected[slot]


def test_tables_of_very_many_layouts():
    content, positions = written([{1: 4}, {}] * 40, range(80), 0)
    numbers, filled = Tables(Flatbuffer(memoryview(content)), "Some", [0, *positions]).with_any(FIELDS)
    assert numbers == list(range(1, 81))
    one_by_one = Tables(Flatbuffer(memoryview(content)), "Some", positions)
    assert columns_of(filled) == columns_of(one_by_one)


def test_tables_that_have_none_of_the_fields():
    content, positions = written([{}, {1: 4}], [0, 0, 0], 0)
    numbers, filled = Tables(Flatbuffer(memoryview(content)), "Some", positions).with_any(FIELDS)
    assert (numbers, len(filled), list(filled.numbers(1, "<b"))) == ([], 0, [])


@pytest.mark.parametrize("offsets", [{1: 4, 2: 4}, {1: OUTSIDE}, {3: 40}], ids=["overlap", "outside", "past the end"])
def test_nothing_is_read_at_once(offsets):
    content, positions = written([{1: 4}], [0], 0)
    assert read_columns(memoryview(content), positions, [8], {8: {1: 4}}, FIELDS) is not None
    assert read_columns(memoryview(content), positions, [8], {8: offsets}, FIELDS) is None


def test_a_vtable_before_the_file():
    content, positions = written([{1: 4}], [0, 0], 0)
    damaged = bytearray(content)
    struct.pack_into("<i", damaged, positions[1], positions[1] + 4)
    with pytest.raises(Malformed, match="is truncated or malformed: one of its Some tables lies outside the file"):
        Tables(Flatbuffer(memoryview(damaged)), "Some", positions)


@pytest.mark.parametrize("padding", range(4))
@pytest.mark.parametrize("count", [1, 3])
def test_numbers_up_to_the_end_of_a_file_of_any_size(padding, count):
    content = struct.pack("<I4s", 0, b"TFL3") + bytes(padding) + struct.pack(f"<{count}I", *range(5, 5 + count))
    buffer, start = Flatbuffer(memoryview(content)), 8 + padding
    for positions in (range(start, len(content), 4), list(range(start, len(content), 4))):
        assert buffer.gather("<I", positions, "it") == list(range(5, 5 + count))
    for positions in (range(start, len(content) + 4, 4), range(start + 1, len(content), 4), [start, len(content) - 3], [1 << 40]):
        with pytest.raises(Malformed, match="it lies outside the file"):
            buffer.gather("<I", positions, "it")

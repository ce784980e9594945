"""Columns of tables are read whatever their layouts, and nothing outside the file is."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim.model import schema
from delegate_sim.model.flatbuffer import Flatbuffer, Malformed, Tables

FIELDS = schema.table_fields("Tensor")
NUMBERS = [name for name, field in FIELDS.items() if field.format]
VTABLE_SIZE = 4 + 2 * len(FIELDS)
TABLE_SIZE = 64


def written(layouts, chosen, padding):
    """A file with a vtable for each layout, and tensors of the chosen ones; and where the tables are."""
    content = bytearray(struct.pack("<I4s", 0, b"TFL3") + bytes(padding))
    vtables = []
    for offsets in layouts:
        vtables.append(len(content))
        entries = [offsets.get(name, 0) for name in FIELDS]
        content += struct.pack(f"<{2 + len(entries)}H", VTABLE_SIZE, TABLE_SIZE, *entries)
    positions = []
    for number, layout in enumerate(chosen):
        positions.append(len(content))
        content += struct.pack("<i", len(content) - vtables[layout])
        content += bytes((number * 37 + place * 11) % 256 for place in range(TABLE_SIZE - 4))
    return bytes(content), positions


OFFSETS = st.dictionaries(st.sampled_from(NUMBERS), st.integers(4, TABLE_SIZE - 8))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(OFFSETS, min_size=1, max_size=4).flatmap(
        lambda layouts: st.tuples(st.just(layouts), st.lists(st.integers(0, len(layouts) - 1), min_size=1, max_size=12))
    ),
    st.integers(0, 5),
)
def test_numbers_of_tables_of_several_layouts(layouts_and_chosen, padding):
    layouts, chosen = layouts_and_chosen
    content, positions = written(layouts, chosen, padding)
    with_absent = [place for position in positions for place in (0, position)]
    tables = Tables(Flatbuffer(memoryview(content)), "Tensor", with_absent)
    for name in NUMBERS:
        field = FIELDS[name]
        offsets = [layouts[layout].get(name) for layout in chosen]
        expected = [
            struct.unpack_from(field.format, content, position + offset)[0] if offset else field.default
            for position, offset in zip(positions, offsets, strict=True)
        ]
        assert tables.numbers(name) == [value for number in expected for value in (field.default, number)]


def test_a_number_past_the_end():
    content, positions = written([{"buffer": 60}], [0, 0], 0)
    assert Tables(Flatbuffer(memoryview(content)), "Tensor", positions).numbers("buffer")
    tables = Tables(Flatbuffer(memoryview(content[:-1])), "Tensor", positions)
    with pytest.raises(Malformed, match="is truncated or malformed: one of its Tensor tables lies outside the file"):
        tables.numbers("buffer")


def test_a_vtable_before_the_file():
    content, positions = written([{"buffer": 4}], [0, 0], 0)
    damaged = bytearray(content)
    struct.pack_into("<i", damaged, positions[1], positions[1] + 4)
    with pytest.raises(Malformed, match="is truncated or malformed: one of its Tensor tables lies outside the file"):
        Tables(Flatbuffer(memoryview(damaged)), "Tensor", positions)


@pytest.mark.parametrize("padding", range(4))
@pytest.mark.parametrize("count", [1, 3])
def test_numbers_up_to_the_end_of_a_file_of_any_size(padding, count):
    content = struct.pack("<I4s", 0, b"TFL3") + bytes(padding) + struct.pack(f"<{count}I", *range(5, 5 + count))
    buffer, start = Flatbuffer(memoryview(content)), 8 + padding
    assert buffer.gather("<I", range(start, len(content), 4), "it") == list(range(5, 5 + count))
    for positions in (range(start, len(content) + 4, 4), range(start + 1, len(content), 4), [start, len(content) - 3], [1 << 40]):
        with pytest.raises(Malformed, match="it lies outside the file"):
            buffer.gather("<I", positions, "it")

"""Move the bytes of a file, and update the fields with absolute positions.

The fields ``Buffer.offset`` and ``large_custom_options_offset`` hold positions of data behind the flatbuffer. An appended ZIP
archive of associated files may also hold absolute positions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...bundles.ranged import Content, pieces, unpacked
from ...model.model import Model
from ...model.table import FileTable

_END_OF_ARCHIVE = b"PK\x05\x06"
_ENTRY = b"PK\x01\x02"
_LONGEST_END = 22 + 65535


def moved(model: Model, distance: int) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a model's file in order. The positions are updated for a model that begins ``distance`` bytes later."""
    content = model.content
    position = 0
    for place, patch in sorted(_patches(model, distance).items()):
        yield from pieces(content[position:place])
        yield patch
        position = place + len(patch)
    yield from pieces(content[position:])


def _patches(model: Model, distance: int) -> dict[int, bytes]:
    content = model.content
    root = FileTable.root(content)
    places = [place for buffer in root.children("buffers") if not buffer.place("data") and (place := buffer.place("offset"))]
    for subgraph in root.children("subgraphs"):
        for node in subgraph.children("operators"):
            place = node.place("large_custom_options_offset")
            if place:
                places.append(place)
    patches = {}
    for place in places:
        (offset,) = unpacked(struct.Struct("<Q"), content, place)
        if offset > 1:
            patches[place] = struct.pack("<Q", offset + distance)
    return {**patches, **_archive_patches(content, distance)}


def _archive_patches(content: Content, distance: int) -> dict[int, bytes]:
    """Return the new values of the positions in an appended ZIP archive.

    The result is empty if there is no archive, or if the archive's positions are relative to its own start.
    """
    tail = max(len(content) - _LONGEST_END, 0)
    end = bytes(content[tail:]).rfind(_END_OF_ARCHIVE)
    if end < 0 or tail + end + 22 > len(content):
        return {}
    end += tail
    count, size, start = unpacked(struct.Struct("<HII"), content, end + 10)
    if start + size != end:
        return {}
    patches = {end + 16: struct.pack("<I", start + distance)}
    position = start
    for _ in range(count):  # bounded: a number of 16 bits
        if bytes(content[position : position + 4]) != _ENTRY or position + 46 > end:
            return {}
        patches[position + 42] = struct.pack("<I", unpacked(struct.Struct("<I"), content, position + 42)[0] + distance)
        position += 46 + sum(unpacked(struct.Struct("<HHH"), content, position + 28))
    return patches

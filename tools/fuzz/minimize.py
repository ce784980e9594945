"""Make a mutant that went wrong smaller, as long as it still goes wrong."""

from __future__ import annotations

import functools
import struct
import time
from collections.abc import Callable, Iterator

from tools.fuzz.sites import LENGTH, sites

_REMOVABLE = ("Model.subgraphs", "SubGraph.operators", "Model.metadata", "Model.signature_defs")
"""Vectors of tables to which few others refer by number."""
_RUNS = [1 << power for power in range(12, -1, -1)]
_GAP = 8
"""Bytes that are alike and do not part two changes."""


def minimized(content: bytes, original: bytes, goes_wrong: Callable[[bytes], bool], seconds: float) -> bytes:
    """Restore what was changed of the original, then remove nodes and the like, until nothing more can go or time is over."""
    end = time.monotonic() + seconds
    removals = [functools.partial(_without_elements, run=run) for run in _RUNS]
    for candidates in (functools.partial(_with_restored_bytes, original=original), *removals):
        is_smaller = True
        while is_smaller:
            is_smaller = False
            for candidate in candidates(content):
                if time.monotonic() > end:
                    return content
                if goes_wrong(candidate):
                    content, is_smaller = candidate, True
                    break
    return content


def minimized_text(content: bytes, goes_wrong: Callable[[bytes], bool], seconds: float) -> bytes:
    """Remove runs of bytes, long ones first, until time is over."""
    end = time.monotonic() + seconds
    run = 1 << max(len(content).bit_length() - 1, 0)
    while run:
        first = 0
        while first < len(content):
            if time.monotonic() > end:
                return content
            candidate = content[:first] + content[first + run :]
            if goes_wrong(candidate):
                content = candidate
            else:
                first += run
        run //= 2
    return content


def _without_elements(content: bytes, run: int) -> Iterator[bytes]:
    """Yield copies that lack a run of elements of a vector."""
    for site in sites(content):
        if site.kind == LENGTH and site.field in _REMOVABLE:
            (count,) = struct.unpack_from("<I", content, site.position)
            if count <= (len(content) - site.position) // 4:
                for first in range(0, count - run + 1, run):
                    yield _without_run(content, site.position, count, first, run)


def _without_run(content: bytes, position: int, count: int, first: int, run: int) -> bytes:
    """Move the later elements forward; each is the distance to a table, which grows by as much."""
    smaller = bytearray(content)
    struct.pack_into("<I", smaller, position, count - run)
    for index in range(first, count - run):
        (distance,) = struct.unpack_from("<I", content, position + 4 + 4 * (index + run))
        struct.pack_into("<I", smaller, position + 4 + 4 * index, (distance + 4 * run) & 0xFFFFFFFF)
    return bytes(smaller)


def _with_restored_bytes(content: bytes, original: bytes) -> Iterator[bytes]:
    """Yield copies in which one change is undone, or what was appended is cut off."""
    if len(content) > len(original):
        yield content[: len(original)]
    places = [place for place, (new, old) in enumerate(zip(content, original, strict=False)) if new != old]
    while places:
        first = last = places.pop(0)
        while places and places[0] - last <= _GAP:
            last = places.pop(0)
        yield content[:first] + original[first : last + 1] + content[last + 1 :]

"""Control dependencies from the model's metadata.

Nodes with side effects that have no control dependencies run in the order of the execution plan. Source:
``Interpreter::SetMetadata`` (``core/interpreter.cc``) and ``ParseModelControlDependencies`` (``remat/metadata_util.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from ..bundles.ranged import part_of
from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import counted
from .model import Model

METADATA_NAME = "model_control_dependencies"
_FORMAT_VERSION = 1
_MOST_EDGES = 50
"""Limit for the control edges of a subgraph, for each node."""

ControlEdges = Sequence[tuple[int, int]]
"""Pairs of positions in the execution plan. The first node of a pair must run before the second node."""


@functools.lru_cache(maxsize=1)
def control_dependencies(model: Model) -> tuple[ControlEdges, ...] | None:
    """Return the control edges of each subgraph.

    Return None if the metadata has no control edges, is malformed, or does not fit the model. Raise LimitError if there are too
    many edges for the number of nodes. The edges of the last model are cached.
    """
    if METADATA_NAME not in model.metadata:
        return None
    offset, size = model.metadata[METADATA_NAME]
    numbers = _varints(part_of(model.content, offset, offset + size))
    subgraphs: list[ControlEdges] = []
    try:
        if next(numbers) != _FORMAT_VERSION or next(numbers) != len(model.subgraphs):
            return None
        for subgraph in model.subgraphs:
            count, nodes = next(numbers), len(subgraph.nodes)
            if 2 * count > size:
                return None
            if count > raised(_MOST_EDGES) * (nodes + 1):
                words = f"{count:,} control dependencies are too many for {counted(nodes, 'node')}{how_to_raise()}"
                raise LimitError(words, model.path or "the model")
            pairs = [_signed(next(numbers)) for _ in range(2 * count)]  # bounded: ends with the bytes of the metadata
            subgraphs.append(tuple(zip(pairs[::2], pairs[1::2], strict=True)))
    except StopIteration:
        return None
    return tuple(subgraphs) if next(numbers, None) is None else None


def _varints(content: Iterable[int]) -> Iterator[int]:
    value = shift = 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value & 0xFFFFFFFF
            value = shift = 0


def _signed(value: int) -> int:
    return -(value // 2) - 1 if value % 2 else value // 2

"""Compact text forms of the largest parts of a baseline: model outlines and sets of nodes."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from ...foundation.limits import how_to_raise, raised
from ...results.compare.model_outline import Constant, NodeOutline, OutlineOperand, Output, SubgraphOutline

_LARGEST = 1 << 28
"""Largest size of an unpacked outline, in bytes."""
_MOST_NODES = 1 << 24


def packed(outline: Sequence[SubgraphOutline]) -> str:
    """Pack the outline of a model into a string without spaces."""
    content = [
        [
            subgraph.name,
            subgraph.inputs,
            [[node.op, node.version, list(map(_operand_data, node.inputs)), node.outputs] for node in subgraph.nodes],
        ]
        for subgraph in outline
    ]
    text = json.dumps(content, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def unpacked(text: str) -> tuple[SubgraphOutline, ...]:
    """Return the outline in a packed string. Raises ValueError if the string is invalid."""
    try:
        most, stream = raised(_LARGEST), zlib.decompressobj()
        content = stream.decompress(base64.b64decode(text, validate=True), most)
        if stream.unconsumed_tail:
            raise ValueError(f"an outline of more than {most:,} bytes{how_to_raise()}")
        return tuple([_subgraph(*item) for item in json.loads(content)])
    except (zlib.error, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def ranges(nodes: Iterable[int]) -> str:
    """Return nodes as text, in order. Consecutive nodes are written as a range.

    >>> ranges({3, 4, 5, 9})
    '3-5,9'
    """
    spans: list[list[int]] = []
    for node in sorted(nodes):
        if spans and spans[-1][1] == node - 1:
            spans[-1][1] = node
        else:
            spans.append([node, node])
    return ",".join([str(first) if first == last else f"{first}-{last}" for first, last in spans])


def read_ranges(text: str) -> list[int]:
    """Return the nodes in a string that ``ranges`` returned. Raises ValueError if the string is invalid."""
    nodes: list[int] = []
    most = raised(_MOST_NODES)
    for span in text.split(",") if text else ():
        first, dash, last = span.partition("-")
        start, end = int(first), int(last if dash else first)
        if not 0 <= start <= end < most:
            raise ValueError(f"{span!r} is not a range of nodes")
        nodes += range(start, end + 1)  # bounded: below the limit
        if len(nodes) > most:
            raise ValueError(f"more than {most:,} nodes{how_to_raise()}")
    return nodes


def _operand_data(operand: OutlineOperand) -> Any:
    return [operand.type] if isinstance(operand, Constant) else operand


def _operand(item: Any) -> OutlineOperand:
    if item is None or isinstance(item, str):
        return item
    (kind,) = item
    return Constant(_text(kind))


def _subgraph(name: Any, inputs: Any, nodes: Any) -> SubgraphOutline:
    return SubgraphOutline(_text(name), tuple([_output(*item) for item in inputs]), tuple([_node(*item) for item in nodes]))


def _node(op: Any, version: Any, inputs: Any, outputs: Any) -> NodeOutline:
    if not isinstance(version, int):
        raise TypeError(f"{version!r} is not a version")
    return NodeOutline(_text(op), version, tuple(map(_operand, inputs)), tuple([_output(*item) for item in outputs]))


def _output(name: Any, kind: Any) -> Output:
    return Output(_text(name), _text(kind))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value

"""Compact text forms of the largest parts of a baseline: model outlines and sets of nodes."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from ...foundation.limits import how_to_raise, raised
from ...foundation.parsing import json_text
from ...foundation.work_budget import spend_bytes, spend_steps
from ...results.compare.model_outline import Constant, NodeOutline, OutlineOperand, Output, SubgraphOutline

_LARGEST = 1 << 28
"""Largest size of an unpacked outline, in bytes."""
_MOST_NODES = 1 << 24
_CHUNK = 1 << 20
_STEPS_OF_A_SUBGRAPH, _STEPS_OF_A_NODE = 10, 5
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_READING = "reading the baseline"


def packed(outline: Sequence[SubgraphOutline]) -> str:
    """Pack the outline of a model into a string without spaces."""
    content = [[subgraph.name, subgraph.inputs, list(map(_node_data, subgraph.nodes))] for subgraph in outline]
    text = json.dumps(content, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")


def unpacked(text: str) -> tuple[SubgraphOutline, ...]:
    """Return the outline in a packed string. Raises ValueError if the string is invalid."""
    try:
        content = _decompressed(base64.b64decode(text, validate=True)).decode("utf-8")
        return tuple([_subgraph(*item) for item in json_text.loads(content, _READING)])
    except (zlib.error, TypeError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError("it is not an outline") from error


def _decompressed(data: bytes) -> bytes:
    most, stream, content = raised(_LARGEST), zlib.decompressobj(), bytearray()
    while data and not stream.eof:
        chunk = stream.decompress(data, min(_CHUNK, most + 1))
        spend_bytes(len(chunk), _READING)
        content += chunk
        if len(content) > most:
            raise ValueError(f"an outline of more than {most:,} bytes{how_to_raise()}")
        data = stream.unconsumed_tail
    return bytes(content)


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
        match = _RANGE.fullmatch(span)
        start, end = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not 0 <= start <= end < most:
            raise ValueError("there is a text that is not a range of nodes, such as 3-5")
        if len(nodes) + end - start >= most:
            raise ValueError(f"more than {most:,} nodes{how_to_raise()}")
        spend_steps(end - start + 1, _READING)
        nodes += range(start, end + 1)  # bounded: below the limit
    return nodes


def _node_data(node: NodeOutline) -> list[Any]:
    data = [node.op, node.version, list(map(_operand_data, node.inputs)), node.outputs]
    return data if node.options is None else [*data, node.options]


def _operand_data(operand: OutlineOperand) -> Any:
    return [operand.type] if isinstance(operand, Constant) else operand


def _operand(item: Any) -> OutlineOperand:
    if item is None or isinstance(item, str):
        return item
    (kind,) = item
    return Constant(_text(kind))


def _subgraph(name: Any, inputs: Any, nodes: Any) -> SubgraphOutline:
    spend_steps(_STEPS_OF_A_SUBGRAPH + len(inputs), _READING)
    return SubgraphOutline(_text(name), tuple([_output(*item) for item in inputs]), tuple([_node(*item) for item in nodes]))


def _node(op: Any, version: Any, inputs: Any, outputs: Any, options: Any = None) -> NodeOutline:
    if not isinstance(version, int):
        raise TypeError("a version is not a number")
    if not (options is None or (isinstance(options, dict) and all(isinstance(value, str) for value in options.values()))):
        raise TypeError("the options are not an object of strings")
    spend_steps(_STEPS_OF_A_NODE + len(inputs) + len(outputs) + len(options or ()), _READING)
    operands = tuple(map(_operand, inputs))
    return NodeOutline(_text(op), version, operands, tuple([_output(*item) for item in outputs]), options)


def _output(name: Any, kind: Any) -> Output:
    return Output(_text(name), _text(kind))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is not a string")
    return value

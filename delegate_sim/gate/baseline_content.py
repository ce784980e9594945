"""Entries of a baseline: the accepted result of each model and target, and their text in the current and in the first schema."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import DelegateSimError, LimitError
from ..foundation.columns import schema_of
from ..foundation.limits import how_to_raise, raised
from ..foundation.parsing import json_text
from ..foundation.printable import printable
from ..foundation.work_budget import spend_bytes, spend_steps
from ..results.compare.model_outline import Constant, NodeOutline, OutlineOperand, Output, SubgraphOutline
from ..results.report.measures import FAILS_LATER, MEASURES, NOT_LOADED, NOT_PREPARED, OUTCOMES, TAKEN, Measures
from ..results.report.multiply_adds import ComputeTotals


class BaselineError(DelegateSimError):
    """Raised if a file is not a baseline, or if the file cannot be read or written."""


class EntryKey(NamedTuple):
    """The key of an entry: the name of the target and the path of the model.

    The path is relative to the folder of the configuration, with slashes.
    """

    model: str
    target: str


class StoredOutline(NamedTuple):
    """A packed outline. It is read only for a model that has changed. ``place`` names the file and the outline."""

    text: str
    place: str

    def read(self) -> tuple[SubgraphOutline, ...]:
        """Return the outline. Raises BaselineError if it cannot be read."""
        try:
            return unpacked(self.text)
        except (ValueError, LimitError) as error:
            raise BaselineError(printable(f"{self.place} cannot be read: {error}")) from error


@dataclass(frozen=True, slots=True)
class Entry:
    """The accepted result of one model on one target.

    ``fallback`` lists the nodes that stay on the CPU, by subgraph and code. ``rule_set`` is the version of the rules, and
    ``tool`` is the version of delegate-sim.
    """

    sha256: str
    delegate: str
    options: Mapping[str, Any]
    runtime: str
    defaults: str
    rule_set: str
    tool: str
    measures: Measures
    fallback: tuple[Fallback, ...]
    outline: tuple[SubgraphOutline, ...] | StoredOutline = field(compare=False)
    """The outline of the model with the digest ``sha256``."""
    compute: ComputeTotals | None = None
    """The multiply-adds; None if an older version of delegate-sim wrote the entry."""

    @property
    def subgraphs(self) -> tuple[SubgraphOutline, ...]:
        """The outline. Raises BaselineError if it is stored and cannot be read."""
        return self.outline.read() if isinstance(self.outline, StoredOutline) else self.outline

    @property
    def on_cpu(self) -> Mapping[int, Set[int]]:
        """The nodes that stay on the CPU, by subgraph."""
        nodes: defaultdict[int, set[int]] = defaultdict(set)
        for group in self.fallback:
            nodes[group.subgraph] |= group.nodes
        return nodes


@dataclass(frozen=True, slots=True)
class Fallback:
    """Nodes of one subgraph that stay on the CPU for one reason."""

    subgraph: int
    code: str
    nodes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """All entries of a baseline. ``packed`` has the packed outlines of models, keyed by digest."""

    entries: Mapping[EntryKey, Entry] = field(default_factory=dict)
    packed: Mapping[str, str] = field(default_factory=dict, compare=False)


class Unexpected(Exception):
    """Raised if the content of a file is not a valid baseline."""


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
    inputs = [[operand.type] if isinstance(operand, Constant) else operand for operand in node.inputs]
    data = [node.op, node.version, inputs, node.outputs]
    return data if node.options is None else [*data, node.options]


def _operand(item: Any) -> OutlineOperand:
    if item is None or isinstance(item, str):
        return item
    (kind,) = item
    return Constant(_text(kind))


def _subgraph(name: Any, inputs: Any, nodes: Any) -> SubgraphOutline:
    spend_steps(_STEPS_OF_A_SUBGRAPH + len(inputs), _READING)
    return SubgraphOutline(
        _text(name), tuple([Output(*map(_text, item)) for item in inputs]), tuple([_node(*item) for item in nodes])
    )


def _node(op: Any, version: Any, inputs: Any, outputs: Any, options: Any = None) -> NodeOutline:
    if not isinstance(version, int):
        raise TypeError("a version is not a number")
    if not (options is None or (isinstance(options, dict) and all(isinstance(value, str) for value in options.values()))):
        raise TypeError("the options are not an object of strings")
    spend_steps(_STEPS_OF_A_NODE + len(inputs) + len(outputs) + len(options or ()), _READING)
    operands = tuple(map(_operand, inputs))
    return NodeOutline(_text(op), version, operands, tuple([Output(*map(_text, item)) for item in outputs]), options)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is not a string")
    return value


_FIRST = "delegate-sim/baseline/1"
"""The first schema."""
_OLD_NOT_PREPARED, _OLD_NOT_LOADED, _OLD_SELECTED = "not-prepared", "not-loaded", "selected"
"""Outcome names in older baselines. The first two mean that the model does not run; the third is now ``TAKEN``."""


def baseline_of(content: Any, path: str) -> Baseline:
    """Return the baseline from the content of a file. Raises Unexpected if the content is invalid."""
    schema = content.get("schema") if isinstance(content, dict) else None
    current = schema_of("baseline")
    if schema not in (current, _FIRST):
        raise Unexpected(f"it has another schema, but this delegate-sim reads {current!r} and {_FIRST!r}")
    stored: dict[str, str] = {}
    outlines: dict[str, tuple[SubgraphOutline, ...] | StoredOutline] = {}
    if schema == current:
        stored = _packed(_get(content, "models", list, "the file"))
        for number, (sha256, text) in enumerate(stored.items()):
            outlines[sha256] = StoredOutline(text, f"{path}: is not a baseline: the outline models[{number}]")
    else:
        for number, (sha256, subgraphs) in enumerate(_get(content, "models", dict, "the file").items()):
            if not isinstance(subgraphs, list):
                raise Unexpected(f"models[{number}] must be an array")
            outlines[sha256] = tuple(map(_first_subgraph, subgraphs))
    entries: dict[EntryKey, Entry] = {}
    for number, item in enumerate(_get(content, "entries", list, "the file")):
        key, entry = _entry(item, f"entries[{number}]", outlines)
        if key in entries:
            raise Unexpected(f"entries[{number}] has the model and the target of an earlier entry: remove one of them")
        entries[key] = entry
    return Baseline(entries, stored)


def _packed(items: list[Any]) -> dict[str, str]:
    texts = {}
    for number, item in enumerate(items):
        if not isinstance(item, list) or len(item) != 2 or not all(isinstance(part, str) for part in item):
            raise Unexpected(f"models[{number}] must be a pair of a digest and an outline")
        texts[item[0]] = item[1]
    return texts


def _outcome(written: str, delegated_nodes: int) -> str:
    if written == _OLD_NOT_PREPARED:
        return FAILS_LATER if delegated_nodes else NOT_PREPARED
    if written == _OLD_NOT_LOADED:
        return NOT_LOADED
    return TAKEN if written == _OLD_SELECTED else written


def _entry(item: Any, where: str, outlines: Mapping[str, tuple[SubgraphOutline, ...] | StoredOutline]) -> tuple[EntryKey, Entry]:
    def text(name: str) -> str:
        value: str = _get(item, name, str, where)
        return value

    def count(name: str) -> int:
        value: int = _get(item, name, int, where)
        if value < 0:
            raise Unexpected(f"{where}.{name} is below 0")
        return value

    if not isinstance(item, dict):
        raise Unexpected(f"{where} must be an object")
    if text("sha256") not in outlines:
        raise Unexpected(f"{where}.sha256 is the digest of a model that is missing from models")
    outcome = _outcome(text("outcome"), count("delegated_nodes"))
    if outcome not in OUTCOMES:
        raise Unexpected(f"{where}.outcome has an unknown value")
    counts: list[Any] = [None if column.since and item.get(column.key) is None else count(column.key) for column in MEASURES[1:]]
    fallback = tuple(_fallback(group, f"{where}.fallback[{n}]") for n, group in enumerate(_get(item, "fallback", list, where)))
    return EntryKey(text("model"), text("target")), Entry(
        text("sha256"),
        text("delegate"),
        _get(item, "options", dict, where),
        text("runtime"),
        text("defaults"),
        text("rule_set"),
        text("tool"),
        Measures(outcome, *counts),
        fallback,
        outlines[text("sha256")],
        ComputeTotals(count("multiply_adds"), count("delegated_multiply_adds")) if "multiply_adds" in item else None,
    )


def _fallback(item: Any, where: str) -> Fallback:
    if isinstance(item, list):
        if len(item) != 3 or not isinstance(item[0], int) or not all(isinstance(part, str) for part in item[1:]):
            raise Unexpected(f"{where} must have a subgraph, a code and nodes")
        try:
            return Fallback(item[0], item[1], frozenset(read_ranges(item[2])))
        except ValueError as error:
            raise Unexpected(f"{where}: {error}") from error
    nodes = _get(item, "nodes", list, where)
    if not all(isinstance(node, int) for node in nodes):
        raise Unexpected(f"{where}.nodes must all be numbers")
    return Fallback(_get(item, "subgraph", int, where), _get(item, "code", str, where), frozenset(nodes))


def _first_subgraph(item: Any) -> SubgraphOutline:
    nodes = tuple(map(_first_node, _get(item, "nodes", list, "a subgraph")))
    return SubgraphOutline(_get(item, "name", str, "a subgraph"), _first_outputs(_get(item, "inputs", list, "a subgraph")), nodes)


def _first_node(item: Any) -> NodeOutline:
    operands: tuple[OutlineOperand, ...] = tuple(map(_first_operand, _get(item, "in", list, "a node")))
    return NodeOutline(
        _get(item, "op", str, "a node"),
        _get(item, "version", int, "a node"),
        operands,
        _first_outputs(_get(item, "out", list, "a node")),
    )


def _first_operand(item: Any) -> OutlineOperand:
    if item is None or isinstance(item, str):
        return item
    return Constant(_get(item, "constant", str, "an operand"))


def _first_outputs(items: list[Any]) -> tuple[Output, ...]:
    if not all(isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item) for item in items):
        raise Unexpected("tensors must be pairs of a name and a type")
    return tuple(Output(*item) for item in items)


_KINDS: Mapping[type, str] = {str: "a string", int: "a number", list: "an array", dict: "an object"}


def _get(item: Any, name: str, kind: type, where: str) -> Any:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Unexpected(f"{name!r} of {where} must be {_KINDS[kind]}")
    return value

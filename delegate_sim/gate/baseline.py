"""The committed baseline: what each model did on each target when somebody last accepted it.

One JSON file, ordered by model and target, with one node per line, so that changes are easy to review.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import DelegateSimError
from ..files import alone_with, write_whole
from ..results.measures import OUTCOMES, Measures
from ..results.outline import Constant, NodeOutline, OutlineOperand, Output, SubgraphOutline
from ..text import printable

SCHEMA = "delegate-sim/baseline/1"


class BaselineError(DelegateSimError):
    """The file is not a baseline, or cannot be read or written."""


class EntryKey(NamedTuple):
    """Identifies an entry: the model's path, relative to the configuration and with slashes, and the target's name."""

    model: str
    target: str


@dataclass(frozen=True)
class Entry:
    """One model on one target.

    ``fallback`` lists, for each subgraph and code, the nodes that stay on the CPU. ``rule_set`` and ``tool`` are the versions
    that produced the entry.
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
    outline: tuple[SubgraphOutline, ...]

    def on_cpu(self, subgraph: int) -> frozenset[int]:
        """Return the nodes of a subgraph that stay on the CPU."""
        return frozenset(node for group in self.fallback if group.subgraph == subgraph for node in group.nodes)


class Fallback(NamedTuple):
    """Nodes of one subgraph that stay on the CPU for one reason."""

    subgraph: int
    code: str
    nodes: frozenset[int]


@dataclass(frozen=True)
class Baseline:
    """All entries."""

    entries: Mapping[EntryKey, Entry] = field(default_factory=dict)


def read_baseline(path: str) -> Baseline:
    """Read a baseline, which is empty if there is no file. Raises BaselineError naming the file and what is wrong."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return Baseline()
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(printable(f"{path}: {getattr(error, 'strerror', None) or 'is not UTF-8 text'}")) from error
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise BaselineError(printable(f"{path}: is not JSON: {where}")) from error
    try:
        return _baseline(content)
    except _Unexpected as error:
        raise BaselineError(printable(f"{path}: is not a baseline: {error}")) from error


def update_baseline(path: str, changed: Mapping[EntryKey, Entry], removed: Iterable[EntryKey] = ()) -> bool:
    """Write entries to the file, leaving its other entries alone; return whether it changed.

    Other processes that update it at the same time wait; the file is replaced atomically. Raises BaselineError.
    """
    try:
        with alone_with(path):
            before = read_baseline(path)
            entries = {key: entry for key, entry in before.entries.items() if key not in set(removed)} | dict(changed)
            text = baseline_text(Baseline(entries))
            if before.entries and text == baseline_text(before):
                return False
            write_whole(path, text)
            return True
    except OSError as error:
        raise BaselineError(printable(f"{path}: {error.strerror or error}")) from error


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline as it is written."""
    return "".join(_lines(baseline))


def _lines(baseline: Baseline) -> Iterator[str]:
    entries = sorted(baseline.entries.items())
    outlines = {entry.sha256: entry.outline for _, entry in entries}
    yield f'{{\n  "schema": {json.dumps(SCHEMA)},\n  "entries": ['
    for number, (key, entry) in enumerate(entries):
        yield ",\n" if number else "\n"
        yield from _entry_lines(key, entry)
    yield '\n  ],\n  "models": {'
    for number, (sha256, subgraphs) in enumerate(outlines.items()):
        yield f"{',' if number else ''}\n    {_compact(sha256)}: ["
        for position, subgraph in enumerate(subgraphs):
            yield ",\n" if position else "\n"
            yield from _subgraph_lines(subgraph)
        yield "\n    ]"
    yield "\n  }\n}\n"


def _entry_lines(key: EntryKey, entry: Entry) -> Iterator[str]:
    measures = entry.measures
    values = {
        "model": key.model,
        "target": key.target,
        "sha256": entry.sha256,
        "delegate": entry.delegate,
        "options": dict(entry.options),
        "runtime": entry.runtime,
        "defaults": entry.defaults,
        "rule_set": entry.rule_set,
        "tool": entry.tool,
        "outcome": measures.outcome,
        "nodes": measures.nodes,
        "delegated_nodes": measures.delegated_nodes,
        "partitions": measures.partitions,
        "delegate_kernels": measures.delegate_kernels,
        "border_bytes": measures.border_bytes,
    }
    yield "    {\n"
    for name, value in values.items():
        yield f"      {_compact(name)}: {_compact(value)},\n"
    groups = [
        _compact({"subgraph": group.subgraph, "code": group.code, "nodes": sorted(group.nodes)}) for group in entry.fallback
    ]
    yield f'      "fallback": {_block(groups, "      ")}\n    }}'


def _subgraph_lines(subgraph: SubgraphOutline) -> Iterator[str]:
    nodes = [
        _compact({"op": node.op, "version": node.version, "in": list(map(_operand_data, node.inputs)), "out": list(node.outputs)})
        for node in subgraph.nodes
    ]
    yield (
        f'      {{\n        "name": {_compact(subgraph.name)},\n        "inputs": {_compact(list(subgraph.inputs))},\n'
        f'        "nodes": {_block(nodes, "        ")}\n      }}'
    )


def _operand_data(operand: OutlineOperand) -> Any:
    return {"constant": operand.type} if isinstance(operand, Constant) else operand


def _block(items: list[str], indent: str) -> str:
    """Return a JSON array with one item per line."""
    return f"[\n{indent}  " + f",\n{indent}  ".join(items) + f"\n{indent}]" if items else "[]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


class _Unexpected(Exception):
    """The content is not what a baseline holds."""


def _baseline(content: Any) -> Baseline:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        found = content.get("schema") if isinstance(content, dict) else None
        raise _Unexpected(f"its schema is {found!r}, but this version reads {SCHEMA!r}")
    outlines = {
        sha256: tuple(map(_subgraph, _list(subgraphs, f"models.{sha256}")))
        for sha256, subgraphs in _get(content, "models", dict, "the file").items()
    }
    entries: dict[EntryKey, Entry] = {}
    for number, item in enumerate(_get(content, "entries", list, "the file")):
        key, entry = _entry(item, f"entries[{number}]", outlines)
        if key in entries:
            raise _Unexpected(f"two entries for {key.model} on {key.target}")
        entries[key] = entry
    return Baseline(entries)


def _entry(item: Any, where: str, outlines: Mapping[str, tuple[SubgraphOutline, ...]]) -> tuple[EntryKey, Entry]:
    def text(name: str) -> str:
        value: str = _get(item, name, str, where)
        return value

    def count(name: str) -> int:
        value: int = _get(item, name, int, where)
        if value < 0:
            raise _Unexpected(f"{where}.{name} is {value}")
        return value

    if not isinstance(item, dict):
        raise _Unexpected(f"{where} is not an object")
    if text("sha256") not in outlines:
        raise _Unexpected(f"{where}.sha256 names a model that is not under models")
    if text("outcome") not in OUTCOMES:
        raise _Unexpected(f"{where}.outcome is {text('outcome')!r}")
    measures = Measures(
        text("outcome"),
        count("nodes"),
        count("delegated_nodes"),
        count("partitions"),
        count("delegate_kernels"),
        count("border_bytes"),
    )
    fallback = tuple(_fallback(group, f"{where}.fallback[{n}]") for n, group in enumerate(_get(item, "fallback", list, where)))
    return EntryKey(text("model"), text("target")), Entry(
        text("sha256"),
        text("delegate"),
        _get(item, "options", dict, where),
        text("runtime"),
        text("defaults"),
        text("rule_set"),
        text("tool"),
        measures,
        fallback,
        outlines[text("sha256")],
    )


def _fallback(item: Any, where: str) -> Fallback:
    nodes = _get(item, "nodes", list, where)
    if not all(isinstance(node, int) for node in nodes):
        raise _Unexpected(f"{where}.nodes are not all numbers")
    return Fallback(_get(item, "subgraph", int, where), _get(item, "code", str, where), frozenset(nodes))


def _subgraph(item: Any) -> SubgraphOutline:
    nodes = tuple(map(_node, _get(item, "nodes", list, "a subgraph")))
    return SubgraphOutline(_get(item, "name", str, "a subgraph"), _outputs(_get(item, "inputs", list, "a subgraph")), nodes)


def _node(item: Any) -> NodeOutline:
    operands: tuple[OutlineOperand, ...] = tuple(map(_operand, _get(item, "in", list, "a node")))
    return NodeOutline(
        _get(item, "op", str, "a node"),
        _get(item, "version", int, "a node"),
        operands,
        _outputs(_get(item, "out", list, "a node")),
    )


def _operand(item: Any) -> OutlineOperand:
    if item is None or isinstance(item, str):
        return item
    return Constant(_get(item, "constant", str, "an operand"))


def _outputs(items: list[Any]) -> tuple[Output, ...]:
    if not all(isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item) for item in items):
        raise _Unexpected("tensors are not pairs of name and type")
    return tuple(Output(*item) for item in items)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Unexpected(f"{where} is not an array")
    return value


_KINDS: Mapping[type, str] = {str: "a string", int: "a number", list: "an array", dict: "an object"}


def _get(item: Any, name: str, kind: type, where: str) -> Any:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Unexpected(f"{where} has no {name!r} that is {_KINDS[kind]}")
    return value

"""Read the entries of a baseline file, in the current or in the first schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...foundation.columns import schema_of
from ...results.compare.model_outline import Constant, NodeOutline, OutlineOperand, Output, SubgraphOutline
from ...results.report.measures import FAILS_LATER, MEASURES, NOT_LOADED, NOT_PREPARED, OUTCOMES, TAKEN, Measures
from ...results.report.multiply_adds import ComputeTotals
from .entries import Baseline, Entry, EntryKey, Fallback, Unexpected
from .packing import read_ranges, unpacked

_FIRST = "delegate-sim/baseline/1"
"""The first schema."""
_OLD_NOT_PREPARED, _OLD_NOT_LOADED, _OLD_SELECTED = "not-prepared", "not-loaded", "selected"
"""Outcome names in older baselines. The first two mean that the model does not run; the third is now ``TAKEN``."""


def baseline_of(content: Any) -> Baseline:
    """Return the baseline from the content of a file. Raises Unexpected if the content is invalid."""
    schema = content.get("schema") if isinstance(content, dict) else None
    current = schema_of("baseline")
    if schema not in (current, _FIRST):
        raise Unexpected(f"it has another schema, but this delegate-sim reads {current!r} and {_FIRST!r}")
    packed: dict[str, str] = {}
    if schema == current:
        packed = _packed(_get(content, "models", list, "the file"))
        outlines = {sha256: _unpacked(number, text) for number, (sha256, text) in enumerate(packed.items())}
    else:
        outlines = {
            sha256: tuple(map(_subgraph, _list(subgraphs, f"models[{number}]")))
            for number, (sha256, subgraphs) in enumerate(_get(content, "models", dict, "the file").items())
        }
    entries: dict[EntryKey, Entry] = {}
    for number, item in enumerate(_get(content, "entries", list, "the file")):
        key, entry = _entry(item, f"entries[{number}]", outlines)
        if key in entries:
            raise Unexpected(f"entries[{number}] has the model and the target of an earlier entry: remove one of them")
        entries[key] = entry
    return Baseline(entries, packed)


def _packed(items: list[Any]) -> dict[str, str]:
    texts = {}
    for number, item in enumerate(items):
        if not isinstance(item, list) or len(item) != 2 or not all(isinstance(part, str) for part in item):
            raise Unexpected(f"models[{number}] must be a pair of a digest and an outline")
        texts[item[0]] = item[1]
    return texts


def _unpacked(number: int, text: str) -> tuple[SubgraphOutline, ...]:
    try:
        return unpacked(text)
    except ValueError as error:
        raise Unexpected(f"the outline models[{number}] cannot be read: {error}") from error


def _outcome(written: str, delegated_nodes: int) -> str:
    """Return the current name of an outcome. ``written`` is the name in the baseline, which may be an older name."""
    if written == _OLD_NOT_PREPARED:
        return FAILS_LATER if delegated_nodes else NOT_PREPARED
    if written == _OLD_NOT_LOADED:
        return NOT_LOADED
    return TAKEN if written == _OLD_SELECTED else written


def _entry(item: Any, where: str, outlines: Mapping[str, tuple[SubgraphOutline, ...]]) -> tuple[EntryKey, Entry]:
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
        raise Unexpected("tensors must be pairs of a name and a type")
    return tuple(Output(*item) for item in items)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise Unexpected(f"{where} must be an array")
    return value


_KINDS: Mapping[type, str] = {str: "a string", int: "a number", list: "an array", dict: "an object"}


def _get(item: Any, name: str, kind: type, where: str) -> Any:
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Unexpected(f"{name!r} of {where} must be {_KINDS[kind]}")
    return value

"""Find the changes between two versions of a model, node by node. ``check`` takes the old version from a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...foundation.columns import Declared
from ...foundation.work_budget import spend_steps
from .model_outline import NodeOutline, SubgraphOutline, operand_text, option_text
from .node_matching import match_nodes

_STEPS_OF_A_SUBGRAPH, _STEPS_OF_A_NODE, _STEPS_OF_AN_OPERAND = 12, 10, 2
ADDED, REMOVED = "added", "removed"


@dataclass(frozen=True, slots=True)
class NodeChange(Declared):
    """One change of a node, or of an input of a subgraph.

    ``what`` is ``added``, ``removed``, ``version``, ``option NAME``, ``input N``, ``output N``, or ``subgraph input``. ``old``
    and ``new`` are the values before and after the change. If a value does not exist, the text is empty. ``old_node`` and
    ``node`` are the node's indices in the old and in the new version. An index is None if the version does not have the node, or
    if an input of the subgraph changed. ``name`` is the name of the node's first output tensor.
    """

    subgraph: int
    node: int | None
    old_node: int | None
    op: str
    name: str
    what: str
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Matching:
    """The matched nodes and the changes between two versions of a model."""

    old_of: tuple[dict[int, int], ...]
    """For each subgraph of the new model, the old index of each matched node, keyed by new index."""
    changes: tuple[NodeChange, ...]


def compare_outlines(
    old: Sequence[SubgraphOutline], new: Sequence[SubgraphOutline], origins: Sequence[Sequence[int]] = ()
) -> Matching:
    """Match the nodes of two versions of a model in each subgraph, and list the changes.

    ``origins`` has the old index of each node in each new subgraph. If the index is not known, it is -1, and the node is matched
    by names and structure. An outline may come from a stranger. Raises LimitError if ``old`` is so much larger than ``new`` that
    the work is too much.
    """
    allowed = 2 * sum(_steps(new))
    for steps in _steps(old):
        allowed -= steps
        if allowed < 0:
            spend_steps(-allowed, "comparing the model with the baseline")
            allowed = 0
    empty = SubgraphOutline("", (), ())
    old_of = []
    changes: list[NodeChange] = []
    for number in range(max(len(old), len(new))):
        before = old[number] if number < len(old) else empty
        after = new[number] if number < len(new) else empty
        matched = match_nodes(before, after, origins[number] if number < len(origins) else ())
        if number < len(new):
            old_of.append(matched)
        changes += _changes(number, before, after, matched)
    return Matching(tuple(old_of), tuple(changes))


def _steps(outline: Sequence[SubgraphOutline]) -> Iterator[int]:
    for subgraph in outline:
        yield _STEPS_OF_A_SUBGRAPH + _STEPS_OF_A_NODE * len(subgraph.nodes) + _STEPS_OF_AN_OPERAND * len(subgraph.inputs)
        for node in subgraph.nodes:
            yield _STEPS_OF_AN_OPERAND * (len(node.inputs) + len(node.outputs) + len(node.options or ()))


def _changes(number: int, old: SubgraphOutline, new: SubgraphOutline, old_of: dict[int, int]) -> Iterator[NodeChange]:
    before, after = dict(old.inputs), dict(new.inputs)
    if sorted(before.values()) != sorted(after.values()):
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                yield NodeChange(number, None, None, "", name, "subgraph input", before.get(name, ""), after.get(name, ""))
    for index, node in enumerate(new.nodes):
        if index not in old_of:
            yield NodeChange(number, index, None, node.op, node.name, ADDED, "", _summary(node))
            continue
        place = (number, index, old_of[index], node.op, node.name)
        for aspect, was, now in _differences(old.nodes[old_of[index]], node):
            yield NodeChange(*place, aspect, was, now)
    surviving = set(old_of.values())
    for index, node in enumerate(old.nodes):
        if index not in surviving:
            yield NodeChange(number, None, index, node.op, node.name, REMOVED, _summary(node))


def _differences(old: NodeOutline, new: NodeOutline) -> Iterator[tuple[str, str, str]]:
    if old.version != new.version:
        yield "version", str(old.version), str(new.version)
    if old.options is not None and new.options is not None:
        for name in sorted(old.options.keys() | new.options.keys()):
            was, now = (option_text(new.op, options, name) for options in (old.options, new.options))
            if was != now:
                yield f"option {name}", was, now
    for position in range(max(len(old.inputs), len(new.inputs))):
        was, now = (operand_text(node.inputs, position) for node in (old, new))
        if was != now:
            yield f"input {position}", was, now
    for position in range(max(len(old.outputs), len(new.outputs))):
        was, now = (node.outputs[position].type if position < len(node.outputs) else "none" for node in (old, new))
        if was != now:
            yield f"output {position}", was, now


def _summary(node: NodeOutline) -> str:
    return f"version {node.version}"

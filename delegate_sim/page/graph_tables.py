"""The graphs of the page as plain data, each once, and the arena of TensorFlow Lite Micro.

Text that may contain names from a model is made printable and is shortened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..foundation.printable import printable, shortened
from ..graph.graph import Graph
from ..micro.report import MicroReport
from ..micro.resolver import resolver_lines
from ..rules.rule import Reason
from ..runtime.interpreter import SubgraphRun
from .layout import Drawing, PageLayouts, draw

_LONGEST_NAME = 200
_LONGEST_TEXT = 2000


class PageGraphs:
    """The distinct graphs of the page's views, each with a number."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._known: dict[Graph, int] = {}
        """The numbers of the graphs so far. Runs of several delegates often share a graph."""
        self._numbers: dict[str, int] = {}
        self._layouts = PageLayouts()
        self._drawings: dict[tuple[int, tuple[tuple[int, ...], ...]], Drawing] = {}
        """The drawings so far, by the number of the graph and the nodes of its partitions."""

    def number(self, graph: Graph) -> int:
        """Return the number of a graph."""
        if graph not in self._known:
            entry = _graph_entry(graph)
            number = self._known[graph] = self._numbers.setdefault(json.dumps(entry), len(self.entries))
            if number == len(self.entries):
                self.entries.append(entry)
        return self._known[graph]

    def drawn(
        self,
        run: SubgraphRun,
        states: list[int],
        reasons_of: Mapping[int, Sequence[Reason]],
        reasons: dict[Reason, int],
        partitions: list[dict[str, Any]],
    ) -> dict[str, Any]:
        """Return a subgraph as plain data, by plan order. New reasons of ``reasons_of`` are added to ``reasons``, by number."""
        plan, graph = run.graph.execution_plan, self.number(run.graph)
        key = graph, tuple([subset.nodes for subset in run.subsets])
        if key not in self._drawings:
            self._drawings[key] = draw(run, self._layouts)
        drawing = self._drawings[key]
        part_of = {node: number for number, subset in enumerate(run.subsets) for node in subset.nodes}
        numbers = {at: [reasons.setdefault(reason, len(reasons)) for reason in own] for at, own in reasons_of.items() if own}
        return {
            "graph": graph,
            "states": states,
            "x": [drawing.nodes[index][0] for index in plan],
            "y": [drawing.nodes[index][1] for index in plan],
            "reasons": {str(position): own for position, own in numbers.items()},
            "partitioned": bool(run.subsets),
            "boxes": [list(box) for box in drawing.boxes],
            "rows": [list(row) for row in drawing.rows],
            "small": [position for position, index in enumerate(plan) if index in drawing.small],
            "partition": [part_of.get(index, 0) for index in plan],
            "partitions": partitions,
        }


def short_name(text: str) -> str:
    """Return a name without unprintable characters, shortened."""
    return shortened(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)


def short_text(text: str) -> str:
    """Return a text without unprintable characters, shortened."""
    return shortened(printable(text), _LONGEST_TEXT)


def _graph_entry(graph: Graph) -> dict[str, Any]:
    nodes = [graph.nodes[index] for index in graph.execution_plan]
    number = tensor_positions(graph)
    tensors = [graph.tensors[index] for index in number]
    ops, types = [short_name(node.op) for node in nodes], [tensor.type for tensor in tensors]
    op_numbers, type_numbers = _numbered(ops), _numbered(types)
    return {
        "name": short_name(graph.name),
        "index": graph.index,
        "nodes": list(graph.execution_plan),
        "op": [op_numbers[op] for op in ops],
        "version": [node.version for node in nodes],
        "inputs": [[number.get(tensor, -1) for tensor in node.inputs] for node in nodes],
        "outputs": [[number.get(tensor, -1) for tensor in node.outputs] for node in nodes],
        "ops": list(op_numbers),
        "tensors": {
            "name": [short_name(tensor.name) for tensor in tensors],
            "type": [type_numbers[name] for name in types],
            "shape": [list(tensor.shape) for tensor in tensors],
            "bytes": [tensor.byte_size for tensor in tensors],
            "constant": [position for position, tensor in enumerate(tensors) if tensor.is_constant],
        },
        "types": list(type_numbers),
    }


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def tensor_positions(graph: Graph) -> dict[int, int]:
    """Return the position of each used tensor in the page's list of tensors, keyed by tensor index."""
    nodes = [graph.nodes[index] for index in graph.execution_plan]
    used = sorted({tensor for node in nodes for tensor in (*node.inputs, *node.outputs) if tensor >= 0})
    return {tensor: position for position, tensor in enumerate(used)}


def whole_entry(graph: Graph) -> dict[str, Any]:
    """Return one partition entry for a plan without delegation. All nodes are in this partition."""
    plan = graph.execution_plan
    return {
        "delegated": False,
        "nodes": list(range(len(plan))),
        "operators": operator_counts(graph, plan),
        "inputs": [],
        "outputs": [],
        "bytes": [0, 0],
    }


def operator_counts(graph: Graph, nodes: Iterable[int]) -> list[list[Any]]:
    """Return the operators of nodes with their counts, the most frequent operator first."""
    counts = Counter([graph.nodes[index].op for index in nodes])
    return [[short_name(op), count] for op, count in counts.most_common()]


def plain_reasons(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    """Return reasons as plain data, in order."""
    return [
        {"code": reason.code, **{key: short_text(getattr(reason, key)) for key in ("message", "found", "needed", "hint")}}
        for reason in reasons
    ]


_MOST_BUFFERS = 2000
"""Largest number of buffers in the picture of an arena."""


def arena_entry(report: MicroReport) -> dict[str, Any] | None:
    """Return the columns of a table of the largest buffers, and the resolver's lines. None if there is no arena."""
    arena = report.arena
    if arena is None:
        return None
    buffers = sorted(arena.buffers, key=lambda placed: -placed.area)[:_MOST_BUFFERS]
    return {
        "resolver": list(resolver_lines(report.operators, report.variables)),
        "head": arena.head,
        "tail": arena.tail,
        "total": arena.total,
        "left_out": len(arena.buffers) - len(buffers),
        "name": [short_name(placed.buffer.name) for placed in buffers],
        "bytes": [placed.buffer.requirement.size for placed in buffers],
        "offset": [placed.offset for placed in buffers],
        "first": [placed.buffer.requirement.first for placed in buffers],
        "last": [placed.buffer.requirement.last for placed in buffers],
        "scratch": [placed.buffer.tensor is None for placed in buffers],
    }

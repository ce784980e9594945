"""Lay out the graph from top to bottom: each partition is a box with its nodes in layers, and the boxes are in running order.

A chain of a thousand nodes would be one long, thin line. Tall boxes and tall drawings are therefore broken into columns, as in a
newspaper. Nodes that read only constants, such as those that convert weights, are drawn small, above the node that reads them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from ..graph.graph import Graph
from ..runtime.interpreter import SubgraphRun
from .layered_layout import Edges, layered_layout

NODE_WIDTH, NODE_HEIGHT = 150, 28
"""Size of a node in units of the drawing. A unit is a pixel at scale 1."""
SMALL_WIDTH, SMALL_HEIGHT = 40, 10
"""Size of a small node."""
_SMALL_COLUMN, _SMALL_ROW = 44, 14
_MOST_ABOVE = 3
"""Largest number of small nodes above a node. Further small nodes are at the end of the box."""
_COLUMN, _ROW = 168, 42
_FOLD = 0.3
"""Space between the columns of a folded part, in widths of a column. Edges have room in it."""
_PADDING = 12
HEADER = 24
"""Height of the heading of a box, above its nodes."""
_GAP, _GUTTER = 26, 52
"""Space between boxes, vertically and horizontally."""
_MOST_LAYERS = 16
"""A connected part of a graph with at most this number of layers is never folded into columns."""
_COLUMNS_TRIED = 40
_ASPECT = 1.45
"""Target ratio of width to height, about the ratio of the canvas on a wide screen."""
_WIDEST = 2.5
"""Largest ratio of width to height, as a multiple of ``_ASPECT``. In wider connected parts, layers are broken into rows."""
CLOSED_WIDTH, CLOSED_HEIGHT = 196, 62
"""Size of a closed box. The nodes in a closed box are not drawn."""

_MOST_ROUTED, _MOST_ROUTED_ON_A_PAGE = 50_000, 150_000
"""Limits for the total length, in layers, of all edges of a box and of a page. Above them, layers are ordered by number."""

Place = tuple[float, float]


class Box(NamedTuple):
    """A partition in the drawing: upper left corner and size."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The upper left corners of nodes, by index, the small nodes, and the boxes of the partitions, in running order.

    Each entry of ``rows`` lists partitions side by side, which do not depend on each other.
    """

    nodes: Mapping[int, tuple[int, int]]
    small: frozenset[int]
    boxes: tuple[Box, ...]
    rows: tuple[tuple[int, ...], ...]


class _Inside(NamedTuple):
    places: dict[int, Place]
    size: Place


class PageLayouts:
    """The layouts of connected graphs that the drawings of a page share, and the limit on these layouts."""

    def __init__(self) -> None:
        self._left = _MOST_ROUTED_ON_A_PAGE
        self._known: dict[tuple[tuple[int, int], ...], Sequence[tuple[int, Place]]] = {}
        """The layouts so far, by the edges. The nodes are numbered from 0, because the blocks of a model are often alike."""

    def takes(self, length: int) -> bool:
        """Return whether edges of this total length may be routed. If so, the length counts."""
        is_taken = length <= min(_MOST_ROUTED, self._left)
        self._left -= length if is_taken else 0
        return is_taken

    def layout(self, layers: Mapping[int, int], edges: Edges) -> Sequence[tuple[int, Place]]:
        """Return the layout of a connected graph (see ``layered_layout``). Only the order of the nodes' numbers matters."""
        nodes = sorted({node for edge in edges for node in edge})
        number = {node: place for place, node in enumerate(nodes)}
        key = tuple([(number[a], number[b]) for a, b in edges])
        if key not in self._known:
            self._known[key] = layered_layout({number[node]: layers[node] for node in nodes}, key)
        return [(nodes[place], position) for place, position in self._known[key]]


def draw(run: SubgraphRun, layouts: PageLayouts | None = None) -> Drawing:
    """Place the nodes and partitions of a subgraph."""
    return _draw(run.graph, _parts(run), layouts or PageLayouts())


def _parts(run: SubgraphRun) -> list[Sequence[int]]:
    parts: list[Sequence[int]] = [subset.nodes for subset in run.subsets]
    placed = {node for nodes in parts for node in nodes}
    left_out = [index for index in run.graph.execution_plan if index not in placed]
    return [[*parts[0], *left_out], *parts[1:]] if parts else [left_out]


def node_edges(graph: Graph) -> list[tuple[int, int]]:
    """Return the edges of the plan as sorted, distinct pairs: the last writer of a tensor, and a reader of the tensor."""
    return sorted({(writer, reader) for writer, reader, _ in graph.links})


def _draw(graph: Graph, parts: Sequence[Sequence[int]], layouts: PageLayouts) -> Drawing:
    part_of = {node: number for number, nodes in enumerate(parts) for node in nodes}
    inner: list[list[tuple[int, int]]] = [[] for _ in parts]
    outer = set()
    small = {node for node in part_of if _reads_constants(graph, node)}
    for a, b in node_edges(graph):
        if a not in part_of or b not in part_of:
            continue
        if part_of[a] == part_of[b]:
            inner[part_of[a]].append((a, b))
        else:
            outer.add((part_of[a], part_of[b]))
    insides = [_inside(nodes, edges, small, layouts) for nodes, edges in zip(parts, inner, strict=True)]
    rows = _rows(len(parts), sorted(outer), layouts)
    corners = _in_columns(rows, [inside.size for inside in insides])
    places = {
        node: (round(corners[number][0] + x), round(corners[number][1] + y))
        for number, inside in enumerate(insides)
        for node, (x, y) in inside.places.items()
    }
    boxes = tuple([Box(*map(round, (*corners[number], *inside.size))) for number, inside in enumerate(insides)])
    return Drawing(places, frozenset(small), boxes, tuple(map(tuple, rows)))


def _reads_constants(graph: Graph, node: int) -> bool:
    inputs = [tensor for tensor in graph.nodes[node].inputs if tensor >= 0]
    return bool(inputs) and all(graph.tensors[tensor].is_constant for tensor in inputs)


def _inside(nodes: Sequence[int], all_edges: Edges, all_small: Set[int], layouts: PageLayouts) -> _Inside:
    edges = [(a, b) for a, b in all_edges if a not in all_small and b not in all_small]
    connected = {node for edge in edges for node in edge}
    lone = [node for node in nodes if node not in connected and node not in all_small]
    order = {node: position for position, node in enumerate(nodes)}
    pieces = sorted(_folded_pieces(lone, edges, layouts), key=lambda piece: min([order[node] for node in piece]))
    above, others = _above([node for node in nodes if node in all_small], all_edges, all_small)
    top = HEADER + (_SMALL_ROW if above else 0)
    grid, (columns, rows) = _side_by_side(pieces)
    places = {node: (_PADDING + x * _COLUMN, top + y * _ROW) for node, (x, y) in grid.items()}
    for node, (reader, number) in above.items():
        left, upper = places[reader]
        places[node] = (left + NODE_WIDTH - SMALL_WIDTH - number * _SMALL_COLUMN, upper - SMALL_HEIGHT - 2)
    width, bottom = max(NODE_WIDTH, columns * _COLUMN - (_COLUMN - NODE_WIDTH)), top + rows * _ROW
    if not others:
        return _Inside(places, (2 * _PADDING + width, bottom - (_ROW - NODE_HEIGHT if pieces else 0) + _PADDING))
    square = math.ceil(math.sqrt(len(others) * _SMALL_ROW / _SMALL_COLUMN * _ASPECT))
    in_row = max(int(width / _SMALL_COLUMN), square)
    for number, node in enumerate(others):
        places[node] = (_PADDING + number % in_row * _SMALL_COLUMN, bottom + number // in_row * _SMALL_ROW)
    height = bottom + math.ceil(len(others) / in_row) * _SMALL_ROW
    return _Inside(places, (2 * _PADDING + max(width, min(in_row, len(others)) * _SMALL_COLUMN), height + _PADDING))


def _side_by_side(pieces: Sequence[Mapping[int, Place]]) -> tuple[dict[int, Place], Place]:
    """Place connected parts in lines. Return the places and the whole size, in columns and rows."""
    sizes = [_size(piece) for piece in pieces]
    area = sum([width * _COLUMN * height * _ROW for width, height in sizes])
    room = max([math.sqrt(area * _ASPECT) / _COLUMN, *[width for width, _ in sizes]])
    places: dict[int, Place] = {}
    x = y = line = widest = 0.0
    for piece, (width, height) in zip(pieces, sizes, strict=True):
        if x and x + width > room:
            x, y, line = 0.0, y + line, 0.0
        places.update({node: (x + column, y + row) for node, (column, row) in piece.items()})
        x, line = x + width, max(line, height)
        widest = max(widest, x)
    return places, (widest, y + line)


def _above(own: Sequence[int], edges: Edges, all_small: Set[int]) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """Return the small nodes above another node, with this node and their number there, and the other small nodes."""
    readers = {a: b for a, b in reversed(edges) if a in all_small and b not in all_small}
    counts: Counter[int] = Counter()
    above, others = {}, []
    for node in own:
        reader = readers.get(node)
        if reader is None or counts[reader] == _MOST_ABOVE:
            others.append(node)
        else:
            above[node] = (reader, counts[reader])
            counts[reader] += 1
    return above, others


def _size(piece: Mapping[int, Place]) -> Place:
    return max([x for x, _ in piece.values()]) + 1, max([y for _, y in piece.values()]) + 1


def _folded_pieces(lone: Sequence[int], edges: Edges, layouts: PageLayouts) -> list[dict[int, Place]]:
    pieces = _pieces(lone, edges, layouts)
    piece_of = {node: number for number, piece in enumerate(pieces) for node in piece}
    own: list[list[tuple[int, int]]] = [[] for _ in pieces]
    for edge in edges:
        own[piece_of[edge[0]]].append(edge)
    return [_folded(piece, inner, layouts) for piece, inner in zip(pieces, own, strict=True)]


def _pieces(nodes: Iterable[int], edges: Edges, layouts: PageLayouts) -> list[dict[int, Place]]:
    pieces = [_layered(positions) for positions in _layouts(edges, layouts)]
    connected = {node for edge in edges for node in edge}
    return pieces + [{node: (0.0, 0.0)} for node in nodes if node not in connected]


def _layouts(edges: Edges, layouts: PageLayouts) -> Iterable[Sequence[tuple[int, Place]]]:
    if not edges:
        return []
    layers = _layers(edges)
    if not layouts.takes(sum([abs(layers[b] - layers[a]) for a, b in edges])):
        return [_in_order(layers)]
    return [layouts.layout(layers, piece) for piece in _connected(edges)]


def _connected(edges: Edges) -> list[list[tuple[int, int]]]:
    neighbors: dict[int, list[int]] = {}
    for a, b in edges:
        neighbors.setdefault(a, []).append(b)
        neighbors.setdefault(b, []).append(a)
    part_of: dict[int, int] = {}
    for start in neighbors:
        waiting = [] if start in part_of else [start]
        while waiting:
            node = waiting.pop()
            if node not in part_of:
                part_of[node] = start
                waiting += neighbors[node]
    parts: dict[int, list[tuple[int, int]]] = {}
    for a, b in edges:
        parts.setdefault(part_of[a], []).append((a, b))
    return list(parts.values())


def _layers(edges: Edges) -> dict[int, int]:
    layers: dict[int, int] = {}
    for a, b in sorted(edges):
        layers[b] = max(layers.get(b, 0), layers.setdefault(a, 0) + 1)
    return layers


def _in_order(layers: Mapping[int, int]) -> list[tuple[int, Place]]:
    widths: Counter[int] = Counter()
    places = []
    for node in sorted(layers):
        layer = layers[node]
        places.append((node, (float(widths[layer]), float(-layer))))
        widths[layer] += 1
    return places


def _layered(positions: Sequence[tuple[int, Place]]) -> dict[int, Place]:
    left = min([x for _, (x, _) in positions])
    levels = {y: number for number, y in enumerate(sorted({y for _, (_, y) in positions}, reverse=True))}
    return {node: (x - left, float(levels[y])) for node, (x, y) in positions}


def _folded(piece: dict[int, Place], edges: Edges, layouts: PageLayouts) -> dict[int, Place]:
    """Break a connected part into columns if it is tall. Each column is laid out anew, without the edges to other columns."""
    width, layers = _size(piece)
    if width * _COLUMN > _WIDEST * layers * _ROW * _ASPECT:
        return _narrowed(piece)
    widest = max(Counter([y for _, y in piece.values()]).values())
    columns = max(1, round(math.sqrt(layers * _ROW * _ASPECT / (widest * _COLUMN)))) if layers > _MOST_LAYERS else 1
    if columns == 1:
        return piece
    height = -(-int(layers) // columns)
    nodes: dict[int, list[int]] = {}
    inner: dict[int, list[tuple[int, int]]] = {}
    for node, (_, y) in piece.items():
        nodes.setdefault(int(y) // height, []).append(node)
    for a, b in edges:
        column = int(piece[a][1]) // height
        if column == int(piece[b][1]) // height:
            inner.setdefault(column, []).append((a, b))
    places: dict[int, Place] = {}
    left = 0.0
    for column in sorted(nodes):
        parts = _pieces(nodes[column], inner.get(column, []), layouts)
        for part in sorted(parts, key=lambda part: min([piece[node][0] for node in part])):
            top = min([piece[node][1] for node in part]) % height
            places.update({node: (left + x, top + y) for node, (x, y) in part.items()})
            left += _size(part)[0]
        left += _FOLD
    return places


def _narrowed(piece: dict[int, Place]) -> dict[int, Place]:
    """Place the nodes of each layer side by side, keeping their order. A layer that is too long takes several rows."""
    longest = max(1, math.ceil(math.sqrt(len(piece) * _ROW / _COLUMN * _ASPECT)))
    layers: dict[float, list[tuple[float, int]]] = {}
    for node, (x, y) in piece.items():
        layers.setdefault(y, []).append((x, node))
    places: dict[int, Place] = {}
    row = 0
    for layer in sorted(layers):
        nodes = [node for _, node in sorted(layers[layer])]
        for start in range(0, len(nodes), longest):
            part = nodes[start : start + longest]
            left = (longest - len(part)) / 2 if start == 0 else 0.0
            places.update({node: (left + column, float(row)) for column, node in enumerate(part)})
            row += 1
    return places


def _rows(count: int, edges: Edges, layouts: PageLayouts) -> list[list[int]]:
    alone = [[number] for number in range(count)]  # bounded: partitions
    if not edges:
        return alone
    rows: dict[int, list[tuple[float, int]]] = {}
    placed = set()
    for positions in _layouts(edges, layouts):
        for number, (x, layer) in _layered(positions).items():
            rows.setdefault(int(layer), []).append((x, number))
            placed.add(number)
    layers = [[number for _, number in sorted(rows[layer])] for layer in sorted(rows)]
    return sorted([*layers, *[layer for layer in alone if layer[0] not in placed]], key=min)


def _in_columns(rows: Sequence[Sequence[int]], sizes: Sequence[Place]) -> dict[int, Place]:
    """Place rows of boxes in as many columns as fit the screen at the largest scale."""
    widths = [sum([sizes[number][0] + _GUTTER for number in row]) for row in rows]
    heights = [max([sizes[number][1] for number in row]) + _GAP for row in rows]
    total, tallest = sum(heights), max(heights)
    rooms = {max(total / columns, tallest) for columns in range(1, min(len(rows), _COLUMNS_TRIED) + 1)}
    best = min(
        [_columns(widths, heights, room) for room in sorted(rooms)],
        key=lambda columns: max(columns.width / _ASPECT, columns.height),
    )
    places = {}
    for row, (middle, y), width in zip(rows, best.tops, widths, strict=True):
        x = middle - width / 2
        for number in row:
            places[number] = (x, y)
            x += sizes[number][0] + _GUTTER
    return places


class _Columns(NamedTuple):
    tops: list[Place]
    """The middle of the upper edge of each row."""
    width: float
    height: float


def _columns(widths: Sequence[float], heights: Sequence[float], room: float) -> _Columns:
    columns: list[list[int]] = [[]]
    y = 0.0
    for number, height in enumerate(heights):
        if y and y + height > room:
            columns.append([])
            y = 0.0
        columns[-1].append(number)
        y += height
    tops = []
    left = longest = 0.0
    for column in columns:
        widest, y = max([widths[number] for number in column]), 0.0
        for number in column:
            tops.append((left + widest / 2, y))
            y += heights[number]
        left, longest = left + widest, max(longest, y)
    return _Columns(tops, left, longest)

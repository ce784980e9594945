"""Lay out the graph: each partition is a box with its nodes in layers, and the boxes are in running order.

The package fast-sugiyama computes the layers and the order of the nodes in each layer. For large graphs, some optimizations of
the package are switched off. If the package is not installed, ``layered_layout`` replaces it.

A chain of a thousand nodes would be one long, thin line. Tall layouts are therefore folded into columns, and long rows of boxes
are broken into lines.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ..graph.graph import Graph
from ..runtime.interpreter import SubgraphRun
from .layered_layout import Edges, layered_layout

NODE_WIDTH, NODE_HEIGHT = 122, 28
"""Size of a node in units of the drawing. A unit is a pixel at scale 1."""
_COLUMN, _ROW = 136, 48
_PADDING = 14
HEADER = 34
"""Height of the heading of a box, above its nodes."""
_GAP = 76
_MOST_LAYERS = 12
"""A connected part of a graph with at most this number of layers is never folded into columns."""
_LINES_TRIED = 40
_ASPECT = 1.7
"""Target ratio of width to height, about the ratio of a screen."""
_WIDEST = 2.5
"""Largest ratio of width to height, as a multiple of ``_ASPECT``. In wider connected parts, layers are broken into rows."""
CLOSED_WIDTH, CLOSED_HEIGHT = 196, 62
"""Size of a closed box. The nodes in a closed box are not drawn."""

_MOST_OPTIMIZED = 500_000
"""Limit for nodes * (edges - nodes). Up to this limit, fast-sugiyama minimizes ranks and crossings in about a second."""
_WIDEST_OPTIMIZED = 5_000
"""Limit for the number of nodes in a layer. Up to this limit, fast-sugiyama minimizes ranks and crossings.

The run time of fast-sugiyama is quadratic in the number of nodes in a layer.
"""
_MOST_ROUTED = 50_000
"""Limit for the total length of all edges, counted in layers. Above this limit, fast-sugiyama is not used.

The run time of fast-sugiyama grows with this length.
"""

_STACK = 512 << 20
"""Stack size in bytes for fast-sugiyama, which recurses once for each node of a path. Unused stack takes no memory."""

Key = TypeVar("Key")
Place = tuple[float, float]


class Box(NamedTuple):
    """A partition in the drawing: upper left corner and size."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The upper left corners of a subgraph's nodes, by node index, and the boxes of the partitions, in running order.

    Each entry of ``columns`` lists partitions that are drawn in one column. These partitions do not depend on each other.
    """

    nodes: Mapping[int, tuple[int, int]]
    boxes: tuple[Box, ...]
    columns: tuple[tuple[int, ...], ...]


def _library() -> Any:
    try:
        import fast_sugiyama
    except ImportError:
        return None
    return fast_sugiyama


def draw(run: SubgraphRun) -> Drawing:
    """Place the nodes and partitions of a subgraph. Call this function only inside ``with_deep_stack``."""
    return _draw(run.graph, _parts(run))


def _parts(run: SubgraphRun) -> list[Sequence[int]]:
    parts: list[Sequence[int]] = [subset.nodes for subset in run.subsets]
    placed = {node for nodes in parts for node in nodes}
    left_out = [index for index in run.graph.execution_plan if index not in placed]
    return [[*parts[0], *left_out], *parts[1:]] if parts else [left_out]


def node_edges(graph: Graph) -> list[tuple[int, int]]:
    """Return the edges of the plan as sorted, distinct pairs: the last writer of a tensor, and a reader of the tensor."""
    return sorted({(writer, reader) for writer, reader, _ in graph.links})


def _draw(graph: Graph, parts: Sequence[Sequence[int]]) -> Drawing:
    part_of = {node: number for number, nodes in enumerate(parts) for node in nodes}
    inner: list[list[tuple[int, int]]] = [[] for _ in parts]
    outer = set()
    for a, b in node_edges(graph):
        if a not in part_of or b not in part_of:
            continue
        if part_of[a] == part_of[b]:
            inner[part_of[a]].append((a, b))
        else:
            outer.add((part_of[a], part_of[b]))
    insides = [_inside(nodes, edges) for nodes, edges in zip(parts, inner, strict=True)]
    columns = _columns(len(parts), sorted(outer))
    opened = _in_lines(columns, [size for _, size in insides])
    places = {
        node: (round(opened[number][0] + x), round(opened[number][1] + y))
        for number, (inside, _) in enumerate(insides)
        for node, (x, y) in inside.items()
    }
    boxes = tuple([Box(*map(round, (*opened[number], *size))) for number, (_, size) in enumerate(insides)])
    return Drawing(places, boxes, tuple(map(tuple, columns)))


def _inside(nodes: Sequence[int], edges: Edges) -> tuple[dict[int, Place], Place]:
    pieces = [_folded(piece) for piece in _components(nodes, edges)]
    sizes = [
        (max([x for x, _ in piece.values()]) + 1, max([y for _, y in piece.values()]) + 1)  # in columns and rows
        for piece in pieces
    ]
    area = sum([width * _COLUMN * height * _ROW for width, height in sizes])
    room = max([math.sqrt(area * _ASPECT) / _COLUMN, *[width for width, _ in sizes]])
    places: dict[int, Place] = {}
    x = y = line = widest = 0.0
    for piece, (width, height) in zip(pieces, sizes, strict=True):
        if x and x + width > room:
            x, y, line = 0.0, y + line, 0.0
        for node, (column, row) in piece.items():
            places[node] = (_PADDING + (x + column) * _COLUMN, HEADER + (y + row) * _ROW)
        x, line = x + width, max(line, height)
        widest = max(widest, x)
    size = (
        2 * _PADDING + widest * _COLUMN - (_COLUMN - NODE_WIDTH),
        HEADER + _PADDING + (y + line) * _ROW - (_ROW - NODE_HEIGHT),
    )
    return places, (max(size[0], CLOSED_WIDTH), max(size[1], CLOSED_HEIGHT))


def _components(nodes: Sequence[int], edges: Edges) -> list[dict[int, Place]]:
    order = {node: position for position, node in enumerate(nodes)}
    pieces = [_layered(positions) for positions in _layouts(edges)]
    connected = {node for edge in edges for node in edge}
    pieces += [{node: (0.0, 0.0)} for node in nodes if node not in connected]
    return sorted(pieces, key=lambda piece: min([order[node] for node in piece]))


def _layouts(edges: Edges) -> Iterable[Sequence[tuple[int, Place]]]:
    if not edges:
        return []
    layers = _layers(edges)
    if sum([abs(layers[b] - layers[a]) for a, b in edges]) > _MOST_ROUTED:
        return [_in_order(layers)]
    library = _library()
    if library is None:
        return [layered_layout(layers, piece) for piece in _connected(edges)]
    is_narrow = max(Counter(layers.values()).values()) <= _WIDEST_OPTIMIZED
    is_optimized = is_narrow and len(layers) * (len(edges) - len(layers)) <= _MOST_OPTIMIZED
    layouts: list[Any] = []
    for piece in _connected(edges):  # one by one, because the library's memory is quadratic in the number of pieces
        layouts += library.from_edges(
            piece,
            vertex_spacing=1,
            dummy_vertices=False,
            check_layout=False,
            ranking_type=None if is_optimized else "up",
            transpose=None if is_optimized else False,
        )
    return [positions for positions, *_ in layouts]


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


def _folded(piece: dict[int, Place]) -> dict[int, Place]:
    width = max([x for x, _ in piece.values()]) + 1
    layers = int(max([y for _, y in piece.values()])) + 1
    if width * _COLUMN > _WIDEST * layers * _ROW * _ASPECT:
        return _narrowed(piece)
    columns = max(1, round(math.sqrt(layers * _ROW * _ASPECT / (width * _COLUMN)))) if layers > _MOST_LAYERS else 1
    height = -(-layers // columns)
    return {node: (x + int(y) // height * (width + 0.5), int(y) % height) for node, (x, y) in piece.items()}


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


def _columns(count: int, edges: Edges) -> list[list[int]]:
    alone = [[number] for number in range(count)]  # bounded: partitions
    if not edges:
        return alone
    columns: dict[int, list[tuple[float, int]]] = {}
    placed = set()
    for positions in _layouts(edges):
        for number, (x, layer) in _layered(positions).items():
            columns.setdefault(int(layer), []).append((x, number))
            placed.add(number)
    layers = [[number for _, number in sorted(columns[layer])] for layer in sorted(columns)]
    return sorted([*layers, *[layer for layer in alone if layer[0] not in placed]], key=min)


def _in_lines(columns: Sequence[Sequence[int]], sizes: Sequence[Place]) -> dict[int, Place]:
    """Place columns of boxes from left to right, in one line or several lines.

    The number of lines is chosen so that the drawing fits the screen at the largest scale.
    """
    widths = [max([sizes[number][0] for number in column]) + _GAP for column in columns]
    heights = [sum([sizes[number][1] + _GAP for number in column]) for column in columns]
    total, widest = sum(widths), max(widths)
    rooms = {max(total / lines, widest) for lines in range(1, min(len(columns), _LINES_TRIED) + 1)}
    best = min(
        [_lines(widths, heights, room) for room in sorted(rooms)], key=lambda lines: max(lines.width / _ASPECT, lines.height)
    )
    places = {}
    for column, (x, y) in zip(columns, best.corners, strict=True):
        below = y
        for number in column:
            places[number] = (x, below)
            below += sizes[number][1] + _GAP
    return places


@dataclass(frozen=True, slots=True)
class _Lines:
    corners: list[Place]
    width: float
    height: float


def _lines(widths: Sequence[float], heights: Sequence[float], room: float) -> _Lines:
    corners = []
    x = y = line = longest = 0.0
    for width, height in zip(widths, heights, strict=True):
        if x and x + width > room:
            x, y, line = 0.0, y + line, 0.0
        corners.append((x, y))
        x, line = x + width, max(line, height)
        longest = max(longest, x)
    return _Lines(corners, longest, y + line)


def with_deep_stack(work: Callable[[], Key]) -> Key:
    """Run ``work`` in a thread with a large stack. With a normal stack, fast-sugiyama crashes on a path of about 10,000 nodes.

    The system frees the stack some time after the thread ends, so draw everything in one call. If the package is not installed,
    the work needs no thread. Raises MemoryError if there is no memory for the stack.
    """
    if _library() is None:
        return work()
    results: list[Key] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised below, in the calling thread
            errors.append(error)

    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    except RuntimeError as error:
        raise MemoryError(str(error)) from error
    finally:
        threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]

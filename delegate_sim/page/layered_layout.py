"""A layout in layers by Sugiyama's method: layers, order of the nodes in each layer, horizontal positions by Brandes and Köpf."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise

Edges = Sequence[tuple[int, int]]
Neighbors = dict[int, list[int]]

_SWEEPS = (True, False) * 6
"""The direction of each sorting of the layers: True from top to bottom, False from bottom to top."""
_TIGHTENINGS = 4
_MOST_SORTED = 8_000
"""Limit for the number of nodes plus the number of layers that edges cross.

In larger graphs, the layers are sorted only twice.
"""


def layered_layout(all_layers: Mapping[int, int], edges: Edges) -> list[tuple[int, tuple[float, float]]]:
    """Return each node of a connected graph with its position. Nodes of a lower layer have a smaller y.

    An edge within a layer of ``all_layers`` is ignored, and one to a higher layer is treated as reversed.
    """
    layers = {node: all_layers[node] for edge in edges for node in edge}
    down = sorted({(min(a, b, key=layers.__getitem__), max(a, b, key=layers.__getitem__)) for a, b in edges})
    down = [(a, b) for a, b in down if layers[a] != layers[b]]
    tight = _tightened(layers, down)
    above, below, rows = _with_crossed_layers(tight, down)
    rows = _sorted_rows(rows, above, below, _SWEEPS if len(above) <= _MOST_SORTED else _SWEEPS[:2])
    places = _positions(rows, above, below, max(tight))
    return [(node, (places[node], float(-tight[node]))) for node in sorted(tight)]


def _tightened(layers: Mapping[int, int], edges: Edges) -> dict[int, int]:
    moved = dict(layers)
    above, below = _neighbors(layers, edges)
    order = sorted(layers, key=lambda node: (layers[node], node))
    is_tree: dict[int, bool] = {}
    """Whether all nodes above a node lead only to this node. If so, the nodes above can move along with the node."""
    for node in order:
        is_tree[node] = all(is_tree[one] and len(below[one]) == 1 for one in above[node])
    for _ in range(_TIGHTENINGS):
        before = dict(moved)
        for node in reversed(order):
            if below[node] and (is_tree[node] or len(below[node]) > len(above[node])):
                moved[node] = max(moved[node], min([moved[one] for one in below[node]]) - 1)
        if moved == before:
            break
    return moved


def _neighbors(nodes: Iterable[int], edges: Edges) -> tuple[Neighbors, Neighbors]:
    above: Neighbors = {node: [] for node in nodes}
    below: Neighbors = {node: [] for node in nodes}
    for a, b in edges:
        above[b].append(a)
        below[a].append(b)
    return above, below


def _with_crossed_layers(layers: Mapping[int, int], edges: Edges) -> tuple[Neighbors, Neighbors, list[list[int]]]:
    """Add a point in each layer that a long edge crosses. Return the neighbors of nodes and points, and the layers.

    Points are numbered after the nodes. The nodes and points of a layer are in the order of a depth-first search.
    """
    all_layers = dict(layers)
    pieces = []
    newest = max(layers)
    for a, b in edges:
        last = a
        while all_layers[last] + 1 < layers[b]:
            newest += 1
            all_layers[newest] = all_layers[last] + 1
            pieces.append((last, newest))
            last = newest
        pieces.append((last, b))
    above, below = _neighbors(all_layers, pieces)
    rows: dict[int, list[int]] = {layer: [] for layer in sorted(set(all_layers.values()))}
    visited = set()
    waiting = sorted(all_layers, reverse=True)
    while waiting:
        node = waiting.pop()
        if node not in visited:
            visited.add(node)
            rows[all_layers[node]].append(node)
            waiting += below[node]
    return above, below, list(rows.values())


def _sorted_rows(rows: list[list[int]], above: Neighbors, below: Neighbors, sweeps: Sequence[bool]) -> list[list[int]]:
    best, fewest = rows, _crossings(rows, below)
    for is_down in sweeps:
        if not fewest:
            break
        rows = list(rows)
        numbers = range(1, len(rows)) if is_down else range(len(rows) - 2, -1, -1)
        for number in numbers:
            before = {node: place for place, node in enumerate(rows[number - 1 if is_down else number + 1])}
            rows[number] = _sorted_row(rows[number], before, above if is_down else below)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _sorted_row(row: Sequence[int], before: Mapping[int, int], neighbors: Neighbors) -> list[int]:
    means = {node: sum([before[one] for one in neighbors[node]]) / len(neighbors[node]) for node in row if neighbors[node]}
    moved = iter(sorted(means, key=means.__getitem__))
    return [next(moved) if node in means else node for node in row]


def _crossings(rows: Sequence[Sequence[int]], below: Neighbors) -> int:
    crossings = 0
    for upper, lower in pairwise(rows):
        place = {node: number for number, node in enumerate(lower)}
        ends: list[int] = []
        for node in upper:
            targets = sorted([place[one] for one in below[node]])
            crossings += sum([len(ends) - bisect_right(ends, target) for target in targets])
            for target in targets:
                insort(ends, target)
    return crossings


def _positions(rows: list[list[int]], above: Neighbors, below: Neighbors, last_node: int) -> dict[int, float]:
    """Return the horizontal position of each node and point.

    Four layouts are computed. Each layout aligns nodes with neighbors in the layer above or below. Of two middle neighbors, the
    left or the right one comes first. The position is the mean of the two middle positions in the four layouts.
    """
    candidates: list[tuple[dict[int, float], bool]] = []
    for is_down in (True, False):
        for is_left in (True, False):
            turned = [row if is_left else row[::-1] for row in (rows if is_down else rows[::-1])]
            places = _compacted(turned, _blocks(turned, above if is_down else below, last_node))
            candidates.append((places if is_left else {node: -x for node, x in places.items()}, is_left))
    widths = [max(places.values()) - min(places.values()) for places, _ in candidates]
    narrowest = candidates[widths.index(min(widths))][0]
    least, greatest = min(narrowest.values()), max(narrowest.values())
    shifts = [least - min(places.values()) if is_left else greatest - max(places.values()) for places, is_left in candidates]
    means = {}
    for node in narrowest:
        four = sorted([places[node] + shift for (places, _), shift in zip(candidates, shifts, strict=True)])
        means[node] = (four[1] + four[2]) / 2
    return means


def _blocks(rows: Sequence[Sequence[int]], above: Neighbors, last_node: int) -> dict[int, int]:
    """Align nodes with the middle neighbors in the previous layer, from left to right. Aligned nodes are a block.

    Return the first node of each node's block. Aligned edges do not cross each other. The points of a long edge are always
    aligned, and no aligned edge crosses the line between these points. So the middle part of a long edge is straight.
    """
    block = {node: node for row in rows for node in row}
    for upper, lower in pairwise(rows):
        place = {node: number for number, node in enumerate(upper)}
        inner = [place[above[node][0]] if node > last_node and above[node][0] > last_node else None for node in lower]
        floors = list(accumulate([-1 if one is None else one for one in inner], max))
        ceilings = list(accumulate([len(upper) if one is None else one for one in reversed(inner)], min))[::-1]
        last = -1
        for node, is_inner, floor, ceiling in zip(lower, inner, floors, ceilings, strict=True):
            ordered = sorted(above[node], key=place.__getitem__)
            for one in ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]:
                if place[one] > last and (is_inner is not None or floor <= place[one] <= ceiling):
                    block[node] = block[one]
                    last = place[one]
                    break
    return block


def _compacted(rows: Sequence[Sequence[int]], block: Mapping[int, int]) -> dict[int, float]:
    """Place the blocks as far left as possible, with at least 1 between neighbors. Then close gaps from the right."""
    after: dict[int, set[int]] = {one: set() for one in block.values()}
    for row in rows:
        for a, b in pairwise(row):
            after[block[a]].add(block[b])
    before = dict.fromkeys(after, 0)
    for followers in after.values():
        for one in followers:
            before[one] += 1
    places = dict.fromkeys(after, 0.0)
    order = [one for one, count in before.items() if not count]
    for one in order:  # grows inside the loop
        for follower in after[one]:
            places[follower] = max(places[follower], places[one] + 1)
            before[follower] -= 1
            if not before[follower]:
                order.append(follower)
    for one in reversed(order):
        if after[one]:
            places[one] = max(places[one], min([places[follower] for follower in after[one]]) - 1)
    return {node: places[own] for node, own in block.items()}

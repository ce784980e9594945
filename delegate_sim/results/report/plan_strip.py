"""Show the execution plan as a strip of cells. A cell shows the state of one or more consecutive nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...runtime.interpreter import Run, SubgraphRun

DELEGATED = "delegated"
REFUSED = "refused"
"""The state of an unsupported node, or of a node that the delegate does not check."""
LEFT = "left"
"""The state of a supported node on the CPU. A limit keeps the node on the CPU, or delegation was undone."""
MIXED = "mixed"
"""The state of a cell with nodes in several states."""
STATES = (DELEGATED, REFUSED, LEFT)


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive nodes in one state, as node indices. All nodes of a span are in the same partition."""

    state: str
    nodes: tuple[int, ...]


def node_state(run: SubgraphRun, index: int) -> str:
    """Return the state of a node: one of ``STATES``."""
    if index in run.delegated:
        return DELEGATED
    verdict = run.decision.verdicts.get(index) if run.decision is not None else None
    return LEFT if verdict is not None and verdict.is_supported else REFUSED


def strip(run: SubgraphRun) -> tuple[Span, ...]:
    """Return the spans of a subgraph, in execution order after delegation."""
    return tuple(_spans(run))


def run_strip(run: Run) -> tuple[Span, ...]:
    """Return the spans of all subgraphs, one subgraph after another."""
    return tuple([span for subgraph in run.subgraphs for span in _spans(subgraph)])


Lengths = tuple[tuple[str, int], ...]
"""Groups of consecutive nodes in the same state, in execution order. A group is a pair of state and number of nodes."""


def run_lengths(run: Run) -> Lengths:
    """Group consecutive nodes in the same state, over all subgraphs."""
    lengths: list[tuple[str, int]] = []
    for span in run_strip(run):
        if lengths and lengths[-1][0] == span.state:
            lengths[-1] = (span.state, lengths[-1][1] + len(span.nodes))
        else:
            lengths.append((span.state, len(span.nodes)))
    return tuple(lengths)


def file_lengths(run: Run) -> Lengths:
    """Group consecutive nodes in the same state, in the order of the file, so that the strips of all targets align."""
    states = [node_state(subgraph, index) for subgraph in run.subgraphs for index in subgraph.graph.execution_plan]
    return tuple([(state, len(list(members))) for state, members in groupby(states)])


def cells(lengths: Sequence[tuple[str, int]], most: int) -> tuple[list[str], int]:
    """Return the states of the cells, and the number of nodes per cell.

    There are at most ``most`` cells. A cell is ``MIXED`` if its nodes are in more than one state.
    """
    states = [state for state, count in lengths for _ in range(count)]  # bounded: the nodes of the model
    size = max(1, -(-len(states) // max(most, 1)))
    groups = [states[start : start + size] for start in range(0, len(states), size)]
    return [group[0] if len(set(group)) == 1 else MIXED for group in groups], size


def _spans(run: SubgraphRun) -> Iterator[Span]:
    for nodes in [subset.nodes for subset in run.subsets] or [run.graph.execution_plan]:
        state, gathered = "", list[int]()
        for index in nodes:
            own = node_state(run, index)
            if own != state and gathered:
                yield Span(state, tuple(gathered))
                gathered = []
            state = own
            gathered.append(index)
        if gathered:
            yield Span(state, tuple(gathered))


_COLORS = {DELEGATED: "#1f7a6d", REFUSED: "#c2501a", LEFT: "#a98109", MIXED: "#7b6a9e"}
"""The colors of cells in HTML."""
_MOST_CELLS = 400
"""The largest number of cells in HTML."""


def strip_picture(run: Run) -> str:
    """Return an HTML element that shows the strip. For a model without nodes, the text is empty."""
    from html import escape  # only notebooks need it

    lengths = run_lengths(run)
    states, size = cells(lengths, _MOST_CELLS)
    if not states:
        return ""
    total = sum([count for _, count in lengths])
    delegated = sum([count for state, count in lengths if state == DELEGATED])
    words = (
        f"{run.delegate.name}: {delegated:,} of {total:,} nodes run on the delegate; the plan has "
        f"{len(lengths):,} pieces, shown in execution order"
    )
    words += "" if size == 1 else f"; each cell shows {size:,} nodes"
    drawn = "".join(
        [
            f'<div style="flex:{len(list(members))};background:{_COLORS[state]};margin-right:1px"></div>'
            for state, members in groupby(states)
        ]
    )
    return (
        f'<div role="img" aria-label="{escape(words)}" title="{escape(words)}" '
        f'style="display:flex;height:16px;max-width:900px;margin:4px 0">{drawn}</div>'
    )

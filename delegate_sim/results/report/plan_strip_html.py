"""The execution plan as a strip of colored HTML cells, for notebooks."""

from __future__ import annotations

from html import escape
from itertools import groupby

from ...runtime.interpreter import Run
from .plan_strip import DELEGATED, LEFT, MIXED, REFUSED, cells, run_lengths

_COLORS = {DELEGATED: "#1f7a6d", REFUSED: "#c2501a", LEFT: "#a98109", MIXED: "#7b6a9e"}
_MOST = 400
"""The largest number of cells."""


def strip_picture(run: Run) -> str:
    """Return an HTML element that shows the state of each node in execution order; an empty string for a model without nodes."""
    lengths = run_lengths(run)
    states, size = cells(lengths, _MOST)
    if not states:
        return ""
    total = sum([count for _, count in lengths])
    delegated = sum([count for state, count in lengths if state == DELEGATED])
    words = f"{run.delegate.name}: {delegated:,} of {total:,} nodes on the delegate, in {len(lengths):,} pieces in running order"
    words += "" if size == 1 else f"; a cell is {size:,} nodes"
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

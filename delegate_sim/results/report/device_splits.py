"""Report how each partition is split across the devices behind a delegate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundation.columns import INTEGER, LIST, Column, attributes
from ...runtime.run import Run, SubgraphRun

if TYPE_CHECKING:
    from ...delegates.stage_behind import StageSplit


def splits_of(run: Run, subgraph: SubgraphRun) -> list[tuple[int, StageSplit]]:
    """Return a pair for each partition of a subgraph: the partition number, and the split. Unknown splits are left out."""
    if subgraph.decision is None or not subgraph.subsets:
        return []
    numbers = {subset.nodes: number for number, subset in enumerate(subgraph.subsets)}
    splits = run.delegate.behind.split(subgraph.decision, subgraph.subsets, run.options, run.release)
    return [(numbers[split.nodes], split) for split in splits if split.nodes in numbers]


_STEP = (
    Column("device"),
    Column("operations", LIST, source=lambda step: [{"node": node, "operation": name} for node, name in step.operations]),
    *attributes("bytes_in", "bytes_out", type=INTEGER),
)
SPLIT = (
    Column("partition", INTEGER, source=lambda pair: pair[0]),
    *(Column("error", source=lambda pair: pair[1].error), Column("steps", LIST, source=lambda pair: pair[1].steps, parts=_STEP)),
)
"""The columns of a pair that ``splits_of`` returns."""

"""Report how each partition is split across the devices behind a delegate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...runtime.run import Run, SubgraphRun

if TYPE_CHECKING:
    from ...delegates.stage_behind import StageSplit, StageStep


def splits_of(run: Run, subgraph: SubgraphRun) -> list[tuple[int, StageSplit]]:
    """Return a pair for each partition of a subgraph: the partition number, and the split. Unknown splits are left out."""
    if subgraph.decision is None or not subgraph.subsets:
        return []
    numbers = {subset.nodes: number for number, subset in enumerate(subgraph.subsets)}
    splits = run.delegate.behind.split(subgraph.decision, subgraph.subsets, run.options, run.release)
    return [(numbers[split.nodes], split) for split in splits if split.nodes in numbers]


def splits_entry(run: Run, subgraph: SubgraphRun) -> dict[str, Any]:
    """Return the splits of a subgraph as plain data under the key ``split``. If no split is known, the dictionary is empty."""
    splits = splits_of(run, subgraph)
    if not splits:
        return {}
    entries = [
        {"partition": number, "error": split.error, "steps": [_step_entry(step) for step in split.steps]}
        for number, split in splits
    ]
    return {"split": entries}


def _step_entry(step: StageStep) -> dict[str, Any]:
    return {
        "device": step.device,
        "operations": [{"node": node, "operation": name} for node, name in step.operations],
        "bytes_in": step.bytes_in,
        "bytes_out": step.bytes_out,
    }

"""A real plugin's decision about a model beside the simulation's: log lines, and the operators of each partition."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import DelegateSimError
from ..model.model import Model
from ..model.precompiled import is_dispatch
from ..model.reader import load
from ..runtime.interpreter import Run
from .engines import Engine, run_tool

_PREFIX = re.compile(r"^\w+: \[[^\]]*\] ")
_COMPARED = re.compile(r"^(Partition strategy|Partitioned subgraph|Partitioning yielded \d+ NPU|Inlined|Found empty)")
"""Lines of partitioning itself; the others depend on the host."""


class LiveResult(NamedTuple):
    """What a real plugin did: its lines, how it ended, and what differs from the simulation; nothing if all is the same."""

    name: str
    lines: tuple[str, ...]
    end: str
    differences: tuple[str, ...]
    is_run: bool = True
    """Whether the plugin could be run at all; ``end`` says what it lacks."""

    @property
    def is_equal(self) -> bool:
        """Whether the simulation says the same."""
        return not self.differences


def compare_live(engine: Engine, model: Model, run: Run) -> LiveResult:
    """Run a plugin on a model and hold what it decides against a simulated run with the same options."""
    traits = engine.delegate.live
    assert traits is not None
    finished, partitions = run_tool(traits, bytes(model.content), list(traits.arguments(run.options)))
    lines = tuple([line for line in (_PREFIX.sub("", each) for each in finished.output.splitlines()) if _COMPARED.match(line)])
    expected = tuple([line for line in run.log_lines if _COMPARED.match(line)])
    if traits.needs and finished.status != 0 and not lines and run.outcome != "refused":
        return LiveResult(engine.delegate.name, (), f"it cannot be run here: it needs {traits.needs}", (), is_run=False)
    differences = [f"live: {one}; simulated: {other}" for one, other in _unequal(lines, expected)]
    has_crashed_later = finished.status is not None and finished.status < 0 and bool(lines) and lines == expected
    if (finished.status == 0) != (run.outcome != "refused") and not has_crashed_later:
        differences.append(f"live: {finished.words or 'it succeeded'}; simulated: {run.outcome}")
    elif finished.status == 0 and partitions is not None:
        differences += _partition_differences(model, run, partitions)
    return LiveResult(engine.delegate.name, lines, finished.words, tuple(differences))


def _unequal(lines: tuple[str, ...], expected: tuple[str, ...]) -> list[tuple[str, str]]:
    length = max(len(lines), len(expected))
    padded = [(*each, *["no line"] * (length - len(each))) for each in (lines, expected)]
    return [(one, other) for one, other in zip(*padded, strict=True) if one != other]


def _partition_differences(model: Model, run: Run, partitions: bytes) -> list[str]:
    """Compare the operators of each partition, in order; compiled calls of the model itself are no groups and left out."""
    try:
        found = load(partitions)
    except DelegateSimError as error:
        return [f"live: the partitions cannot be read ({error})"]
    live = sorted([[node.op for node in graph.nodes] for graph in found.subgraphs if not any(map(is_dispatch, graph.nodes))])
    simulated = sorted(
        [
            [model.subgraphs[subgraph].nodes[node].op for subgraph, node in group]
            for each in run.subgraphs
            if each.decision is not None and each.decision.groups is not None
            for group in each.decision.groups
        ]
    )
    missing = [group for group in simulated if group not in live]
    return [f"simulated, but not live: a partition of {', '.join(group)}" for group in missing[:3]]

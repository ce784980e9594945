"""Compare a delegate's real code with the simulation."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from ..delegates.options import OptionValues
from ..errors import OptionError
from ..foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, head, within
from ..model.model import Model, Node, Subgraph
from ..releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from ..results.report.rule_set import rule_set_version
from ..runtime.interpreter import Run, option_values, simulate
from ..runtime.target import Target
from .engine import Engine, LiveDecision, LivePartition, LivePlacement, taken_text
from .live_runs import decided_run

_SHOWN = 3
"""The largest number of listed partitions that only the simulation has. The same limit applies to the real code."""


@dataclass(frozen=True, slots=True)
class LiveResult(Declared):
    """The decision of real code, and its differences from the simulation.

    In JSON, a node is [subgraph, node], or [operator] if the place is not known.
    """

    columns = (
        *(Column("target", source="name"), Column("software"), Column("run", YES_OR_NO, source="is_run")),
        *(Column("compared", YES_OR_NO, source="is_compared"), Column("equal", YES_OR_NO, source="is_equal")),
        *within("decision", [*attributes("lacks", "end"), Column("lines", LIST), Column("taken", OBJECT, is_optional=True)]),
        Column("partitions", LIST, source=lambda live: _places(live.decision.partitions)),
        Column("differences", LIST),
        Column("nodes", LIST, source="decision.placements", parts=LivePlacement.columns, is_optional=True),
        Column(
            "figures",
            OBJECT,
            source=lambda live: None if live.decision.placements is None else live.decision.figures,
            is_optional=True,
        ),
        Column("second_stage", OBJECT, source="decision.second_stage", is_optional=True),
    )

    name: str
    software: str
    """The name of the code, such as ``litert-2.3.0``."""
    decision: LiveDecision
    differences: tuple[str, ...] = ()
    is_run: bool = True
    """True if the code ran. If the code did not run, the decision names the missing requirements."""

    @property
    def is_compared(self) -> bool:
        """True if the decision was compared with the simulation."""
        return self.is_run and not self.decision.is_closed and self.decision.placements is None

    @property
    def is_equal(self) -> bool:
        """True if the decision equals the simulation."""
        return self.is_compared and not self.differences


def _places(partitions: Sequence[LivePartition] | None) -> list[Any] | None:
    return None if partitions is None else [[list(node.place or [node.op]) for node in partition] for partition in partitions]


def comparable_release(engine: Engine, requested: Release) -> Release:
    """Return the release to simulate for a comparison with the installed code.

    If the user requests the default release, return the installed release. If the installed code has no release number, return
    ``requested``. If the user requests another release than the installed release, raise OptionError.
    """
    try:
        installed = parse_release(engine.software)
    except OptionError:
        return requested
    if requested.order == installed.order:
        return requested
    if requested.order != parse_release(DEFAULT_RELEASE).order:
        raise OptionError(f"{engine.delegate.name} cannot run with {requested}, because {installed} is installed")
    return installed


def run_and_compare(engine: Engine, model: Model, target: Target, release: Release) -> tuple[Run | None, LiveResult]:
    """Run a delegate's real code on a model, and compare its decision with a simulation.

    ``release`` is the simulated release (see ``comparable_release``). Return the simulated run and the result. If the delegate
    cannot be simulated, return the real code's run instead. This run is None if the code does not say where every node runs.
    """
    if engine.is_simulated:
        run = simulate(model, target._replace(release=release, defaults="api"))
        return run, compare_live(engine, model, run, to_end=True)
    result = run_live(engine, model, target.options, to_end=True)
    placements = result.decision.placements
    return None if placements is None else decided_run(model, target, engine, result.decision, placements), result


def run_live(engine: Engine, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveResult:
    """Run a delegate's real code on a model, without a simulation."""
    live = engine.decide(model, options, to_end=to_end)
    return LiveResult(engine.delegate.name, engine.software, live, is_run=not live.lacks)


def compare_live(engine: Engine, model: Model, run: Run, *, to_end: bool = False) -> LiveResult:
    """Run a delegate's real code on a model with the options of a simulated run, and compare both decisions."""
    result = run_live(engine, model, run.options, to_end=to_end)
    simulated = engine.expected(model, run)
    if result.decision.lacks and simulated.has_failed:
        # The simulation predicts that the model cannot be read. No library changes this, so the result counts as a run.
        result = replace(result, is_run=True)
    return replace(result, differences=tuple(_differences(result.decision, simulated))) if result.is_compared else result


def _differences(live: LiveDecision, simulated: LiveDecision) -> Iterator[str]:
    for one, other in zip_longest(live.lines, simulated.lines, fillvalue="no line"):
        if one != other:
            yield f"live: {one}; simulated: {other}"
    has_crashed_later = live.is_decided and live.lines == simulated.lines
    if live.has_failed != simulated.has_failed and not has_crashed_later:
        yield f"live: {live.end or 'it succeeded'}; simulated: {simulated.end or 'it succeeds'}"
    elif live.taken is not None and live.taken != simulated.taken:
        yield f"live: {taken_text(live.taken)}; simulated: {taken_text(simulated.taken or {})}"
    elif live.partitions is not None and simulated.partitions is not None:
        are_known = all(node.place is not None for partition in live.partitions for node in partition)
        yield from _missing(simulated.partitions, live.partitions, are_known, "simulated, but not live")
        if not live.has_further:
            yield from _missing(live.partitions, simulated.partitions, are_known, "live, but not simulated")


def _missing(these: tuple[LivePartition, ...], those: tuple[LivePartition, ...], are_known: bool, words: str) -> Iterator[str]:
    def key(partition: LivePartition) -> tuple[Any, ...]:
        return tuple(sorted([node.place if are_known else node.op for node in partition]))

    counts = Counter(map(key, those))
    printed_count = 0
    for partition in these:
        counts[key(partition)] -= 1
        if counts[key(partition)] < 0 and printed_count < _SHOWN:
            printed_count += 1
            yield f"{words}: a partition of {', '.join([node.words for node in partition])}"


def difference_report(model: Model, run: Run, result: LiveResult) -> dict[str, Any]:
    """Return a bug report as plain data: versions, options, both decisions, and the nodes with types and shapes."""
    return {
        **head("live-difference"),
        "host": {"system": platform.system(), "machine": platform.machine(), "python": platform.python_version()},
        "rule_set": rule_set_version(run.delegate),
        "release": str(run.release),
        "options": option_values(run.options),
        "live": result.to_dict(),
        "simulated": {
            "outcome": run.outcome,
            "lines": list(run.log_lines),
            "delegated": [[subgraph.graph.index, sorted(subgraph.delegated)] for subgraph in run.subgraphs],
        },
        "subgraphs": [[_node(graph, node) for node in graph.nodes] for graph in model.subgraphs],
    }


def _node(graph: Subgraph, node: Node) -> dict[str, Any]:
    return {
        "op": node.op,
        "version": node.version,
        "inputs": [_tensor(graph, index) for index in node.inputs],
        "outputs": [_tensor(graph, index) for index in node.outputs],
    }


def _tensor(graph: Subgraph, index: int) -> str:
    if index < 0:
        return "none"
    tensor = graph.tensors[index]
    scales = len(tensor.quantization.scales) if tensor.quantization is not None else 0
    words = [f"{index}:{tensor.type}{list(tensor.shape)}", *(["constant"] if tensor.is_constant else [])]
    words += ["per tensor" if scales == 1 else f"per channel ({scales})"] if scales else []
    return " ".join(words)

"""Decisions of real delegates as text: the lines that they print, and differences from the simulation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from delegate_sim.foundation.printable import shortened
from delegate_sim.live.comparison import LiveResult
from delegate_sim.live.engine import CPU, NPU, SecondStage, taken_text
from delegate_sim.model.model import Model

from ...console.layout import counted, message, name, operator_list
from ...console.terminal import Line
from ..elements.paragraphs import BAD, HEADING, item_lines, paragraph
from .view import View

REPORT_HINT = "please report this: --live-report FILE writes a report without weights or names"


def live_verdict(result: LiveResult) -> str:
    """Return the result of a live run in a few words."""
    if not result.is_run:
        return "not run"
    if result.decision.placements is not None:
        return _headline(result)
    if not result.is_compared:
        return "ran, but there is nothing to compare"
    return "as simulated" if result.is_equal else "differs"


def live_lines(model: Model, results: Sequence[LiveResult], view: View) -> Iterator[Line]:
    """Return the text of live runs on a model, one paragraph for each delegate."""
    for number, result in enumerate(results):
        if number:
            yield Line("")
        if not result.is_run:
            text = f"{result.name}, live: cannot run here; it needs {result.decision.lacks}"
            yield from paragraph(message(text), view.width, "", "  ", style=BAD)
            continue
        yield Line(
            f"{result.name}, live ({message(result.software)}): {_headline(result)}", BAD if result.differences else HEADING
        )
        yield from [Line(f"  {message(line)}") for line in result.decision.lines]
        notes = [*result.differences, *([REPORT_HINT] if result.differences else [])]
        if result.decision.end and not result.differences:
            notes.append(f"after that {result.decision.end}" if result.decision.lines else result.decision.end)
        if result.decision.taken is not None and result.is_equal:
            notes.append(f"counted by LiteRT: {taken_text(result.decision.taken)}")
        if result.decision.placements is None and not result.is_compared:
            notes += _selection(model, result, view)
        if result.decision.second_stage is not None:
            notes += _second_stage(result.decision.second_stage, view)
        notes += _without_partition(result)
        yield from item_lines(notes, view.width)


def _without_partition(result: LiveResult) -> Iterator[str]:
    placements = [node for node in result.decision.placements or () if node.place == NPU]
    others = sum([node.kernel is None for node in placements])
    if 0 < others < len(placements):
        yield f"{counted(others, 'more node')} on the NPU, in partitions that the compiler's database does not name"


def _second_stage(stage: SecondStage, view: View) -> Iterator[str]:
    took = "" if stage.seconds is None else f" in {_time(stage.seconds)}"
    parts = f": {counted(len(stage.partitions), 'partition')}" if stage.partitions else ""
    if not stage.is_built:
        yield "selected, but not compiled" + (f": the compiler lacks {message(stage.lacks)}" if stage.lacks else "")
    elif stage.run_seconds is not None:
        yield f"built{took}{parts}; run on this computer in {_time(stage.run_seconds)}, with zeros as inputs"
    elif stage.run_failure:
        yield f"built{took}{parts}; the run on this computer failed: {shortened(message(stage.run_failure))}"
    else:
        yield f"compiled{took}{parts}; not run on a device"
    shown = stage.partitions if view.verbose else stage.partitions[:_SHOWN]
    for number, partition in enumerate(shown):
        facts = [
            *([counted(partition.nodes, "node")] if partition.nodes is not None else []),
            *([f"{partition.size:,} bytes of code"] if partition.size is not None else []),
            *([_STATES[partition.is_built]] if not (stage.is_built or stage.lacks) else []),
            *(["failed in the run"] if partition.message and stage.is_built else []),
        ]
        error = f": {shortened(message(partition.message))}" if partition.message and not (stage.is_built or stage.lacks) else ""
        if facts:
            yield f"partition {number}: {', '.join(facts)}{error}"
    if len(shown) < len(stage.partitions):
        yield f"... and {len(stage.partitions) - len(shown):,} more partitions (--verbose lists all)"
    yield from map(shortened, map(message, stage.messages))


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:,.2f} ms"


def _headline(result: LiveResult) -> str:
    if result.decision.placements is not None:
        if result.decision.has_failed:
            return "not compiled"
        counts = Counter([placement.place for placement in result.decision.placements])
        return f"{counts[NPU]:,} of {counted(counts[NPU] + counts[CPU], 'node')} on the NPU"
    if not result.is_compared:
        return "the vendor's code is closed source, so it is not simulated, and there is nothing to compare"
    return "the real delegate agrees with the simulation" if result.is_equal else "the real delegate differs from the simulation"


def _selection(model: Model, result: LiveResult, view: View) -> Iterator[str]:
    """Yield the number of selected nodes, and the operators of all other nodes."""
    partitions = result.decision.partitions
    if partitions is None:
        return
    places = {node.place for partition in partitions for node in partition}
    sizes = sum(map(len, partitions))
    yield (
        f"delegated: {counted(sizes, 'node')} in {counted(len(partitions), 'partition')}; these nodes are selected, but not "
        "compiled"
    )
    if None in places:
        yield f"delegated, by operator: {operator_list([node.op for partition in partitions for node in partition])}"
        return
    asked = {place[0] for place in places if place is not None} | {0}
    for graph in model.subgraphs:
        left: dict[str, list[int]] = {}
        for node in graph.nodes:
            if graph.index in asked and (graph.index, node.index) not in places:
                left.setdefault(node.op, []).append(node.index)
        where = f" of subgraph {graph.index}" if graph.index else ""
        for op, nodes in left.items():
            shown = nodes if view.verbose else nodes[:_SHOWN]
            more = f", +{len(nodes) - len(shown):,} more" if len(shown) < len(nodes) else ""
            yield f"left{where}: {name(op)}: {counted(len(nodes), 'node')} [{', '.join(map(str, shown))}{more}]"


_SHOWN = 12
_STATES = {True: "compiled", False: "not compiled", None: "not known"}

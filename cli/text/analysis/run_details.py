"""Details of a run as text: where nodes run, the devices behind a delegate, and the result with the defaults of the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from delegate_sim.delegates.options import as_typed, option_value
from delegate_sim.delegates.registry import FALLBACK_OPTION
from delegate_sim.foundation.printable import printable
from delegate_sim.model.model import Node
from delegate_sim.results.compare.comparison_verdict import api_defaults_text
from delegate_sim.results.report.measures import TAKEN
from delegate_sim.results.report.placement import COMPILED, CPU, on_cpu, placements, splits_of
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run
from delegate_sim.runtime.run import SubgraphRun

from ...console.layout import counted, item_list, message, name, node_list, operator_list
from ...console.terminal import Line
from ..elements.paragraphs import CODE, HEADING, HINT, heading_lines, more_lines, paragraph
from .view import View

if TYPE_CHECKING:
    from delegate_sim.delegates.traits import StageSplit
    from delegate_sim.graph.analysis_cache import AnalysisCache


def placement_lines(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    """Yield a paragraph for each place in each subgraph: the number, operators and indices of the nodes."""
    yield Line("Where nodes run", HEADING)
    places = [*dict.fromkeys(run.delegate.name for run in runs), COMPILED, CPU]
    labels = max(map(len, [*places[:-2], CPU]))
    several = len(runs[0].subgraphs) > 1
    for subgraph, nodes in enumerate(placements(runs)):
        if several:
            yield Line(f"  subgraph {subgraph} ({name(runs[0].subgraphs[subgraph].graph.name)})")
        by_place: dict[str, list[Node]] = {place: [] for place in places}
        for node, place in nodes:
            by_place[place].append(node)
        for place, members in by_place.items():
            if not members:
                continue
            room = None if verbose else width // 2
            listed = operator_list([node.op for node in members], room)
            indices = node_list([node.index for node in members], room)
            text = f"{counted(len(members), 'node')}: {listed} [{indices}]"
            label = f"  {place:<{labels}}  "
            yield from paragraph(text, width, label, " " * len(label))


_STEPS_SHOWN = 10


def split_lines(run: Run, subgraph: SubgraphRun, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the steps of each partition, with the device, the operations and the boundary bytes of each step."""
    splits = splits_of(run, subgraph)
    if not splits:
        return
    yield from heading_lines("Devices behind the delegate")
    for number, split in splits:
        yield from _split(number, split, width, verbose)


def _split(number: int, split: StageSplit, width: int, verbose: bool) -> Iterator[Line]:
    devices = Counter(dict.fromkeys(dict.fromkeys(step.device for step in split.steps), 0))
    for step in split.steps:
        devices[step.device] += len(step.operations)
    listed = ", ".join([f"{counted(count, 'operation')} on {name(device)}" for device, count in devices.items()])
    yield from paragraph(f"partition {number}: {counted(len(split.steps), 'step')}; {listed}", width, "  ", "    ")
    if split.error:
        text = f"the runtime falls back: {message(split.error)}"
        yield from paragraph(text, width, "    ", "      ", style=CODE)
    if len(split.steps) == 1:
        return
    shown = split.steps if verbose else split.steps[:_STEPS_SHOWN]
    for place, step in enumerate(shown):
        operations = Counter([operation for _, operation in step.operations]).most_common()
        ops = item_list([f"{operation} {count:,}" for operation, count in operations], None if verbose else width // 2)
        nodes = node_list(list(step.nodes), None if verbose else width // 3)
        text = f"step {place} on {name(step.device)}: {ops} [{nodes}]; {step.bytes_in:,} bytes in, {step.bytes_out:,} out"
        yield from paragraph(text, width, "    ", "      ")
    yield from more_lines(len(split.steps) - len(shown), "step", "    ")


def fallback_lines(run: Run, view: View) -> Iterator[Line]:
    """Yield a sentence if the application must give the CPU as another accelerator, because nodes stay on the CPU.

    It is left out if the user named the accelerators: the verdict then is about them.
    """
    is_open = view.names_commands and run.options.get(FALLBACK_OPTION)
    if is_open and run.outcome == TAKEN and not run.fails_with_model and any(True for _ in on_cpu(run)):
        text = "If the application gives no CPU accelerator besides this one, CompiledModel is not created"
        typed = as_typed(run.delegate.options, FALLBACK_OPTION, option_value(False))
        yield from paragraph(f"{text} ({typed})", view.width, "", "  ")


def api_lines(report: Report, run: Run, view: View, *, label: str = "") -> Iterator[Line]:
    """Yield a sentence if the result with the defaults of the delegate's API differs from ``run``."""
    text = api_defaults_text(report.model, run, view.cache) if view.names_commands else ""
    if text:
        yield from paragraph(f"{label}: {text}" if label else text, view.width, "", "  ")


_DIAGNOSE = "What each cause costs, and what to change:"
_FIX = "Whether fix, which rewrites the file, helps:"


def command_lines(report: Report, run: Run) -> Iterator[Line]:
    """Yield the ``diagnose`` and ``fix`` commands for a run with nodes on the CPU.

    The result of ``fix`` is not simulated here, because that takes as long as the analysis. The commands are not wrapped, so that
    they can be copied.
    """
    yield Line("")
    for title, command in _commands(report, run):
        yield Line(title, HINT)
        yield Line(f"  {printable(command)}", HINT)


def _commands(report: Report, run: Run) -> Iterator[tuple[str, str]]:
    from delegate_sim.diagnosis.advice.commands import diagnose_command, fix_plan_command  # not needed if all is delegated

    yield _DIAGNOSE, diagnose_command(report.model, run.target)
    yield _FIX, fix_plan_command(report.model, run.target)


def further_notes(report: Report, run: Run, cache: AnalysisCache) -> Iterator[str]:
    """Yield the result with the API's defaults if this result differs from the run, and the commands for nodes on the CPU."""
    is_alone = not report.is_chain or len([other for other in report.runs if not other.by_default]) == 1
    text = api_defaults_text(report.model, run, cache) if is_alone else ""
    if text:
        yield text
    if any(True for _ in on_cpu(run)):
        yield from (f"{title} {command}" for title, command in _commands(report, run))

"""The result of CompiledModel as text: the report of each accelerator, the node placement, and a table that compares SoCs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from delegate_sim.delegates.traits import Ranking
from delegate_sim.foundation.printable import command_line, printable, typed_path
from delegate_sim.releases.catalogue import DEFAULT_RELEASE
from delegate_sim.results.report.accelerator_stack import StackResult, place_counts
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.verdict import verdict

from ...console.layout import counted, message, name
from ...console.terminal import Line
from ..elements.paragraphs import BAD, HEADING, HINT, heading_lines, item_lines, paragraph, table
from ..many import details_hint
from .report import report_lines
from .view import View

_NOT_SIMULATED = "not simulated"
_SAME_RESULT = "All SoCs of a vendor have the same result: the plugin's rules do not depend on the SoC"


def stack_lines(results: Sequence[StackResult], view: View, not_simulated: Iterable[str] = ()) -> Iterator[Line]:
    """Yield the text of one stack. For several stacks, yield the verdicts, a table that compares the stacks, and the notes.

    ``not_simulated`` names the SoCs that cannot be simulated. These SoCs also have a verdict and a column in the table.

    In a verbose view, the text of each stack follows the table.
    """
    left_out = list(not_simulated)
    is_single = len(results) == 1 and not left_out
    if not is_single:
        for result in results:
            yield from paragraph(stack_verdict(result), view.width, "", "  ", style=BAD if _failure(result) else HEADING)
        for soc in left_out:
            yield from paragraph(f"{message(soc)}: {_NOT_SIMULATED}", view.width, "", "  ", style=BAD)
        yield Line("")
        yield from _side_by_side(results, left_out, view)
        yield from _notes(results, view.width)
    for result in results if is_single or view.verbose else ():
        if not is_single:
            yield from heading_lines(f"--- {message(result.target)} ---")
        failure = _failure(result)
        yield from report_lines(result, view, failure=failure)
        yield Line("")
        yield Line(result.statement, BAD if failure else HEADING)
        yield from item_lines(result.notes, view.width)
    yield from _diagnoses(results)
    if not is_single and not view.verbose:
        yield from details_hint()


def stacked_row(result: StackResult) -> Sequence[str]:
    """Return the SoC, whether CompiledModel is created, and the number of nodes in each place."""
    places = place_counts(result.total())
    return [message(result.target), "created" if result.is_created else "not created", places]


def stack_verdict(result: StackResult) -> str:
    """Return the verdict on a stack: the result of the first accelerator, or the reason why CompiledModel cannot be run."""
    text = _failure(result) or (verdict(result.runs[0]) if result.runs else result.statement)
    return f"{message(result.target)}: {text}"


def _failure(result: StackResult) -> str:
    """Return why CompiledModel is not created or cannot be run, or "" if it can be run."""
    if result.is_created and not result.refusal:
        return ""
    fails = ", but every run fails" if result.is_created else ""
    because = f", because {result.refusal}" if result.refusal else ""
    return f"{result.statement}{fails}{because}"


def _notes(results: Sequence[StackResult], width: int) -> Iterator[Line]:
    stacks: dict[str, list[str]] = {}
    for result in results:
        plugins = [run for run in result.runs if run.delegate.ranking is Ranking.PLUGINS and result.is_created]
        warnings = [warning for run in plugins for warning in run.warnings]
        for note in dict.fromkeys([*result.notes, *warnings]):
            stacks.setdefault(note, []).append(result.target)
    if stacks:
        yield from heading_lines("Notes")
    for note, targets in stacks.items():
        about = "" if len(targets) == len(results) else f"{', '.join(targets)}: "
        yield from paragraph(message(f"{about}{note}"), width, "  - ", "    ")


def _diagnoses(results: Sequence[StackResult]) -> Iterator[Line]:
    first = [(result, result.runs[0]) for result in results if result.runs]
    plugins = [pair for pair in first if pair[1].delegate.ranking is Ranking.PLUGINS]
    leaving = {run.delegate.name: (result, run) for result, run in plugins if any(True for _ in on_cpu(run))}
    if leaving:
        yield from heading_lines("What keeps nodes off the NPU, and what to change:", HINT)
    for delegate, (result, run) in leaving.items():
        release = [] if str(run.release) == DEFAULT_RELEASE else ["--runtime", str(run.release)]
        command = command_line(["diagnose", typed_path(result.model.path), "--delegate", delegate, *release])
        # The command is not wrapped, so that it can be copied.
        yield Line(f"  {printable(command)}", HINT)


def _side_by_side(results: Sequence[StackResult], not_simulated: Sequence[str], view: View) -> Iterator[Line]:
    counts = [result.places() for result in results]
    operators = list(dict.fromkeys([op for places in counts for op in places]))
    operators.sort(key=lambda op: -sum([sum(places.get(op, Counter()).values()) for places in counts]))
    totals = [place_counts(result.total()) if result.is_created else "not created" for result in results]
    yield Line("Side by side: where the nodes of each operator run", HEADING)
    rows = [
        ("operator", *[message(result.target) for result in results], *map(message, not_simulated)),
        ("all", *totals, *[_NOT_SIMULATED] * len(not_simulated)),
    ]
    for op in operators:
        cells = [place_counts(places.get(op, Counter())) for places in counts]
        rows.append((name(op), *cells, *[""] * len(not_simulated)))
    yield from table(rows, (), view.width)
    nodes = {sum(result.total().values()) for result in results if result.is_created}
    if nodes:
        yield Line(f"  {' or '.join([counted(number, 'node') for number in sorted(nodes)])} each")
    yield from paragraph(_SAME_RESULT, view.width, "  ", "  ")

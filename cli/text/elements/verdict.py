"""The verdict on a run, or on the runs of a chain, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from delegate_sim.results.numbers.risks import number_risks
from delegate_sim.results.report.measures import TAKEN, measure
from delegate_sim.results.report.outcome_words import DelegateResult, plugin_notes
from delegate_sim.results.report.placement import placements
from delegate_sim.results.report.verdict import subject, verdict
from delegate_sim.runtime.interpreter import Run

from ...console.layout import counted, message
from ...console.terminal import Line
from .paragraphs import BAD, HEADING, paragraph


def verdict_lines(run: Run, width: int) -> list[Line]:
    """Return the verdict as wrapped lines."""
    measures = measure(run)
    is_good = measures.outcome == TAKEN and not any(risk.is_certain for risk in number_risks(run))
    style = HEADING if is_good else BAD
    return paragraph(verdict(run, measures), width, "", "  ", style=style)


def chain_verdict_lines(runs: Sequence[Run], width: int) -> list[Line]:
    """Return the verdict on the first run of a chain, and the number of nodes that each later delegate takes."""
    places = Counter([place for rows in placements(runs) for _, place in rows])
    left = places.total() - places[runs[0].delegate.name]
    lines = verdict_lines(runs[0], width)
    for run in runs[1:]:
        if run.by_default:
            continue
        if run.refusal is not None:
            lines += verdict_lines(run, width)
            continue
        taken = places[run.delegate.name]
        if left:
            number = f"{taken:,}" if taken else "none"
            text = f"Then {subject(run.target)} runs {number} of the remaining {counted(left, 'node')}"
            lines += paragraph(text, width, "", "  ", style=HEADING)
        left -= taken
    return lines


def plugin_lines(
    results: Sequence[DelegateResult], width: int, *, only_plugins: bool = False, models: Mapping[int, str] | None = None
) -> Iterator[Line]:
    """Yield an empty line and the notes on the results, or nothing if there are no notes. See ``plugin_notes``."""
    for number, note in enumerate(plugin_notes(results, only_plugins=only_plugins, models=models)):
        if not number:
            yield Line("")
        yield from paragraph(message(note), width, "", "  " if number else "")

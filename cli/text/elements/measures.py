"""The measures of a run as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from delegate_sim.results.report.findings import counts_text
from delegate_sim.results.report.measures import (
    FAILS_LATER,
    FURTHER,
    NONE_FAILS,
    NOT_LOADED,
    NOT_PREPARED,
    NOT_RUNNING,
    PREDICTED,
    TAKEN,
    outcome_text,
)
from delegate_sim.results.report.multiply_adds import counts_loops_once
from delegate_sim.runtime.interpreter import REFUSED

from ...console.layout import counted, share
from ...console.terminal import Line
from .paragraphs import paragraph

if TYPE_CHECKING:
    from delegate_sim.results.report.measures import Measures
    from delegate_sim.results.report.multiply_adds import ComputeTotals
    from delegate_sim.results.report.outcome_words import OutcomeWords
    from delegate_sim.runtime.interpreter import Run


def kernels_text(number: int, words: OutcomeWords) -> str:
    """Return the number of delegate kernels, or of partitions to compile, with its noun."""
    return f"{number:,} {words.kernel if number == 1 else words.kernels}"


def nodes_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the numbers of delegated nodes, partitions and kernels, and of wrong results if there are some."""
    part = f" ({share(measures.delegated_nodes, measures.nodes)})" if has_share else ""
    text = f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')} {words.accepted}{part}"
    if words.has_parts:
        kernels = kernels_text(measures.delegate_kernels, words)
        text += f", {counted(measures.partitions, 'partition')}, {kernels}"
    return text + counts_text(measures, ", ")


_FAILURES = {
    "none": "none of {nodes} delegated; everything runs on the CPU",
    REFUSED: "the {actor} is not applied; {if_not_applied} ({nodes})",
    "restored": "the {actor} rejects the model, and runs no node ({nodes})",
    PREDICTED: "the {actor} is predicted to reject the model; everything then runs on the CPU ({nodes})",
    FAILS_LATER: "the model does not run, although the {actor} takes {delegated} of {nodes}",
    NONE_FAILS: "the model does not run, and the {actor} takes no node",
    NOT_PREPARED: "the model does not run: its CPU kernels cannot be prepared",
    NOT_LOADED: "the model does not run: the runtime does not load it",
}


def measures_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the text of ``nodes_text``, or a sentence about the failure if no delegated node will run."""
    sentence = _FAILURES.get(measures.outcome) if measures.nodes else None
    if sentence is None:
        return nodes_text(measures, words, has_share=has_share)
    return sentence.format(
        actor=words.actor,
        if_not_applied=words.if_not_applied,
        nodes=counted(measures.nodes, "node"),
        delegated=f"{measures.delegated_nodes:,}",
    )


FURTHER_TITLES = tuple([column.title for column in FURTHER])
"""The headings of the cells of ``further_cells``."""


def further_cells(measures: Measures) -> tuple[str, ...]:
    """Return the further measures of delegate kernels, as cells of a table."""
    return tuple([number_text(column.of(measures)) for column in FURTHER])


def further_text(measures: Measures, words: OutcomeWords) -> str:
    """Return the further measures of delegate kernels with their nouns, each after a comma."""
    return "".join([f", {counted(column.of(measures) or 0, column.noun)}" for column in FURTHER if words.has_parts])


def nodes_cell(measures: Measures) -> str:
    """Return the delegated share of nodes, or the outcome if no node runs on the delegate.

    If the delegate computes some nodes wrongly, the cell says how many.
    """
    if measures.outcome != TAKEN:
        return outcome_text(measures.outcome)
    return share(measures.delegated_nodes, measures.nodes) + wrong_text(measures)


def wrong_text(measures: Measures) -> str:
    """Return how many results are wrong, or else may be wrong, as the end of a cell. Return "" if there are none."""
    numbers = (measures.wrong_results, "wrong"), (measures.possibly_wrong_results, "perhaps wrong")
    return next((f", {number:,} {word}" for number, word in numbers if number), "")


def work_cell(delegated: int, total: int) -> str:
    """Return the delegated share of multiply-adds, or ``-`` for a model without multiply-adds."""
    return share(delegated, total) if total else "-"


def work_text(measures: Measures, compute: ComputeTotals | None) -> str:
    """Return the delegated share of multiply-adds after a comma. Empty if it is not known, or if no delegated node runs."""
    if compute is None or not compute.multiply_adds or measures.outcome != TAKEN:
        return ""
    return f", {share(compute.delegated_multiply_adds, compute.multiply_adds)} of multiply-adds"


def share_cell(measures: Measures, part: int, total: int) -> str:
    """Return a delegated share of nodes or of multiply-adds, or ``-`` if the model does not run or has none of them."""
    return "-" if measures.outcome in NOT_RUNNING else work_cell(part, total)


def measure_cells(measures: Measures, delegated: int, multiply_adds: int) -> tuple[str, ...]:
    """Return the delegated shares of nodes and of multiply-adds, the kernels and the further measures, as cells of a table."""
    work = share_cell(measures, delegated, multiply_adds)
    return nodes_cell(measures), work, f"{measures.delegate_kernels:,}", *further_cells(measures)


def number_text(number: int | None) -> str:
    """Return a number, or an empty string if there is no number."""
    return "" if number is None else f"{number:,}"


def loop_lines(runs: Iterable[Run], width: int) -> Iterator[Line]:
    """Yield a sentence about the counts of multiply-adds, if a model has a loop with multiply-adds."""
    if any(map(counts_loops_once, runs)):
        yield from paragraph("The body of a loop counts once in multiply-adds, although it runs several times.", width)


_MOST_GROWTH = 2
"""A larger growth of the number of nodes may cost more time than the delegate saves."""


def growth_lines(before: int, after: int, text: str, width: int) -> Iterator[Line]:
    """Yield a sentence if the number of nodes grows much. ``text`` has the place ``{times}``, such as ``26 times``."""
    if before and after > _MOST_GROWTH * before:
        times = f"{after / before:.3g} times"
        yield from paragraph(f"{text.format(times=times)}; each node costs time, which is not simulated.", width)

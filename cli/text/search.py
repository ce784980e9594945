"""The result of a search for causes, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.diagnosis.goal_search import MULTIPLY_ADDS, PARTITIONS, Goal, Search, Way
from delegate_sim.results.report.measures import TAKEN
from delegate_sim.results.report.outcome_words import OutcomeWords, words_of
from delegate_sim.runtime.interpreter import Run

from ..console.layout import counted, message
from ..console.terminal import Line
from .diagnoses import multiply_adds_share
from .elements.measures import kernels_text, measures_text, nodes_text
from .elements.paragraphs import HEADING, HINT, more_lines, paragraph
from .elements.verdict import verdict_lines

_WAYS_SHOWN = 5


def search_lines(search: Search, run: Run, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the text of a search: the verdict, and each set of causes with the result."""
    words = words_of(run.delegate.name)
    yield from verdict_lines(run, width)
    yield from paragraph(_heading(search, words), width, style=HEADING)
    shown = search.ways if verbose else search.ways[:_WAYS_SHOWN]
    for way in shown:
        yield Line("")
        yield from _way_lines(way, words, width)
    if len(shown) < len(search.ways):
        yield Line("")
        yield from more_lines(len(search.ways) - len(shown), "set", "", after=" of the same size")
    for reason in search.not_simulated:
        yield Line("")
        yield from paragraph(message(f"Not simulated: {reason}"), width)


def _heading(search: Search, words: OutcomeWords) -> str:
    aim = _aim(search.goal, words)
    tried = f"{counted(search.simulations, 'simulation')}"
    if not search.ways:
        return f"No set of causes reaches {aim} ({tried}); with all causes fixed: {_cost_text(search.without_all, words)}"
    number = len(search.ways[0].causes)
    if not number:
        return f"Already reached: {aim}"
    if search.is_exact:
        return f"To reach {aim}, {counted(number, 'cause')} must be fixed; fewer causes are not enough ({tried})"
    return (
        f"With {counted(number, 'cause')} fixed, the model reaches {aim}. The causes were found one by one, so a smaller set may "
        f"exist, with at least {counted(search.at_least, 'cause')} ({tried})"
    )


def _aim(goal: Goal, words: OutcomeWords) -> str:
    if goal.measure == MULTIPLY_ADDS:
        return f"at least {goal.value:g} % of multiply-adds delegated"
    number = int(goal.value)
    return f"at most {counted(number, 'partition') if goal.measure == PARTITIONS else kernels_text(number, words)}"


def _cost_text(cost: Cost, words: OutcomeWords) -> str:
    if cost.measures.outcome != TAKEN:
        return measures_text(cost.measures, words)
    text = nodes_text(cost.measures, words)
    return text + (f", {multiply_adds_share(cost)} of multiply-adds" if cost.total_multiply_adds else "")


def _way_lines(way: Way, words: OutcomeWords, width: int) -> Iterator[Line]:
    text = _cost_text(way.cost, words) + (", with these causes fixed:" if way.causes else "")
    yield from paragraph(text, width)
    for cause in way.causes:
        yield from paragraph(f"- {message(cause.title)} ({message(cause.label)})", width, "  ", "    ")
        text = f"{cause.suggestion}: {message(cause.change)}"
        yield from paragraph(text, width, "    ", "      ", style=HINT)

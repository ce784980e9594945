"""The verdict on a run, or on the runs of a chain, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.results.report.findings import risks_text
from delegate_sim.results.report.measures import TAKEN, measure
from delegate_sim.results.report.number_risks import NumberRisk, number_risks
from delegate_sim.results.report.outcome_words import DelegateResult, plugin_notes
from delegate_sim.results.report.placement import placements
from delegate_sim.results.report.verdict import subject, verdict
from delegate_sim.runtime.interpreter import Run
from delegate_sim.runtime.target import Target

from ...console.layout import counted, message, name, node_list, options_text
from ...console.terminal import Line
from .paragraphs import BAD, CODE, HEADING, HINT, heading_lines, more_lines, paragraph


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
            text += risks_text(number_risks(run), ", but ")
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


_MESSAGES_SHOWN = 8


def number_risk_lines(run: Run, width: int, verbose: bool) -> Iterator[Line]:
    """Yield a section about nodes that compute other numbers than the CPU, by condition. Empty if there are none."""
    risks = number_risks(run)
    for is_certain, title in ((True, "Wrong numbers"), (False, "Numbers that may be wrong")):
        groups: dict[str, list[NumberRisk]] = {}
        for risk in risks:
            if risk.is_certain == is_certain:
                groups.setdefault(risk.refusal.code, []).append(risk)
        if groups:
            yield from heading_lines(title, BAD)
        for code, members in groups.items():
            nodes = sorted({member.node for member in members if member.node is not None})
            operators = ", ".join(dict.fromkeys([name(member.op) for member in members if member.op]))
            where = f": {operators} [{node_list(nodes, width)}]" if nodes else ""
            yield from paragraph(f"{code}{where}", width, "  ", "    ", style=CODE)
            messages = list(dict.fromkeys([member.refusal.message for member in members]))
            shown = messages if verbose else messages[:_MESSAGES_SHOWN]
            for text in shown:
                yield from paragraph(message(text), width, "    ", "      ")
            yield from more_lines(len(messages) - len(shown), "message", "    ")
            for hint in dict.fromkeys([member.refusal.hint for member in members]):
                yield from paragraph(message(f"hint: {hint}"), width, "    ", "          ", style=HINT)


_DEFAULTS_TEXT = {"api": "the API's defaults", "benchmark": "benchmark_model's defaults"}


def defaults_text(target: Target) -> str:
    """Return the set of defaults in words. Empty for a target that benchmark_model does not run, such as a plugin."""
    return _DEFAULTS_TEXT[target.defaults] if target.delegate.has_default_sets else ""


def target_lines(target: Target, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the target with the most important options, or with all options if ``verbose``."""
    options = shown_options(target.delegate, target.options, target.defaults, verbose)
    settings = " ".join(filter(None, [defaults_text(target), options]))
    text = f"Target: {target.delegate.name} on {target.release}{' with ' if settings else ''}{settings}"
    yield from paragraph(message(text.rstrip()), width, "", "  ")


def shown_options(delegate: Delegate, given: Mapping[str, Any], defaults: str, verbose: bool = False) -> str:
    """Return the important options in command-line form.

    Important options are the platform, the limit on partitions, and all options that differ from their defaults. The feature
    level is shown if it does not follow from the platform. The limit is shown with the effective value.
    """
    limits, platform, levels = delegate.limits, delegate.behind.platform, delegate.levels
    always = {limits.option}
    if platform is not None and given.get(platform.option) not in (None, platform.alone):
        always.add(platform.option)
    elif levels is not None:
        always.add(levels.option)
    values = {}
    for option in delegate.options:
        value = given.get(option.name)
        if option.name == limits.option and value is not None and value <= 0:
            value = limits.fallback or None
        if verbose or option.name in always or value != option.default_in(defaults):
            values[option.name] = value
    return options_text(delegate.options, values)

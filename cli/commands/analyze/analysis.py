"""Analyses: functions that simulate a model and describe the report as text, for all output formats of ``analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from delegate_sim.errors import LimitError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.model.model import Model
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run, simulate, simulate_chain
from delegate_sim.runtime.target import Target

from ...console.terminal import Line
from ...models import show_target
from ...text.analysis.view import View


@dataclass(frozen=True, slots=True)
class AnalysisJob:
    """The targets, a function that analyzes a model, and a function that returns the text of a report."""

    targets: Sequence[Target]
    report: Callable[[Model, AnalysisCache], Report]
    lines: Callable[[Report, View], Iterable[Line]]
    footer: Callable[[Report, View], Iterable[Line]] | None = None
    """A function that returns the text after the last model."""
    names_fixes: bool = True
    """Whether the JSON output includes the suggested changes. False if all delegates are analyzed."""


def each_alone(targets: Sequence[Target], model: Model, cache: AnalysisCache) -> Report:
    """Return a report with a separate run for each delegate. Each run applies its delegate to the unchanged model.

    If the limit on simulations is reached, the remaining targets have no run.
    """
    effort = Effort(model)
    runs: list[Run] = []
    for number, target in enumerate(targets):
        try:
            effort.begin_target()
        except LimitError:
            break
        show_target(targets, number)
        runs.append(simulate(model, target, cache=cache))
    return Report(model, tuple(runs))


def report_lines(report: Report, view: View) -> Iterable[Line]:
    """Return the text of each run: log lines, nodes that stay on the CPU with reasons, and partitions."""
    from ...text.analysis.report import report_lines

    return report_lines(report, view)


def single(targets: Sequence[Target], *, names_fixes: bool) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows each run in detail."""
    return AnalysisJob(targets, partial(each_alone, targets), report_lines, names_fixes=names_fixes)


def overview(targets: Sequence[Target]) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows a table with a row for each delegate."""
    return AnalysisJob(targets, partial(each_alone, targets), _lines, _footer, names_fixes=False)


def _lines(report: Report, view: View) -> Iterable[Line]:
    from ...text.analysis.overview import overview_lines

    return overview_lines(report, view)


def _footer(report: Report, view: View) -> Iterable[Line]:
    from ...text.analysis.overview import footer_lines

    return footer_lines(report, view)


def chain(targets: Sequence[Target], *, applies_default: bool, names_fixes: bool) -> AnalysisJob:
    """Return the analysis of delegates that are applied one after another."""
    return AnalysisJob(targets, partial(_report, targets, applies_default), report_lines, names_fixes=names_fixes)


def _report(targets: Sequence[Target], applies_default: bool, model: Model, cache: AnalysisCache) -> Report:
    by_default = partial(_default_target, targets[0]) if applies_default else None
    return Report(model, simulate_chain(model, targets, by_default, cache=cache), is_chain=True)


def _default_target(target: Target) -> Target:
    """Return the target of the delegate that the runtime applies by default, with the release of ``target``.

    This function is only called if nodes remain for the default delegate, because importing the rules of this delegate takes
    time.
    """
    delegate = find_delegate(APPLIED_BY_DEFAULT)
    return replace(target, delegate=delegate, options=parse_options(delegate.name, delegate.options, {}), defaults="api")

"""Analyses: functions that simulate a model and describe the report as text, for all output formats of ``analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from delegate_sim.errors import LimitError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.model.model import Model
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run, simulate
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

"""An analysis that can be written in every format: what to simulate, and how a report reads as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.model import Model
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target

from ...console.terminal import Line
from ...text.analysis.view import View


@dataclass(frozen=True, slots=True)
class AnalysisJob:
    """The targets, the function that makes a model's report, and the function that shows a report as text."""

    targets: Sequence[Target]
    report: Callable[[Model], Report]
    lines: Callable[[Report, View], Iterable[Line]]
    names_fixes: bool = True
    """Whether JSON says what to change; nobody asks that of all delegates."""


def each_alone(targets: Sequence[Target], model: Model) -> Report:
    """Apply each delegate to a model by itself."""
    cache = AnalysisCache()
    return Report(model, tuple([simulate(model, target, cache=cache) for target in targets]))


def report_lines(report: Report, view: View) -> Iterable[Line]:
    """Show each run: the lines that the runtime logs, the nodes that stay on the CPU and why, the partitions."""
    from ...text.analysis.report import report_lines

    return report_lines(report, view)

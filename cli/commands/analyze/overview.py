"""``delegate-sim analyze`` without ``--delegate``: one row for each delegate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from delegate_sim.results.report.report import Report
from delegate_sim.runtime.target import Target

from ...console.terminal import Line
from ...text.analysis.view import View
from .analysis import AnalysisJob, each_alone


def overview(targets: Sequence[Target]) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows a table with a row for each delegate."""
    return AnalysisJob(targets, partial(each_alone, targets), _lines, names_fixes=False)


def _lines(report: Report, view: View) -> Iterable[Line]:
    from ...text.analysis.overview import overview_lines

    return overview_lines(report, view)

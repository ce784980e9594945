"""``delegate-sim analyze --delegate``: apply each named delegate on its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from delegate_sim.runtime.target import Target

from .analysis import AnalysisJob, each_alone, report_lines


def single(targets: Sequence[Target], *, names_fixes: bool) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows each run in detail."""
    return AnalysisJob(targets, partial(each_alone, targets), report_lines, names_fixes)

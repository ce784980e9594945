"""The result of ``micro``: a run like every other, with what the application must provide."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..foundation.columns import Column, group, within
from ..results.report.report import Report
from .delegate import application_of
from .report import APPLICATION, MicroReport, analyze
from .target import PACKAGE


@dataclass(frozen=True, eq=False, repr=False)
class MicroResult(Report):
    """The run of a model on TensorFlow Lite Micro, with the arena and the resolver."""

    columns = (  # type: ignore[assignment]  # one column more than other reports
        *Report.columns,
        group("micro", *within("application", APPLICATION), Column("package", source=lambda own: PACKAGE)),
    )

    @functools.cached_property
    def application(self) -> MicroReport:
        """The outcome, the operators and the arena of the model in the application."""
        return analyze(self.model, application_of(self.runs[0].target))

"""The result of ``micro``: a run like every other, with what the application must provide."""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.columns import Column, group, within
from ..model.model import Model
from ..results.report.report import Report
from ..runtime.interpreter import simulate
from ..runtime.target import Target
from .delegate import application_of
from .report import APPLICATION, MicroReport, analyze
from .target import PACKAGE


@dataclass(frozen=True, eq=False, repr=False)
class MicroResult(Report):
    """The run of a model on TensorFlow Lite Micro. ``application`` has the arena and the resolver."""

    columns = (  # type: ignore[assignment]  # one column more than other reports
        *Report.columns,
        group("micro", *within("application", APPLICATION), Column("package", source=lambda own: PACKAGE)),
    )

    application: MicroReport | None = None


def micro_result(model: Model, target: Target) -> MicroResult:
    """Return the run of a model, with the arena. Raises LimitError if the model is too large."""
    return MicroResult(model, (simulate(model, target),), application=analyze(model, application_of(target)))

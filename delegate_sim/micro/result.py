"""The result of ``micro``: a run like every other, with what the application must provide."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..foundation.columns import group, within
from ..graph.effort import SIMULATION, Effort
from ..model.model import Model
from ..results.report.report import Report
from ..runtime.run import Run
from ..runtime.target import Target
from .delegate import evaluated
from .report import APPLICATION, MicroReport


@dataclass(frozen=True, eq=False, repr=False)
class MicroResult(Report):
    """The run of a model on TensorFlow Lite Micro. ``application`` has the arena and the resolver."""

    columns = (*Report.columns, group("micro", *within("application", APPLICATION)))

    application: MicroReport = field(kw_only=True)

    def has_failed(self, run: Run) -> bool:
        """Return whether the runtime does not run the model, may not run it, or runs it without its weights."""
        return super().has_failed(run) or not self.application.computes


def micro_result(model: Model, target: Target) -> MicroResult:
    """Return the run of a model, with the arena. Raises LimitError if the model is too large."""
    Effort(model).require(SIMULATION)
    run, report = evaluated(model, target)
    return MicroResult(model, (run,), application=report)

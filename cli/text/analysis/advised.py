"""Give reports of ``analyze`` the advice of a diagnosis. The diagnosis is computed only if the advice is shown."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeVar

from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.model import Model
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run

AnyReport = TypeVar("AnyReport", bound=Report)


def with_adviser(report: AnyReport, cache: AnalysisCache | None = None) -> AnyReport:
    """Return a report that computes the advice of a diagnosis on request (``advised_runs``).

    ``cache`` is the cache of the model's simulations.
    """
    return replace(report, adviser=partial(_advised, cache))


def _advised(cache: AnalysisCache | None, model: Model, run: Run, is_alone: bool) -> Run:
    if not any(True for _ in on_cpu(run)):
        return run
    from delegate_sim.diagnosis.advice.node_advice import advised  # not needed if everything is delegated

    return advised(model, run, is_alone, cache=cache)

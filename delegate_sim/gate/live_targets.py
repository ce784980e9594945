"""Run a target's real delegate on a model, and compare the result with the simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..errors import OptionError
from ..live.comparison import LiveResult, comparable_release, compare_live, difference_report
from ..live.live_runs import find_engine
from ..model.model import Model
from ..results.report.findings import ERROR, Finding
from ..runtime.interpreter import simulate
from ..runtime.target import Target

_REPORT = "please report this: --live-report FILE writes a report"
_INSTALL = "install the packages that delegate-sim doctor lists as missing, or choose other targets with --target"


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """Findings and notes of a live run. ``report`` is a bug report about a difference, or None."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    report: dict[str, Any] | None = None


def can_run(target: Target) -> bool:
    """Return whether the target's real delegate can run on some host."""
    return target.delegate.live is not None


def check_live(model: Model, target: Target) -> LiveCheck:
    """Run a target's real delegate on a model, and compare the result with the simulation."""
    if not can_run(target):
        return LiveCheck(notes=(f"not run live: {target.delegate.name} runs only on its own platform",))
    engine = find_engine(target.delegate)
    if not engine.is_simulated:
        return LiveCheck()  # the check itself ran the real delegate
    if engine.lacks:
        return _not_run(f"it lacks {engine.lacks}")
    if target.assume_ops_registered:
        return _not_run(
            "the target assumes that the application registers operators, but LiteRT's own resolver does not have them"
        )
    try:
        release = comparable_release(engine, target.release)
        run = simulate(model, replace(target, release=release, defaults="api"))
        result = compare_live(engine, model, run)
    except OptionError as error:
        return _not_run(str(error))
    if not result.is_run:
        return _not_run(f"it needs {result.decision.lacks}")
    if not result.differences:
        return LiveCheck(notes=(_agreement(result),))
    message = f"{result.software} decides differently from the simulation: {'; '.join(result.differences)}"
    return LiveCheck((Finding("live-differs", ERROR, message, _REPORT),), report=difference_report(model, run, result))


def _agreement(result: LiveResult) -> str:
    verdict = "as simulated" if result.is_compared else "the decision of closed-source code is not simulated"
    return f"run live on {result.software}: {verdict}"


def _not_run(why: str) -> LiveCheck:
    return LiveCheck((Finding("live-not-run", ERROR, f"the target cannot be run live here: {why}", _INSTALL),))

"""Targets of kind micro, targets with releases of the delegate's platform, and live runs of targets.

For a target of kind micro, TensorFlow Lite Micro must run the models, and the estimated arena must be within the budget. Such
a target needs no baseline. ``android = ["11", "13"]`` stands for several targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..delegates.base import Delegate
from ..errors import OptionError
from ..foundation.parsing.invalid_value import InvalidValueError
from ..foundation.printable import shortened
from ..graph.analysis_cache import AnalysisCache
from ..graph.reachability import unassigned_variables
from ..live.comparison import LiveResult, comparable_release, compare_live, difference_report
from ..live.live_runs import find_engine
from ..micro.arena import Arena
from ..micro.delegate import micro_target
from ..micro.resolver import ResolverSource, read_resolver
from ..micro.target import UNUSABLE, parse_kernels
from ..model.model import Model
from ..results.report.findings import ERROR, WARNING, Finding, missing_weights, node_finding, risk_findings
from ..results.report.placement import code_of, on_cpu
from ..runtime.interpreter import Run, simulate
from ..runtime.target import Target
from .configuration_table import ConfigurationProblem, ConfigurationTable, parse_count, parse_text, path_below
from .results import FAILED, PASSED, Case, TargetIdentity

KIND = "micro"


def parse_kind(value: Any) -> str:
    """Return the kind of a target. Raise ValueError for an unknown kind."""
    if value not in ("delegate", KIND):
        raise InvalidValueError(f"takes delegate or {KIND}")
    return str(value)


def read_micro_target(table: ConfigurationTable, root: str) -> tuple[Target, int | None]:
    """Read a target of kind micro from its table. Return the target and the limit on the arena in bytes, or None."""
    named = table.take("resolver", parse_text)
    resolver = None if named is None else _resolver(root, named, (*table.key, "resolver"))
    kernels = table.take("kernels", lambda value: parse_kernels(parse_text(value)))
    return micro_target(resolver, kernels), table.take("max-arena", parse_count)


def _resolver(root: str, named: str, key: tuple[str | int, ...]) -> ResolverSource:
    try:
        return replace(read_resolver(path_below(root, named)), path=named)
    except (InvalidValueError, OptionError) as error:
        raise ConfigurationProblem(key, str(error)) from error


def micro_case(
    name: str, path: str, model: Model, target: Target, identity: TargetIdentity, max_arena: int | None, cache: AnalysisCache
) -> Case:
    """Check a model on a target of kind micro."""
    run = simulate(model, target, cache=cache)
    arena = run.application.arena
    findings = (*_findings(model, run), *([] if max_arena is None or arena is None else _over_budget(arena, max_arena)))
    is_failed = any(finding.level == ERROR for finding in findings)
    notes = () if arena is None else (f"arena: about {arena.total:,} bytes for a 32-bit build, head {arena.head:,}",)
    return Case(
        name,
        path,
        *identity,
        FAILED if is_failed else PASSED,
        findings,
        notes=notes if max_arena is not None or is_failed else (),
        sha256=model.sha256,
    )


def _findings(model: Model, run: Run) -> Iterator[Finding]:
    """Yield the refused nodes. They are errors unless all of them are in branches and loops that may never run.

    Nodes that compute wrong numbers are errors.
    """
    if run.refusal is not None and run.refusal.code == UNUSABLE.name:
        yield Finding(UNUSABLE.name, ERROR, f"cannot be used: {run.refusal.message}", run.refusal.hint)
        return
    level = WARNING if run.refusal is None else ERROR
    for subgraph, index, reasons in on_cpu(run):
        yield node_finding(code_of(reasons), level, "cannot run", subgraph, index, reasons)
    yield from [replace(finding, level=ERROR) for finding in risk_findings(run)]
    if variables := unassigned_variables(model):
        yield missing_weights(variables)


_LONGEST_NAME = 60


def _over_budget(arena: Arena, limit: int) -> Iterator[Finding]:
    if arena.total <= limit:
        return
    statement = f"the arena needs about {arena.total:,} bytes (head {arena.head:,}, tail {arena.tail:,}); max-arena is {limit:,}"
    largest = max(arena.buffers, key=lambda placed: placed.buffer.requirement.size, default=None)
    hint = "use a smaller model, or raise the budget"
    if largest is not None:
        name, size = shortened(largest.buffer.name, _LONGEST_NAME), largest.buffer.requirement.size
        hint = f"make {name} smaller ({size:,} bytes), or raise the budget"
    yield Finding("budget-arena", ERROR, statement, hint)


def platform_options(delegate: Delegate, value: Any) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """Return, for each platform release, the suffix of the target's name and the options. A single release has no suffix."""
    platform = delegate.behind.platform
    assert platform is not None
    values = value if isinstance(value, list) else [value]
    names = [str(one) for one in values if isinstance(one, str | int | float) and not isinstance(one, bool)]
    known = platform.all_releases
    unknown = [one for one in values if str(one) not in known]
    if not values or unknown or len(names) < len(values):
        raise InvalidValueError(f"takes a release of {platform.key} or a list of releases ({', '.join(known)})")
    is_single = len(values) == 1
    return [(() if is_single else (f"{platform.key}-{name}",), {platform.option: name}) for name in dict.fromkeys(names)]


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
        run = simulate(model, target._replace(release=release, defaults="api"))
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

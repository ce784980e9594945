"""Targets of kind micro. TensorFlow Lite Micro must run the models, and the estimated arena must be within the budget.

Targets of kind micro need no baseline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors import OptionError
from ..foundation.parsing.invalid_value import InvalidValueError
from ..foundation.printable import shortened
from ..graph.analysis_cache import AnalysisCache
from ..graph.reachability import unassigned_variables
from ..micro.arena import Arena
from ..micro.delegate import evaluated, micro_target
from ..micro.resolver import ResolverSource, read_resolver
from ..micro.target import UNUSABLE, parse_kernels
from ..model.model import Model
from ..results.report.findings import ERROR, WARNING, Finding, missing_weights, node_finding, risk_findings
from ..results.report.placement import code_of, on_cpu
from ..runtime.interpreter import Run
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
    run, report = evaluated(model, target, cache=cache)
    arena = report.arena
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


def _over_budget(arena: Arena, limit: int) -> Iterator[Finding]:
    if arena.total <= limit:
        return
    statement = f"the arena needs about {arena.total:,} bytes (head {arena.head:,}, tail {arena.tail:,}); max-arena is {limit:,}"
    largest = max(arena.buffers, key=lambda placed: placed.buffer.requirement.size, default=None)
    hint = "use a smaller model, or raise the budget"
    if largest is not None:
        hint = f"make {shortened(largest.buffer.name)} smaller ({largest.buffer.requirement.size:,} bytes), or raise the budget"
    yield Finding("budget-arena", ERROR, statement, hint)

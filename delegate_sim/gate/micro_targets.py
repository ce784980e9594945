"""Targets of kind micro. TensorFlow Lite Micro must run the models, and the estimated arena must be within the budget.

Targets of kind micro need no baseline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ..bundles.model_files import FilePattern
from ..errors import OptionError
from ..foundation.parsing.invalid_value import InvalidValueError
from ..foundation.printable import shortened
from ..micro.preparation import MicroNode, Status
from ..micro.report import MicroReport, Outcome, analyze
from ..micro.resolver import ResolverSource, read_resolver
from ..micro.target import MicroTarget, parse_kernels
from ..model.model import Model
from ..results.report.findings import ERROR, WARNING, Finding, Location, missing_weights
from .configuration_table import (
    ConfigurationProblem,
    ConfigurationTable,
    parse_count,
    parse_model_patterns,
    parse_text,
    path_below,
)
from .results import FAILED, PASSED, Case, TargetIdentity

KIND = "micro"
_RUNTIME = "tflite-micro"
_STATEMENTS = {
    Status.MISSING: "has no kernel in the resolver",
    Status.PREPARE: "is refused while tensors are allocated",
    Status.INVOKE: "is refused when the model is invoked",
    Status.INVOKE_IF_CALLED: "is refused if a branch or loop runs it",
}


@dataclass(frozen=True, slots=True)
class ConfiguredMicroTarget:
    """A named target of kind micro, the models to check on it, and the limit on the arena in bytes."""

    name: str
    target: MicroTarget
    models: tuple[FilePattern, ...] | None
    max_arena: int | None
    effort: ClassVar[int] = 3
    """The relative cost of an analysis (see ``Target.effort``)."""

    @property
    def group(self) -> str:
        """The target's name in the configuration file, the same as ``name``."""
        return self.name

    @property
    def identity(self) -> TargetIdentity:
        """The target as a case names it, with its settings as options."""
        registered = self.target.registered
        options = {
            "kernels": self.target.kernels,
            "registered": None if registered is None else sorted(registered),
            "max_arena": self.max_arena,
        }
        return TargetIdentity(self.name, KIND, _RUNTIME, options)


def parse_kind(value: Any) -> str:
    """Return the kind of a target. Raise ValueError for an unknown kind."""
    if value not in ("delegate", KIND):
        raise InvalidValueError(f"takes delegate or {KIND}")
    return str(value)


def read_micro_target(name: str, table: ConfigurationTable, root: str) -> ConfiguredMicroTarget:
    """Read a target of kind micro from its table."""
    resolver = table.take("resolver", lambda value: path_below(root, parse_text(value)))
    source = None if resolver is None else _resolver(resolver, (*table.key, "resolver"))
    kernels = table.take("kernels", lambda value: parse_kernels(parse_text(value)), "reference")
    models = table.take("models", parse_model_patterns)
    max_arena = table.take("max-arena", parse_count)
    table.finish()
    target = MicroTarget(kernels=kernels)
    target = target if source is None else source.registered_in(target)
    return ConfiguredMicroTarget(name, target, models, max_arena)


def _resolver(path: str, key: tuple[str | int, ...]) -> ResolverSource:
    try:
        return read_resolver(path)
    except OptionError as error:
        raise ConfigurationProblem(key, str(error)) from error


def micro_case(name: str, path: str, model: Model, configured: ConfiguredMicroTarget) -> Case:
    """Check a model on a target of kind micro."""
    report = analyze(model, configured.target)
    findings = (*_findings(model, report), *_over_budget(report, configured.max_arena))
    is_failed = any(finding.level == ERROR for finding in findings)
    arena = report.arena
    notes = () if arena is None else (f"arena: about {arena.total:,} bytes for a 32-bit build, head {arena.head:,}",)
    return Case(
        name,
        path,
        *configured.identity,
        FAILED if is_failed else PASSED,
        findings,
        notes=notes if configured.max_arena is not None or is_failed else (),
        sha256=model.sha256,
    )


def _findings(model: Model, report: MicroReport) -> Iterator[Finding]:
    if report.outcome is Outcome.FILE and report.failing_node is None:
        yield Finding("micro-file", ERROR, f"cannot be used: {report.problem}", "convert the model again")
    for node in report.refused:
        reasons = "; ".join([reason.message for reason in node.reasons])
        level = WARNING if node.status is Status.INVOKE_IF_CALLED else ERROR
        hint = node.reasons[0].hint if node.reasons else ""
        code = node.reasons[0].code if node.reasons else "micro-file"
        place = _location(model, node)
        yield Finding(code, level, f"{_STATEMENTS[node.status]}: {reasons}", hint, place, f"{place.op} {node.index}")
    if report.unassigned_variables:
        yield missing_weights(report.unassigned_variables)
    if report.external_tensors:
        count = report.external_tensors
        statement = f"the weights of {count:,} tensor{'' if count == 1 else 's'} are outside the flatbuffer, so results are wrong"
        yield Finding("micro-external-buffers", ERROR, statement, "write the buffers inside the flatbuffer")


def _location(model: Model, node: MicroNode) -> Location:
    subgraph = model.subgraphs[node.subgraph]
    own = subgraph.nodes[node.index]
    name = subgraph.tensors[own.output(0)].name if own.output(0) >= 0 else ""
    return Location(subgraph.index, subgraph.name, node.index, shortened(own.op), name)


def _over_budget(report: MicroReport, limit: int | None) -> Iterator[Finding]:
    if limit is None or report.arena is None or report.arena.total <= limit:
        return
    arena = report.arena
    statement = f"the arena needs about {arena.total:,} bytes (head {arena.head:,}, tail {arena.tail:,}); max-arena is {limit:,}"
    largest = max(arena.buffers, key=lambda placed: placed.buffer.requirement.size, default=None)
    hint = "use a smaller model, or raise the budget"
    if largest is not None:
        hint = f"make {shortened(largest.buffer.name)} smaller ({largest.buffer.requirement.size:,} bytes), or raise the budget"
    yield Finding("budget-arena", ERROR, statement, hint)

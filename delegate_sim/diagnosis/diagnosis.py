"""The result of a diagnosis: ranked causes, as plain data and as tables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..fixing.passes.base import Pass
from ..graph.effort import Effort
from ..hypothetical.hypothetical_changes import NodeKey
from ..model.model import Model
from ..results.report.display import Shown, Table
from ..results.report.outcome_words import state_entry, words_of
from ..results.report.tables import model_name, report_tables, run_words
from ..runtime.interpreter import Run, option_values
from ..runtime.target import Target
from ..version import __version__
from .advice.fix_passes import FoundPass, PassFinder
from .causes import conversion_causes as roots
from .causes.cause import Blockers, Cause, Identity
from .examiner import Cost

SCHEMA = "delegate-sim/diagnosis/2"
_COLUMNS = (
    "rank", "cause", "title", "codes", "nodes", "operators", "multiply_adds", "found", "needed", "suggestion", "change",
    "delegated_without", "partitions_without", "multiply_adds_without",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedCause:
    """One cause with its cost.

    ``multiply_adds`` counts the multiply-adds of the cause's nodes. ``alone`` is the result of fixing only this cause.
    ``together`` is the result of fixing this cause and all causes with a higher rank. Both results are None if the cause was not
    simulated because of its low rank. If fixing only this cause does not help, ``needs`` lists the other causes to fix. ``needs``
    is None if fixing this cause never helps. ``followers`` lists CPU nodes without a refusal that are delegated if this cause is
    fixed.
    """

    cause: Cause
    multiply_adds: int
    alone: Cost | None
    together: Cost | None
    needs: tuple[Identity, ...] | None = ()
    followers: tuple[NodeKey, ...] = ()


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The run of the unchanged model, its causes (largest gain first), and the result of fixing all causes.

    ``limited`` is the number of nodes that the delegate accepts, but that a limit on partitions keeps on the CPU.
    """

    model: Model
    target: Target
    run: Run
    now: Cost
    total_multiply_adds: int
    findings: tuple[RankedCause, ...]
    without_all: Cost
    limited: int
    blockers: Blockers
    """The causes of each node, for ``search``."""
    effort: Effort
    """The limit on simulations. All diagnoses and searches of a command share the limit."""
    is_incomplete: bool = False
    """Whether the limit was reached before the diagnosis ended. Some results may then be missing."""

    _rows_shown = 10

    @property
    def is_dynamic(self) -> bool:
        """True if the runtime refuses the whole graph because of a tensor of unknown size."""
        return roots.is_dynamic(self.run)

    @property
    def not_simulated(self) -> tuple[str, ...]:
        """The hypothetical changes that were left out because of a limit, each with the limit."""
        is_incomplete = self.is_incomplete or self._finder.has_left_out
        rest = (f"the effect of some changes: {self.effort.reason}",) if is_incomplete else ()
        return (*self.blockers.not_simulated, *rest)

    def pass_for(self, finding: RankedCause) -> Pass | None:
        """Return the pass of ``fix`` that fixes a cause, or None if no pass fixes the cause."""
        rewriting = self.found_pass(finding)
        return None if rewriting is None else rewriting.pass_

    def found_pass(self, finding: RankedCause) -> FoundPass | None:
        """Return the pass of ``fix`` that fixes a cause, with the result, or None if no pass fixes the cause."""
        identity = finding.cause.identity
        if identity not in self._passes:
            self._passes[identity] = self._finder.pass_for(finding.cause.nodes)
        return self._passes[identity]

    @functools.cached_property
    def _finder(self) -> PassFinder:
        return PassFinder(self.model, self.target, self.effort)

    @functools.cached_property
    def _passes(self) -> dict[Identity, FoundPass | None]:
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data (schema ``delegate-sim/diagnosis/2``)."""
        return _diagnosis_entry(self)

    def _line(self) -> str:
        return _diagnosis_line(self)

    def _summary(self) -> Sequence[tuple[str, str]]:
        from ..results.report.plan_strip import strip_picture
        from ..results.report.verdict import verdict

        return [(verdict(self.run), strip_picture(self.run))]

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"causes": ("rank", "title", "nodes", "change", "delegated_without")}

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return _diagnosis_tables(self)


def _diagnosis_entry(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as plain data."""
    target = diagnosis.target
    return {
        "schema": SCHEMA,
        "tool": {"name": "delegate-sim", "version": __version__},
        "model": {"path": diagnosis.model.path, "sha256": diagnosis.model.sha256},
        "delegate": target.delegate.name,
        "options": option_values(target.options),
        "runtime": str(target.release),
        "defaults": target.defaults,
        **state_entry(target.delegate, diagnosis.run.warnings),
        "log_lines": list(diagnosis.run.log_lines),
        "multiply_adds": diagnosis.total_multiply_adds,
        "now": _cost_entry(diagnosis.now),
        "nodes_beyond_limit": diagnosis.limited,
        "causes": [_finding_entry(finding, diagnosis.found_pass(finding)) for finding in diagnosis.findings],
        "without_all": _cost_entry(diagnosis.without_all),
        **({"not_simulated": list(diagnosis.not_simulated)} if diagnosis.not_simulated else {}),
    }


def _finding_entry(finding: RankedCause, fix: FoundPass | None) -> Mapping[str, Any]:
    cause = finding.cause
    return {
        "name": cause.name,
        "problem": cause.identity.problem.value,
        "title": cause.title,
        "codes": list(cause.codes),
        "operators": dict(cause.operators),
        "nodes": [key._asdict() for key in cause.nodes],
        "found": cause.found,
        "needed": cause.needed,
        "versions_without": [{**key._asdict(), "version": version} for key, version in cause.node_versions.items()],
        "suggestion": {"code": cause.suggestion, "change": cause.change},
        "alternatives": [alternative.to_dict() for alternative in cause.alternatives],
        "fix": None if fix is None else _fix_entry(fix),
        "multiply_adds": finding.multiply_adds,
        "alone": None if finding.alone is None else _cost_entry(finding.alone),
        "together": None if finding.together is None else _cost_entry(finding.together),
        "needs": _needs_entry(finding),
        "following_nodes": [key._asdict() for key in finding.followers],
    }


def _fix_entry(fix: FoundPass) -> Mapping[str, Any]:
    return {"pass": fix.pass_.name, "exactness": fix.pass_.exactness.name.lower(), "result": _cost_entry(fix.cost)}


def _needs_entry(finding: RankedCause) -> list[str] | None:
    """Return the names of the other causes that must also be fixed, or None if fixing them does not help."""
    if finding.needs is None:
        return None
    return [":".join([identity.problem.value, *identity.subject]) for identity in finding.needs]


def _cost_entry(cost: Cost) -> dict[str, Any]:
    return {**asdict(cost.measures), "multiply_adds": cost.multiply_adds, "total_multiply_adds": cost.total_multiply_adds}


def _diagnosis_line(diagnosis: Diagnosis) -> str:
    """Return a summary in one line."""
    first = (
        f"first: {diagnosis.findings[0].cause.title}"
        if diagnosis.findings
        else f"nothing keeps nodes {words_of(diagnosis.target.delegate.name).left}"
    )
    count = len(diagnosis.findings)
    causes = f"{count:,} cause{'' if count == 1 else 's'}"
    return f"{model_name(diagnosis.model)}: {run_words(diagnosis.run)}; {causes}, {first}"


def _diagnosis_tables(diagnosis: Diagnosis) -> Mapping[str, Callable[[], Table]]:
    """Return the tables of a diagnosis: the ranked causes, and the nodes, partitions and measures of the run."""
    own = report_tables([diagnosis.run])
    return {"causes": lambda: Table(_COLUMNS, list(_cause_rows(diagnosis))), **own}


def _cause_rows(diagnosis: Diagnosis) -> Iterator[tuple[Any, ...]]:
    for rank, finding in enumerate(diagnosis.findings, 1):
        cause = finding.cause
        operators = ", ".join([f"{op} {count}" for op, count in cause.operators])
        yield (
            rank, cause.name, cause.title, tuple(cause.codes), len(cause.nodes), operators, finding.multiply_adds, cause.found,
            cause.needed, cause.suggestion, cause.change, *_cost_cells(finding.alone),
        )  # fmt: skip


def _cost_cells(cost: Cost | None) -> tuple[int | None, ...]:
    if cost is None:
        return None, None, None
    return cost.measures.delegated_nodes, cost.measures.partitions, cost.multiply_adds

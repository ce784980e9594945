"""The result of a diagnosis: ranked causes, also as plain data and as tables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..fixing.passes.base import Pass
from ..foundation.columns import INTEGER, Column, attributes, within
from ..foundation.documents import head
from ..foundation.printable import counted
from ..graph.effort import Effort
from ..hypothetical.fixed_inputs import open_inputs
from ..model.model import Model
from ..results.report.display import Shown, Table, Times, shown_times, times_tables
from ..results.report.outcome_words import state_entry, words_of
from ..results.report.tables import model_name, report_tables, run_words
from ..results.report.verdict import verdict
from ..rules.kinds import OPERATOR_NOT_REGISTERED
from ..runtime.interpreter import Run, option_values, simulate
from ..runtime.target import Target
from .advice.fix_passes import FoundPass, PassFinder
from .advice.plain_fix import PlainFix, plain_fix, search_fix, shapes_as_typed
from .causes.cause import Blockers, Identity
from .causes.change import change_entry
from .causes.whole_graph_causes import is_dynamic
from .examiner import Cost
from .ranking import RankedCause, gain


class _Ranked(NamedTuple):
    rank: int
    finding: RankedCause


CAUSE = (
    Column("rank", INTEGER),
    *within(
        "finding",
        [
            Column("cause", source="cause.name"),
            Column("title", source="cause.title"),
            Column("codes", source=lambda finding: tuple(finding.cause.codes)),
            Column("nodes", INTEGER, source=lambda finding: len(finding.cause.nodes)),
            Column("operators", source=lambda finding: ", ".join([f"{op} {count}" for op, count in finding.cause.operators])),
            Column("multiply_adds", INTEGER),
            *within("cause", attributes("found", "needed", "suggestion", "change")),
            Column("delegated_without", INTEGER, source="alone.measures.delegated_nodes"),
            Column("partitions_without", INTEGER, source="alone.measures.partitions"),
            Column("multiply_adds_without", INTEGER, source="alone.multiply_adds"),
        ],
    ),
)
"""The columns of a ranked cause in tables."""


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The run of the unchanged model, its causes, and the result of fixing all causes.

    The cause with the largest gain comes first. ``limited`` is the number of accepted nodes that a limit on partitions keeps on
    the CPU.
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
    """The causes that keep each node on the CPU. ``goal_search`` uses the causes."""
    effort: Effort
    """The limit on simulations. All diagnoses and searches of a command share the limit."""
    is_incomplete: bool = False
    """Whether the limit was reached before the diagnosis ended. Some results may then be missing."""
    times: Times | None = None
    """The measured times, and bounds on the time that each fix can save. None if the user gave no op profiles."""

    _rows_shown = 10

    @property
    def is_dynamic(self) -> bool:
        """True if the runtime refuses the whole graph because of a tensor of unknown size."""
        return is_dynamic(self.run)

    @property
    def lacks_operators(self) -> bool:
        """True if the model does not run because custom operators are not registered."""
        return self.run.refusal is not None and self.run.refusal.code == OPERATOR_NOT_REGISTERED.name

    @functools.cached_property
    def registered_verdict(self) -> str:
        """The verdict for an application that registers all operators. Empty if no operator is missing or the effort is over."""
        if not self.lacks_operators or self.effort.is_over:
            return ""
        return verdict(simulate(self.model, replace(self.target, assume_ops_registered=True)))

    @property
    def not_simulated(self) -> tuple[str, ...]:
        """The hypothetical changes that were not simulated. Each text names the reason: a limit, or a missing package."""
        is_incomplete = self.is_incomplete or self._finder.has_left_out
        rest = (f"the effect of some changes: {self.effort.reason}",) if is_incomplete else ()
        missing = (f"some passes of fix: {self._finder.missing}",) if self._finder.missing else ()
        return (*self.blockers.not_simulated, *rest, *missing)

    def pass_for(self, finding: RankedCause) -> Pass | None:
        """Return the pass of ``fix`` that fixes a cause, or None if no pass fixes the cause."""
        rewriting = self.found_pass(finding)
        return None if rewriting is None else rewriting.pass_

    def found_pass(self, finding: RankedCause) -> FoundPass | None:
        """Return the pass of ``fix`` that fixes a cause, with its result, or None if no pass fixes the cause."""
        identity = finding.cause.identity
        if identity not in self._passes:
            self._passes[identity] = self._finder.pass_for(finding.cause.nodes)
        return self._passes[identity]

    @functools.cached_property
    def plain_fix(self) -> PlainFix | None:
        """The result of ``fix`` with all its passes. None if the result of a single pass is the same or better.

        None also if custom operators are not registered, because ``fix`` cannot run such a model to compare the outputs.
        """
        if not self.findings or self.lacks_operators:
            return None
        plain = plain_fix(self.fix_search)
        if plain is not None and plain.cost is None and self.is_dynamic:
            return replace(plain, arguments=shapes_as_typed([(own.name, own.shape) for own in open_inputs(self.model)]))
        if plain is None or plain.cost is None:
            return plain
        listed = [fix.cost for fix in map(self.found_pass, self.findings) if fix is not None]
        is_better = all(gain(cost, plain.cost) > gain(cost, cost) for cost in listed)
        return plain if is_better else None

    @functools.cached_property
    def fix_search(self) -> PlainFix:
        """The search for the passes of ``fix``."""
        return search_fix(self.model, [self.target], self.effort)

    @property
    def known_fix_search(self) -> PlainFix | None:
        """The search for the passes of ``fix``, if it was already made."""
        return vars(self).get("fix_search")

    @functools.cached_property
    def shaped_fix(self) -> PlainFix | None:
        """The result of ``fix`` if it fixes unknown sizes of inputs. None if fixed sizes bring no better result."""
        if not (self.findings and open_inputs(self.model)):
            return None
        plain = plain_fix(self.fix_search)
        return plain if plain is not None and plain.arguments else None

    @functools.cached_property
    def _finder(self) -> PassFinder:
        return PassFinder(self.model, self.run, self.effort)

    @functools.cached_property
    def _passes(self) -> dict[Identity, FoundPass | None]:
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data (schema ``delegate-sim/diagnosis/2``)."""
        target = self.target
        return {
            **head("diagnosis"),
            "model": {"path": self.model.path, "sha256": self.model.sha256},
            "delegate": target.delegate.name,
            "options": option_values(target.options),
            "runtime": str(target.release),
            "defaults": target.defaults,
            **state_entry(target.delegate, target.options, self.run.warnings),
            "log_lines": list(self.run.log_lines),
            "multiply_adds": self.total_multiply_adds,
            "now": self.now.to_dict(),
            "nodes_beyond_limit": self.limited,
            "causes": [_finding_entry(finding, self.found_pass(finding)) for finding in self.findings],
            "fix": None if self.plain_fix is None else self.plain_fix.to_dict(),
            "without_all": self.without_all.to_dict(),
            **({"not_simulated": list(self.not_simulated)} if self.not_simulated else {}),
            **({} if self.times is None else {"time": self.times.to_dict()}),
        }

    def _line(self) -> str:
        first = (
            f"first: {self.findings[0].cause.title}"
            if self.findings
            else f"nothing keeps nodes {words_of(self.target.delegate.name).left}"
        )
        return f"{model_name(self.model)}: {run_words(self.run)}; {counted(len(self.findings), 'cause')}, {first}"

    def _summary(self) -> Sequence[tuple[str, str]]:
        from ..results.report.plan_strip import strip_picture

        return [(verdict(self.run), strip_picture(self.run))]

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"causes": ("rank", "title", "nodes", "change", "delegated_without"), **shown_times(self._all_times)}

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        causes = {"causes": lambda: Table.of(CAUSE, list(map(_Ranked, itertools.count(1), self.findings)))}
        return {**causes, **report_tables([self.run]), **times_tables(self._all_times)}

    @property
    def _all_times(self) -> tuple[Times, ...]:
        return () if self.times is None else (self.times,)


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
        "alternatives": [change_entry(change) for change in cause.alternatives],
        "fix": None if fix is None else _fix_entry(fix),
        "multiply_adds": finding.multiply_adds,
        "alone": None if finding.alone is None else finding.alone.to_dict(),
        "together": None if finding.together is None else finding.together.to_dict(),
        "needs": None if finding.needs is None else [identity.name for identity in finding.needs],
        "needs_instead": [identity.name for identity in finding.needs_instead],
        "following_nodes": [key._asdict() for key in finding.followers],
    }


def _fix_entry(fix: FoundPass) -> Mapping[str, Any]:
    return {"pass": fix.pass_.name, "exactness": fix.pass_.exactness.name.lower(), "result": fix.cost.to_dict()}

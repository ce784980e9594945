"""The result of a diagnosis: ranked causes, also as plain data and as tables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..fixing.applying import start
from ..fixing.passes.base import Pass
from ..fixing.score import standing, standing_of
from ..fixing.splitting import trailing
from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Table, attributes, within
from ..foundation.printable import counted
from ..graph.effort import Effort
from ..graph.graph import file_graphs
from ..hypothetical.fixed_inputs import open_inputs
from ..hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, changed_model
from ..model.model import Model
from ..results.report.display import Shown, Times, shown_times, strip_picture, times_tables
from ..results.report.number_risks import NUMBER_RISKS, NumberRisk, number_risks
from ..results.report.outcome_words import words_of
from ..results.report.tables import (
    COMPILATION,
    MODEL,
    NOT_SIMULATED,
    STATE,
    TIME,
    model_name,
    report_tables,
    run_columns,
    run_words,
)
from ..results.report.verdict import verdict
from ..rules.kinds import OPERATOR_NOT_REGISTERED
from ..runtime.interpreter import Run, simulate
from ..runtime.target import Target
from .advice.commands import shapes_as_typed
from .advice.fix_passes import FoundPass, PassFinder, cost_of, rewritten
from .advice.node_advice import advised
from .advice.plain_fix import PlainFix, plain_fix, search_fix
from .causes.cause import SUGGESTION, Blockers, Cause, Identity
from .causes.change import CHANGE, Remedy
from .causes.whole_graph_causes import is_dynamic
from .examiner import Cost, Examiner
from .ranking import NO_GAIN, RankedCause, gain


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


class _Found(NamedTuple):
    finding: RankedCause
    cause: Cause
    fix: FoundPass | None


def _found(diagnosis: Diagnosis) -> list[_Found]:
    return [_Found(finding, finding.cause, diagnosis.found_pass(finding)) for finding in diagnosis.findings]


CAUSE_ENTRY = (
    *within("cause", [Column("name"), Column("problem", source="identity.problem"), Column("title"), Column("codes", LIST)]),
    Column("operators", OBJECT, source=lambda found: dict(found.cause.operators)),
    *within("cause", [Column("nodes", LIST), *attributes("found", "needed")]),
    Column(
        "versions_without",
        LIST,
        source=lambda found: [{**key._asdict(), "version": version} for key, version in found.cause.node_versions.items()],
    ),
    *within("cause", [SUGGESTION, Column("alternatives", LIST, parts=CHANGE)]),
    Column("fix", OBJECT),
    *within("finding", [Column("multiply_adds", INTEGER), *attributes("alone", "together", type=OBJECT)]),
    Column("needs", LIST, source=lambda found: found.finding.needs and [own.name for own in found.finding.needs]),
    Column("needs_instead", LIST, source=lambda found: [own.name for own in found.finding.needs_instead]),
    Column("appears_later", YES_OR_NO, source="finding.appears_later"),
    Column("following_nodes", LIST, source="finding.followers"),
)
"""The columns of a ranked cause in JSON."""


@dataclass(frozen=True, repr=False)
class Diagnosis(Shown):
    """The run of the unchanged model, its causes, and the result of fixing all causes.

    The cause with the largest gain comes first. ``limited`` is the number of accepted nodes that a limit on partitions keeps on
    the CPU.
    """

    document = "diagnosis"
    columns = (
        *(MODEL, *run_columns("delegate", "options", "runtime", "defaults")),
        *within("run", [*STATE, Column("log_lines", LIST), NUMBER_RISKS, *COMPILATION]),
        *(Column("multiply_adds", INTEGER, source="total_multiply_adds"), Column("now", OBJECT)),
        *(Column("nodes_beyond_limit", INTEGER, source="limited"), Column("causes", LIST, source=_found, parts=CAUSE_ENTRY)),
        *(Column("fix", OBJECT, source="plain_fix"), Column("without_all", OBJECT), NOT_SIMULATED, TIME),
    )

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
    examiner: Examiner
    """The simulations of hypothetical changes so far."""
    is_incomplete: bool = False
    """Whether the limit was reached before the diagnosis ended. Some results may then be missing."""
    times: Times | None = None
    """The measured times, and bounds on the time that each fix can save. None if the user gave no op profiles."""

    _rows_shown = 10

    @functools.cached_property
    def taken(self) -> frozenset[NodeKey]:
        """The nodes of the unchanged model that the delegate takes."""
        return frozenset([NodeKey(run.graph.index, node) for run in self.run.final_subgraphs for node in run.delegated])

    @property
    def effort(self) -> Effort:
        """The limit on simulations. All diagnoses and searches of a command share the limit."""
        return self.examiner.effort

    @functools.cached_property
    def advised_run(self) -> Run:
        """The run, with the changes that fix the causes as hints."""
        return advised(self.model, self.run, diagnosed=(self.blockers, self.examiner))

    @property
    def is_dynamic(self) -> bool:
        """True if the runtime refuses the whole graph because of a tensor of unknown size."""
        return is_dynamic(self.run)

    @property
    def lacks_operators(self) -> bool:
        """True if the model does not run because custom operators are not registered."""
        return self.run.refusal is not None and self.run.refusal.code == OPERATOR_NOT_REGISTERED.name

    @property
    def risks_without_all(self) -> Sequence[NumberRisk]:
        """The nodes that compute other numbers than the CPU if all causes are fixed, with their indices in the model."""
        examined = self.examiner.simulate(self.blockers.without(self.blockers.causes))
        return [risk._replace(refusal=examined.change.in_file(risk.refusal)) for risk in number_risks(examined.run)]

    def ends_with(self, nodes: Collection[NodeKey]) -> bool:
        """Return whether ``fix --split-tail`` can move all these nodes to a second model."""
        run = simulate(self.model, self.target._replace(assume_ops_registered=True)) if self.lacks_operators else self.run
        split = trailing(start(self.model), standing_of(run).on_cpu)
        return split is not None and {NodeKey(0, node.index) for node in split.nodes}.issuperset(nodes)

    @functools.cached_property
    def registered_verdict(self) -> str:
        """The verdict for an application that registers all operators. Empty if no operator is missing or the effort is over."""
        if not self.lacks_operators or self.effort.is_over:
            return ""
        return verdict(simulate(self.model, self.target._replace(assume_ops_registered=True)))

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

    def _line(self) -> str:
        first = (
            f"first: {self.findings[0].cause.title}"
            if self.findings
            else f"nothing keeps nodes {words_of(self.target.delegate.name).left}"
        )
        return f"{model_name(self.model)}: {run_words(self.run)}; {counted(len(self.findings), 'cause')}, {first}"

    def _summary(self) -> Sequence[tuple[str, str]]:
        return [(verdict(self.run), strip_picture(self.run))]

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"causes": ("rank", "title", "nodes", "change", "delegated_without"), **shown_times(self._all_times)}

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        causes = {"causes": lambda: Table.of(CAUSE, list(map(_Ranked, itertools.count(1), self.findings)))}
        return {**causes, **report_tables([self.run]), **times_tables(self._all_times)}

    @property
    def _all_times(self) -> tuple[Times, ...]:
        return () if self.times is None else (self.times,)


_SHARES = 2
"""The first parts of a gain: the share of multiply-adds, and whether nodes are delegated at all."""


def worsened(diagnosis: Diagnosis, change: Remedy | FoundPass | PlainFix, others: Iterable[Diagnosis]) -> Sequence[Diagnosis]:
    """Return the diagnoses of the same model on other targets whose result becomes worse by a change.

    A result is worse if the target runs a smaller share of the model, or has more wrong results. A conversion to float is also
    worse for accelerators that compute in integers. Targets for which no simulation is left are not returned.
    """
    same = [other for other in others if other.model is diagnosis.model and other.target != diagnosis.target]
    if not same:
        return []
    model = _changed(diagnosis, change)
    if model is None:
        return []
    is_to_float = _integer_nodes(model) < _integer_nodes(diagnosis.model) and isinstance(change, Remedy)
    return [other for other in same if (is_to_float and other.target.delegate.computes_integers) or _is_worse(other, model)]


def _changed(diagnosis: Diagnosis, change: Remedy | FoundPass | PlainFix) -> Model | None:
    model = diagnosis.model
    if isinstance(change, FoundPass):
        return rewritten(model, change.pass_)
    if isinstance(change, PlainFix):
        return None if change.plan is None else change.plan.rewritten.model
    # Assumptions about the target say nothing about other targets.
    of_model = HypotheticalChanges(
        op_versions=change.op_versions,
        node_versions=change.node_versions,
        batch=change.batch,
        fixed_inputs=change.fixed_inputs,
        conversion=change.conversion,
        removed_nodes=change.removed_nodes,
        float_nodes=change.float_nodes,
        inlined_nodes=change.inlined_nodes,
    )
    return None if of_model == HypotheticalChanges() else changed_model(model, of_model, diagnosis.target.release)


def _is_worse(other: Diagnosis, model: Model) -> bool:
    if other.effort.is_over:
        return False
    other.effort.spend(other.target.effort)
    then, now = cost_of(standing(model, other.target, other.effort.cache)), other.now
    has_more_wrong = (then.measures.wrong_results or 0) > (now.measures.wrong_results or 0)
    return has_more_wrong or gain(now, then)[:_SHARES] < NO_GAIN[:_SHARES]


def _integer_nodes(model: Model) -> int:
    views = [graph.view(node) for graph in file_graphs(model) for node in graph.nodes]
    return sum([view.output(0).type in ("INT8", "UINT8") for view in views])

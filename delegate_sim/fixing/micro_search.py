"""Search for passes that let TensorFlow Lite Micro run more nodes of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, entry, head, within
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import REWRITING, Effort
from ..hypothetical.model_editing import NodeKey
from ..inference.difference import Difference
from ..micro.report import MicroReport, Outcome, analyze
from ..micro.target import RUNTIME_TITLE, MicroTarget
from ..model.model import Model
from .applying import start
from .descent import Descent, FixStep, not_tried
from .flatbuffer.model_writing import check_writable
from .passes.base import EXACTNESS, Exactness, Pass
from .passes.catalogue import PASSES
from .search import FixPlan

if TYPE_CHECKING:
    from .fix import Fixed


class MicroScore(NamedTuple):
    """The measures for comparing reports, most important first. Lower values are better."""

    cannot_be_used: bool
    work_refused: int
    """Multiply-adds of refused nodes and of nodes without a kernel."""
    nodes_refused: int


@dataclass(frozen=True, slots=True)
class MicroFixPlan(FixPlan):
    """The result of a search. There are no results for targets, but reports on the model before and after each pass."""

    reports: tuple[MicroReport, ...] = ()

    @property
    def is_needed(self) -> bool:
        """True if the runtime cannot run the model."""
        return not self.reports[0].runs

    def differing(self, model: Model) -> Iterator[str]:
        """Yield the name of the runtime if its report on a written model is not as predicted."""
        if analyze(model, self.reports[-1].target) != self.reports[-1]:
            yield RUNTIME_TITLE

    def to_dict(self, fixed: Fixed | None = None) -> dict[str, Any]:
        """Return the result of a fix as plain data."""
        return {**head("micro-fix"), **entry(MICRO_FIX, _MicroFix(self, fixed))}


class _MicroFix(NamedTuple):
    plan: MicroFixPlan
    fixed: Fixed | None


class _MicroStep(NamedTuple):
    step: FixStep
    after: MicroReport


_REPORT = (
    *(Column("outcome"), Column("runs", YES_OR_NO), Column("missing_operators", LIST)),
    Column("refused_nodes", INTEGER, source=lambda report: len(report.refused)),
    Column("nodes", INTEGER, source=lambda report: len(report.nodes)),
    *within("arena", [Column("arena_head", INTEGER, source="head"), Column("arena_total_estimate", INTEGER, source="total")]),
)
_STEP = (*within("step", [Column("name"), EXACTNESS, Column("nodes", INTEGER)]), Column("after", OBJECT, parts=_REPORT))
MICRO_FIX = (
    *(Column("model", source="plan.model.path"), Column("written", source="fixed.path")),
    *within("plan", [Column("allowed", source="allowed.key"), EXACTNESS]),
    Column("before", OBJECT, source=lambda own: own.plan.reports[0], parts=_REPORT),
    Column("after", OBJECT, source=lambda own: own.plan.reports[-1], parts=_REPORT),
    Column("passes", LIST, source=lambda own: map(_MicroStep, own.plan.steps, own.plan.reports[1:]), parts=_STEP),
    *within("plan", [Column("simulations", INTEGER), Column("not_simulated", LIST)]),
    Column("difference", OBJECT, source="fixed.difference", parts=Difference.columns),
)
"""The columns of a fix for TensorFlow Lite Micro."""


@dataclass(frozen=True, slots=True)
class MicroStanding:
    """The evaluation of one model on TensorFlow Lite Micro."""

    report: MicroReport
    to_cure: frozenset[NodeKey] = frozenset()

    @property
    def score(self) -> MicroScore:
        """The score."""
        return score_of(self.report)

    @property
    def to_change(self) -> frozenset[NodeKey]:
        """The refused nodes."""
        return frozenset([NodeKey(node.subgraph, node.index) for node in self.report.refused])

    @property
    def is_done(self) -> bool:
        """Whether no node is refused."""
        return not self.report.refused


def score_of(report: MicroReport) -> MicroScore:
    """Return the score of a report."""
    refused = report.refused
    return MicroScore(report.outcome is Outcome.FILE, sum([node.multiply_adds for node in refused]), len(refused))


def search_micro(
    model: Model,
    target: MicroTarget,
    allowed: Exactness = Exactness.ROUNDING,
    passes: Mapping[str, Pass] = PASSES,
    report: Callable[[str], None] = lambda _: None,
) -> MicroFixPlan:
    """Search for passes that reduce the refusals of a model.

    Raise FixError if the model cannot be rewritten, and LimitError if the model is too large.

    Exact passes are tried before less exact passes. Each step applies the pass with the largest gain. If no single pass brings
    a gain, all passes are applied, and then needless passes are removed.
    """
    check_writable(model)
    Effort(model).require(REWRITING)

    def evaluate(model: Model, _: AnalysisCache) -> MicroStanding:
        return MicroStanding(analyze(model, target))

    chosen = [pass_ for pass_ in passes.values() if pass_.exactness <= allowed]
    descent = Descent(chosen, [evaluate], start(model), Effort(model), report=report)
    reports = [descent.standing[0].report]
    descent.run()
    reports += [step.after[0].report for step in descent.applied]
    return MicroFixPlan(
        model,
        targets=(),
        allowed=allowed,
        shapes={},
        before=(),
        after=(),
        steps=tuple([step.step((), ()) for step in descent.applied]),
        rejected=(),
        rewritten=descent.now,
        simulations=descent.simulations,
        not_simulated=not_tried([descent]),
        reports=tuple(reports),
    )

"""Search for passes that let TensorFlow Lite Micro run more nodes of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import FixError, ModelError
from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, entry, head, within
from ..graph.effort import REWRITING, Effort
from ..hypothetical.model_editing import NodeKey
from ..inference.difference import Difference
from ..micro.report import MicroReport, Outcome, analyze
from ..micro.target import MicroTarget
from ..model.model import Model
from ..model.reader import load
from .applying import Rewritten, apply_pass, start
from .descent import FixStep, changed_nodes
from .flatbuffer.model_writing import check_writable
from .passes.base import EXACTNESS, Exactness, Pass
from .passes.catalogue import PASSES
from .search import FixPlan

if TYPE_CHECKING:
    from .fix import Fixed

_ROUNDS = 24
"""Largest number of passes to apply."""


class MicroScore(NamedTuple):
    """The measures for comparing reports, most important first. Lower values are better."""

    cannot_be_used: bool
    work_refused: int
    """Multiply-adds of refused nodes and of nodes without a kernel."""
    nodes_refused: int


@dataclass(frozen=True, slots=True)
class MicroFixPlan:
    """The result of a search. ``plan`` has the passes and the rewritten model, but no results for targets."""

    plan: FixPlan
    before: MicroReport
    after: MicroReport
    applied: tuple[MicroReport, ...]
    """The report after each pass."""

    def to_dict(self, fixed: Fixed | None = None) -> dict[str, Any]:
        """Return the result of a fix as plain data."""
        return {**head("micro-fix"), **entry(MICRO_FIX, _MicroFix(self, self.plan, fixed))}


class _MicroFix(NamedTuple):
    result: MicroFixPlan
    plan: FixPlan
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
    *within("result", [Column(side, OBJECT, parts=_REPORT) for side in ("before", "after")]),
    Column("passes", LIST, source=lambda own: map(_MicroStep, own.plan.steps, own.result.applied), parts=_STEP),
    *within("plan", [Column("simulations", INTEGER), Column("not_simulated", LIST)]),
    Column("difference", OBJECT, source="fixed.difference", parts=Difference.columns),
)
"""The columns of a fix for TensorFlow Lite Micro."""


@dataclass(frozen=True, slots=True)
class _State:
    rewritten: Rewritten
    report: MicroReport

    @property
    def score(self) -> MicroScore:
        return score_of(self.report)


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
    return _MicroSearch(model, target, allowed, passes, report).run()


def check_micro_prediction(plan: MicroFixPlan, path: str) -> None:
    """Raise FixError if the analysis of a written file differs from the plan's prediction."""
    try:
        written = analyze(load(path), plan.after.target)
    except ModelError as error:
        raise FixError(f"the rewritten file cannot be read ({error}): please report this") from error
    if written != plan.after:
        raise FixError(
            "the analysis of the rewritten file differs from the prediction for TensorFlow Lite Micro: please report this"
        )


class _MicroSearch:
    def __init__(
        self,
        model: Model,
        target: MicroTarget,
        allowed: Exactness,
        passes: Mapping[str, Pass],
        report: Callable[[str], None],
    ) -> None:
        self._model = model
        self._target = target
        self._allowed = allowed
        self._passes = passes
        self._report = report
        self._effort = Effort(model)
        self._simulations = 0
        self._steps: list[FixStep] = []
        self._applied: list[MicroReport] = []

    def run(self) -> MicroFixPlan:
        """Run the search and return the plan."""
        first = self._state(start(self._model))
        state = first
        for level in Exactness:
            if level > self._allowed:
                break
            passes = [pass_ for pass_ in self._passes.values() if pass_.exactness <= level]
            while state.report.refused and len(self._steps) < _ROUNDS:
                chain = self._best(state, passes) or self._together(state, passes)
                if not chain:
                    break
                for pass_, following in chain:
                    self._keep(pass_, state, following)
                    state = following
        plan = FixPlan(
            self._model,
            targets=(),
            allowed=self._allowed,
            shapes={},
            before=(),
            after=(),
            steps=tuple(self._steps),
            rejected=(),
            rewritten=state.rewritten,
            simulations=self._simulations,
            not_simulated=(f"further passes: {self._effort.reason}",) if self._effort.is_over else (),
        )
        return MicroFixPlan(plan, first.report, state.report, tuple(self._applied))

    def _state(self, rewritten: Rewritten) -> _State:
        self._simulations += 1
        self._effort.spend(2)  # one for rewriting the model, one for analyzing it
        return _State(rewritten, analyze(rewritten.model, self._target))

    def _keep(self, pass_: Pass, before: _State, after: _State) -> None:
        nodes = changed_nodes(before.rewritten, after.rewritten)
        self._steps.append(FixStep(pass_.name, pass_.exactness, pass_.does, nodes, (), ()))
        self._applied.append(after.report)

    def _after(self, pass_: Pass, state: _State) -> _State | None:
        if self._effort.is_over or pass_.is_for_wrong:
            return None
        refused = frozenset([NodeKey(node.subgraph, node.index) for node in state.report.refused])
        rewritten = apply_pass(state.rewritten, pass_, None if pass_.is_for_all else refused)
        if rewritten is None:
            return None
        self._report(f"{pass_.name}, step {len(self._steps) + 1}")
        return self._state(rewritten)

    def _best(self, state: _State, passes: Sequence[Pass]) -> list[tuple[Pass, _State]]:
        """Return the pass with the largest gain, with its result. The list is empty if no pass brings a gain."""
        tried = [(pass_, following) for pass_ in passes if (following := self._after(pass_, state)) is not None]
        better = [(pass_, following) for pass_, following in tried if following.score < state.score]
        return [min(better, key=lambda pair: (pair[1].score, pair[0].exactness))] if better else []

    def _together(self, state: _State, passes: Sequence[Pass]) -> list[tuple[Pass, _State]]:
        """Return passes that bring a gain only together.

        Needless passes are left out. The list is empty if there are no such passes.
        """
        chain = self._chain(state, passes)
        if len(chain) < 2 or chain[-1][1].score >= state.score:
            return []
        for pass_, _ in reversed(tuple(chain)):
            fewer = self._chain(state, [other for other, _ in chain if other is not pass_])
            if fewer and fewer[-1][1].score <= chain[-1][1].score:
                chain = fewer
        return chain

    def _chain(self, state: _State, passes: Sequence[Pass]) -> list[tuple[Pass, _State]]:
        chain = []
        for pass_ in passes:
            following = self._after(pass_, state)
            if following is not None:
                chain.append((pass_, following))
                state = following
        return chain

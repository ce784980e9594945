"""Search for the passes that improve a model on its targets. Each pass is applied, and the result is simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..errors import FixError, LimitError
from ..foundation.columns import LIST, OBJECT, Column, Declared, group, within
from ..graph.effort import REWRITING, Effort, SharedEffort
from ..hypothetical.fixed_inputs import open_inputs, with_shapes
from ..hypothetical.model_editing import unchanged
from ..model.model import Model
from ..releases.wording import LISTS
from ..results.report.tables import run_columns
from ..runtime.model_loading import custom_operators
from ..runtime.target import Target
from .applying import Rewritten, start_with
from .descent import Descent, FixStep, Trial, not_tried
from .flatbuffer.model_writing import check_writable
from .passes.base import Exactness, Pass
from .passes.catalogue import PASSES
from .score import Standing, is_better, is_no_worse, standing, summed
from .splitting import Split, first_model, trailing


@dataclass(frozen=True, slots=True)
class Conflict(Declared):
    """A target that would have a better result if it were the only target, and the targets that prevent this result."""

    columns = (
        *(*within("alone", run_columns("delegate")), Column("alone", OBJECT, parts=Standing.columns)),
        Column("losing", LIST, parts=(*run_columns("delegate"), group("after", *Standing.columns))),
    )

    alone: Standing
    """The target's result of a search for this target alone."""
    losing: tuple[Standing, ...]
    """The other targets' results with the same rewrite, if they are worse than the results of the plan."""


@dataclass(frozen=True, slots=True)
class FixPlan:
    """The result of a search."""

    model: Model
    targets: tuple[Target, ...]
    allowed: Exactness
    shapes: Mapping[int, tuple[int, ...]]
    before: tuple[Standing, ...]
    after: tuple[Standing, ...]
    steps: tuple[FixStep, ...]
    rejected: tuple[Trial, ...]
    rewritten: Rewritten = field(repr=False)
    simulations: int = 0
    not_simulated: tuple[str, ...] = ()
    """The changes that were not tried. Each text names the limit or the missing package."""
    split: Split | None = None
    """The split of trailing nodes into a second model.

    If it is set, ``rewritten`` and ``after`` describe only the first model.
    """
    conflicts: tuple[Conflict, ...] = ()
    """The targets that would each have a better result as the only target."""
    with_shapes: FixPlan | None = None
    """A better plan that also fixes the unknown sizes of inputs. None if no such plan was found."""
    approximate: FixPlan | None = None
    """A better plan with approximate passes. None if such passes are not better, were allowed, or were not tried."""
    descent: Descent | None = field(default=None, repr=False)
    """The search that ended with this plan, for a later search for several targets."""

    @property
    def is_changed(self) -> bool:
        """True if the plan changes the model."""
        return bool(self.steps or self.shapes or self.split)

    @property
    def is_needed(self) -> bool:
        """True if passes may improve the model on a target."""
        return any(standing.to_change or standing.at_risk for standing in self.before)

    @property
    def shape_entries(self) -> list[dict[str, Any]]:
        """The fixed shapes of inputs as plain data."""
        tensors = self.model.subgraphs[0].tensors
        return [{"input": tensors[index].name, "shape": list(shape)} for index, shape in self.shapes.items()]

    @property
    def whole(self) -> Rewritten:
        """The rewritten model before a split."""
        return self.rewritten if self.split is None else self.split.whole

    @property
    def exactness(self) -> Exactness:
        """The exactness of the least exact step."""
        return max([step.exactness for step in self.steps], default=Exactness.EXACT)

    def differing(self, model: Model) -> Iterator[str]:
        """Yield the name of each delegate whose result on a written model is not as predicted."""
        for foretold in self.after:
            if standing(model, foretold.target) != foretold:
                yield foretold.target.delegate.name

    @property
    def holds_for(self) -> tuple[str, ...]:
        """The values for which the exact passes are exact. Empty if they are exact for all values."""
        return tuple(dict.fromkeys([step.holds_for for step in self.steps if step.holds_for]))


def search(
    model: Model,
    targets: Sequence[Target],
    allowed: Exactness = Exactness.ROUNDING,
    shapes: Mapping[int, tuple[int, ...]] = MappingProxyType({}),
    passes: Mapping[str, Pass] = PASSES,
    report: Callable[[str], None] = lambda _: None,
    shared: SharedEffort | None = None,
    effort: Effort | None = None,
    known: Sequence[FixPlan] = (),
) -> FixPlan:
    """Search for passes that improve a model on at least one target and do not worsen the result on any other target.

    Exact passes are tried before less exact passes. A less exact pass is applied only if it brings a further gain. Each step
    applies the pass with the largest gain. If no single pass brings a gain, all passes are applied, and then needless passes
    are removed. Passes that later passes made needless are removed at the end.

    For several targets, the search also begins with the passes for each single target. Such a beginning may worsen other
    targets, but the final result must not.

    ``shapes`` fixes the shapes of inputs, by tensor index. ``report`` is called with a message for each try. ``shared`` limits
    the simulations of all searches for several models. ``effort`` limits the simulations of one search. ``known`` has plans for
    single targets, which are not searched again. Raise FixError if the model cannot be rewritten.
    """
    check_writable(model)
    Effort(model).require(REWRITING)
    start = start_with(with_shapes(model, shapes, targets[0].release) if shapes else unchanged(model))
    allowed_passes = [pass_ for pass_ in passes.values() if pass_.exactness <= allowed]
    # A second search may follow for several targets, and another one with fixed shapes.
    parts = (2 if len(targets) > 1 else 1) * (2 if open_inputs(model) else 1)
    joint = Descent(allowed_passes, targets, start, effort or Effort(model, parts, shared), report=report)
    shaped = joint.standing
    before = joint.standings_of(model) if shapes else shaped
    is_worse = any(now.score.fails and not then.score.fails for now, then in zip(shaped, before, strict=True))
    if is_worse and (missing := unregistered_text(model, targets[0])):
        # The runtime may reach an unregistered operator only if shapes are fixed.
        raise FixError(missing)
    joint.run()
    result, descents = joint, [joint]
    conflicts: tuple[Conflict, ...] = ()
    if len(targets) > 1:
        lone = [plan for plan in known if plan.shapes == shapes]
        of_detours = Effort(start.model, parts, effort or shared)
        detours = _Detours(allowed_passes, targets, start, shaped, joint, of_detours, report, lone)
        result, conflicts = detours.run()
        descents += detours.descents
    result.leave_out()
    for now, then in zip(result.standing, before, strict=True):
        if now.score.fails and not then.score.fails:
            raise FixError(f"with these shapes, {now.target.delegate.display_name} does not run the model: {now.refusal_text}")
    names = {step.pass_.name for step in result.applied}
    trials = {name: trial for descent in (joint, result) for name, trial in descent.trials.items() if name not in names}
    return FixPlan(
        model,
        tuple(targets),
        allowed,
        shapes,
        before,
        result.standing,
        tuple([item.step for item in result.applied]),
        tuple([Trial(pass_.name, pass_.exactness, standings, is_worse) for pass_, standings, is_worse in trials.values()]),
        result.now,
        sum([descent.simulations for descent in descents]),
        not_tried(descents),
        conflicts=conflicts,
        descent=result,
    )


def unregistered_text(model: Model, target: Target) -> str:
    """Return the operators that keep a model from running on the CPU, and advice. Empty if all operators are registered."""
    if missing := custom_operators(model, target).unregistered:
        loop = any(op.startswith(LISTS) for op in missing)
        change = "with a fixed batch and with unroll=True in Keras' recurrent layers" if loop else "without these operators"
        return (
            f"the original model does not run on the CPU, because no kernel is registered for {', '.join(sorted(missing))}; "
            f"convert again {change} (see delegate-sim diagnose)"
        )
    return ""


class _Detours:
    """Several searches, each for all targets. Each search begins with the passes that help one target.

    ``standing`` has the results without any pass. In the search ``joint``, no step worsens the result on any target. ``lone`` has
    the plans of finished searches for single targets.
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        targets: Sequence[Target],
        start: Rewritten,
        standing: tuple[Standing, ...],
        joint: Descent,
        effort: Effort,
        report: Callable[[str], None],
        lone: Sequence[FixPlan],
    ) -> None:
        self._passes, self._targets, self._start, self._standing, self._joint = passes, targets, start, standing, joint
        self._report = report
        self._effort = effort
        self._lone = lone
        self.descents: list[Descent] = []

    def run(self) -> tuple[Descent, tuple[Conflict, ...]]:
        """Return the best search that worsens the result on no target, and the conflicts between targets."""
        best = self._joint
        alone: list[tuple[int, tuple[Standing, ...]]] = []
        for place, target in self._effort.limit(enumerate(self._targets)):
            lone = self._lone_descent(target)
            if lone.standing[0].score >= self._joint.standing[place].score:
                continue
            for number, applied in enumerate(self._beginnings(lone)):
                descent = self._descent(self._targets, applied)
                if not number:
                    alone.append((place, descent.standing))
                if not number or is_no_worse(descent.standing, self._standing):
                    descent.run()
                if is_no_worse(descent.standing, self._standing):
                    best = min(best, descent, key=lambda one: summed(one.standing))
                    break
        return best, tuple([conflict for place, standings in alone for conflict in _conflict(place, standings, best.standing)])

    def _lone_descent(self, target: Target) -> Descent:
        for plan in self._lone:
            if plan.targets == (target,) and plan.descent is not None:
                return plan.descent
        lone = self._descent([target], ())
        lone.run()
        return lone

    def _descent(self, targets: Sequence[Target], applied: Sequence[tuple[Pass, Rewritten]]) -> Descent:
        descent = Descent(self._passes, targets, self._start, self._effort, applied, self._report)
        self.descents.append(descent)
        return descent

    def _beginnings(self, lone: Descent) -> Iterator[list[tuple[Pass, Rewritten]]]:
        """Yield all passes for one target, and then the same passes without one pass.

        The last pass is left out first, then the pass before it, and so on.
        """
        yield [(step.pass_, step.rewritten) for step in lone.applied]
        for left_out in self._effort.limit(reversed(lone.applied)):
            applied: list[tuple[Pass, Rewritten]] = []
            for step in lone.applied:
                if step is not left_out:
                    rewritten = lone.with_pass(step.pass_, applied[-1][1] if applied else self._start)
                    applied += [] if rewritten is None else [(step.pass_, rewritten)]
            if applied:
                yield applied


def _conflict(place: int, alone: Sequence[Standing], together: Sequence[Standing]) -> Iterator[Conflict]:
    """Yield a conflict if a target would have a better result as the only target."""
    if alone[place].score < together[place].score:
        yield Conflict(alone[place], tuple([one for one, other in zip(alone, together, strict=True) if one.score > other.score]))


def try_shapes(
    plan: FixPlan,
    passes: Mapping[str, Pass] = PASSES,
    report: Callable[[str], None] = lambda _: None,
    effort: Effort | None = None,
    known: Sequence[FixPlan] = (),
) -> FixPlan:
    """Return the plan, and set ``with_shapes`` if fixed sizes give a better result than unknown sizes.

    The fixed sizes are the sizes in the model file. A plan with fixed shapes is returned unchanged. A plan for several targets
    is also returned unchanged if its search has reached a limit, because a second search would take as long. ``known`` has plans
    with fixed shapes for single targets.
    """
    if plan.not_simulated and len(plan.targets) > 1:
        return plan
    shapes = {tensor.index: tensor.shape for tensor in open_inputs(plan.model)}
    if plan.shapes or not shapes or any(min(shape, default=1) < 1 for shape in shapes.values()):
        return plan
    try:
        fixed = search(plan.model, plan.targets, plan.allowed, shapes, passes, report, effort=effort, known=known)
    except FixError:
        return plan
    return replace(plan, with_shapes=fixed) if is_better(fixed.after, plan.after) else plan


def try_approximate(
    plan: FixPlan, passes: Mapping[str, Pass] = PASSES, report: Callable[[str], None] = lambda _: None
) -> FixPlan:
    """Return the plan, and set ``approximate`` if approximate passes give a better result.

    The plan is returned unchanged if it leaves no nodes on the CPU, splits the model, or if its search has reached a limit. It is
    also returned unchanged if the user chose the ``passes``.
    """
    is_done = plan.split or plan.not_simulated or not any(after.on_cpu for after in plan.after)
    if is_done or passes is not PASSES or plan.allowed is Exactness.APPROXIMATE:
        return plan
    try:
        other = search(plan.model, plan.targets, Exactness.APPROXIMATE, plan.shapes, report=report)
    except (FixError, LimitError):
        return plan
    approximate = other if is_better(other.after, plan.after) else None
    return replace(plan, approximate=approximate, simulations=plan.simulations + other.simulations)


def split_tail(plan: FixPlan) -> FixPlan:
    """Return a plan that moves the trailing CPU nodes to a second model. Return ``plan`` itself if there are no such nodes.

    Trailing nodes stay on the CPU on every target, and no other nodes depend on them. Trailing nodes may have unregistered
    custom operators.
    """
    registered = [standing(plan.rewritten.model, target._replace(assume_ops_registered=True)) for target in plan.targets]
    if not any(result.measures.is_delegated for result in registered):
        return plan
    split = trailing(plan.rewritten, frozenset.intersection(*[result.on_cpu for result in registered]))
    if split is None:
        return plan
    first = first_model(split)
    after = tuple([standing(first.model, target) for target in plan.targets])
    return replace(plan, rewritten=first, after=after, split=split)

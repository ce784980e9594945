"""The simulated result of ``delegate-sim fix`` for one or several targets, and the refusals that several targets share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...errors import FixError, LimitError
from ...fixing.score import is_better
from ...fixing.search import FixPlan, search, try_shapes
from ...foundation.columns import LIST, OBJECT, Column, Declared
from ...graph.effort import Effort
from ...model.model import Model
from ...refusal import Refusal
from ...results.report.blockers import has_open_input
from ...rules.kinds import DYNAMIC_TENSORS
from ...runtime.interpreter import REFUSED, Run
from ...runtime.target import Target
from ..causes.change import result_words
from ..examiner import Cost
from .commands import fix_command, joint_fix_command, shapes_as_typed
from .fix_passes import cost_of

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis

_PARTS = 16
"""A command's limit on simulations is divided by this number. The quotient is the limit of the search for passes."""
_PARTS_FOR_SEVERAL = 3
"""The same number for a search for several targets, which needs more simulations."""
_SIMULATIONS_AT_LEAST = 40
"""The smallest number of simulations for the search for one target. With a smaller number, no search is made.

The search for several targets first searches for each target, so it needs twice this number for each target.
"""
_MOST_TARGETS = 4
"""Largest number of targets for which a common file is searched."""
_MANY = "the search for passes takes many simulations"


@dataclass(frozen=True, slots=True)
class PlainFix(Declared):
    """The result of ``fix`` if the user does not choose passes.

    ``searched`` is None if the model cannot be rewritten or if no search was made. In the second case, ``unknown`` is the reason.
    """

    columns = (
        Column("passes", LIST, source=lambda fix: [step.name for step in fix.plan.steps] if fix.plan else ()),
        Column("exactness", source="plan.exactness.key"),
        Column("shapes", LIST, source=lambda fix: fix.plan.shape_entries if fix.plan else ()),
        *(Column("result", OBJECT, source="cost"), Column("unknown")),
    )

    searched: FixPlan | None
    unknown: str = ""
    arguments: tuple[str, ...] = ()
    """Additional arguments of the command: the shapes of inputs."""

    @property
    def plan(self) -> FixPlan | None:
        """The plan, with fixed sizes of inputs if these are better. None if no plan improves the result."""
        best = None if self.searched is None else self.searched.with_shapes or self.searched
        return best if best is not None and best.is_changed and is_better(best.after, best.before) else None

    @property
    def cost(self) -> Cost | None:
        """The result for the first target. None if no plan improves the result."""
        return None if self.plan is None else cost_of(self.plan.after[0])

    @property
    def result(self) -> str:
        """The result in a few words. If the result is not known, the reason."""
        if self.plan is None or self.cost is None:
            return f"not simulated: {self.unknown}"
        return f"{self.plan.exactness.words}; {result_words(self.cost)}"


def search_fix(model: Model, targets: Sequence[Target], effort: Effort, known: Sequence[FixPlan] = ()) -> PlainFix:
    """Search for the passes that ``delegate-sim fix`` applies to a model for targets. For large models, no search is made.

    ``known`` has the plans of earlier searches for single targets. These searches are not repeated.
    """
    part = Effort(model, _PARTS if len(targets) == 1 else _PARTS_FOR_SEVERAL, effort)
    if part.left < _SIMULATIONS_AT_LEAST * (1 if len(targets) == 1 else 2 * len(targets)):
        return PlainFix(None, _MANY)
    try:
        plan = try_shapes(search(model, targets, effort=part, known=known), effort=part, known=known)
    except (FixError, LimitError):
        return PlainFix(None)
    if part.is_over:
        return PlainFix(None, _MANY)
    best = PlainFix(plan).plan
    return PlainFix(plan, arguments=() if best is None else shape_arguments(best))


def plain_fix(searched: PlainFix) -> PlainFix | None:
    """Return the result of a search, or None if it is known that no plan improves the result."""
    return searched if searched.plan is not None or searched.unknown else None


def shape_arguments(plan: FixPlan) -> tuple[str, ...]:
    """Return the arguments of ``fix`` that fix the sizes of inputs as in a plan."""
    return shapes_as_typed([(entry["input"], entry["shape"]) for entry in plan.shape_entries])


@dataclass(frozen=True, slots=True)
class JointFix:
    """The result of ``delegate-sim fix`` for several targets, if the user does not choose passes.

    If the result is not known, ``plan`` is None and ``unknown`` is the reason.
    """

    plan: FixPlan | None
    command: str
    per_target_command: str = ""
    """The command that writes a file for each target."""
    unknown: str = ""


def joint_fix(diagnoses: Sequence[Diagnosis]) -> JointFix | None:
    """Search for the passes that ``delegate-sim fix`` applies to one model for all targets of its diagnoses.

    Return None if no rewrite improves the result on any target, if custom operators are not registered, or if no command line
    describes the targets.
    """
    model, targets = diagnoses[0].model, [diagnosis.target for diagnosis in diagnoses]
    if not 2 <= len(targets) <= _MOST_TARGETS or any(diagnosis.model is not model for diagnosis in diagnoses):
        return None
    # Without registered operators, fix cannot run the model to compare the outputs.
    if not any(diagnosis.findings for diagnosis in diagnoses) or any(diagnosis.lacks_operators for diagnosis in diagnoses):
        return None
    command = joint_fix_command(model, targets)
    if not command:
        return None
    plans = [search.searched for diagnosis in diagnoses if (search := diagnosis.known_fix_search) is not None]
    known = [other for plan in plans if plan is not None for other in (plan, plan.with_shapes) if other is not None]
    searched = search_fix(model, targets, diagnoses[0].effort, known)
    plan = searched.plan or searched.searched
    if plan is None:
        return JointFix(None, command, unknown=searched.unknown) if searched.unknown else None
    if not (plan.is_changed or plan.conflicts):
        return None
    shapes = shape_arguments(plan)
    return JointFix(plan, joint_fix_command(model, targets, *shapes), joint_fix_command(model, targets, *shapes, "--per-target"))


_FEWEST = 2


class SizesFix(NamedTuple):
    """A ``fix`` command that fixes the sizes of inputs, and its simulated result for one target."""

    run: Run
    """The run of this target without the fix."""
    fix: PlainFix
    command: str


def shared_refusals(runs: Sequence[Run]) -> Sequence[tuple[Refusal, Sequence[Run]]]:
    """Return each refusal of the whole graph that several delegates share, with their runs. Deprecated delegates come last."""
    by_code: dict[str, list[Run]] = {}
    for run in runs:
        if run.outcome == REFUSED and run.is_prepared and run.is_loaded and run.refusal is not None:
            by_code.setdefault(run.refusal.code, []).append(run)
    shared = [sorted(stopped, key=lambda run: bool(run.delegate.deprecated)) for stopped in by_code.values()]
    return [(refusal, stopped) for stopped in shared if len(stopped) >= _FEWEST and (refusal := stopped[0].refusal) is not None]


def sizes_fix(model: Model, run: Run) -> SizesFix | None:
    """Search for a ``fix`` that fixes the sizes of inputs, for a run that dynamic tensors stop. None if there is none."""
    if run.refusal is None or run.refusal.code != DYNAMIC_TENSORS.name or not has_open_input(model):
        return None
    fix = search_fix(model, [run.target], Effort(model))
    if fix.plan is None or not fix.arguments:
        return None
    return SizesFix(run, fix, fix_command(model, run.target, *fix.arguments))

"""The simulated result of ``delegate-sim fix`` for a model and a target, or for several targets together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import FixError, LimitError
from ...fixing.score import is_better
from ...fixing.search import FixPlan, search, try_shapes
from ...foundation.columns import LIST, OBJECT, Column, Declared
from ...graph.effort import Effort
from ...hypothetical.fixed_inputs import open_inputs
from ...model.model import Model
from ...runtime.target import Target
from ..causes.change_words import result_words
from ..examiner import Cost
from .fix_passes import cost_of

_PARTS = 16
"""A command's limit on simulations is divided by this number. The quotient is the limit of the search for passes."""
_PARTS_FOR_SEVERAL = 3
"""The same number for a search for several targets, which needs more simulations."""
_SIMULATIONS_AT_LEAST = 40
"""The smallest number of simulations for the search for one target. With a smaller number, no search is made.

The search for several targets first searches for each target, so it needs twice this number for each target.
"""
_MANY = "the search for passes takes many simulations"


@dataclass(frozen=True, slots=True)
class PlainFix(Declared):
    """The result of ``delegate-sim fix`` if the user does not choose passes.

    If the result is not known, ``cost`` is None and ``unknown`` is the reason.
    """

    columns = (
        Column("passes", LIST, source=lambda fix: [step.name for step in fix.plan.steps] if fix.plan else ()),
        Column("exactness", source="plan.exactness.key"),
        Column("shapes", LIST, source=lambda fix: fix.plan.shape_entries if fix.plan else ()),
        *(Column("result", OBJECT, source="cost"), Column("unknown")),
    )

    plan: FixPlan | None
    """The passes, and the fixed sizes of inputs if the file leaves sizes open."""
    cost: Cost | None
    arguments: tuple[str, ...] = ()
    """Additional arguments of the command: the shapes of inputs."""
    unknown: str = ""

    @property
    def result(self) -> str:
        """The result in a few words. If the result is not known, the reason."""
        if self.plan is None or self.cost is None:
            return f"not simulated: {self.unknown}"
        return f"{self.plan.exactness.words}; {result_words(self.cost)}"


@dataclass(frozen=True, slots=True)
class FixSearch:
    """A search for the passes that ``delegate-sim fix`` applies if the user does not choose passes.

    ``plan`` is None if the model cannot be rewritten or if no search was made. In the second case, ``unknown`` is the reason.
    """

    plan: FixPlan | None
    unknown: str = ""

    @property
    def best(self) -> FixPlan | None:
        """The plan, with fixed sizes of inputs if these are better. None if no plan improves the result."""
        best = None if self.plan is None else self.plan.with_shapes or self.plan
        return best if best is not None and best.is_changed and is_better(best.after, best.before) else None


def search_fix(model: Model, targets: Sequence[Target], effort: Effort, known: Sequence[FixPlan] = ()) -> FixSearch:
    """Search for the passes that ``delegate-sim fix`` applies to a model for targets. For large models, no search is made.

    ``known`` has the plans of earlier searches for single targets. These searches are not repeated.
    """
    part = Effort(model, _PARTS if len(targets) == 1 else _PARTS_FOR_SEVERAL, effort)
    if part.left < _SIMULATIONS_AT_LEAST * (1 if len(targets) == 1 else 2 * len(targets)):
        return FixSearch(None, _MANY)
    try:
        plan = try_shapes(search(model, targets, effort=part, known=known), effort=part, known=known)
    except (FixError, LimitError):
        return FixSearch(None)
    return FixSearch(None, _MANY) if part.is_over else FixSearch(plan)


def plain_fix(searched: FixSearch) -> PlainFix | None:
    """Return the result of a search for one target, or None if no plan improves the result."""
    if searched.unknown:
        return PlainFix(None, None, unknown=searched.unknown)
    plan = searched.best
    return None if plan is None else PlainFix(plan, cost_of(plan.after[0]), shape_arguments(plan))


def open_shape_arguments(model: Model) -> tuple[str, ...]:
    """Return the arguments of ``fix`` that fix the unknown sizes of inputs to the sizes in the model file."""
    return _shape_arguments([(tensor.name, tensor.shape) for tensor in open_inputs(model)])


def shape_arguments(plan: FixPlan) -> tuple[str, ...]:
    """Return the arguments of ``fix`` that fix the sizes of inputs as in a plan."""
    return _shape_arguments([(entry["input"], entry["shape"]) for entry in plan.shape_entries])


def _shape_arguments(shapes: Iterable[tuple[str, Iterable[int]]]) -> tuple[str, ...]:
    texts = [f"{name}={','.join(map(str, shape))}" for name, shape in shapes]
    return tuple([argument for text in texts for argument in ("--shape", text)])

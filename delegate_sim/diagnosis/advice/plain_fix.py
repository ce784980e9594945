"""The simulated result of ``delegate-sim fix`` for a model and a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import FixError, LimitError
from ...fixing.score import is_better
from ...fixing.search import FixPlan, search, try_shapes
from ...graph.effort import Effort
from ...model.model import Model
from ...runtime.target import Target
from ..causes.alternative import result_words
from ..examiner import Cost

_PARTS = 16
"""A command's limit on simulations is divided by this number. The quotient is the limit of the search for passes."""
_SIMULATIONS_AT_LEAST = 40
"""The smallest number of simulations for the search. With a smaller number, no search is made."""
_MANY = "the search for passes takes many simulations"


@dataclass(frozen=True, slots=True)
class PlainFix:
    """The result of ``delegate-sim fix`` if the user does not choose passes.

    If the result is not known, ``cost`` is None and ``unknown`` is the reason.
    """

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

    def to_dict(self) -> dict[str, Any]:
        """Return the passes and the result as plain data."""
        plan = self.plan
        return {
            "passes": [] if plan is None else [step.name for step in plan.steps],
            "exactness": None if plan is None else plan.exactness.name.lower(),
            "shapes": [] if plan is None else plan.shape_entries,
            "result": None if self.cost is None else self.cost.to_dict(),
            "unknown": self.unknown,
        }


def plain_fix(model: Model, target: Target, effort: Effort) -> PlainFix | None:
    """Search for the passes that ``delegate-sim fix`` applies to a model for a target.

    Return None if the passes do not improve the result. For large models, no search is made.
    """
    part = Effort(model, _PARTS, effort)
    if part.left < _SIMULATIONS_AT_LEAST:
        return PlainFix(None, None, unknown=_MANY)
    try:
        plan = try_shapes(search(model, [target], effort=part), effort=part)
    except (FixError, LimitError):
        return None
    if part.is_over:
        return PlainFix(None, None, unknown=_MANY)
    plan = plan.with_shapes or plan
    if not (plan.is_changed and is_better(plan.after, plan.before)):
        return None
    (after,) = plan.after
    inputs = model.subgraphs[0].tensors
    shapes = [f"{inputs[index].name}={','.join(map(str, shape))}" for index, shape in plan.shapes.items()]
    arguments = tuple([argument for shape in shapes for argument in ("--shape", shape)])
    return PlainFix(plan, Cost(after.measures, after.multiply_adds, after.total_multiply_adds, target.delegate.name), arguments)

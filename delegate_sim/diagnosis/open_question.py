"""The target to diagnose if the user names none: the best target of an overview that does not run the whole model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ..delegates.devices import ORDER
from ..delegates.traits import Ranking
from ..graph.effort import DIAGNOSIS, Effort
from ..model.model import Model
from ..results.report.blockers import has_open_input
from ..results.report.measures import TAKEN, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.number_risks import number_risks
from ..results.report.verdict import has_wrong_results
from ..rules.kinds import DYNAMIC_TENSORS
from ..runtime.interpreter import REFUSED, Run, simulate
from ..runtime.target import Target


class Choice(Enum):
    """The reason for a target."""

    NOT_STARTED = "not-started"
    """The target does not start, because inputs have unknown sizes."""
    LARGEST_SHARE = "largest-share"
    """Of the targets that do not run the whole model, the target runs the largest share."""
    NOTHING_OPEN = "nothing-open"
    """Each target runs the whole model or nothing, and this target is the first that runs all of it."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A target, the reason for it, and the number of targets that were compared for this reason."""

    target: Target
    choice: Choice
    compared: int


def find_open_question(model: Model, targets: Sequence[Target], effort: Effort) -> OpenQuestion:
    """Return the target to diagnose. Equal targets are in the order of the devices (``ORDER``).

    The CPU library, compiler plugins and deprecated delegates are left out. Large models are compared on fewer targets. Raises
    LimitError.
    """
    compared = sorted(filter(_is_compared, targets), key=lambda target: ORDER.index(target.delegate.name)) or list(targets)
    effort.require(DIAGNOSIS, max([target.effort for target in compared]))
    runs: list[Run] = []
    for number, target in enumerate(compared):
        if runs and effort.left <= DIAGNOSIS.simulations:
            break
        effort.begin_target(len(compared) - number - 1, target.effort)
        runs.append(simulate(model, target, cache=effort.cache))
    if has_open_input(model):
        for run in runs:
            if run.outcome == REFUSED and run.refusal is not None and run.refusal.code == DYNAMIC_TENSORS.name:
                return OpenQuestion(run.target, Choice.NOT_STARTED, len(runs))
    complete = [run for run in runs if _is_complete(run)]
    left = [run for run in runs if run not in complete]
    if complete and not any(map(any, map(_share, left))):
        return OpenQuestion(complete[0].target, Choice.NOTHING_OPEN, len(complete))
    best = max(left, key=_share)
    return OpenQuestion(best.target, Choice.LARGEST_SHARE, len(left))


def _share(run: Run) -> tuple[int, int]:
    """Return the delegated multiply-adds and nodes, or zeros if the model does not run with the delegate, or runs wrongly."""
    measures = measure(run)
    is_right = measures.outcome == TAKEN and not has_wrong_results(run)
    return (compute_of(run).delegated_multiply_adds, measures.delegated_nodes) if is_right else (0, 0)


def _is_compared(target: Target) -> bool:
    delegate = target.delegate
    return delegate.ranking is Ranking.ACCELERATORS and not delegate.deprecated


def _is_complete(run: Run) -> bool:
    measures = measure(run)
    return measures.outcome == TAKEN and measures.delegated_nodes == measures.nodes and not number_risks(run)

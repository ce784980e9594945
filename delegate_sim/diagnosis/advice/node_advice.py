"""Advice for the CPU nodes of one run, taken from a diagnosis that does not simulate each fix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ...model.model import Model
from ...runtime.run import Refusal
from ...runtime.target import Target
from ..causes.cause import Blockers, Cause
from ..causes.finder import find_causes
from ..examiner import Examiner


@dataclass(frozen=True, slots=True)
class Advice:
    """The changes that fix the causes of a run: ``by_reason`` for single nodes, ``refusal`` for a refusal of the whole graph."""

    by_reason: Mapping[tuple[NodeKey, str], tuple[str, ...]]
    refusal: str

    def changes(self, subgraph: int, nodes: Iterable[int], code: str) -> tuple[str, ...]:
        """Return the distinct changes that fix the refusals with code ``code`` of these nodes."""
        changes = [change for node in nodes for change in self.by_reason.get((NodeKey(subgraph, node), code), ())]
        return tuple(dict.fromkeys(changes))


def advise(model: Model, target: Target) -> Advice:
    """Find the causes of a model's refusals on a target, and the changes that fix them.

    Other delegates that take an operator are not named, since that would require simulating all delegates, as a diagnosis does.
    """
    effort = Effort(model)
    examiner = Examiner(model, target, effort)
    refusal = examiner.simulate(HypotheticalChanges(), {}).run.refusal
    blockers = find_causes(model, examiner.simulate, effort, names_others=False)
    causes = blockers.causes
    by_reason: dict[tuple[NodeKey, str], list[str]] = {}
    for cause in causes:
        for code in cause.codes:
            for key in cause.nodes:
                by_reason.setdefault((key, code), []).append(cause.change)
    of_the_whole = [cause for cause in causes if refusal is not None and refusal.code in cause.codes]
    # Causes of single nodes may have the same code as the refusal of the whole graph.
    ending = [cause for cause in of_the_whole if refusal is not None and _ends(refusal, examiner, blockers, cause)]
    changes = [cause.change for cause in (*ending, *of_the_whole)]
    return Advice({reason: tuple(dict.fromkeys(texts)) for reason, texts in by_reason.items()}, next(iter(changes), ""))


def _ends(refusal: Refusal, examiner: Examiner, blockers: Blockers, cause: Cause) -> bool:
    """Return whether fixing a cause removes a refusal of the whole graph."""
    left = examiner.simulate(*blockers.without([cause])).run.refusal
    return left is None or left.code != refusal.code

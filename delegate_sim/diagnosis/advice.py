"""What to change about the nodes of one run, as precisely as a diagnosis says it, without what each change would bring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model.model import Model
from ..runtime.suppositions import NodeKey, Supposition
from ..runtime.target import Target
from .examiner import Examiner
from .finder import find_causes


@dataclass(frozen=True)
class Advice:
    """The changes that the causes behind a run ask for, by node and code; ``refusal`` is that for the graph as a whole."""

    by_reason: Mapping[tuple[NodeKey, str], tuple[str, ...]]
    refusal: str

    def changes(self, subgraph: int, nodes: Iterable[int], code: str) -> tuple[str, ...]:
        """Return the changes that would end a refusal of some nodes, each once."""
        found = [change for node in nodes for change in self.by_reason.get((NodeKey(subgraph, node), code), ())]
        return tuple(dict.fromkeys(found))


def advise(model: Model, target: Target) -> Advice:
    """Find the causes behind a model's run on a target, and with them what to change.

    Which other delegates would take an operator is left to a diagnosis, as that needs all of them.
    """
    examiner = Examiner(model, target)
    refusal = examiner.simulate(Supposition(), {}).run.refusal
    causes = find_causes(model, examiner.simulate, names_others=False).causes
    found: dict[tuple[NodeKey, str], list[str]] = {}
    for cause in causes:
        for code in cause.codes:
            for key in cause.nodes:
                found.setdefault((key, code), []).append(cause.change)
    of_the_whole = [cause.change for cause in causes if refusal is not None and refusal.code in cause.codes]
    return Advice({reason: tuple(dict.fromkeys(changes)) for reason, changes in found.items()}, next(iter(of_the_whole), ""))

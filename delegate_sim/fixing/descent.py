"""Improve a model pass by pass. Each step applies the pass with the largest gain on the given targets, of any kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import MissingPackageError
from ..foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared
from ..graph.effort import Effort
from ..hypothetical.model_editing import NodeKey
from ..model.model import Model, Node
from ..runtime.target import Target
from .applying import Rewritten, apply_pass
from .passes.base import EXACTNESS, Exactness, Pass, promise
from .score import Standing, is_better, is_no_worse, standing

_ATTEMPTS_OF_A_SIMULATION = 8
"""Number of passes that take as long to apply as one simulation."""
_ROUNDS = 24
"""Largest number of steps in a search."""


@dataclass(frozen=True, slots=True)
class FixStep(Declared):
    """An applied pass, the number of changed nodes, and the result on each target."""

    columns = (
        *(Column("name"), EXACTNESS, Column("holds_for"), Column("nodes", INTEGER)),
        Column("after", LIST, source="standings", parts=Standing.columns),
    )

    name: str
    exactness: Exactness
    does: str
    nodes: int
    """Number of nodes that the pass changed, replaced or removed."""
    standings: tuple[Standing, ...]
    before: tuple[Standing, ...]
    """The result on each target without this pass and the later passes."""
    holds_for: str = ""
    """The values for which an exact pass is exact. Empty if the pass is exact for all values."""

    @property
    def promise(self) -> str:
        """The exactness as a phrase. If the pass is exact only for some values, the phrase names these values."""
        return promise(self.exactness, self.holds_for)


@dataclass(frozen=True, slots=True)
class Trial(Declared):
    """A pass that was tried but not applied, and the results that the pass would have on each target."""

    columns = (Column("name"), EXACTNESS, Column("is_worse", YES_OR_NO))

    name: str
    exactness: Exactness
    standings: tuple[Standing, ...]
    is_worse: bool
    """True if the pass would worsen the result on at least one target."""


@dataclass(frozen=True, slots=True)
class AppliedPass:
    """A pass, the model after it, the number of changed nodes, and the results on each target after and before it."""

    pass_: Pass
    rewritten: Rewritten
    nodes: int
    after: tuple[Standing, ...]
    before: tuple[Standing, ...]

    @property
    def step(self) -> FixStep:
        """The pass as a step of a plan."""
        own = self.pass_
        return FixStep(own.name, own.exactness, own.does, self.nodes, self.after, self.before, own.holds_for)


class Descent:
    """A search for passes that improve a model on the given targets.

    The search tries the passes in ``passes``. ``effort`` limits the simulations. The search begins with the model after the
    passes in ``applied``. If ``applied`` is empty, it begins with ``start``. ``report`` is called with a message for each try.
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        targets: Sequence[Target],
        start: Rewritten,
        effort: Effort,
        applied: Sequence[tuple[Pass, Rewritten]] = (),
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._passes = tuple(passes)
        self._targets = tuple(targets)
        self._report = report
        self.effort = effort
        self.simulations = 0
        self._attempts = 0
        self.missing = ""
        """The error message if a package that some passes need is not installed; otherwise empty."""
        self.trials: dict[str, tuple[Pass, tuple[Standing, ...], bool]] = {}
        """The passes that were tried but not applied, with the results, and whether a target has a worse result."""
        self.applied: list[AppliedPass] = []
        self.now = start
        self.standing = self.standings_of(start.model)
        self._start = self.now, self.standing
        self._next: dict[str, tuple[Rewritten, tuple[Standing, ...]] | None] = {}
        """The result of applying each pass to the current model. None if the pass changes nothing."""
        self._last_chain: list[tuple[Pass, Rewritten, tuple[Standing, ...]]] = []
        """The passes of the last call of ``_chain`` on the current model, each with the result after the pass."""
        self._tried_together: tuple[Pass, ...] = ()
        """Passes that do not improve the current model, even if all these passes are applied."""
        for pass_, rewritten in applied:
            self._keep(pass_, rewritten, self.standings_of(rewritten.model))

    def run(self) -> None:
        """Apply passes until no pass improves the result.

        Less exact passes are tried only if no exact pass improves the result.
        """
        for level in Exactness:
            passes = [pass_ for pass_ in self._passes if pass_.exactness <= level]
            if not all(own.is_done for own in self.standing):
                while len(self.applied) < _ROUNDS and (self._keep_best(passes) or self._keep_together(passes)):
                    pass

    def leave_out(self) -> None:
        """Leave out each pass that the result does not need. Passes with the most bytes of new constants come first."""
        chosen = [item.pass_ for item in self.applied]
        if len(chosen) < 2:
            return
        end = self.now, self.standing, self.applied
        sizes = [_new_bytes(now.model) for now in (self._start[0], *[item.rewritten for item in self.applied])]
        growth = [after - before for before, after in itertools.pairwise(sizes)]
        left_out: set[int] = set()
        needed: list[tuple[Pass, Rewritten, tuple[Standing, ...]]] = []
        self.now, self.standing = self._start
        self._last_chain = []
        for place in self.effort.limit(sorted(range(len(chosen)), key=lambda place: (-growth[place], -place))):
            chain = self._chain([pass_ for other, pass_ in enumerate(chosen) if other not in {place, *left_out}])
            if chain and is_no_worse(chain[-1][2], end[1]):
                needed = chain
                left_out.add(place)
        if not needed:
            self.now, self.standing, self.applied = end
            return
        self.applied = []
        for pass_, rewritten, standings in needed:
            self._keep(pass_, rewritten, standings)

    def _afford(self, model: Model) -> bool:
        return self.effort.afford(len(self._targets) + 1, model)

    def standings_of(self, model: Model) -> tuple[Standing, ...]:
        """Return the result of a model on each target."""
        self.simulations += 1
        self.effort.spend(len(self._targets) + 1, model)  # rewriting the model takes as long as one simulation
        return tuple([standing(model, target, self.effort.cache) for target in self._targets])

    def _nodes_for(self, pass_: Pass, standings: Sequence[Standing]) -> frozenset[NodeKey] | None:
        """Return the nodes that a pass may rewrite, or None for all nodes."""
        if pass_.is_for_all:
            return None
        chosen = [own.to_cure if pass_.is_for_wrong else own.to_change for own in standings]
        return frozenset().union(*chosen)

    def _with_pass(self, pass_: Pass, now: Rewritten, standings: Sequence[Standing]) -> Rewritten | None:
        nodes = self._nodes_for(pass_, standings)
        if pass_.is_for_wrong and not nodes:
            return None
        self._attempts += 1
        if self._attempts % _ATTEMPTS_OF_A_SIMULATION == 0:
            self.effort.spend()
        try:
            return apply_pass(now, pass_, nodes, self.effort.cache)
        except MissingPackageError as error:
            self.missing = str(error)
            return None

    def with_pass(self, pass_: Pass, now: Rewritten) -> Rewritten | None:
        """Return a model after one more pass, or None if the pass changes nothing."""
        return self._with_pass(pass_, now, () if pass_.is_for_all else self.standings_of(now.model))

    def _try(self, pass_: Pass) -> tuple[Rewritten, tuple[Standing, ...]] | None:
        """Return the current model after one more pass, and its results. Return None if the pass changes nothing."""
        if pass_.name not in self._next:
            if self.effort.is_over:
                return None
            rewritten = self._with_pass(pass_, self.now, self.standing)
            self._next[pass_.name] = None
            if rewritten is not None and self._afford(rewritten.model):
                self._report(f"{pass_.name}, step {len(self.applied) + 1}")
                self._next[pass_.name] = rewritten, self.standings_of(rewritten.model)
        return self._next[pass_.name]

    def _keep_best(self, passes: Sequence[Pass]) -> bool:
        """Apply the pass with the largest gain. Return False if no pass brings a gain."""
        best: tuple[tuple[Any, ...], Rewritten, Pass, tuple[Standing, ...]] | None = None
        for pass_ in passes:
            tried = self._try(pass_)
            if tried is None:
                continue
            rewritten, standings = tried
            if is_better(standings, self.standing):
                key = (*[now.score for now in standings], pass_.exactness)
                if best is None or key < best[0]:
                    best = key, rewritten, pass_, standings
            else:
                is_worse = any(now.score > then.score for now, then in zip(standings, self.standing, strict=True))
                self.trials[pass_.name] = pass_, standings, is_worse
        if best is None:
            return False
        self._keep(best[2], best[1], best[3])
        return True

    def _keep(self, pass_: Pass, rewritten: Rewritten, standings: tuple[Standing, ...]) -> None:
        self.applied.append(AppliedPass(pass_, rewritten, changed_nodes(self.now, rewritten), standings, self.standing))
        self.now, self.standing = rewritten, standings
        self._next.clear()
        self._last_chain = []
        self._tried_together = ()

    def _keep_together(self, passes: Sequence[Pass]) -> bool:
        """Apply a group of passes that bring a gain only together. Return False if there is no such group.

        Passes that the gain does not need are left out.
        """
        # A cure of wrong numbers may change the model only after another pass.
        cures = [pass_ for pass_ in passes if pass_.is_for_wrong and self._nodes_for(pass_, self.standing)]
        now = tuple([pass_ for pass_ in passes if self._try(pass_) is not None or pass_ in cures])
        if not now or now == self._tried_together:
            return False
        chain = self._chain(passes)
        chosen = [step for step, _, _ in chain]
        if len(chosen) < 2 or not is_better(chain[-1][2], self.standing):
            self._tried_together = now
            return False
        for pass_ in reversed(chosen):
            fewer = [other for other in chosen if other is not pass_]
            without = self._chain(fewer) if fewer else []
            if without and is_no_worse(without[-1][2], chain[-1][2]):
                chosen, chain = fewer, without
        for pass_, rewritten, standings in chain:
            self._keep(pass_, rewritten, standings)
        return True

    def _chain(self, passes: Sequence[Pass]) -> list[tuple[Pass, Rewritten, tuple[Standing, ...]]]:
        """Apply passes in sequence. Return each pass that changed the model, with its result.

        Most passes rewrite only CPU nodes. A pass with ``is_for_all`` rewrites all nodes. If the sequence begins like the
        sequence of the last call, the results of the common passes are reused.
        """
        pairs = itertools.takewhile(lambda pair: pair[0] is pair[1][0], zip(passes, self._last_chain, strict=False))
        chain = [known for _, known in pairs]
        _, now, standings = chain[-1] if chain else (None, self.now, self.standing)
        for pass_ in self.effort.limit(passes[len(chain) :]):
            rewritten = self._with_pass(pass_, now, standings)
            if rewritten is not None and self._afford(rewritten.model):
                self._report(f"{pass_.name}, together with other passes")
                now, standings = rewritten, self.standings_of(rewritten.model)
                chain.append((pass_, now, standings))
        self._last_chain = chain
        return chain


def not_tried(descents: Sequence[Descent]) -> tuple[str, ...]:
    """Return texts about the passes that were not tried. Each text names the limit or the missing package."""
    reasons = [descent.effort.reason for descent in descents if descent.effort.is_over][:1]
    reasons += [descent.missing for descent in descents if descent.missing][:1]
    return tuple([f"further passes: {reason}" for reason in reasons])


def _new_bytes(model: Model) -> int:
    """Return the number of bytes of the constants that passes added."""
    return sum(
        [
            tensor.byte_size
            for graph in model.subgraphs
            for tensor in [
                graph.tensors[index] for index in {index for node in graph.nodes for index in node.inputs if index >= 0}
            ]
            if tensor.buffer < 0
        ]
    )


def changed_nodes(before: Rewritten, after: Rewritten) -> int:
    """Return the number of nodes that a pass changed, replaced or removed. A node may be one that an earlier pass added."""
    count = 0
    for old, new, old_origins, new_origins in zip(
        before.model.subgraphs, after.model.subgraphs, before.change.origins, after.change.origins, strict=True
    ):
        remaining = {_identity(origin, node): node for origin, node in zip(new_origins, new.nodes, strict=True)}
        for origin, node in zip(old_origins, old.nodes, strict=True):
            left = remaining.get(_identity(origin, node))
            count += left is None or left._replace(index=node.index) != node
    return count


def _identity(origin: int, node: Node) -> tuple[int, tuple[int, ...]]:
    """Return the node's index in the original model. For a node that a pass added, also return the tensors that it writes."""
    return origin, tuple(node.outputs) if origin < 0 else ()

"""Search for the passes that improve a model on its targets. Each pass is tried in the simulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..errors import FixError
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import Effort
from ..hypothetical.model_editing import Edited, NodeKey, unchanged
from ..model.model import Model
from ..runtime.model_loading import custom_operators
from ..runtime.target import Target
from .applying import Rewritten, apply_pass
from .flatbuffer.model_writing import check_writable
from .given_shapes import with_shapes
from .passes.base import Exactness, Pass
from .passes.catalogue import PASSES
from .score import Standing, is_better, standing
from .splitting import Split, first_model, trailing

_ROUNDS = 24
"""Largest number of search steps."""


@dataclass(frozen=True, slots=True)
class FixStep:
    """An applied pass, the number of nodes that it changed, and the result on each target."""

    name: str
    exactness: Exactness
    does: str
    nodes: int
    """Number of nodes that the pass changed, replaced or removed."""
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A pass that was tried but not applied, and the result that it would have on each target."""

    name: str
    exactness: Exactness
    standings: tuple[Standing, ...]
    is_worse: bool
    """True if the pass would make the result on any target worse."""


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
    """The changes that were not tried because of a limit. Each text also names the limit."""
    split: Split | None = None
    """The split of trailing nodes into a second model; if set, ``rewritten`` and ``after`` describe only the first model."""

    @property
    def is_changed(self) -> bool:
        """True if the plan changes the model."""
        return bool(self.steps or self.shapes or self.split)

    @property
    def whole(self) -> Rewritten:
        """The rewritten model before any split."""
        return self.rewritten if self.split is None else self.split.whole

    @property
    def exactness(self) -> Exactness:
        """The exactness of the least exact step."""
        return max([step.exactness for step in self.steps], default=Exactness.EXACT)


def search(
    model: Model,
    targets: Sequence[Target],
    allowed: Exactness = Exactness.ROUNDING,
    shapes: Mapping[int, tuple[int, ...]] = MappingProxyType({}),
    passes: Mapping[str, Pass] = PASSES,
    report: Callable[[str], None] = lambda _: None,
) -> FixPlan:
    """Find passes that together improve a model on at least one target, and make the result worse on no target.

    Exact passes come first; a less exact pass is applied only if it brings a further gain. Each step applies the pass with the
    largest gain. If no single pass brings a gain, all passes are applied together, and then the passes that contribute nothing
    are dropped. ``shapes`` fixes the shapes of inputs, by tensor index. ``report`` is called with a message for each try. Raise
    FixError if the model cannot be rewritten.
    """
    check_writable(model)
    return _Search(model, targets, allowed, shapes, passes, report).run()


def split_tail(plan: FixPlan) -> FixPlan:
    """Return a plan that moves the trailing CPU nodes to a second model. If there are none, return ``plan`` unchanged.

    Trailing nodes stay on the CPU on every target, and no other nodes depend on their results. They may be unregistered custom
    operators.
    """
    registered = [standing(plan.rewritten.model, replace(target, assume_ops_registered=True)) for target in plan.targets]
    if not any(result.measures.is_delegated for result in registered):
        return plan
    split = trailing(plan.rewritten, frozenset.intersection(*[result.on_cpu for result in registered]))
    if split is None:
        return plan
    first = first_model(split)
    after = tuple([standing(first.model, target) for target in plan.targets])
    return replace(plan, rewritten=first, after=after, split=split)


class _Search:
    def __init__(
        self,
        model: Model,
        targets: Sequence[Target],
        allowed: Exactness,
        shapes: Mapping[int, tuple[int, ...]],
        passes: Mapping[str, Pass],
        report: Callable[[str], None],
    ) -> None:
        self._model = model
        self._targets = tuple(targets)
        self._allowed = allowed
        self._shapes = shapes
        self._passes = passes
        self._report = report
        self._simulations = 0
        self._effort = Effort(model)
        self._steps: list[FixStep] = []
        self._trials: dict[str, Trial] = {}
        self._next: dict[str, tuple[Rewritten, tuple[Standing, ...]] | None] = {}
        """The result of applying each pass to the current model; None if the pass changes nothing."""
        self._last_chain: list[tuple[Pass, Rewritten, tuple[Standing, ...]]] = []
        """The passes that were last applied to the current model in sequence, with the result after each pass."""
        self._tried_together: tuple[Pass, ...] = ()
        """Passes that together bring no gain on the current model."""

    def run(self) -> FixPlan:
        """Run the search and return the plan."""
        change: Edited = (
            with_shapes(self._model, self._shapes, self._targets[0].release) if self._shapes else unchanged(self._model)
        )
        self._now = Rewritten(change, {})
        before = self._standings(self._model)
        self._standing = self._standings(change.model) if self._shapes else before
        if any(now.score.fails and not then.score.fails for now, then in zip(self._standing, before, strict=True)):
            raise FixError(self._why_not_prepared())
        for level in Exactness:
            if level <= self._allowed and not self._is_done():
                passes = [pass_ for pass_ in self._passes.values() if pass_.exactness <= level]
                while len(self._steps) < _ROUNDS and (self._keep_best(passes) or self._keep_together(passes)):
                    pass
        applied = {step.name for step in self._steps}
        return FixPlan(
            self._model,
            self._targets,
            self._allowed,
            self._shapes,
            before,
            self._standing,
            tuple(self._steps),
            tuple([trial for name, trial in self._trials.items() if name not in applied]),
            self._now,
            self._simulations,
            (f"further passes: {self._effort.reason}",) if self._effort.is_over else (),
        )

    def _is_done(self) -> bool:
        """Return whether every target already runs the whole model in one kernel."""
        return all(
            not standing.on_cpu and standing.measures.partitions == 1 and standing.measures.is_delegated
            for standing in self._standing
        )

    def _why_not_prepared(self) -> str:
        """Return the reason why the runtime does not prepare the model with the fixed shapes.

        Unregistered custom operators are also checked here, because the runtime may reach them only if shapes are fixed.
        """
        target = self._targets[0]
        missing = custom_operators(self._model, target).unregistered
        if missing:
            return f"the runtime does not run the original model on the CPU: nobody registers {', '.join(sorted(missing))}"
        return "with these shapes the runtime does not prepare the model"

    def _standings(self, model: Model) -> tuple[Standing, ...]:
        self._simulations += 1
        self._effort.spend(len(self._targets) + 1)  # rewriting the model takes as long as simulating it once
        cache = AnalysisCache()
        return tuple([standing(model, target, cache) for target in self._targets])

    def _on_cpu(self, standings: Sequence[Standing]) -> frozenset[NodeKey]:
        return frozenset().union(*[standing.on_cpu for standing in standings])

    def _with_pass(self, pass_: Pass, now: Rewritten, standings: Sequence[Standing]) -> Rewritten | None:
        return apply_pass(now, pass_, None if pass_.is_for_all else self._on_cpu(standings))

    def _try(self, pass_: Pass) -> tuple[Rewritten, tuple[Standing, ...]] | None:
        """Apply one more pass to the current model; return the rewritten model and its results, or None if nothing changes."""
        if pass_.name not in self._next:
            if self._effort.is_over:
                return None
            rewritten = self._with_pass(pass_, self._now, self._standing)
            self._next[pass_.name] = None
            if rewritten is not None:
                self._report(f"{pass_.name}, step {len(self._steps) + 1}")
                self._next[pass_.name] = rewritten, self._standings(rewritten.model)
        return self._next[pass_.name]

    def _keep_best(self, passes: Sequence[Pass]) -> bool:
        """Apply the pass with the largest gain, if any pass brings a gain; return whether one was applied."""
        best: tuple[tuple[Any, ...], Rewritten, Pass, tuple[Standing, ...]] | None = None
        for pass_ in passes:
            tried = self._try(pass_)
            if tried is None:
                continue
            rewritten, standings = tried
            if is_better(standings, self._standing):
                key = (*[now.score for now in standings], pass_.exactness)
                if best is None or key < best[0]:
                    best = key, rewritten, pass_, standings
            else:
                is_worse = any(now.score > then.score for now, then in zip(standings, self._standing, strict=True))
                self._trials[pass_.name] = Trial(pass_.name, pass_.exactness, standings, is_worse)
        if best is None:
            return False
        self._keep(best[2], best[1], best[3])
        return True

    def _keep(self, pass_: Pass, rewritten: Rewritten, standings: tuple[Standing, ...]) -> None:
        self._steps.append(FixStep(pass_.name, pass_.exactness, pass_.does, changed_nodes(self._now, rewritten), standings))
        self._now, self._standing = rewritten, standings
        self._next.clear()
        self._last_chain = []
        self._tried_together = ()

    def _keep_together(self, passes: Sequence[Pass]) -> bool:
        """If passes bring a gain only in combination, apply as few of them as possible; return whether any were applied."""
        now = tuple([pass_ for pass_ in passes if self._try(pass_) is not None])
        if not now or now == self._tried_together:
            return False
        chain = self._chain(passes)
        chosen = [step for step, _, _ in chain]
        if len(chosen) < 2 or not is_better(chain[-1][2], self._standing):
            self._tried_together = now
            return False
        for pass_ in reversed(chosen):
            fewer = [other for other in chosen if other is not pass_]
            without = self._chain(fewer) if fewer else []
            if without and all(one.score <= other.score for one, other in zip(without[-1][2], chain[-1][2], strict=True)):
                chosen, chain = fewer, without
        for pass_, rewritten, standings in chain:
            self._keep(pass_, rewritten, standings)
        return True

    def _chain(self, passes: Sequence[Pass]) -> list[tuple[Pass, Rewritten, tuple[Standing, ...]]]:
        """Apply passes in sequence, and return each pass that changed the model with its result.

        A pass rewrites only nodes that are still on the CPU after the previous pass, unless the pass is for all nodes. If the
        first passes are the same as in the last call, their results are reused.
        """
        pairs = itertools.takewhile(lambda pair: pair[0] is pair[1][0], zip(passes, self._last_chain, strict=False))
        chain = [known for _, known in pairs]
        _, now, standings = chain[-1] if chain else (None, self._now, self._standing)
        for pass_ in self._effort.limit(passes[len(chain) :]):
            rewritten = self._with_pass(pass_, now, standings)
            if rewritten is not None:
                self._report(f"{pass_.name}, together with others")
                now, standings = rewritten, self._standings(rewritten.model)
                chain.append((pass_, now, standings))
        self._last_chain = chain
        return chain


def changed_nodes(before: Rewritten, after: Rewritten) -> int:
    """Return the number of nodes that a pass replaced, changed or removed."""
    count = 0
    for old, new, old_origins, new_origins in zip(
        before.model.subgraphs, after.model.subgraphs, before.change.origins, after.change.origins, strict=True
    ):
        remaining = {origin: node for origin, node in zip(new_origins, new.nodes, strict=True) if origin >= 0}
        for origin, node in zip(old_origins, old.nodes, strict=True):
            if origin >= 0 and (origin not in remaining or remaining[origin]._replace(index=node.index) != node):
                count += 1
    return count

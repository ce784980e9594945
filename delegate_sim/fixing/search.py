"""Search for the passes that improve a model on its targets, trying each against the simulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..errors import FixError
from ..graph.analysis_cache import AnalysisCache
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
"""Steps of the search at most."""


@dataclass(frozen=True, slots=True)
class FixStep:
    """A pass that was kept, the nodes of the model that it was applied to, and what the model then was on each target."""

    name: str
    exactness: Exactness
    does: str
    nodes: int
    """Number of nodes it changed or replaced."""
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A pass that was tried and not kept: what it would have come to on each target."""

    name: str
    exactness: Exactness
    standings: tuple[Standing, ...]
    is_worse: bool
    """True if any target would be worse off."""


@dataclass(frozen=True, slots=True)
class FixPlan:
    """What a search found."""

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
    split: Split | None = None
    """How trailing nodes become a model of their own; ``rewritten`` and ``after`` are then those of the first model."""

    @property
    def is_changed(self) -> bool:
        """True if there is anything to write."""
        return bool(self.steps or self.shapes or self.split)

    @property
    def whole(self) -> Rewritten:
        """The rewritten model before it is split."""
        return self.rewritten if self.split is None else self.split.whole

    @property
    def exactness(self) -> Exactness:
        """That of the least exact step."""
        return max([step.exactness for step in self.steps], default=Exactness.EXACT)


def search(
    model: Model,
    targets: Sequence[Target],
    allowed: Exactness = Exactness.ROUNDING,
    shapes: Mapping[int, tuple[int, ...]] = MappingProxyType({}),
    passes: Mapping[str, Pass] = PASSES,
    report: Callable[[str], None] = lambda _: None,
) -> FixPlan:
    """Find passes that together make a model better on a target, and on none worse.

    Exact ones come first; those of the next kind follow only where they add to that. At each step the pass that gains most is
    kept. Where no single one gains, all together are tried, and those left out again without which it is as good. ``shapes`` are
    those that inputs are to have; ``report`` is told of each pass that is tried. Raises FixError for a model that cannot be
    rewritten.
    """
    check_writable(model)
    return _Search(model, targets, allowed, shapes, passes, report).run()


def split_tail(plan: FixPlan) -> FixPlan:
    """Return a plan that writes nodes behind those of delegates as a model of their own; the same plan where there are none.

    These are trailing nodes that stay on the CPU on every target, custom operators among them that nobody registers.
    """
    registered = [standing(plan.rewritten.model, replace(target, assume_ops_registered=True)) for target in plan.targets]
    if not any(each.measures.is_delegated for each in registered):
        return plan
    split = trailing(plan.rewritten, frozenset.intersection(*[each.on_cpu for each in registered]))
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
        self._steps: list[FixStep] = []
        self._trials: dict[str, Trial] = {}
        self._next: dict[str, tuple[Rewritten, tuple[Standing, ...]] | None] = {}
        """What each pass makes of the model as it is now."""
        self._last_chain: list[tuple[Pass, Rewritten, tuple[Standing, ...]]] = []
        """What passes last made one after another of the model as it is now."""
        self._tried_together: tuple[Pass, ...] = ()
        """The passes that gain nothing together in the model as it is now."""

    def run(self) -> FixPlan:
        """Search, and return what was found."""
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
                passes = [each for each in self._passes.values() if each.exactness <= level]
                while len(self._steps) < _ROUNDS and (self._keep_best(passes) or self._keep_together(passes)):
                    pass
        kept = {step.name for step in self._steps}
        return FixPlan(
            self._model,
            self._targets,
            self._allowed,
            self._shapes,
            before,
            self._standing,
            tuple(self._steps),
            tuple([trial for name, trial in self._trials.items() if name not in kept]),
            self._now,
            self._simulations,
        )

    def _is_done(self) -> bool:
        """Return whether every target has the whole model in one piece already, so that nothing is left to gain."""
        return all(not each.on_cpu and each.measures.partitions == 1 and each.measures.is_delegated for each in self._standing)

    def _why_not_prepared(self) -> str:
        """A custom operator that nobody registers is only found out behind the shapes that were open."""
        target = self._targets[0]
        missing = custom_operators(self._model, target).unregistered
        if missing:
            return f"the runtime does not run the original model on the CPU: nobody registers {', '.join(sorted(missing))}"
        return "with these shapes the runtime does not prepare the model"

    def _standings(self, model: Model) -> tuple[Standing, ...]:
        self._simulations += 1
        cache = AnalysisCache()
        return tuple([standing(model, target, cache) for target in self._targets])

    def _on_cpu(self, standings: Sequence[Standing]) -> frozenset[NodeKey]:
        return frozenset().union(*[each.on_cpu for each in standings])

    def _made(self, each: Pass, now: Rewritten, standings: Sequence[Standing]) -> Rewritten | None:
        return apply_pass(now, each, None if each.is_for_all else self._on_cpu(standings))

    def _tried(self, each: Pass) -> tuple[Rewritten, tuple[Standing, ...]] | None:
        """Return the model as it is with one more pass, and what it then comes to; None if the pass changes nothing."""
        if each.name not in self._next:
            made = self._made(each, self._now, self._standing)
            self._next[each.name] = None
            if made is not None:
                self._report(f"{each.name}, step {len(self._steps) + 1}")
                self._next[each.name] = made, self._standings(made.model)
        return self._next[each.name]

    def _keep_best(self, passes: Sequence[Pass]) -> bool:
        """Keep the pass that gains most, if any gains."""
        best: tuple[tuple[Any, ...], Rewritten, Pass, tuple[Standing, ...]] | None = None
        for each in passes:
            tried = self._tried(each)
            if tried is None:
                continue
            made, standings = tried
            if is_better(standings, self._standing):
                key = (*[now.score for now in standings], each.exactness)
                if best is None or key < best[0]:
                    best = key, made, each, standings
            else:
                is_worse = any(now.score > then.score for now, then in zip(standings, self._standing, strict=True))
                self._trials[each.name] = Trial(each.name, each.exactness, standings, is_worse)
        if best is None:
            return False
        self._keep(best[2], best[1], best[3])
        return True

    def _keep(self, each: Pass, made: Rewritten, standings: tuple[Standing, ...]) -> None:
        self._steps.append(FixStep(each.name, each.exactness, each.does, _changed(self._now, made), standings))
        self._now, self._standing = made, standings
        self._next.clear()
        self._last_chain = []
        self._tried_together = ()

    def _keep_together(self, passes: Sequence[Pass]) -> bool:
        """Keep passes that gain only together, as few of them as will do. Some have work only behind others."""
        now = tuple([each for each in passes if self._tried(each) is not None])
        if not now or now == self._tried_together:
            return False
        found = self._chain(passes)
        chosen = [each for each, _, _ in found]
        if len(chosen) < 2 or not is_better(found[-1][2], self._standing):
            self._tried_together = now
            return False
        for each in reversed(chosen):
            fewer = [other for other in chosen if other is not each]
            without = self._chain(fewer) if fewer else []
            if without and all(one.score <= other.score for one, other in zip(without[-1][2], found[-1][2], strict=True)):
                chosen, found = fewer, without
        for each, made, standings in found:
            self._keep(each, made, standings)
        return True

    def _chain(self, passes: Sequence[Pass]) -> list[tuple[Pass, Rewritten, tuple[Standing, ...]]]:
        """Apply passes one after another; each sees what stays on the CPU behind the one before."""
        pairs = itertools.takewhile(lambda pair: pair[0] is pair[1][0], zip(passes, self._last_chain, strict=False))
        found = [known for _, known in pairs]
        _, now, standings = found[-1] if found else (None, self._now, self._standing)
        for each in passes[len(found) :]:
            made = self._made(each, now, standings)
            if made is not None:
                self._report(f"{each.name}, together with others")
                now, standings = made, self._standings(made.model)
                found.append((each, now, standings))
        self._last_chain = found
        return found


def _changed(before: Rewritten, after: Rewritten) -> int:
    """Return how many nodes a pass replaced, changed or left out."""
    count = 0
    for old, new, old_origins, new_origins in zip(
        before.model.subgraphs, after.model.subgraphs, before.change.origins, after.change.origins, strict=True
    ):
        kept = {origin: node for origin, node in zip(new_origins, new.nodes, strict=True) if origin >= 0}
        for origin, node in zip(old_origins, old.nodes, strict=True):
            if origin >= 0 and (origin not in kept or kept[origin]._replace(index=node.index) != node):
                count += 1
    return count

"""Rank causes by the gain of a fix. Some causes must be fixed together with other causes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from ..graph.effort import Effort, Tries
from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.measures import FAILS_LATER, NONE_FAILS, NOT_LOADED, NOT_PREPARED, TAKEN
from ..results.report.outcome_words import words_of
from ..rules.kinds import Problem
from .causes.cause import LISTS, Cause, Identity
from .examiner import Cost

_SIMULATED = 12
"""Number of causes that are simulated one by one. The causes with the most multiply-adds are simulated."""
_NEEDS_SOUGHT = 6
_TOGETHER = 8
_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 60
"""Smallest and largest number of sets to try in a search for causes that must be fixed together."""

CostWithout = Callable[[Iterable[Cause]], Cost]
"""A function that returns the result of fixing some causes."""

Gain = tuple[float, float, float, float, float, float]
"""The gain of a fix: percent of multiply-adds, change of delegation (-1, 0 or 1), kernels, partitions, nodes, and boundary bytes.

Nodes are at most 0: more nodes on the CPU are a loss, whatever the bytes.
"""

NO_GAIN: Gain = (0, 0, 0, 0, 0, 0)

_Item = TypeVar("_Item")


class RankedCause(NamedTuple):
    """One cause with its cost.

    ``multiply_adds`` counts the multiply-adds of the cause's nodes. ``alone`` is the result of fixing only this cause.
    ``together`` is the result of fixing this cause and all causes with a higher rank. A cause of low rank is not simulated, so
    ``alone`` and ``together`` may be None. If fixing only this cause does not help, ``needs`` lists the other causes to fix.
    ``needs`` is None if fixing this cause never helps. Each cause in ``needs_instead`` can replace the causes in ``needs``.
    ``followers`` lists CPU nodes without a refusal that are delegated if this cause is fixed. ``appears_later`` is true if the
    cause keeps no node on the CPU before another cause is fixed.
    """

    cause: Cause
    multiply_adds: int
    alone: Cost | None = None
    together: Cost | None = None
    needs: tuple[Identity, ...] | None = ()
    followers: tuple[NodeKey, ...] = ()
    needs_instead: tuple[Identity, ...] = ()
    appears_later: bool = False


class Fix(NamedTuple):
    """The simulated result of fixing a cause. ``alone`` is None if the fix is not simulated."""

    alone: Cost | None
    gain: Gain
    """The gain of fixing the cause together with the causes that it needs."""
    needs: tuple[Identity, ...] | None = ()
    enough: tuple[Identity, ...] = ()
    """The causes that are each enough in place of all causes in ``needs``."""
    adds_nodes: bool = False
    """Whether fixing only this cause delegates more nodes, in as many kernels and partitions."""


def rank_causes(
    causes: Sequence[Cause],
    weights: Mapping[Identity, int],
    now: Cost,
    cost_without: CostWithout,
    effort: Effort,
    measured: Mapping[Identity, float] = MappingProxyType({}),
    later: Collection[Identity] = (),
    loops: Mapping[Identity, Identity] = MappingProxyType({}),
) -> tuple[RankedCause, ...]:
    """Simulate the fixes of causes, and order the causes by gain. The causes in ``later`` come last, after causes that need one.

    ``loops`` has the cause of the loop around the nodes of a cause. Such a cause comes after the cause of the loop.

    ``weights`` are the multiply-adds of each cause's nodes. ``measured`` is the CPU time of each cause's nodes, if the time is
    known. Large models get fewer simulations than small models.
    """
    most = effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST)
    by_weight = sorted(causes, key=lambda cause: (-weights[cause.identity], -len(cause.nodes), cause.name))
    by_weight.sort(key=lambda cause: _first(cause, measured))
    order = rank(by_weight, weights, simulate_fixes(by_weight, now, cost_without, most, effort), measured)
    order = [ranked._replace(appears_later=ranked.cause.identity in later) for ranked in order]
    last = set(later)
    for ranked in order:
        if not last.isdisjoint(ranked.needs or ()):
            last.add(ranked.cause.identity)
    order.sort(key=lambda ranked: (ranked.appears_later, ranked.cause.identity in last))
    order = _behind_loops(order, loops)
    costs = [
        cost_without([ranked.cause for ranked in order[: number + 1]])
        for number in effort.limit(range(min(_TOGETHER, most, len(order))))
    ]
    return (*[ranked._replace(together=cost) for ranked, cost in zip(order, costs, strict=False)], *order[len(costs) :])


def rank(
    causes: Sequence[Cause], weights: Mapping[Identity, int], fixes: Mapping[Identity, Fix], measured: Mapping[Identity, float]
) -> Sequence[RankedCause]:
    """Order causes by the simulated results of their fixes. Causes with equal results keep their order.

    The gain is divided by the number of causes that must be fixed together. Causes without a simulated fix come last.
    """

    def fix_of(cause: Cause) -> Fix:
        return fixes.get(cause.identity, Fix(None, NO_GAIN))

    def score(cause: Cause) -> tuple[float, ...]:
        fix = fix_of(cause)
        size = 1 + len(fix.needs or ())
        gains = [-part / size for part in fix.gain]
        return *_first(cause, measured), cause.has_no_known_change, fix.alone is None, *gains, size, not fix.adds_nodes

    by_gain = sorted(causes, key=score)
    ranked = {}
    for cause in by_gain:
        fix = fix_of(cause)
        enough = tuple([other.identity for other in by_gain if other.identity in fix.enough])
        needs = enough[:1] or fix.needs
        ranked[cause.identity] = RankedCause(cause, weights[cause.identity], fix.alone, None, needs, (), enough[1:])
    return _after_what_they_need(ranked)


def _first(cause: Cause, measured: Mapping[Identity, float]) -> tuple[float, float]:
    """Return the first parts of each sort key.

    A cause that prevents loading comes first, because a device shows other causes only after the model loads. A known CPU time
    takes precedence over the gain.
    """
    return cause.identity.problem is not Problem.RELEASE, -measured.get(cause.identity, 0.0)


def simulate_fixes(
    causes: Sequence[Cause], now: Cost, cost_without: CostWithout, most: int, effort: Effort
) -> dict[Identity, Fix]:
    """Simulate the fixes of the first causes: alone, and with the other causes that must be fixed too."""
    tries = Tries(most, effort)
    first = causes[: min(_SIMULATED, most)]
    costs = {cause.identity: cost_without([cause]) for cause in effort.limit(first)}
    fixes = {identity: Fix(cost, gain(now, cost), adds_nodes=adds_nodes(now, cost)) for identity, cost in costs.items()}
    first = first[: len(fixes)]
    useless = [cause for cause in first if fixes[cause.identity].gain <= NO_GAIN][:_NEEDS_SOUGHT]
    helping = [cause for cause in first if fixes[cause.identity].gain > NO_GAIN]
    never_needed = _never_needed(useless, causes, cost_without, effort)
    for cause in never_needed:
        fixes[cause.identity] = fixes[cause.identity]._replace(needs=_needed_loop(cause, causes))
    candidates = [cause for cause in causes if cause not in never_needed]
    for cause in effort.limit([cause for cause in useless if cause not in never_needed]):
        needed, gained = _needed(cause, candidates, now, cost_without, tries)
        if not needed:
            continue
        singles = _each_enough(cause, needed, helping, cost_without, tries)
        needs = tuple([other.identity for other in needed])
        if len(needs) > 1 and singles:
            gained = max(singles.values())
        enough = (*needs, *singles) if len(needs) == 1 else tuple(singles)
        fixes[cause.identity] = fixes[cause.identity]._replace(gain=gained, needs=needs, enough=enough)
    return fixes


def _needed_loop(cause: Cause, causes: Sequence[Cause]) -> tuple[Identity, ...] | None:
    """Return the cause of a loop that stores its results in lists, for a cause of unknown sizes. Otherwise, return None.

    The simulation of the loop's fix assumes known sizes. But the converter can unroll the loop only if the sizes are known, so
    known sizes are useful, and both causes must be fixed.
    """
    has_loop = any(other.identity == LISTS for other in causes)
    return (LISTS,) if has_loop and cause.identity.problem is Problem.DYNAMIC_SHAPE else None


def _never_needed(
    useless: Sequence[Cause], causes: Sequence[Cause], cost_without: CostWithout, effort: Effort
) -> tuple[Cause, ...]:
    """Return the causes whose fix brings nothing even if all other causes are fixed.

    A conversion that fixes another cause may fix them too. If several causes are fixed by each other's fixes, the cause with
    the most multiply-adds is not returned. ``useless`` has the causes in this order.
    """
    left = list(causes)
    unneeded = []
    for cause in effort.limit(reversed(useless)):
        others = [other for other in left if other is not cause]
        if not others or gain(cost_without(others), cost_without(left)) <= NO_GAIN:
            left = others
            unneeded.append(cause)
    return tuple(unneeded)


def _each_enough(
    cause: Cause, others: Sequence[Cause], helping: Sequence[Cause], cost_without: CostWithout, tries: Tries
) -> dict[Identity, Gain]:
    tried = (other for other in helping if other not in others and tries.take())
    gains = {other.identity: gain(cost_without([other]), cost_without([other, cause])) for other in tried}
    return {identity: gained for identity, gained in gains.items() if gained > NO_GAIN}


def _behind_loops(order: Sequence[RankedCause], loops: Mapping[Identity, Identity]) -> list[RankedCause]:
    by_identity = {ranked.cause.identity: ranked for ranked in order}
    result: dict[Identity, RankedCause] = {}
    for ranked in order:
        loop = loops.get(ranked.cause.identity)
        if loop is not None:
            result.setdefault(loop, by_identity[loop])
        result.setdefault(ranked.cause.identity, ranked)
    return list(result.values())


def _after_what_they_need(ranked: Mapping[Identity, RankedCause]) -> Sequence[RankedCause]:
    """Move each cause behind the causes that must be fixed with it. Two causes that need each other keep their order."""
    order: dict[Identity, RankedCause] = {}
    waiting: set[Identity] = set()

    def add(own: RankedCause) -> None:
        identity = own.cause.identity
        waiting.add(identity)
        for other in [ranked[needed] for needed in own.needs or ()]:
            if other.cause.identity not in waiting and identity not in (other.needs or ()):
                add(other)
        order.setdefault(identity, own)

    for own in ranked.values():
        add(own)
    return tuple(order.values())


_FAILING = frozenset({FAILS_LATER, NONE_FAILS, NOT_PREPARED, NOT_LOADED})
"""The outcomes with which the model does not run."""


def gain(now: Cost, then: Cost) -> Gain:
    """Return the gain from the result ``now`` to the result ``then``. A loss is negative.

    If the model has no multiply-adds, shares of nodes are compared.
    """
    old, new = now.measures, then.measures
    share = round(100 * (_share(then) - _share(now)))
    starts = int(_is_delegated(then)) - int(_is_delegated(now)) + int(old.outcome in _FAILING) - int(new.outcome in _FAILING)
    if not (_is_delegated(then) and _is_delegated(now)):
        return share, starts, 0, 0, 0, 0
    kernels, partitions = old.delegate_kernels - new.delegate_kernels, old.partitions - new.partitions
    fewer = (old.nodes - old.delegated_nodes) - (new.nodes - new.delegated_nodes)
    return share, starts, kernels, partitions, min(0, fewer), old.border_bytes - new.border_bytes


def adds_nodes(now: Cost, then: Cost) -> bool:
    """Return whether more nodes are delegated, with no smaller share of multiply-adds and no more kernels and partitions.

    On a target without a CPU for the other nodes, more nodes are of no use before the target takes all.
    """
    if not words_of(now.delegate).has_parts:
        return False
    return then.measures.delegated_nodes > now.measures.delegated_nodes and min(gain(now, then)[:4]) >= 0


def _is_delegated(cost: Cost) -> bool:
    return cost.measures.outcome == TAKEN


def _share(cost: Cost) -> float:
    return cost.multiply_add_share if _is_delegated(cost) else 0.0


def _needed(
    cause: Cause, causes: Sequence[Cause], now: Cost, cost_without: CostWithout, tries: Tries
) -> tuple[Sequence[Cause], Gain]:
    """Return the other causes that must be fixed before a fix of this cause helps, and the gain of all these fixes.

    Return no causes if fixing this cause does not help although all other ``causes`` are fixed. If the tries run out, the set
    may be larger than necessary.
    """

    def difference(others: Sequence[Cause]) -> Gain:
        return gain(cost_without(others), cost_without([*others, cause]))

    others = [other for other in causes if other is not cause]
    if not others or difference(others) <= NO_GAIN:
        return (), NO_GAIN
    others = fewest(others, lambda fewer: bool(fewer) and tries.take() and difference(fewer) > NO_GAIN, lambda: tries.are_over)
    is_won_without = gain(now, cost_without(others)) > NO_GAIN
    return others, difference(others) if is_won_without else gain(now, cost_without([*others, cause]))


def fewest(items: list[_Item], are_enough: Callable[[list[_Item]], bool], is_over: Callable[[], bool]) -> list[_Item]:
    """Return a small part of ``items`` that is still enough. If the search ends early, the part may be larger than necessary.

    Items are left out in groups: first large groups, then small groups. The last items are left out first.
    """
    number = (len(items) + 1) // 2
    while number:
        for end in range(len(items), 0, -number):
            if is_over():
                return items
            fewer = items[: max(end - number, 0)] + items[end:]
            if are_enough(fewer):
                items = fewer
        number //= 2
    return items

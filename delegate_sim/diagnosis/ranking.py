"""Rank causes by the gain of a fix. Some causes must be fixed together with other causes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..graph.effort import Effort, Tries
from ..results.report.measures import TAKEN
from ..rules.kinds import Problem
from .causes.cause import LISTS, Cause, Identity
from .examiner import Cost

_SIMULATED = 12
"""Number of causes that are simulated one by one. The causes with the most multiply-adds are simulated."""
_NEEDS_SOUGHT = 6
_TOGETHER = 8
_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 60
"""Smallest and largest number of sets to try in a search for causes that must be fixed together."""

_WITHOUT_GAIN = (0, 0, 0, 0, 0)

CostWithout = Callable[[Iterable[Cause]], Cost]
"""A function that returns the result of fixing some causes."""

Gain = tuple[float, float, float, float, float]
"""The gain of a fix: percent of multiply-adds, change of delegation (-1, 0 or 1), kernels, partitions, and boundary bytes."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The causes in order, with the results of the simulated causes.

    If fixing only one cause does not improve the result, ``needs`` has an entry for the cause. The entry lists the other causes
    that must also be fixed. The entry is None if even fixing all other causes is not enough. If one of several other causes is
    enough, the entry has the cause with the highest rank. ``needs_instead`` has all other causes that are enough.
    """

    order: tuple[Cause, ...]
    alone: Mapping[Identity, Cost]
    together: Mapping[Identity, Cost]
    needs: Mapping[Identity, tuple[Identity, ...] | None]
    needs_instead: Mapping[Identity, tuple[Identity, ...]]


def rank(
    causes: Sequence[Cause],
    weights: Mapping[Identity, int],
    now: Cost,
    cost_without: CostWithout,
    effort: Effort,
    measured: Mapping[Identity, float] = MappingProxyType({}),
) -> Ranking:
    """Order causes by gain. The gain is divided by the number of causes that must be fixed together.

    ``weights`` are the multiply-adds of each cause's nodes. ``measured`` is the CPU time of each cause's nodes, if the time is
    known. A known time takes precedence over the gain. Large models get fewer simulations than small models. A cause that
    prevents loading comes first, because a device shows other causes only after the model loads.
    """
    by_weight = sorted(
        causes,
        key=lambda cause: (
            not _is_release(cause),
            -measured.get(cause.identity, 0.0),
            -weights[cause.identity],
            -len(cause.nodes),
            cause.name,
        ),
    )
    tried = effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST)
    first = by_weight[: min(_SIMULATED, tried)]
    alone = {cause.identity: cost_without([cause]) for cause in effort.limit(first)}
    tries = Tries(tried, effort)
    gains = {identity: gain(now, cost) for identity, cost in alone.items()}
    needs: dict[Identity, tuple[Identity, ...] | None] = {}
    enough: dict[Identity, list[Identity]] = {}
    bundle = {identity: own for identity, own in gains.items() if own > _WITHOUT_GAIN}
    useless = [cause for cause in first if cause.identity in gains and gains[cause.identity] <= _WITHOUT_GAIN][:_NEEDS_SOUGHT]
    never_needed = _never_needed(useless, by_weight, cost_without, effort)
    needs |= {cause.identity: _needed_loop(cause, causes) for cause in never_needed}
    candidates = [cause for cause in by_weight if cause not in never_needed]
    for cause in effort.limit([cause for cause in useless if cause not in never_needed]):
        needed = _needed(cause, candidates, now, cost_without, tries)
        if needed is not None:
            needs[cause.identity] = tuple([other.identity for other in needed[0]])
            bundle[cause.identity] = needed[1]
            helping = [other for other in first if gains.get(other.identity, _WITHOUT_GAIN) > _WITHOUT_GAIN]
            singles = _each_enough(cause, needed[0], helping, cost_without, tries)
            if len(needed[0]) == 1:
                enough[cause.identity] = [needed[0][0].identity, *singles]
            elif singles:
                enough[cause.identity] = list(singles)
                bundle[cause.identity] = max(singles.values())

    def key(cause: Cause) -> tuple[float, ...]:
        own = bundle.get(cause.identity, gains.get(cause.identity, _WITHOUT_GAIN))
        size = 1 + len(needs.get(cause.identity) or ())
        return *[-part / size for part in own], size

    by_gain = sorted(
        by_weight,
        key=lambda cause: (
            not _is_release(cause),
            -measured.get(cause.identity, 0.0),
            cause.has_no_known_change,
            cause.identity not in alone,
            key(cause),
        ),
    )
    instead: dict[Identity, tuple[Identity, ...]] = {}
    for identity, others in enough.items():
        first_enough, *other_enough = [cause.identity for cause in by_gain if cause.identity in others]
        needs[identity], instead[identity] = (first_enough,), tuple(other_enough)
    order = _after_what_they_need(by_gain, needs)
    together = {
        cause.identity: cost_without(order[: number + 1])
        for number, cause in effort.limit(enumerate(order[: min(_TOGETHER, tried)]))
    }
    return Ranking(order, alone, together, needs, instead)


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
        if not others or gain(cost_without(others), cost_without(left)) <= _WITHOUT_GAIN:
            left = others
            unneeded.append(cause)
    return tuple(unneeded)


def _each_enough(
    cause: Cause, needed: Sequence[Cause], helping: Sequence[Cause], cost_without: CostWithout, tries: Tries
) -> dict[Identity, Gain]:
    """Find the causes that each make a fix of ``cause`` help. Return these causes, with the gain.

    Causes in ``needed`` are left out. Only causes in ``helping`` are tried.
    """
    enough: dict[Identity, Gain] = {}
    for other in helping:
        if other in needed or not tries.take():
            continue
        own = gain(cost_without([other]), cost_without([other, cause]))
        if own > _WITHOUT_GAIN:
            enough[other.identity] = own
    return enough


def _after_what_they_need(causes: Sequence[Cause], needs: Mapping[Identity, tuple[Identity, ...] | None]) -> tuple[Cause, ...]:
    """Move each cause behind the causes that must be fixed with it. Two causes that need each other keep their order."""
    by_identity = {cause.identity: cause for cause in causes}
    order: dict[Identity, Cause] = {}
    waiting: set[Identity] = set()

    def add(identity: Identity) -> None:
        waiting.add(identity)
        for other in needs.get(identity) or ():
            if other not in waiting and identity not in (needs.get(other) or ()):
                add(other)
        order.setdefault(identity, by_identity[identity])

    for cause in causes:
        add(cause.identity)
    return tuple(order.values())


def gain(now: Cost, then: Cost) -> Gain:
    """Return the gain from the result ``now`` to the result ``then``. A loss is negative.

    If the model has no multiply-adds, shares of nodes are compared.
    """
    old, new = now.measures, then.measures
    share = round(100 * (_share(then) - _share(now)))
    starts = int(_is_delegated(then)) - int(_is_delegated(now))
    if not (_is_delegated(then) and _is_delegated(now)):
        return share, starts, 0, 0, 0
    kernels, partitions = old.delegate_kernels - new.delegate_kernels, old.partitions - new.partitions
    return share, starts, kernels, partitions, old.border_bytes - new.border_bytes


def _is_delegated(cost: Cost) -> bool:
    return cost.measures.outcome == TAKEN


def _share(cost: Cost) -> float:
    return cost.multiply_add_share if _is_delegated(cost) else 0.0


def _is_release(cause: Cause) -> bool:
    return cause.identity.problem is Problem.RELEASE


def _needed(
    cause: Cause, causes: Sequence[Cause], now: Cost, cost_without: CostWithout, tries: Tries
) -> tuple[tuple[Cause, ...], Gain] | None:
    """Return the other causes that must be fixed before a fix of this cause helps, and the gain of all these fixes.

    Return None if fixing this cause does not help although all other ``causes`` are fixed. The search starts with all other
    causes fixed. It undoes fixes in groups: first large groups, then small groups. It keeps the fixes that this cause needs. If
    the tries run out, the set may be larger than necessary.
    """

    def difference(others: Sequence[Cause]) -> Gain:
        return gain(cost_without(others), cost_without([*others, cause]))

    others = [other for other in causes if other is not cause]
    if not others or difference(others) <= _WITHOUT_GAIN:
        return None
    number = (len(others) + 1) // 2
    while number and not tries.are_over:
        # Fixes of causes with the fewest multiply-adds are undone first.
        for end in range(len(others), 0, -number):
            if tries.are_over:
                break
            fewer = others[: max(end - number, 0)] + others[end:]
            if fewer and tries.take() and difference(fewer) > _WITHOUT_GAIN:
                others = fewer
        number //= 2
    is_won_without = gain(now, cost_without(others)) > _WITHOUT_GAIN
    return tuple(others), difference(others) if is_won_without else gain(now, cost_without([*others, cause]))

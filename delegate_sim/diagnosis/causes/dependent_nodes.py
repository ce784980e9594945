"""Find CPU nodes that are not refused themselves, and the causes whose fixes would delegate these nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import NodeKey
from ..examiner import Examined
from .cause import Blockers, Cause, Identity
from .conversion_causes import Simulate

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 8


def followers_of(
    first: Examined, order: Sequence[Cause], blockers: Blockers, simulate: Simulate, effort: Effort
) -> Mapping[Identity, tuple[NodeKey, ...]]:
    """Find the CPU nodes that have no cause of their own, but would be delegated if a cause of other nodes were fixed.

    Return these nodes, keyed by the cause. Such nodes widen float16 weights, lie in partitions that a limit drops, or depend on
    nodes around them. Each node is assigned to the first cause whose fix alone frees the node. If no single fix is enough, causes
    are fixed in order, and the node is assigned to the cause whose fix finally frees it. Only the first causes are tried one by
    one.
    """
    rest = {refused.key for refused in first.on_cpu()}.difference(*[cause.nodes for cause in order])
    followers: dict[Identity, list[NodeKey]] = {}

    def take(cause: Cause, removed: Iterable[Cause]) -> None:
        left = {refused.key for refused in simulate(*blockers.without(removed)).on_cpu()}
        freed = rest - left
        rest.difference_update(freed)
        followers.setdefault(cause.identity, []).extend(freed)

    some = order[: effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST)]
    steps: list[tuple[Cause, tuple[Cause, ...]]] = [(cause, (cause,)) for cause in some]
    steps += [(cause, tuple(order[: number + 1])) for number, cause in enumerate(some)]
    steps += [(cause, tuple(order)) for cause in order[-1:]]
    for cause, removed in effort.limit(steps):
        if rest:
            take(cause, removed)
    return {identity: tuple(sorted(keys)) for identity, keys in followers.items() if keys}

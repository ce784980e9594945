"""Find CPU nodes that are not refused, but that depend on the causes of other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import NodeKey
from ..examiner import Examined
from .cause import Blockers, Cause, Identity
from .evidence import Simulate

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 8


def followers_of(
    first: Examined, order: Sequence[Cause], blockers: Blockers, simulate: Simulate, effort: Effort
) -> Mapping[Identity, tuple[NodeKey, ...]]:
    """Return the CPU nodes that depend on a cause of other nodes, keyed by this cause. The nodes have no cause of their own.

    Such nodes convert float16 weights to float32, are in partitions that a limit drops, or depend on neighboring nodes. First,
    each of the first causes is fixed alone. Then, the first two causes are fixed together, then the first three, and so on.
    Finally, all causes are fixed together. The first fix that frees a node determines the node's cause: the last cause in this
    fix.
    """
    rest = {refused.key for refused in first.on_cpu()}.difference(*[cause.nodes for cause in order])
    followers: dict[Identity, list[NodeKey]] = {}

    def take(cause: Cause, removed: Iterable[Cause]) -> None:
        left = {refused.key for refused in simulate(blockers.without(removed)).on_cpu()}
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

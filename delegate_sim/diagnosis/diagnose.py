"""Diagnose a model on a delegate: find the causes, the cost of each cause, and the result of each fix."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ..graph.effort import DIAGNOSIS, Effort
from ..hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ..model.model import Model
from ..results.report.multiply_adds import node_multiply_adds
from ..results.report.placement import on_cpu
from ..rules.kinds import PARTITION_LIMIT
from ..runtime.target import Target
from .causes.cause import Blockers, Cause, Identity
from .causes.finder import find_causes
from .causes.loops import loops_around
from .diagnosis import Diagnosis
from .examiner import Cost, Examined, Examiner
from .ranking import rank_causes

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 8
"""Smallest and largest number of causes whose fixes are tried to find dependent nodes."""


def diagnose(
    model: Model, target: Target, effort: Effort | None = None, cpu_ms: Callable[[Collection[NodeKey]], float] | None = None
) -> Diagnosis:
    """Apply a delegate to a model and find the causes that keep nodes on the CPU.

    ``effort`` limits the number of simulations. All diagnoses and searches of a command share one ``effort``. ``cpu_ms``
    returns the measured CPU time of nodes. If ``cpu_ms`` is given, causes with the most CPU time come first.
    """
    effort = effort or Effort(model)
    effort.require(DIAGNOSIS, target.effort)
    examiner = Examiner(model, target, effort)
    first = examiner.simulate(HypotheticalChanges())
    run, now = first.run, first.cost
    blockers = find_causes(examiner)
    by_node = [node_multiply_adds(subgraph.graph) for subgraph in run.subgraphs]
    weights = {cause.identity: sum([by_node[key.subgraph].get(key.node, 0) for key in cause.nodes]) for cause in blockers.causes}

    def cost_without(causes: Iterable[Cause]) -> Cost:
        return examiner.simulate(blockers.without(causes)).cost

    measured = {} if cpu_ms is None else {cause.identity: cpu_ms(cause.nodes) for cause in blockers.causes}
    staying = {refused.key for refused in first.on_cpu}
    is_refused = run.refusal is not None  # the refusal of the model is a cause of today, also of accepted nodes
    today = {(refused.key, reason.code) for refused in first.on_cpu for reason in refused.reasons}
    later = [
        cause.identity
        for cause in blockers.causes
        if not is_refused
        and (not staying.issuperset(cause.nodes) or today.isdisjoint(itertools.product(cause.nodes, cause.codes)))
    ]
    findings = rank_causes(
        blockers.causes, weights, now, cost_without, effort, measured, later, loops_around(model, blockers.causes)
    )
    following = _followers(first, [finding.cause for finding in findings], blockers, examiner, effort)
    is_incomplete = effort.is_over  # all later simulations are required
    return Diagnosis(
        model,
        target,
        run,
        now,
        now.total_multiply_adds,
        tuple([replace(finding, followers=following.get(finding.cause.identity, ())) for finding in findings]),
        cost_without(blockers.causes),
        sum([1 for _, _, reasons in on_cpu(run) if any(reason.code == PARTITION_LIMIT.name for reason in reasons)]),
        blockers,
        examiner,
        is_incomplete,
    )


def _followers(
    first: Examined, order: Sequence[Cause], blockers: Blockers, examiner: Examiner, effort: Effort
) -> Mapping[Identity, tuple[NodeKey, ...]]:
    """Return the CPU nodes that depend on a cause of other nodes, keyed by this cause. The nodes have no cause of their own.

    Such nodes convert float16 weights to float32, are in partitions that a limit drops, or depend on neighboring nodes. First,
    each of the first causes is fixed alone. Then, the first two causes are fixed together, then the first three, and so on.
    Finally, all causes are fixed together. The first fix that frees a node determines the node's cause: the last cause in this
    fix.
    """
    rest = {refused.key for refused in first.on_cpu}.difference(*[cause.nodes for cause in order])
    some = order[: effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST)]
    fixes = [*[[cause] for cause in some], *[order[: number + 1] for number in range(len(some))], *([order] if order else [])]
    followers: dict[Identity, set[NodeKey]] = {}
    for fixed in effort.limit(fixes):
        if rest:
            left = {refused.key for refused in examiner.simulate(blockers.without(fixed)).on_cpu}
            followers.setdefault(fixed[-1].identity, set()).update(rest - left)
            rest &= left
    return {identity: tuple(sorted(keys)) for identity, keys in followers.items() if keys}

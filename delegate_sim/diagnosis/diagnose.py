"""Choose the target to diagnose, and diagnose a model on a delegate: the causes, their cost, and the result of each fix."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ..delegates.devices import ORDER
from ..delegates.traits import Ranking
from ..graph.effort import DIAGNOSIS, Effort
from ..hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ..model.model import Model
from ..results.report.blockers import has_open_input
from ..results.report.coverage import has_wrong_results
from ..results.report.measures import TAKEN, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.number_risks import number_risks
from ..results.report.placement import on_cpu
from ..rules.kinds import DYNAMIC_TENSORS, PARTITION_LIMIT
from ..runtime.interpreter import REFUSED, Run, simulate
from ..runtime.target import Target
from .causes.cause import Blockers, Cause, Identity, loops_around
from .causes.finder import find_causes
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
    by_node = compute_of(run).by_node
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
        tuple([finding._replace(followers=following.get(finding.cause.identity, ())) for finding in findings]),
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


class Choice(Enum):
    """The reason for a target."""

    NOT_STARTED = "not-started"
    """The target does not start, because inputs have unknown sizes."""
    LARGEST_SHARE = "largest-share"
    """Of the targets that do not run the whole model, the target runs the largest share."""
    NOTHING_OPEN = "nothing-open"
    """Each target runs the whole model or nothing, and this target is the first that runs all of it."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A target, the reason for it, and the number of targets that were compared for this reason."""

    target: Target
    choice: Choice
    compared: int


def find_open_question(model: Model, targets: Sequence[Target], effort: Effort) -> OpenQuestion:
    """Return the target to diagnose. Equal targets are in the order of the devices (``ORDER``).

    The CPU library, compiler plugins and deprecated delegates are left out. Large models are compared on fewer targets. Raises
    LimitError.
    """
    compared = sorted(filter(_is_compared, targets), key=lambda target: ORDER.index(target.delegate.name)) or list(targets)
    effort.require(DIAGNOSIS, max([target.effort for target in compared]))
    runs: list[Run] = []
    for number, target in enumerate(compared):
        if runs and effort.left <= DIAGNOSIS.simulations:
            break
        effort.begin_target(len(compared) - number - 1, target.effort)
        runs.append(simulate(model, target, cache=effort.cache))
    if has_open_input(model):
        for run in runs:
            if run.outcome == REFUSED and run.refusal is not None and run.refusal.code == DYNAMIC_TENSORS.name:
                return OpenQuestion(run.target, Choice.NOT_STARTED, len(runs))
    complete = [run for run in runs if _is_complete(run)]
    left = [run for run in runs if run not in complete]
    if complete and not any(map(any, map(_share, left))):
        return OpenQuestion(complete[0].target, Choice.NOTHING_OPEN, len(complete))
    best = max(left, key=_share)
    return OpenQuestion(best.target, Choice.LARGEST_SHARE, len(left))


def _share(run: Run) -> tuple[int, int]:
    """Return the delegated multiply-adds and nodes, or zeros if the model does not run with the delegate, or runs wrongly."""
    measures = measure(run)
    is_right = measures.outcome == TAKEN and not has_wrong_results(run)
    return (compute_of(run).delegated_multiply_adds, measures.delegated_nodes) if is_right else (0, 0)


def _is_compared(target: Target) -> bool:
    delegate = target.delegate
    return delegate.ranking is Ranking.ACCELERATORS and not delegate.deprecated


def _is_complete(run: Run) -> bool:
    measures = measure(run)
    return measures.outcome == TAKEN and measures.delegated_nodes == measures.nodes and not number_risks(run)

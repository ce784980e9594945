"""The targets whose results become worse by a change for another target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..fixing.score import standing
from ..graph.graph import file_graphs
from ..hypothetical.hypothetical_changes import HypotheticalChanges, changed_model
from ..model.model import Model
from .advice.fix_passes import FoundPass, cost_of, rewritten
from .advice.plain_fix import PlainFix
from .causes.change import Remedy
from .diagnosis import Diagnosis
from .ranking import NO_GAIN, gain

_SHARES = 2
"""The first parts of a gain: the share of multiply-adds, and whether nodes are delegated at all."""


def worsened(diagnosis: Diagnosis, change: Remedy | FoundPass | PlainFix, others: Iterable[Diagnosis]) -> Sequence[Diagnosis]:
    """Return the diagnoses of the same model on other targets whose result becomes worse by a change.

    A result is worse if the target runs a smaller share of the model, or has more wrong results. A conversion to float is also
    worse for accelerators that compute in integers. Targets for which no simulation is left are not returned.
    """
    same = [other for other in others if other.model is diagnosis.model and other.target != diagnosis.target]
    if not same:
        return []
    model = _changed(diagnosis, change)
    if model is None:
        return []
    is_to_float = _integer_nodes(model) < _integer_nodes(diagnosis.model) and isinstance(change, Remedy)
    return [other for other in same if (is_to_float and other.target.delegate.computes_integers) or _is_worse(other, model)]


def _changed(diagnosis: Diagnosis, change: Remedy | FoundPass | PlainFix) -> Model | None:
    model = diagnosis.model
    if isinstance(change, FoundPass):
        return rewritten(model, change.pass_)
    if isinstance(change, PlainFix):
        return None if change.plan is None else change.plan.rewritten.model
    # Assumptions about the target say nothing about other targets.
    of_model = HypotheticalChanges(
        op_versions=change.op_versions,
        node_versions=change.node_versions,
        batch=change.batch,
        fixed_inputs=change.fixed_inputs,
        conversion=change.conversion,
        removed_nodes=change.removed_nodes,
        float_nodes=change.float_nodes,
        inlined_nodes=change.inlined_nodes,
    )
    return None if of_model == HypotheticalChanges() else changed_model(model, of_model, diagnosis.target.release)


def _is_worse(other: Diagnosis, model: Model) -> bool:
    if other.effort.is_over:
        return False
    other.effort.spend(other.target.effort)
    then, now = cost_of(standing(model, other.target, other.effort.cache)), other.now
    has_more_wrong = (then.measures.wrong_results or 0) > (now.measures.wrong_results or 0)
    return has_more_wrong or gain(now, then)[:_SHARES] < NO_GAIN[:_SHARES]


def _integer_nodes(model: Model) -> int:
    views = [graph.view(node) for graph in file_graphs(model) for node in graph.nodes]
    return sum([view.output(0).type in ("INT8", "UINT8") for view in views])

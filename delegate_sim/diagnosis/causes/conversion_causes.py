"""Changes of the conversion that remove many refusals: fixed input shapes, or other types."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from ...errors import LimitError
from ...graph.graph import Graph, file_graphs
from ...hypothetical.fixed_inputs import computes_shapes, open_inputs
from ...model.model import Model, Tensor
from ...results.report.blockers import follows_from_nodes
from ...rules.kinds import Problem
from ..examiner import Cost, Examined, RefusedNode
from .cause import Identity
from .change import Remedy
from .evidence import CauseSearch, Evidence, FoundEvidence, SearchState, cases_of
from .whole_graph_causes import is_dynamic, is_no_longer_dynamic, refused_by_runtime

OF_TYPES = frozenset({Problem.TYPE, Problem.QUANTIZATION, Problem.OPERATOR_VERSION})
"""Kinds of problem that other tensor types may fix."""

_SUBSTANTIAL = 0.01
"""The smallest share of multiply-adds that counts as substantial."""
_OTHERS_OWN = frozenset({Problem.NEIGHBORS, Problem.MODEL, Problem.LIMIT})
"""Kinds of problem that have their origin in other nodes."""
_STORED_NARROWLY = frozenset({"INT2", "INT4", "INT8", "UINT8"})


def inputs(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the refusals that a conversion with fixed input sizes removes.

    If the model file already has all input sizes, the conversion fixes only the sizes that the model computes from the inputs.
    """
    model, now = search.model, state.run
    if state.changes.fixed_inputs or not (open_inputs(model) or computes_shapes(model)):
        return ()
    then = search.simulate(replace(state.changes, fixed_inputs=True))
    identity = Identity(Problem.DYNAMIC_SHAPE, ("inputs",) if open_inputs(model) else ("shapes",))
    remedy = Remedy(fixed_inputs=True)
    if is_dynamic(now.run):
        cases = refused_by_runtime(now)
        return (Evidence(identity, cases, remedy, at_fault=frozenset()),) if is_no_longer_dynamic(now, then) else ()
    ended = refusals_removed(now, then, frozenset(Problem) - _OTHERS_OWN)
    return (Evidence(identity, cases_of(ended), remedy),) if ended else ()


def types(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the refusals that a conversion to other types removes. If several conversions help, the best one is assumed.

    For an accelerator that computes in integers, a conversion to integers is better than one to float.

    If a conversion removes only version refusals of one operator, it is ignored. The feature that raised the version is then a
    better explanation.
    """
    now = state.run
    if state.changes.conversion or (now.run.refusal is not None and now.run.refusal.below is not None):
        # The stage behind the delegate names the refused operand, so a change of all types is too much.
        return ()
    is_for_integers = now.run.delegate.computes_integers
    best: tuple[tuple[float, ...], str, tuple[RefusedNode, ...]] | None = None
    conversions = list(_conversions(search.model, is_for_integers=is_for_integers))
    for conversion in conversions:
        try:
            search.effort.check()
            then = search.simulate(replace(state.changes, conversion=conversion))
        except LimitError as error:
            search.not_simulated.append(f"conversion to {conversion}: {error.reason}")
            continue
        if conversion == "int8" and _has_problem(then, Problem.QUANTIZATION):
            conversions.append("int8-per-tensor")
        ended = refusals_removed(now, then, OF_TYPES)
        gain = _gain(now.cost, then.cost)
        if gain <= (0.0, 0.0, 0.0) or not _takes_more(now, then) or not _is_worthwhile(now, then, ended, gain):
            continue
        score = (float(is_for_integers and conversion != "float"), *gain)
        if best is None or score > best[0]:
            best = score, conversion, ended
    if best is None:
        return ()
    _, conversion, ended = best
    identity = Identity(Problem.QUANTIZATION, (form(search.model), f"to-{conversion}"))
    cases = cases_of(ended) or refused_by_runtime(now)
    return (Evidence(identity, cases, Remedy(conversion=conversion)),)


def form(model: Model) -> str:
    """Return the quantization of a model: ``float``, ``float16``, ``dynamic-range``, ``int16`` or ``integer``."""
    facts = [graph.results.get("forms of tensors", (), functools.partial(_forms_in, graph)) for graph in file_graphs(model)]
    forms = {name for names, _ in facts for name in names}
    computes_in_float = any(is_float for _, is_float in facts)
    if "int16" in forms:
        return "int16"
    if "integer" in forms:
        return "integer"
    if "weights" in forms and computes_in_float:
        return "dynamic-range"
    return "float16" if "float16" in forms else "float"


def _forms_in(graph: Graph) -> tuple[frozenset[str], bool]:
    """Return the forms of a graph's tensors, and whether a node computes float results."""
    computes_in_float = any(
        tensor.type == "FLOAT32" and not tensor.is_constant
        for node in graph.nodes
        if node.op not in ("QUANTIZE", "DEQUANTIZE")
        for tensor in graph.view(node).outputs
    )
    return frozenset(map(_form_of, graph.tensors)), computes_in_float


def _form_of(tensor: Tensor) -> str:
    has_scales = tensor.quantization is not None and (not tensor.quantization.is_affine or len(tensor.quantization.scales) > 0)
    if tensor.is_constant and tensor.type == "FLOAT16":
        return "float16"
    if tensor.is_constant and tensor.type in _STORED_NARROWLY and has_scales:
        return "weights"
    # An LSTM that is quantized to int8 has an INT16 state.
    if has_scales and not tensor.is_constant and not tensor.is_variable:
        return "int16" if tensor.type == "INT16" else "integer"
    return ""


def _conversions(model: Model, *, is_for_integers: bool) -> Sequence[str]:
    own = form(model)
    if own == "float":
        return ("int8",)
    is_old = is_for_integers and any(tensor.type == "UINT8" for graph in file_graphs(model) for tensor in graph.tensors)
    return ("float",) if own == "integer" and not is_old else ("float", "int8")


def _takes_more(now: Examined, then: Examined) -> bool:
    """Return whether ``then`` delegates any node that runs on the CPU in ``now``. Nodes that a conversion adds are ignored."""
    left = {refused.key for refused in then.on_cpu}
    return any(refused.key not in left and then.change.now(refused.key) is not None for refused in now.on_cpu)


def _is_worthwhile(now: Examined, then: Examined, ended: Sequence[RefusedNode], gain: tuple[float, ...]) -> bool:
    kinds = now.run.delegate.kinds
    if now.run.refusal is not None and not follows_from_nodes(now.run):
        is_of_types = kinds[now.run.refusal.code].problem in OF_TYPES
        return is_of_types and then.run.refusal is None and gain[0] > 0
    problems = {kinds[reason.code].problem for refused in ended for reason in refused.reasons}
    if problems == {Problem.OPERATOR_VERSION} and len({refused.op for refused in ended}) == 1:
        return False
    if not problems & OF_TYPES:
        # Nodes that convert float16 weights to float32 have no problem of their own, but may prevent all delegation.
        return now.run.outcome == "none" and gain[0] >= _SUBSTANTIAL
    reasons = {(refused.op, reason.code) for refused in ended for reason in refused.reasons}
    return gain[0] >= _SUBSTANTIAL or len(reasons) > 1


def _has_problem(examined: Examined, problem: Problem) -> bool:
    kinds = examined.run.delegate.kinds
    return any(kinds[reason.code].problem is problem for refused in examined.on_cpu for reason in refused.reasons)


def _gain(now: Cost, then: Cost) -> tuple[float, ...]:
    share = then.multiply_add_share - now.multiply_add_share
    nodes = then.measures.delegated_share - now.measures.delegated_share
    return round(share, 4), round(nodes, 4), float(now.measures.partitions - then.measures.partitions)


def refusals_removed(now: Examined, then: Examined, problems: frozenset[Problem]) -> tuple[RefusedNode, ...]:
    """Return the refusals in ``now`` that have one of ``problems`` and that ``then`` does not have.

    If a node does not exist in ``then``, all its refusals are returned.
    """
    kinds = now.run.delegate.kinds
    left = {(refused.key, reason.code) for refused in then.on_cpu for reason in refused.reasons}
    removed = []
    for refused in now.on_cpu:
        is_gone = then.change.now(refused.key) is None
        ended = [
            reason
            for reason in refused.reasons
            if (refused.key, reason.code) not in left
            and (kinds[reason.code].problem in problems or (is_gone and kinds[reason.code].problem not in _OTHERS_OWN))
        ]
        if ended:
            removed.append(refused._replace(reasons=tuple(ended)))
    return tuple(removed)

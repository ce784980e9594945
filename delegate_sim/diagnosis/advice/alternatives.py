"""Simulate the alternatives in a cause's advice, and add the results to the advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ...errors import LimitError
from ...foundation import converter_attributes as attributes
from ...graph.effort import Effort, Tries
from ...graph.graph import file_graphs
from ...hypothetical.code_changes import ARITHMETIC, bodies_of
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model, Tensor
from ...rules.kinds import Problem
from ...runtime.target import Target
from ..causes.alternative import IF_TAKEN, WITH_OTHERS, WITH_SIZES, Alternative
from ..causes.cause import Blockers, Cause, Remedy
from ..causes.conversion_causes import OF_TYPES, Simulate, form
from ..examiner import Cost, Examined
from ..ranking import gain
from .change_kinds import SUGGESTION_FOR, SUGGESTIONS
from .converter_settings import OF_FORMS, ConverterSetting, SettingsTogether, settings_for

_TRIED_AT_LEAST, _TRIED_AT_MOST = 4, 60
"""Smallest and largest number of simulations for the alternatives of all causes. Large models get fewer than small models."""

_WITHOUT_GAIN = (0, 0, 0, 0, 0)
_INTEGERS = ("INT32", "INT64")

WRITTEN_AS = "can be written as"
TAKE_NODES = " take the nodes: "
"""A part of advice between the description of other devices and the options that simulate these devices."""
SUPPORTED_BY = "other delegates that take"

_NOT_SIMULATED = "not simulated"
_HELPS_NOT = "does not help"
_HELPS_ONLY_WITH = f"helps only with {WITH_OTHERS}"
_ORDER = ("", WITH_SIZES, WITH_OTHERS)
"""The values of ``Alternative.assumed``. Alternatives that assume less come first."""

FULLY_QUANTIZED = (
    f"quantize fully: {attributes.OPTIMIZED}, converter.representative_dataset, and "
    f"{attributes.OPERATORS.format(attributes.INT8)}"
)


@dataclass(frozen=True, slots=True)
class _Conversion:
    """Instructions for a conversion, and its short name. The conversion can be simulated."""

    change: str
    name: str


CONVERSION_WORDS: Mapping[str, _Conversion] = MappingProxyType(
    {
        "float": _Conversion("convert in float: leave converter.optimizations empty", "float"),
        "int8": _Conversion(FULLY_QUANTIZED, "full integer quantization"),
        "int8-per-tensor": _Conversion(
            f"{FULLY_QUANTIZED}; with {attributes.PER_TENSOR}", "full integer quantization with a single scale for each tensor"
        ),
        "float16": _Conversion(
            f"convert with float16 weights: {attributes.OPTIMIZED} and converter.target_spec.supported_types = [tf.float16]",
            "float16 weights",
        ),
        "per-tensor": _Conversion(
            f"give each weight tensor a single scale: {attributes.PER_TENSOR} (accuracy may suffer)", "one scale per tensor"
        ),
        "dense-per-tensor": _Conversion(
            f"give the weights of FULLY_CONNECTED a single scale: {attributes.DENSE_PER_TENSOR} (accuracy may suffer)",
            "a single scale for the weights of FULLY_CONNECTED",
        ),
        "dynamic-range-per-tensor": _Conversion(
            f"keep dynamic range quantization with {attributes.OLD_DYNAMIC_RANGE_QUANTIZER} and {attributes.PER_TENSOR}",
            "the older quantizer with a single scale for each tensor",
        ),
    }
)

_OF_SETTINGS: Mapping[SettingsTogether, str] = MappingProxyType(
    {
        frozenset({ConverterSetting.FLOAT}): "float",
        frozenset({ConverterSetting.INT8}): "int8",
        frozenset({ConverterSetting.INT8, ConverterSetting.PER_TENSOR}): "int8-per-tensor",
        frozenset({ConverterSetting.FLOAT16}): "float16",
        frozenset({ConverterSetting.PER_TENSOR}): "per-tensor",
        frozenset({ConverterSetting.DENSE_PER_TENSOR}): "dense-per-tensor",
        frozenset({ConverterSetting.OLD_QUANTIZER, ConverterSetting.PER_TENSOR}): "dynamic-range-per-tensor",
    }
)
"""The hypothetical conversion for each set of converter settings."""

_OF_CONVERSIONS = ("convert ", "quantiz")
"""Parts of hints that already suggest another conversion of the model."""

FOLDED = frozenset(
    [
        *("ADD", "DIV", "EXP", "FLOOR", "FULLY_CONNECTED", "LOGISTIC", "MAXIMUM", "MINIMUM", "MUL", "NEG", "RELU", "RELU6"),
        *("SQRT", "SQUARE", "SUB", "TANH"),
    ]
)
"""Operators around which the converter of TensorFlow 2.21 removes RESHAPE nodes."""

_IN_FLOAT = "compute in float32 in the model's code, with tf.cast before and after"
_INLINED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "CALL": ("write the called function in place in the model's code", "the function in place"),
        "IF": (
            "compute both branches in the model's code, and choose between the results with tf.where",
            "computing both branches with tf.where",
        ),
        "STABLEHLO_COMPOSITE": (
            "convert without marking the composite, so that the operators of its body appear in its place",
            "the operators of the composite's body",
        ),
    }
)
"""Instructions and a short name for each operator that runs subgraphs.

The change replaces the operator by the nodes of its subgraphs.
"""
_HUGE_SCALE = 1e20
"""A scale above this limit comes from an attention mask that contains the lowest FLOAT32 value."""
_MASKS: Mapping[str, str] = MappingProxyType({"mask-1e4": "-1e4", "mask-100": "-100"})
"""Hypothetical conversions that put another value into the attention mask, each with the value."""
_IN_FLOAT32 = "store the weights in float32: leave converter.optimizations empty"
_IN_APPLICATION = "let the application run the subgraphs as separate models"
INSTEAD_OF_OPTIONS: Mapping[Problem, str] = MappingProxyType(
    {
        Problem.LIMIT: "remove the nodes that split the graph",
        Problem.TARGET_LEVEL: "use another delegate, or leave the nodes on the CPU",
    }
)
"""Instructions for a cause if changed options of the delegate do not help."""
_IMAGE_RANK = 4
_RESIZE = "repeat rows and columns by one node: use tf.image.resize with method='nearest' in place of Keras' UpSampling2D"
_ON_CPU = "leave the integer arithmetic on the CPU"
_OF_INTEGERS = "leave the nodes on the CPU: their tensors have integers that are not quantized, and no conversion changes them"


@dataclass(frozen=True, slots=True)
class _Offer:
    """A change to simulate: instructions, a short name, and the hypothetical change."""

    change: str
    name: str
    remedy: Remedy


def with_results(blockers: Blockers, model: Model, target: Target, simulate: Simulate, effort: Effort) -> Blockers:
    """Return the causes with the simulated results of their alternatives.

    An alternative helps if it delegates some of the cause's nodes and improves the result. The diagnosis assumes the first
    alternative of each cause. The advice marks alternatives that do not help.
    """
    judge = _AlternativeJudge(blockers, simulate, effort)
    return replace(blockers, causes=tuple([_with_results(cause, model, target, judge) for cause in blockers.causes]))


def _with_results(cause: Cause, model: Model, target: Target, judge: _AlternativeJudge) -> Cause:
    if cause.identity.problem in INSTEAD_OF_OPTIONS and cause.remedy.options:
        return _with_result_of_options(cause, judge)
    offers = list(_offers(cause, model, target))
    if not offers:
        return _with_result_of_rewrite(_with_note_of_folding(_with_resize(_without_result(cause, model), model)), judge)
    alternatives = [judge.judged(cause, offer) for offer in offers]
    pairs = list(zip(offers, alternatives, strict=True))
    helping = [(offer, alternative) for offer, alternative in pairs if alternative.helps]
    left_out = [(offer, alternative) for offer, alternative in pairs if not alternative.helps]
    # Alternatives that help alone come first, starting with the remedy that simulations of later causes assume.
    helping.sort(key=lambda pair: (_ORDER.index(pair[1].assumed), pair[0].remedy != cause.remedy))
    sooner = [pair for pair in helping if pair[1].assumed != WITH_OTHERS]
    assuming_all = [pair for pair in helping if pair[1].assumed == WITH_OTHERS] if sooner else []
    helping = sooner or helping
    is_local = _is_local((helping[0][0] if helping else offers[0]).remedy)
    if not helping and cause.identity.problem is Problem.TYPE and not is_local and not _offers_conversion(cause):
        return cause  # the hint says what to change, and it is not the conversion
    texts = [alternative.text for _, alternative in helping]
    if not texts:
        texts = [_otherwise(cause, offers[0])]
    text = "; or ".join(texts)
    useless = [f"{offer.name} ({alternative.result})" for offer, alternative in left_out if alternative.cost is not None]
    unknown = [f"{offer.name} ({alternative.result})" for offer, alternative in left_out if alternative.cost is None]
    if assuming_all:
        text += f"; {_HELPS_ONLY_WITH}: {', '.join([f'{offer.name} ({other.last_result})' for offer, other in assuming_all])}"
    text += f"; {_HELPS_NOT}: {', '.join(useless)}" if useless else ""
    text += f"; {_NOT_SIMULATED}: {', '.join(unknown)}" if unknown else ""
    # Other causes may assume that the nodes are accepted. Only a change of exactly these nodes may replace this remedy.
    remedy = helping[0][0].remedy if helping and (is_local or not cause.remedy.accepts) else cause.remedy
    ordered = tuple([alternative for _, alternative in (*helping, *assuming_all, *left_out)])
    is_at_an_end = cause.suggestion == "leave-on-cpu"
    suggestion = SUGGESTION_FOR[cause.identity.problem] if helping and is_at_an_end else cause.suggestion
    if helping and cause.identity.problem is Problem.OPERATOR and helping[0][0].remedy.conversion and not is_local:
        suggestion = "change-converter-setting"
    return replace(cause, suggestion=suggestion, change=text, remedy=remedy, alternatives=ordered)


def _offers_conversion(cause: Cause) -> bool:
    return any(word in cause.change for word in _OF_CONVERSIONS)


def _without_result(cause: Cause, model: Model) -> Cause:
    """Mark the conversion in a hint as not simulated.

    If all tensors are integers without quantization, advise to leave the nodes on the CPU.
    """
    if cause.identity.problem not in OF_TYPES or not _offers_conversion(cause):
        return cause
    return replace(
        cause, change=_OF_INTEGERS if _are_integers(cause, model) else f"{cause.change.removesuffix('.')}; {_NOT_SIMULATED}"
    )


def _with_resize(cause: Cause, model: Model) -> Cause:
    """Advise to use a resize if all nodes of a cause belong to repeated rows or columns of more than four dimensions."""
    if cause.identity.problem is not Problem.RANK or not cause.nodes:
        return cause
    graphs = file_graphs(model)
    views = [
        graphs[index].view(node)
        for index in {key.subgraph for key in cause.nodes}
        for node in graphs[index].nodes
        if node.op in ("BROADCAST_TO", "TILE")
    ]
    repeated = {
        (view.graph.index, tensor.index)
        for view in views
        if _repeats(view.input(0), view.output(0))
        for tensor in (view.input(0), view.output(0))
    }
    nodes = [(key.subgraph, graphs[key.subgraph].nodes[key.node]) for key in cause.nodes]
    if not all(any((index, tensor) in repeated for tensor in (*node.inputs, *node.outputs)) for index, node in nodes):
        return cause
    return replace(cause, change=_RESIZE)


def _repeats(source: Tensor, target: Tensor) -> bool:
    """Return whether a node only repeats dimensions of size 1, between other dimensions."""
    if source.rank != target.rank or target.rank <= _IMAGE_RANK:
        return False
    changed = [axis for axis in range(target.rank) if source.shape[axis] != target.shape[axis]]
    return bool(changed) and all(source.shape[axis] == 1 and 1 < axis < target.rank - 1 for axis in changed)


def _with_note_of_folding(cause: Cause) -> Cause:
    """Add a note to the advice for a cause if TensorFlow's converter would remove the suggested RESHAPE."""
    ops = [op for op, _ in cause.operators if op in FOLDED]
    is_of_shapes = cause.identity.problem in (Problem.RANK, Problem.SHAPE, Problem.ATTRIBUTE)
    if not (ops and is_of_shapes and "RESHAPE" in cause.change):
        return cause
    note = (
        f"TensorFlow's converter removes a RESHAPE before and after {', '.join(ops[:3])}; delegate-sim fix may have a pass that "
        "writes the RESHAPE into the model file"
    )
    return replace(cause, change=f"{cause.change}; {note}")


def _with_result_of_options(cause: Cause, judge: _AlternativeJudge) -> Cause:
    """Add the result of changed options of the delegate to the advice.

    If the change does not help, advise what to do instead. A raised limit on partitions counts as a change that does not help
    only if the delegate then fails, because users may want more kernels.
    """
    if TAKE_NODES in cause.change:
        return _with_result_of_devices(cause, judge)
    options, _, explanation = cause.change.partition(": ")
    changed = judge.judged(cause, _Offer(options, options, cause.remedy))
    if changed.cost is None:
        text = f"{options} ({_NOT_SIMULATED}: {changed.result}): {explanation}"
    elif changed.helps or (cause.identity.problem is Problem.LIMIT and changed.cost.measures.is_delegated):
        text = f"{changed.text}: {explanation}"
    else:
        text = f"{INSTEAD_OF_OPTIONS[cause.identity.problem]}; {_HELPS_NOT}: {changed.text}"
    return replace(cause, change=text, alternatives=(changed,))


def _with_result_of_devices(cause: Cause, judge: _AlternativeJudge) -> Cause:
    """Add the results to advice that names other devices.

    If all operators of the cause can be replaced, the diagnosis assumes this, because users cannot change their devices.
    """
    advice, _, options = cause.change.rpartition(TAKE_NODES)
    change, _, devices = advice.rpartition("; ")
    is_rewritten = change.count(WRITTEN_AS) == len(cause.operators)
    alternatives = []
    if is_rewritten:
        alternatives.append(judge.judged(cause, _Offer(change, "", Remedy(accepts=True))))
        cost, result = alternatives[0].cost, alternatives[0].result
        change += f"; {_NOT_SIMULATED}: {result}" if cost is None else f"; {IF_TAKEN}: {result}"
    others = judge.judged(cause, _Offer(options, options, cause.remedy))
    if others.cost is None:
        text = f"{change}; {devices}{TAKE_NODES}{options} ({_NOT_SIMULATED}: {others.result})"
    else:
        text = f"{change}; {devices}{TAKE_NODES}{others.text}" if others.helps else f"{change}; {_HELPS_NOT}: {others.text}"
    remedy = Remedy(accepts=True) if is_rewritten else cause.remedy
    return replace(cause, change=text, remedy=remedy, alternatives=(*alternatives, others))


def _with_result_of_rewrite(cause: Cause, judge: _AlternativeJudge) -> Cause:
    """If the advice replaces an operator, add the result for the case that the delegate takes the new nodes."""
    if WRITTEN_AS not in cause.change or not cause.remedy.accepts:
        return cause
    rewritten = judge.judged(cause, _Offer(cause.change, "", cause.remedy))
    result = _NOT_SIMULATED if rewritten.cost is None else f"{IF_TAKEN}: {rewritten.result}"
    change, supported, names = cause.change.partition(f"; {SUPPORTED_BY} ")
    return replace(cause, change=f"{change}; {result}{supported}{names}")


def _is_local(remedy: Remedy) -> bool:
    """Return whether a remedy changes the model's source code. All other remedies change settings of the converter."""
    return bool(remedy.float_nodes or remedy.inlined_nodes) or remedy.conversion in _MASKS


def _otherwise(cause: Cause, offer: _Offer) -> str:
    """Return the instructions for a cause without a helpful alternative."""
    if offer.remedy.float_nodes:
        return _ON_CPU
    if offer.remedy.inlined_nodes:
        return _IN_APPLICATION
    if cause.identity.problem is Problem.OPERATOR:
        return _IN_FLOAT32
    # The hint of a rule would name conversions that do not help.
    return SUGGESTIONS[SUGGESTION_FOR[Problem.TYPE]].change if cause.identity.problem is Problem.TYPE else cause.change


def _offers(cause: Cause, model: Model, target: Target) -> Iterator[_Offer]:
    problem, subject = cause.identity
    if set(subject) & _INLINED.keys():
        op = next(op for op in subject if op in _INLINED)
        if all(bodies_of(model, key) for key in cause.nodes if _op(model, key) == op):
            yield _Offer(*_INLINED[op], Remedy(inlined_nodes=frozenset(cause.nodes), conversion=_own_conversion(model)))
        return
    if problem in OF_TYPES and any(tensor.scale > _HUGE_SCALE for tensor in _tensors(cause, model)):
        for name, value in _MASKS.items():
            change = f"use {value} instead of -3.4e38 in the attention mask, and convert again"
            yield _Offer(change, f"{value} in the attention mask", Remedy(conversion=name))
        yield _conversion_offer("float")
        return
    if problem is Problem.OPERATOR and all(_is_widening(model, key) for key in cause.nodes):
        yield from map(_conversion_offer, ("float", "int8"))
        return
    if problem not in OF_TYPES or cause.remedy.fixed_inputs:
        return
    if problem is Problem.TYPE and _is_integer_arithmetic(cause, model):
        yield _Offer(
            _IN_FLOAT, "float32 with tf.cast", Remedy(float_nodes=frozenset(cause.nodes), conversion=_own_conversion(model))
        )
        return
    alternatives = settings_for(model, target, cause)
    if alternatives and problem is Problem.TYPE:
        alternatives += OF_FORMS[form(model)]
    names = [_OF_SETTINGS[together] for together in alternatives if together in _OF_SETTINGS]
    if cause.remedy.conversion:
        names.insert(0, cause.remedy.conversion)
    if "int8" in names:
        names.insert(names.index("int8") + 1, "int8-per-tensor")
    yield from map(_conversion_offer, dict.fromkeys(names))


def _conversion_offer(name: str) -> _Offer:
    return _Offer(CONVERSION_WORDS[name].change, CONVERSION_WORDS[name].name, Remedy(conversion=name))


def _own_conversion(model: Model) -> str:
    """Return the name of the conversion that produced the model.

    A hypothetical change of the source code keeps this conversion.
    """
    return {"integer": "int8", "float16": "float16"}.get(form(model), "")


def _op(model: Model, key: NodeKey) -> str:
    return file_graphs(model)[key.subgraph].nodes[key.node].op


def _is_widening(model: Model, key: NodeKey) -> bool:
    graph = file_graphs(model)[key.subgraph]
    return graph.view(graph.nodes[key.node]).is_constant_float16_dequantize


def _is_integer_arithmetic(cause: Cause, model: Model) -> bool:
    return all(_op(model, key) in ARITHMETIC for key in cause.nodes) and _are_integers(cause, model)


def _are_integers(cause: Cause, model: Model) -> bool:
    """Return whether all tensors of the cause's nodes are BOOL, or integers without quantization."""
    return all(tensor.type in (*_INTEGERS, "BOOL") and tensor.scale == 0 for tensor in _tensors(cause, model))


def _tensors(cause: Cause, model: Model) -> Iterator[Tensor]:
    graphs = file_graphs(model)
    for key in cause.nodes:
        view = graphs[key.subgraph].view(graphs[key.subgraph].nodes[key.node])
        yield from [tensor for tensor in (*view.inputs, *view.outputs) if tensor.index >= 0]


class _AlternativeJudge:
    """Simulates each offer alone. If an offer alone does not help, it is simulated again with other causes fixed.

    Unknown input sizes may keep the whole graph off the delegate, so that no other change helps alone. They are fixed first, and
    then all other causes.
    """

    def __init__(self, blockers: Blockers, simulate: Simulate, effort: Effort) -> None:
        self._blockers = blockers
        self._simulate = simulate
        self._effort = effort
        self._tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)

    def judged(self, cause: Cause, offer: _Offer) -> Alternative:
        """Return the offer with its result."""
        others = [other for other in self._blockers.causes if other is not cause]
        unknown = Alternative(offer.change, offer.name, None, helps=False, conversion=offer.remedy.conversion)
        first: Cost | None = None
        of_sizes = [other for other in others if other.remedy.fixed_inputs]
        for assumed, fixed in (("", []), (WITH_SIZES, of_sizes), (WITH_OTHERS, others)):
            if assumed and not fixed:
                continue
            if not self._tries.take():
                break
            try:
                now, then = self._without(fixed), self._without([replace(cause, remedy=offer.remedy), *fixed])
            except LimitError as error:
                return replace(unknown, unknown=error.reason)
            if _takes_some(cause, then) and gain(now.cost, then.cost) > _WITHOUT_GAIN:
                return replace(
                    unknown, cost=first or then.cost, helps=True, with_others=then.cost if fixed else None, assumed=assumed
                )
            first = first or then.cost
        return replace(unknown, unknown=self._effort.reason) if first is None else replace(unknown, cost=first)

    def _without(self, causes: Iterable[Cause]) -> Examined:
        hypothetical, options = self._blockers.without(causes)
        return self._simulate(hypothetical, options)


def _takes_some(cause: Cause, then: Examined) -> bool:
    """Return whether a run delegates at least one node of the cause."""
    left = {refused.key for refused in then.on_cpu()}
    return any(key not in left for key in cause.nodes)

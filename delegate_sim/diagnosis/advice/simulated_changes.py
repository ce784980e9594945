"""Simulate the changes in a cause's advice, and add the results to the advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from ...errors import DelegateSimError, LimitError
from ...graph.effort import Effort, Tries
from ...graph.graph import NodeView, file_graphs
from ...hypothetical.code_changes import ARITHMETIC, bodies_of
from ...hypothetical.fixed_inputs import open_inputs, with_shapes
from ...hypothetical.model_editing import NodeKey
from ...model.model import Model, Tensor
from ...rules.kinds import FAILS_IN_INVOKE_KINDS, Problem
from ...runtime.interpreter import simulate as simulate_run
from ...runtime.target import Target
from ..causes.cause import Blockers, Cause, views_of
from ..causes.change import (
    INLINED,
    SUGGESTION_FOR,
    WITHOUT_OPTIONS,
    Advice,
    Assumed,
    Change,
    ChangeKind,
    Remedy,
    conversion_change,
    general_change,
    result_words,
)
from ..causes.conversion_causes import OF_TYPES, form
from ..causes.evidence import Simulate
from ..examiner import Cost, Examined
from ..ranking import NO_GAIN, gain
from .commands import shapes_command
from .converter_settings import OF_CONVERSIONS, OF_FORMS, SettingsTogether, boundary_setting, settings_for

_TRIED_AT_LEAST, _TRIED_AT_MOST = 4, 600
"""Smallest and largest number of simulations for the changes of all causes. Large models get fewer than small models."""

_ORDER = tuple(Assumed)
"""Changes that assume less come first."""

_LEAVE_INTEGERS = "leave the nodes on the CPU: their tensors have integers that are not quantized, and no conversion changes them"
_INT32 = (
    "in the model's code, use int32 instead of int64 if the delegate takes int32 here; these integers are not quantized, and no "
    "conversion changes them"
)
_OTHER_TYPES = "use other types in the model's code: these integers are not quantized, and no conversion changes them"
_RESIZE = "repeat rows and columns by one node: use tf.image.resize with method='nearest' in place of Keras' UpSampling2D"
_IN_FLOAT = "compute in float32 in the model's code, with tf.cast before and after"

_OF_SETTINGS: Mapping[SettingsTogether, str] = {settings: name for name, settings in OF_CONVERSIONS.items()}

_TO_FLOAT = tuple([Remedy(conversion=name) for name in ("float", "float16")])

_FOLDED = frozenset(
    [
        *("ADD", "DIV", "EXP", "FLOOR", "FULLY_CONNECTED", "LOGISTIC", "MAXIMUM", "MINIMUM", "MUL", "NEG", "RELU", "RELU6"),
        *("SQRT", "SQUARE", "SUB", "TANH"),
    ]
)
"""Operators around which the converter of TensorFlow 2.21 removes RESHAPE nodes."""
_FOLDED_TOLD = 3

_HUGE_SCALE = 1e20
"""A scale above this limit comes from an attention mask that contains the lowest FLOAT32 value."""
_MASKS: Mapping[str, str] = {"mask-1e4": "-1e4", "mask-100": "-100"}
"""Hypothetical conversions that put another value into the attention mask, each with the value."""
_OF_OPTIONS = frozenset({Problem.LIMIT, Problem.TARGET_LEVEL})
_FAIL_ON_CPU = frozenset([kind.name for kind in FAILS_IN_INVOKE_KINDS])
_IMAGE_RANK = 4


def with_results(blockers: Blockers, model: Model, target: Target, simulate: Simulate, effort: Effort) -> Blockers:
    """Return the causes with the simulated results of the changes that may fix them.

    A change helps if it delegates some of the cause's nodes and improves the result. The diagnosis assumes the first change of
    each cause.
    """
    judge = _Results(blockers, simulate, effort)
    of_model = [cause for cause in blockers.causes if not _FAIL_ON_CPU.isdisjoint(cause.codes)]
    failing = frozenset([key for cause in of_model for key in cause.nodes])
    return blockers._replace(causes=tuple([_with_results(cause, model, target, judge, failing) for cause in blockers.causes]))


def _with_results(cause: Cause, model: Model, target: Target, judge: _Results, failing: Set[NodeKey]) -> Cause:
    if cause.identity.problem in _OF_OPTIONS:
        return _with_result_of_options(cause, judge)
    if boundary_setting(views_of(model, cause.nodes)):
        return cause  # the nodes vanish, and nothing else changes
    candidates = list(_to_simulate(cause, model, target))
    if not candidates:
        cause = _with_note_of_folding(_with_resize(_without_result(cause, model, target, failing), model))
        changes = tuple([judge.judged(cause, change) for change in cause.advice.changes])
        return cause._replace(advice=replace(cause.advice, changes=changes))
    judged = _without_needless([judge.judged(cause, change) for change in candidates])
    helping = [change for change in judged if change.helps]
    left_out = [change for change in judged if not change.helps]
    # Changes that help alone come first, starting with the remedy that simulations of later causes assume.
    # For an accelerator that computes in integers, changes that keep or make integers come before changes to float.
    to_float = [change for change in helping if change.remedy in _TO_FLOAT and target.delegate.computes_integers]
    helping.sort(key=lambda change: (_ORDER.index(change.assumed), change in to_float, change.remedy != cause.remedy))
    sooner = [change for change in helping if change.assumed is not Assumed.OTHERS]
    assuming_all = [change for change in helping if change.assumed is Assumed.OTHERS] if sooner else []
    helping = sooner or helping
    first = helping[0].remedy if helping else candidates[0].remedy
    assert first is not None
    is_local = bool(first.float_nodes or first.inlined_nodes) or first.conversion in _MASKS
    if not helping and cause.identity.problem is Problem.TYPE and not is_local and not _advises_conversion(cause):
        return cause  # the hint says what to change, and it is not the conversion
    changes = tuple(helping) or _otherwise(cause, first, model)
    # Other causes may assume that the nodes are accepted. Only a change of exactly these nodes may replace this remedy.
    remedy = first if helping and (is_local or not cause.remedy.accepts) else cause.remedy
    code = SUGGESTION_FOR[cause.identity.problem] if helping and cause.suggestion == "leave-on-cpu" else cause.suggestion
    if helping and cause.identity.problem is Problem.OPERATOR and first.conversion and not is_local:
        code = "change-converter-setting"
    advice = Advice(code, changes, are_alternatives=bool(helping), tried=(*helping, *assuming_all, *left_out))
    return cause._replace(advice=advice, remedy=remedy)


def _without_needless(judged: Sequence[Change]) -> list[Change]:
    """Leave out the quantization with a single scale for each tensor if the usual one has the same result: it costs accuracy."""
    usual = [(change.cost, change.with_others) for change in judged if change.remedy == Remedy(conversion="int8")]
    return [
        change
        for change in judged
        if change.remedy != Remedy(conversion="int8-per-tensor") or (change.cost, change.with_others) not in usual
    ]


def _advises_conversion(cause: Cause) -> bool:
    return any(change.kind is ChangeKind.CONVERSION for change in cause.advice.changes)


def _without_result(cause: Cause, model: Model, target: Target, failing: Set[NodeKey]) -> Cause:
    """Mark the conversion in a hint as not simulated.

    If all tensors are integers without quantization, advise to change the types: always for a runtime that runs whole models,
    and INT64 or nodes in ``failing``, which the CPU does not compute, for other delegates. Otherwise, advise to leave the nodes
    on the CPU.
    """
    if cause.identity.problem not in OF_TYPES or not _advises_conversion(cause):
        return cause
    if _are_integers(views := views_of(model, cause.nodes)):
        left = _INT32 if _has_int64(views) else _LEAVE_INTEGERS
        needs_others = target.delegate.runs_whole_models or not failing.isdisjoint(cause.nodes)
        text = _OTHER_TYPES if needs_others else left
        return cause._replace(advice=Advice(cause.suggestion, (Change(text),)))
    return cause._replace(advice=replace(cause.advice, is_not_simulated=True))


def _with_resize(cause: Cause, model: Model) -> Cause:
    if cause.identity.problem is not Problem.RANK or not cause.nodes:
        return cause
    graphs = file_graphs(model)
    repeated = {
        (index, tensor.index)
        for index in {key.subgraph for key in cause.nodes}
        for view in [graphs[index].view(node) for node in graphs[index].nodes if node.op in ("BROADCAST_TO", "TILE")]
        if _repeats(view.input(0), view.output(0))
        for tensor in (view.input(0), view.output(0))
    }
    views = views_of(model, cause.nodes)
    tensors = [{(view.graph.index, tensor.index) for tensor in (*view.inputs, *view.outputs)} for view in views]
    if any(repeated.isdisjoint(own) for own in tensors):
        return cause
    return cause._replace(advice=Advice(cause.suggestion, (Change(_RESIZE),)))


def _repeats(source: Tensor, target: Tensor) -> bool:
    """Return whether a node only repeats dimensions of size 1, between other dimensions."""
    if source.rank != target.rank or target.rank <= _IMAGE_RANK:
        return False
    changed = [axis for axis in range(target.rank) if source.shape[axis] != target.shape[axis]]
    return bool(changed) and all(source.shape[axis] == 1 and 1 < axis < target.rank - 1 for axis in changed)


def _with_note_of_folding(cause: Cause) -> Cause:
    """Note the operators around which TensorFlow's converter would remove the suggested RESHAPE."""
    ops = [op for op, _ in cause.operators if op in _FOLDED]
    is_of_shapes = cause.identity.problem in (Problem.RANK, Problem.SHAPE, Problem.ATTRIBUTE)
    if not (ops and is_of_shapes and any(change.kind is ChangeKind.RESHAPE for change in cause.advice.changes)):
        return cause
    return cause._replace(advice=replace(cause.advice, folded=tuple(ops[:_FOLDED_TOLD])))


def _with_result_of_options(cause: Cause, judge: _Results) -> Cause:
    """Add the results of changed options, and of operators that users can write instead.

    If a change of options does not help, it is left out. A raised limit on partitions is left out only if the delegate then
    fails, because users may want more kernels. The diagnosis assumes the first change, because users cannot change their devices.
    """
    judged = [judge.judged(cause, change) for change in cause.advice.changes]
    kept = [change for change in judged if change.kind is not ChangeKind.OPTIONS or _is_kept(change, cause.identity.problem)]
    changes = tuple(kept) or (Change(WITHOUT_OPTIONS[cause.identity.problem]),)
    tried = tuple([change for change in judged if change.remedy is not None])
    return cause._replace(advice=replace(cause.advice, changes=changes, tried=tried), remedy=judged[0].remedy or cause.remedy)


def _is_kept(change: Change, problem: Problem) -> bool:
    is_raised = problem is Problem.LIMIT and change.cost is not None and change.cost.measures.is_delegated
    return change.cost is None or change.helps or is_raised


def _otherwise(cause: Cause, remedy: Remedy, model: Model) -> tuple[Change, ...]:
    if remedy.float_nodes:
        return (Change(_INT32 if _has_int64(views_of(model, cause.nodes)) else "leave the integer arithmetic on the CPU"),)
    if remedy.inlined_nodes:
        return (Change("let the application run the subgraphs as separate models"),)
    if cause.identity.problem is Problem.OPERATOR:
        return (Change("store the weights in float32: leave converter.optimizations empty"),)
    if cause.identity.problem is Problem.TYPE:
        # The hint of a rule would name conversions that do not help.
        return (general_change(SUGGESTION_FOR[Problem.TYPE]),)
    return cause.advice.changes


def _to_simulate(cause: Cause, model: Model, target: Target) -> Iterator[Change]:
    problem, subject = cause.identity
    views = views_of(model, cause.nodes)
    op = next((op for op in subject if op in INLINED), None)
    if op is not None:
        if all(bodies_of(model, key) for key, view in zip(cause.nodes, views, strict=True) if view.op == op):
            remedy = Remedy(inlined_nodes=frozenset(cause.nodes), conversion=_own_conversion(model))
            yield Change(INLINED[op][0], name=INLINED[op][1], remedy=remedy)
        return
    if problem in OF_TYPES and any(tensor.scale > _HUGE_SCALE for tensor in _tensors(views)):
        for name, value in _MASKS.items():
            text = f"use {value} instead of -3.4e38 in the attention mask, and convert again"
            yield Change(text, name=f"{value} in the attention mask", remedy=Remedy(conversion=name))
        yield conversion_change("float")
        return
    if problem is Problem.OPERATOR and all(view.is_constant_float16_dequantize for view in views):
        yield from map(conversion_change, ("float", "int8"))
        return
    if problem not in OF_TYPES or cause.remedy.fixed_inputs:
        return
    if problem is Problem.TYPE and all(view.op in ARITHMETIC for view in views) and _are_integers(views):
        remedy = Remedy(float_nodes=frozenset(cause.nodes), conversion=_own_conversion(model))
        yield Change(_IN_FLOAT, name="float32 with tf.cast", remedy=remedy)
        return
    alternatives = settings_for(model, target, cause)
    if alternatives and problem is Problem.TYPE:
        alternatives += OF_FORMS[form(model)]
    names = [_OF_SETTINGS[together] for together in alternatives if together in _OF_SETTINGS]
    if cause.remedy.conversion:
        names.insert(0, cause.remedy.conversion)
    if "int8" in names:
        names.insert(names.index("int8") + 1, "int8-per-tensor")
    yield from map(conversion_change, dict.fromkeys(names))


def _own_conversion(model: Model) -> str:
    """Return the name of the conversion that produced the model.

    A hypothetical change of the source code keeps this conversion.
    """
    return {"integer": "int8", "float16": "float16"}.get(form(model), "")


def _are_integers(views: Iterable[NodeView]) -> bool:
    return all(tensor.type in ("INT32", "INT64", "BOOL") and tensor.scale == 0 for tensor in _tensors(views))


def _has_int64(views: Iterable[NodeView]) -> bool:
    return any(tensor.type == "INT64" for tensor in _tensors(views))


def _tensors(views: Iterable[NodeView]) -> list[Tensor]:
    return [tensor for view in views for tensor in (*view.inputs, *view.outputs) if tensor.index >= 0]


class _Results:
    """Simulates each change alone. If a change alone does not help, it is simulated again with other causes fixed.

    Unknown input sizes may keep the whole graph off the delegate, so that no other change helps alone. They are fixed first, and
    then all other causes.
    """

    def __init__(self, blockers: Blockers, simulate: Simulate, effort: Effort) -> None:
        self._blockers = blockers
        self._simulate = simulate
        self._effort = effort
        self._tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)

    def judged(self, cause: Cause, change: Change) -> Change:
        """Return the change with its result. A change that cannot be simulated is returned as it is."""
        if change.remedy is None:
            return change
        others = [other for other in self._blockers.causes if other is not cause]
        first: Cost | None = None
        of_sizes = [other for other in others if other.remedy.fixed_inputs]
        for assumed, fixed in ((Assumed.NOTHING, []), (Assumed.SIZES, of_sizes), (Assumed.OTHERS, others)):
            if assumed is not Assumed.NOTHING and not fixed:
                continue
            if not self._tries.take():
                break
            try:
                now, then = self._without(fixed), self._without([cause._replace(remedy=change.remedy), *fixed])
            except LimitError as error:
                return change._replace(unknown=error.reason)
            if _takes_some(cause, then) and gain(now.cost, then.cost) > NO_GAIN:
                with_others = then.cost if fixed else None
                return change._replace(cost=first or then.cost, helps=True, with_others=with_others, assumed=assumed)
            first = first or then.cost
        unknown = self._effort.reason if first is None else ""
        return change._replace(cost=first, helps=False, with_others=None, assumed=Assumed.NOTHING, unknown=unknown)

    def _without(self, causes: Iterable[Cause]) -> Examined:
        return self._simulate(self._blockers.without(causes))


def _takes_some(cause: Cause, then: Examined) -> bool:
    left = {refused.key for refused in then.on_cpu}
    return any(key not in left for key in cause.nodes)


_SIZES_TRIED = (32, 64, 128, 256)
"""Sizes that are tried for dimensions that the file leaves open."""
_INPUTS_TOLD = 3


def open_sizes_text(model: Model, target: Target, code: str, effort: Effort) -> str:
    """Return the change of open input sizes after which a target no longer refuses a model with a code, or "" if none is found.

    The first dimension of an input keeps its stored size. All other open dimensions get the same size. ``effort`` limits the
    number of sizes that are tried.
    """
    every = open_inputs(model)
    inputs = [tensor for tensor in every if -1 in (tensor.shape_signature or ())[1:]]
    for size in effort.limit(_SIZES_TRIED if inputs else ()):
        effort.spend(target.effort)
        shapes = {tensor.index: _with_size(tensor, size) for tensor in every}
        try:
            change = with_shapes(model, shapes, target.release)
            run = simulate_run(change.model, target)
        except DelegateSimError:
            return ""
        if run.refusal is None or run.refusal.code != code:
            result = result_words(Examined(run, change).cost)
            command = shapes_command(model, [(tensor.name, shapes[tensor.index]) for tensor in every])
            stored = ", ".join([f"{tensor.name} is stored as {list(tensor.shape)}" for tensor in inputs[:_INPUTS_TOLD]])
            return (
                f"the file leaves sizes open: {stored}. {command} fixes sizes, here with the "
                f"simulated result {result}. Or resize the inputs before you apply the delegate"
            )
    return ""


def _with_size(tensor: Tensor, size: int) -> tuple[int, ...]:
    signature = tensor.shape_signature or tensor.shape
    further = [size if given < 0 else given for given in signature[1:]]
    return (tensor.shape[0], *further)

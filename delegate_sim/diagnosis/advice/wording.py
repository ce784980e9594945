"""Wording of causes: the title, the found values, and the instructions for a fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...delegates.options import as_typed, option_value
from ...foundation.printable import counted
from ...graph.effort import Effort
from ...graph.graph import Graph, NodeView
from ...graph.reachability import no_weights_text, unassigned_variables
from ...hypothetical.fixed_inputs import computes_shapes, open_inputs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model, Tensor
from ...model.precompiled import COMPILED_OPERATORS
from ...prepare.preparation import prepare
from ...results.report.multiply_adds import multiply_adds
from ...rules.kinds import CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED, Hint, HintKind, Problem
from ...runtime.model_loading import first_loading_after, first_node, load_on
from ...runtime.resolver import highest_version
from ...versions.explanation import FEATURES, version_cause
from ..causes.cause import UNROLL, Cause, views_of
from ..causes.change import (
    FULLY_QUANTIZED,
    OF_RUNTIME,
    SUGGESTION_FOR,
    WITHOUT_OPTIONS,
    Advice,
    Change,
    ChangeKind,
    Remedy,
    continued,
    conversion_change,
    feature_change,
    general_change,
)
from ..causes.conversion_causes import OF_TYPES, form
from ..causes.whole_graph_causes import CHOOSING, CONTROL_FLOW, IN_APPLICATION, special_subject
from ..examiner import Examined, RefusedNode
from .commands import compiler_log_command, shapes_command
from .converter_settings import boundary_setting
from .layer_rewrites import may_help, rewriting
from .simulated_changes import open_sizes_text
from .surroundings import Others, Surroundings

_TOLD = 3
"""Number of names and values in a text."""
_NODES_TOLD = 10

_FORMS: Mapping[str, str] = {
    "float": "the model computes in float",
    "float16": "the weights are stored in float16",
    "dynamic-range": "the weights are quantized, but the activations are not (dynamic range quantization)",
    "int16": "the model is quantized with 16-bit data",
    "integer": "the model is quantized to integers",
}
_TAKEN: Mapping[str, str] = {
    "float": "float tensors",
    "int8": "8-bit integers",
    "int8-per-tensor": "8-bit integers with a single scale",
}

_LEAVE_TEXT = "the model only processes text, which delegates do not support: run it without a delegate"
_TEXT_NOT_SUPPORTED = "the model only processes text, which the runtime does not support: process text in the application"
_TEXT_TO_APPLICATION = "process text (such as splitting and looking up words) in the application, and pass numbers to the model"
_HOW_FIXED = (
    "in Keras, call the model on a keras.Input with batch_shape; in TensorFlow, use a concrete function whose tf.TensorSpec has "
    "no None; in PyTorch, export without dynamic shapes. The converter then computes everything that depends on the shapes"
)
_FIXED_IN_FILE = "fixes the sizes in the model file, without another conversion, but may keep nodes that a new conversion removes"
_UNKNOWN = "the result of this change is not known, because the converter will write other nodes"

UNROLLED: Mapping[str, str] = {
    "CALL": f"write the called function in place in the model's code; {_UNKNOWN}",
    "IF": "compute both branches and choose between them with tf.where, or let the application run the branches as separate "
    f"models; {_UNKNOWN}",
}
UNROLLED_LOOP = (
    "unroll the loop if its number of steps is known (unroll=True in Keras' recurrent layers), or let the application run "
    f"its body as a separate model; {_UNKNOWN}"
)

_OF_WAYS = {HintKind.CONVERSION: ChangeKind.CONVERSION, HintKind.RESHAPE: ChangeKind.RESHAPE, HintKind.OTHER: ChangeKind.OTHER}
"""The kind of change that each kind of hint asks for."""

_OF_WEIGHTS = frozenset({"READ_VARIABLE", "VAR_HANDLE"})
"""The operators that a conversion without weights writes in place of constants."""


class Wording(NamedTuple):
    """Writes the title, the found values and the instructions for one cause."""

    model: Model
    first: Examined
    """The run of the original model."""
    last: Examined
    """The run with all changes that the search for causes assumed: conversion, operator versions, and feature level."""
    surroundings: Surroundings
    """The position of nodes in the run ``last``."""
    cause: Cause
    """The cause, without its title and advice."""
    cases: Sequence[RefusedNode]
    effort: Effort
    """The limit on further simulations."""
    others: Others | None = None
    """An object that finds other delegates for the nodes. If it is None, the text does not name other delegates."""

    def worded(self, demanding: Collection[tuple[int, int]]) -> Cause:
        """Return the cause with its title and advice. ``demanding`` are the nodes with the features that raised a version."""
        title, advice = self._title_and_advice()
        if self._variables:
            advice = Advice("change-converter-setting", (Change(continued(no_weights_text(self._variables))),))
        elif self._is_registered and (setting := boundary_setting(views_of(self.model, self.cause.nodes))):
            end = "passes" if "input" in setting else "gets"
            text = f"{setting}: the application then {end} quantized numbers, and the converter does not write these nodes"
            advice = Advice("change-converter-setting", (Change(text),))
        elif self._is_of_lists:
            advice = Advice(UNROLL, (self._unrolled(),))
        elif sizes := self._open_sizes():
            advice = Advice(SUGGESTION_FOR[Problem.DYNAMIC_SHAPE], (Change(sizes),))
        return self.cause._replace(title=title, found=self._found(demanding), advice=advice)

    @property
    def _is_registered(self) -> bool:
        """Whether the cause is not that an application with a runtime of its own lacks the operator: it can register it."""
        return not (self.last.run.delegate.runs_whole_models and self.cause.identity.problem is Problem.OPERATOR)

    @property
    def _is_of_lists(self) -> bool:
        """Whether the whole graph is refused because of the type of a list of tensors, which only loops have."""
        refusal = self.first.run.refusal
        if refusal is None or refusal.tensor is None or refusal.code != self.cases[0].reason.code:
            return False
        subgraph = self.model.subgraphs[refusal.subgraph]
        is_of_type = self.cause.identity.problem in (*OF_TYPES, Problem.MODEL)
        return is_of_type and subgraph.tensors[refusal.tensor].type == "VARIANT"

    def _suggestion(self) -> str:
        """Return the kind of change. An option removes some refusals that have nothing to do with the level of a device."""
        problem, code = self.cause.identity.problem, self.cases[0].reason.code
        is_switch = problem is Problem.TARGET_LEVEL and self.last.run.delegate.kinds[code].problem in OF_TYPES
        return "set-option" if is_switch else SUGGESTION_FOR[problem]

    def _open_sizes(self) -> str:
        refusal, run = self.first.run.refusal, self.first.run
        if refusal is None or refusal.code != self.cases[0].reason.code:
            return ""
        is_of_sizes = refusal.code == CPU_KERNEL_NOT_PREPARED.name or run.delegate.kinds[refusal.code].problem is Problem.SHAPE
        return open_sizes_text(self.model, run.target, refusal.code, self.effort) if is_of_sizes else ""

    @property
    def _variables(self) -> int:
        """The number of variables without weights, if the cause has only operators that read weights."""
        return unassigned_variables(self.model) if all(op in _OF_WEIGHTS for op, _ in self.cause.operators) else 0

    def _title_and_advice(self) -> tuple[str, Advice]:
        problem, subject = self.cause.identity
        reason, remedy = self.cases[0].reason, self.cause.remedy
        code = self._suggestion()
        general = general_change(code)
        ops = _some([op for op, _ in self.cause.operators])
        match problem:
            case Problem.DYNAMIC_SHAPE:
                return self._of_sizes(code)
            case Problem.QUANTIZATION if subject[0] in _FORMS:
                are = "is" if len(self.cause.operators) == 1 else "are"
                title = f"{_FORMS[subject[0]]}, and {ops} {are} supported with {_TAKEN[remedy.conversion]}"
                return title, Advice(code, (conversion_change(remedy.conversion),))
            case Problem.OPERATOR_VERSION if all(code in FEATURES for code in subject):
                features = " and ".join([FEATURES[code].title for code in subject])
                raises = "a newer feature raises" if len(subject) == 1 else "newer features raise"
                changes = tuple(map(feature_change, subject))
                return f"{ops}: {raises} the version: {features}", Advice("change-converter-setting", changes)
            case Problem.OPERATOR_VERSION:
                versions = set(remedy.node_versions.values())
                code = "lower-version" if versions else SUGGESTION_FOR[Problem.OPERATOR]
                if versions and min(versions) > int(subject[-1]):
                    code = "raise-version"
                return f"{ops} at version {subject[-1]}", _general(code)
            case Problem.TARGET_LEVEL if remedy.options:
                title, advice = f"{ops}: needs {self._options()}", Advice(code, (self._changed_options(general),))
                if may_help(problem, self.first.run.target):
                    rewrites = self._rewrites()
                    code = SUGGESTION_FOR[Problem.OPERATOR] if rewrites else code
                    advice = Advice(code, (rewrites or Change(WITHOUT_OPTIONS[problem]), self._devices()))
                return title, advice
            case Problem.LIMIT:
                title = f"accepted, but a limit drops the partitions: {reason.message}"
                changes = (self._changed_options(general),) if remedy.options else self._hints() or (general,)
                return title, Advice(code, changes)
            case Problem.DRIVER if reason.kind == OF_RUNTIME:
                # No operator is at fault: the driver fails or is missing.
                return reason.message, Advice(code, self._hints(1) or (general,))
            case Problem.DRIVER:
                return f"{ops}: the driver rejects {reason.found}", self._operator(code)
            case Problem.OPERATOR:
                return self._special(ops) or (reason.message, self._operator(code))
            case Problem.RELEASE:
                return self._not_loaded(), self._release(code)
            case Problem.MODEL if subject[0] == OPERATOR_NOT_REGISTERED.name:
                return f"{_some(subject[1:])}: custom operators that are not registered", _general("register-operator")
            case Problem.MODEL:
                return reason.message, self._of_model(code)
        return f"{ops}: needs {reason.needed}", Advice(code, self._hints() or (general,))

    def _of_model(self, code: str) -> Advice:
        is_general = self.cause.identity.subject[0] == CPU_KERNEL_NOT_PREPARED.name
        views = self._views().values()
        if is_general and all(any(own.type == "FLOAT16" and not own.is_constant for own in view.inputs) for view in views):
            return _general("keep-float32")
        return Advice(code, (() if is_general else self._hints(1)) or (general_change(code),))

    def _of_sizes(self, code: str) -> tuple[str, Advice]:
        sized_by, reason = self.cause.remedy.sized_by, self.cases[0].reason
        match self.cause.identity.subject:
            case ("inputs",):
                shapes = [f"{tensor.name} {list(tensor.shape_signature or ())}" for tensor in open_inputs(self.model)]
                title = f"the model was converted with inputs of unknown size: {_some(shapes)}"
                return title, Advice(code, (self._fixed_inputs(is_loop=False),))
            case ("shapes",):
                first = self.model.subgraphs[0]
                sizes = _sizes([first.tensors[index] for index in first.inputs if index >= 0])
                title = "the model computes shapes at run time, although all input sizes are known"
                change = (
                    f"convert again with inputs of fixed sizes, such as {sizes}, because an older converter may have written "
                    f"these nodes for unknown sizes: {_HOW_FIXED}"
                )
                return title, Advice(code, (Change(change),))
        op = "" if sized_by is None else views_of(self.model, [sized_by])[0].op
        return reason.message, Advice(
            code, (Change(CHOOSING[op]),) if op in CHOOSING else (*self._hints(1), general_change(code))
        )

    def _special(self, ops: str) -> tuple[str, Advice] | None:
        views = views_of(self.model, [case.key for case in self.cases])
        own_ops = _some([view.op for view in views if special_subject(view) == self.cause.identity.subject])
        unroll, leave = UNROLL, "leave-to-application"
        nodes = sum([len(subgraph.nodes) for subgraph in self.model.subgraphs])
        match self.cause.identity.subject:
            case ("compiled", op):
                return f"{op} contains a program from {COMPILED_OPERATORS[op].compiler}", _general("analyse-source")
            case ("compile",):
                compiler = self.last.run.delegate.compiler
                return f"{ops}: not compiled with {compiler}", Advice("compile-model", (self._compilation(compiler),))
            case ("flex",):
                return f"{own_ops}: TensorFlow operators, which the converter did not replace", _general("avoid-flex")
            case ("lists",):
                return f"{own_ops}: a loop that stores its results in lists", Advice(unroll, (self._unrolled(),))
            case ("text",) if len(self.cause.remedy.removed_nodes) == nodes:
                title = "the whole model processes text"
                if self.last.run.delegate.runs_whole_models:
                    return title, Advice(leave, (Change(_TEXT_NOT_SUPPORTED),))
                return title, Advice("leave-on-cpu", (Change(_LEAVE_TEXT),))
            case ("text",):
                return f"{own_ops}: they process text", Advice(leave, (Change(_TEXT_TO_APPLICATION),))
            case ("control-flow", op):
                title = f"{op} is {CONTROL_FLOW[op]}, whose subgraphs are delegated separately"
                return title, Advice(unroll, (Change(UNROLLED.get(op, UNROLLED_LOOP)),))
            case ("application", op):
                change = Change(IN_APPLICATION[op], ChangeKind.APPLICATION)
                return f"{op} can be done by the application", Advice(leave, (change,))
        return None

    def _found(self, demanding: Collection[tuple[int, int]]) -> str:
        if self.cause.identity.problem is Problem.RELEASE:
            return self._not_loaded()
        values = "; ".join(list(dict.fromkeys([case.reason.found for case in self.cases]))[:_TOLD])
        if not demanding:
            return values
        places = [str(node) if not subgraph else f"{subgraph}:{node}" for subgraph, node in sorted(demanding)]
        more = f" and {len(places) - _NODES_TOLD:,} more" if len(places) > _NODES_TOLD else ""
        return (
            f"{values}, required by {counted(len(places), 'node')} ({', '.join(places[:_NODES_TOLD])}{more}); all nodes of the "
            "operator share the version in the file"
        )

    def _hints(self, count: int | None = None) -> tuple[Change, ...]:
        hints = [hint for hint in dict.fromkeys([case.reason.hint for case in self.cases[:count]]) if hint]
        usual = HintKind.CONVERSION if self.cause.identity.problem in OF_TYPES else HintKind.OTHER
        return tuple([Change(hint, _OF_WAYS[hint.way if isinstance(hint, Hint) else usual]) for hint in hints])

    def _changed_options(self, general: Change) -> Change:
        # A plugin that fails as a whole takes no operators at any feature level.
        hints = self._hints(1) if self.last.run.delegate.is_plugin else ()
        options, limits = self.cause.remedy.options, self.last.run.delegate.limits
        raised = options.get(limits.option, limits.unlimited)
        text = self._options()
        if self.cause.identity.problem is Problem.LIMIT and list(options.values())[-1] == 0:
            text += " (no limit)"
        if raised != limits.unlimited:
            text += f" but not more, because with {raised + 1} the delegate rejects the model"
        return Change(text, ChangeKind.OPTIONS, text, (*hints, general)[0].text, self.cause.remedy)

    def _options(self) -> str:
        limits, typed = self.last.run.delegate.limits, []
        for name, value in self.cause.remedy.options.items():
            partitions = max([case.reason.partitions for case in self.cases])
            if name == limits.option and value == limits.unlimited and partitions < limits.unlimited:
                # Some delegates have no value for "no limit", so the option is the number of partitions.
                typed.append(as_typed(self.last.run.delegate.options, name, f"{partitions} or more"))
            elif value is not None:
                typed.append(as_typed(self.last.run.delegate.options, name, option_value(value)))
        return " ".join(typed)

    def _unrolled(self) -> Change:
        return self._fixed_inputs(is_loop=True) if open_inputs(self.model) else Change(UNROLLED_LOOP)

    def _fixed_inputs(self, *, is_loop: bool) -> Change:
        inputs = open_inputs(self.model)
        only_batch = all(-1 not in (tensor.shape_signature or ())[1:] for tensor in inputs)
        how = "a fixed batch" if only_batch else "inputs of fixed sizes"
        told = [(tensor.name, tensor.shape) for tensor in inputs] if len(inputs) <= _TOLD else [("INPUT", ["SIZES"])]
        in_file = f"{shapes_command(self.model, told)} {_FIXED_IN_FILE}"
        further = f"At the same time, {UNROLLED_LOOP}" if is_loop else in_file
        return Change(f"convert with {how}, such as {_sizes(inputs)}: {_HOW_FIXED}. {further}")

    def _not_loaded(self) -> str:
        reasons = load_on(self.model, self.first.run.release).reasons
        return f"{reasons[0]}, and {len(reasons) - 1:,} more" if len(reasons) > 1 else reasons[0]

    def _release(self, code: str) -> Advice:
        """Return advice for loading the model: other releases, the registration of operators, and features to avoid."""
        target = self.first.run.release
        releases = " or ".join([f"{other} or later" for other in first_loading_after(self.model, target)])
        changes = [Change(f"use {releases} (see 'delegate-sim releases')")] if releases else []
        loading = load_on(self.model, target)
        if not loading.refused_tensors:
            changes.append(Change("register the operator in the application (--assume-ops-registered)"))
        place = first_node(self.model, loading.refused[0]) if loading.refused else None
        highest = highest_version(loading.refused[0].op, target) if loading.refused else None
        if place is not None and highest is not None:
            cause = version_cause(views_of(self.model, [NodeKey(*place)])[0], highest)
            changes += [feature_change(feature.code) for feature in cause.features]
        return Advice(code, tuple(changes) or (general_change("other-release"),), are_alternatives=True)

    def _operator(self, code: str) -> Advice:
        rewrites = self._rewrites()
        if self.last.run.delegate.runs_whole_models:
            return Advice(code, (*filter(None, [rewrites]), *self._hints()), are_alternatives=True)
        if rewrites is None and self._is_at_an_end():
            return _general("leave-on-cpu")
        others = self._other_delegates() if self.cause.identity.problem is Problem.OPERATOR else ()
        return Advice(code, (rewrites or general_change(code), *others))

    def _views(self) -> dict[str, NodeView]:
        return {view.op: view for view in views_of(self.model, [case.key for case in reversed(self.cases)])}

    def _rewrites(self) -> Change | None:
        views = self._views()
        rewrites = [(op, rewriting(views[op], self.first.run.target)) for op, _ in self.cause.operators if op in views]
        known = [f"{op} can be written as {way.words}" for op, way in rewrites if way is not None]
        remedy = self.cause.remedy if self.cause.remedy.accepts else None
        if self.cause.identity.problem is Problem.TARGET_LEVEL and len(known) == len(self.cause.operators):
            remedy = Remedy(accepts=True)
        return Change("; ".join(known), ChangeKind.LAYER, remedy=remedy) if known else None

    def _devices(self) -> Change:
        platform = self.last.run.delegate.behind.platform
        release = "" if platform is None else self.cause.remedy.options.get(platform.option, "")
        devices = f"{platform.key.capitalize()} {release} or later" if platform and release else "a higher feature level"
        text = f"devices with {devices} take the nodes: {self._options()}"
        return Change(text, ChangeKind.OPTIONS, self._options(), remedy=self.cause.remedy)

    def _compilation(self, compiler: str) -> Change:
        table = f"{compiler_log_command(self.model)} reads its table of operators"
        if any(subgraph.delegated for subgraph in self.first.run.subgraphs):
            return Change(f"{compiler} left these nodes to the CPU: {table}, which says why")
        steps = []
        # The delegate receives graphs before they are prepared.
        prepared = prepare(self.model, release=self.first.run.release)
        dynamic = [graph for graph in prepared if graph.dynamic is not None]
        if dynamic or computes_shapes(self.model):
            # https://coral.ai/docs/edgetpu/models-intro: "Tensor sizes are constant at compile-time (no dynamic sizes)".
            is_open = not dynamic or bool(open_inputs(self.model))
            sizes = "fix the input sizes (fix --shape)" if is_open else f"make {_first_dynamic(dynamic[0])} constant"
            steps.append(f"{sizes}, as {compiler} takes no computed sizes")
        if form(self.model) != "integer":
            steps.append(FULLY_QUANTIZED)
        first = "".join([f"{step}; then " for step in steps])
        return Change(f"{first}compile the model with {compiler}, which is not simulated ({table})")

    def _is_at_an_end(self) -> bool:
        if any(map(multiply_adds, self._views().values())) or not any(own.delegated for own in self.last.run.subgraphs):
            return False
        return self.surroundings.is_at_an_end({case.key for case in self.cases})

    def _other_delegates(self) -> Iterator[Change]:
        if self.others is not None and not self._variables:
            names = tuple(self.others.taking({case.key for case in self.cases}, [op for op, _ in self.cause.operators]))
            if names:
                taken = _some([op for op, _ in self.cause.operators])
                yield Change(f"other delegates that take {taken}: {', '.join(names)}", ChangeKind.DELEGATE)


def _first_dynamic(graph: Graph) -> str:
    """Return the first tensor with a size that is known only at run time, or the operand that makes the size unknown."""
    assert graph.dynamic is not None
    dynamic = graph.dynamic
    if dynamic.cause is not None and dynamic.node is not None:
        return f"tensor {dynamic.cause} ({graph.nodes[dynamic.node].op} {dynamic.node} reads it)"
    return f"the size of tensor {dynamic.tensor}"


def _general(code: str) -> Advice:
    return Advice(code, (general_change(code),))


def _some(names: Iterable[str]) -> str:
    different = list(dict.fromkeys(names))
    return ", ".join(different[:_TOLD]) + (", ..." if len(different) > _TOLD else "")


def _sizes(inputs: Sequence[Tensor]) -> str:
    return ", ".join([f"{tensor.name} {list(tensor.shape)}" for tensor in inputs[:_TOLD]])

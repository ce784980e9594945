"""Wording of causes: the title, the found values, and the instructions for a fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...delegates.options import as_typed
from ...foundation.printable import counted
from ...graph.graph import NodeView, file_graphs
from ...graph.unassigned_variables import no_weights_text, unassigned_variables
from ...hypothetical.fixed_inputs import open_inputs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model, Tensor
from ...model.precompiled import COMPILED_OPERATORS
from ...results.report.multiply_adds import multiply_adds
from ...rules.hints import Hint, Way
from ...rules.kinds import CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED, Problem
from ...runtime.model_loading import first_node, load_on
from ...runtime.resolver import highest_version
from ...versions.explanation import version_cause
from ...versions.features import FEATURES
from ..causes.cause import Cause
from ..causes.change import Advice, Change, ChangeKind, Remedy
from ..causes.change_words import (
    UNROLLED,
    UNROLLED_LOOP,
    WITHOUT_OPTIONS,
    compile_text,
    continued,
    conversion_change,
    devices_text,
    feature_change,
    fix_inputs_text,
    fix_shapes_text,
    general_change,
    limits_text,
    sizes_text,
)
from ..causes.conversion_causes import OF_TYPES, form
from ..causes.evidence import RefusedCase
from ..causes.undelegatable_nodes import CHOOSING, CONTROL_FLOW, IN_APPLICATION, special_subject
from ..causes.whole_graph_causes import releases_that_load
from ..examiner import Examined
from .change_kinds import OF_RUNTIME, SUGGESTION_FOR
from .layer_rewrites import may_help, rewrite
from .other_delegates import Others
from .surroundings import Surroundings

_FINDINGS_TOLD = 3
_NODES_TOLD = 10
_INPUTS_TOLD = 3

_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "float": "the model computes in float",
        "float16": "the weights are stored in float16",
        "dynamic-range": "the weights are quantized, but the activations are not (dynamic range quantization)",
        "int16": "the model is quantized with 16-bit data",
        "integer": "the model is quantized to integers",
    }
)
_TAKEN: Mapping[str, str] = MappingProxyType(
    {"float": "float tensors", "int8": "8-bit integers", "int8-per-tensor": "8-bit integers with a single scale"}
)


_REGISTER = "register-operator"
_LEAVE_TEXT = "the model only processes text, which delegates do not support: run it without a delegate"
_TEXT_TO_APPLICATION = "process text (such as splitting and looking up words) in the application, and pass numbers to the model"
_OF_WAYS = {Way.CONVERSION: ChangeKind.CONVERSION, Way.RESHAPE: ChangeKind.RESHAPE, Way.OTHER: ChangeKind.OTHER}
"""The kind of change that each kind of hint asks for."""

_OF_WEIGHTS = frozenset({"READ_VARIABLE", "VAR_HANDLE"})
"""The operators that a conversion without weights writes in place of constants."""


@dataclass(frozen=True, slots=True)
class Wording:
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
    cases: Sequence[RefusedCase]
    others: Others | None = None
    """An object that finds other delegates for the nodes. If it is None, the text does not name other delegates."""

    @property
    def _ops(self) -> str:
        return ", ".join([op for op, _ in self.cause.operators[:3]]) + (", ..." if len(self.cause.operators) > 3 else "")

    def title(self) -> str:
        """Return a short title of the cause."""
        problem, subject = self.cause.identity
        reason = self.cases[0].reason
        special = self._special_title()
        if special:
            return special
        match problem:
            case Problem.DYNAMIC_SHAPE if subject == ("inputs",):
                return f"the model was converted with inputs of unknown size: {_named_inputs(open_inputs(self.model))}"
            case Problem.DYNAMIC_SHAPE if subject == ("shapes",):
                return "the model computes shapes at run time, although all input sizes are known"
            case Problem.QUANTIZATION if subject[0] in _FORMS:
                are = "is" if len(self.cause.operators) == 1 else "are"
                return f"{_FORMS[subject[0]]}, and {self._ops} {are} supported with {_TAKEN[self.cause.remedy.conversion]}"
            case Problem.RELEASE:
                return self._not_loaded()
            case Problem.MODEL if subject[0] == OPERATOR_NOT_REGISTERED.name:
                more = ", ..." if len(subject) > 1 + _FINDINGS_TOLD else ""
                return f"{', '.join(subject[1 : 1 + _FINDINGS_TOLD])}{more}: custom operators that are not registered"
            case Problem.DYNAMIC_SHAPE | Problem.OPERATOR | Problem.MODEL:
                return reason.message
            case Problem.OPERATOR_VERSION if all(code in FEATURES for code in subject):
                features = " and ".join([FEATURES[code].title for code in subject])
                raises = "a newer feature raises" if len(subject) == 1 else "newer features raise"
                return f"{self._ops}: {raises} the version: {features}"
            case Problem.OPERATOR_VERSION:
                return f"{self._ops} at version {subject[-1]}"
            case Problem.DRIVER if reason.kind == OF_RUNTIME:
                return reason.message
            case Problem.DRIVER:
                return f"{self._ops}: the driver rejects {reason.found}"
            case Problem.TARGET_LEVEL if self.cause.remedy.options:
                return f"{self._ops}: needs {self._options()}"
            case Problem.LIMIT:
                return f"accepted, but a limit drops the partitions: {reason.message}"
        return f"{self._ops}: needs {reason.needed}"

    def _special_title(self) -> str:
        problem, subject = self.cause.identity
        if problem is not Problem.OPERATOR:
            return ""
        match subject:
            case ("compiled", op):
                return f"{op} contains a program from {COMPILED_OPERATORS[op].compiler}"
            case ("compile",):
                return f"{self._ops}: not compiled with {self.last.run.delegate.compiler}"
            case ("flex",):
                return f"{self._own_ops}: TensorFlow operators that have no TensorFlow Lite equivalent"
            case ("lists",):
                return f"{self._own_ops}: a loop that stores its results in lists"
            case ("text",) if self._is_all_text():
                return "the whole model processes text"
            case ("text",):
                return f"{self._own_ops}: they process text"
            case ("control-flow", op):
                return f"{op} is {CONTROL_FLOW[op]}, whose subgraphs are delegated separately"
            case ("application", op):
                return f"{op} can be done by the application"
        return ""

    @property
    def _own_ops(self) -> str:
        """Return the names of the operators in the subject of the cause. The cause may also include nodes of other operators."""
        views = [self._view(case.key) for case in self.cases]
        own = dict.fromkeys([view.op for view in views if special_subject(view) == self.cause.identity.subject])
        return ", ".join(list(own)[:_FINDINGS_TOLD]) + (", ..." if len(own) > _FINDINGS_TOLD else "")

    def _is_all_text(self) -> bool:
        return len(self.cause.remedy.removed_nodes) == sum([len(graph.nodes) for graph in file_graphs(self.model)])

    def found(self, demanding: Collection[tuple[int, int]]) -> str:
        """Describe the found values. ``demanding`` are the nodes with the features that raised a version."""
        if self.cause.identity.problem is Problem.RELEASE:
            return self._not_loaded()
        values = "; ".join(list(dict.fromkeys([case.reason.found for case in self.cases]))[:_FINDINGS_TOLD])
        if not demanding:
            return values
        places = [str(node) if not subgraph else f"{subgraph}:{node}" for subgraph, node in sorted(demanding)]
        more = f" and {len(places) - _NODES_TOLD:,} more" if len(places) > _NODES_TOLD else ""
        return (
            f"{values}, required by {counted(len(places), 'node')} ({', '.join(places[:_NODES_TOLD])}{more}); all nodes of the "
            "operator share the version in the file"
        )

    def advice(self) -> Advice:
        """Return what to change for this cause."""
        problem, subject = self.cause.identity
        code = SUGGESTION_FOR[problem]
        general = general_change(code)
        if all(op in _OF_WEIGHTS for op, _ in self.cause.operators) and (variables := unassigned_variables(self.model)):
            return Advice("change-converter-setting", (Change(continued(no_weights_text(variables))),))
        match problem:
            case Problem.DYNAMIC_SHAPE if subject == ("inputs",):
                return Advice(code, (self._fixed_inputs(is_loop=False),))
            case Problem.DYNAMIC_SHAPE if subject == ("shapes",):
                return Advice(code, (Change(fix_shapes_text(_sizes(self._inputs()))),))
            case Problem.DYNAMIC_SHAPE if self._chooser() in CHOOSING:
                return Advice(code, (Change(CHOOSING[self._chooser()]),))
            case Problem.DYNAMIC_SHAPE:
                return Advice(code, (*self._hints(1), general))
            case Problem.QUANTIZATION if subject[0] in _FORMS:
                return Advice(code, (conversion_change(self.cause.remedy.conversion),))
            case Problem.OPERATOR_VERSION:
                return self._version()
            case Problem.TARGET_LEVEL if may_help(problem, self.first.run.target) and self.cause.remedy.options:
                rewrites = self._rewrites()
                instead = rewrites or Change(WITHOUT_OPTIONS[problem])
                return Advice(SUGGESTION_FOR[Problem.OPERATOR] if rewrites else code, (instead, self._devices()))
            case Problem.TARGET_LEVEL | Problem.LIMIT if self.cause.remedy.options:
                return Advice(code, (self._changed_options(general),))
            case Problem.DRIVER if self.cases[0].reason.kind == OF_RUNTIME:
                # No operator is at fault: the driver fails or is missing.
                return Advice(code, self._hints(1) or (general,))
            case Problem.OPERATOR | Problem.DRIVER:
                return self._operator(code)
            case Problem.RELEASE:
                return self._release(code)
            case Problem.MODEL if subject[0] == OPERATOR_NOT_REGISTERED.name:
                return _general(_REGISTER)
            case Problem.MODEL:
                is_general = subject[0] == CPU_KERNEL_NOT_PREPARED.name
                return Advice(code, (() if is_general else self._hints(1)) or (general,))
        return Advice(code, self._hints() or (general,))

    def _hints(self, count: int | None = None) -> tuple[Change, ...]:
        """Return the different hints of the first ``count`` cases."""
        hints = [hint for hint in dict.fromkeys([case.reason.hint for case in self.cases[:count]]) if hint]
        usual = Way.CONVERSION if self.cause.identity.problem in OF_TYPES else Way.OTHER
        return tuple([Change(hint, _OF_WAYS[hint.way if isinstance(hint, Hint) else usual]) for hint in hints])

    def _changed_options(self, general: Change) -> Change:
        # A plugin that fails as a whole takes no operators at any feature level.
        hints = self._hints(1) if self.last.run.delegate.is_plugin else ()
        values = [value for _, value in self._option_values()]
        is_lifted = self.cause.identity.problem is Problem.LIMIT and values[-1:] == ["0"]
        text = limits_text(self._options(), is_lifted, self._bound())
        return Change(text, ChangeKind.OPTIONS, text, (*hints, general)[0].text, self.cause.remedy)

    def _options(self) -> str:
        """Return the options that remove the cause, in the form of the command line."""
        declared = self.last.run.delegate.options
        return " ".join([as_typed(declared, name, value) for name, value in self._option_values()])

    def _option_values(self) -> list[tuple[str, str]]:
        """Return the names and values of the options that remove the cause."""
        limits = self.last.run.delegate.limits
        values = []
        for name, value in self.cause.remedy.options.items():
            partitions = limits.unlimited
            if name == limits.option and value == limits.unlimited:
                partitions = max([case.reason.partitions for case in self.cases])
            # Some delegates have no value for "no limit", so the option is the number of partitions.
            if value is not None:
                values.append((name, f"{partitions} or more" if partitions < limits.unlimited else str(value)))
        return values

    def _bound(self) -> int | None:
        """Return the largest safe limit on partitions, or None if the limit is lifted."""
        limits = self.last.run.delegate.limits
        raised: int = self.cause.remedy.options.get(limits.option, limits.unlimited)
        return None if raised == limits.unlimited else raised

    def _fixed_inputs(self, *, is_loop: bool) -> Change:
        inputs = open_inputs(self.model)
        only_batch = all(-1 not in (tensor.shape_signature or ())[1:] for tensor in inputs)
        return Change(fix_inputs_text(_sizes(inputs), only_batch, is_loop))

    def _chooser(self) -> str:
        """Return the operator whose result has the unknown size, or an empty string."""
        return "" if self.cause.remedy.sized_by is None else self._view(self.cause.remedy.sized_by).op

    def _inputs(self) -> list[Tensor]:
        first = self.model.subgraphs[0]
        return [first.tensors[index] for index in first.inputs if index >= 0]

    def _not_loaded(self) -> str:
        """Return the first operator or type that the release cannot load.

        The text also has the number of further operators and types.
        """
        reasons = load_on(self.model, self.first.run.release).reasons
        return f"{reasons[0]}, and {len(reasons) - 1:,} more" if len(reasons) > 1 else reasons[0]

    def _release(self, code: str) -> Advice:
        """Return advice for loading the model: other releases, the registration of operators, and features to avoid."""
        target = self.first.run.release
        releases = releases_that_load(self.model, target)
        changes = [Change(f"use {releases} (see 'delegate-sim releases')")] if releases else []
        loading = load_on(self.model, target)
        if not loading.refused_tensors:
            changes.append(Change("register the operator in the application (--assume-ops-registered)"))
        place = first_node(self.model, loading.refused[0]) if loading.refused else None
        highest = highest_version(loading.refused[0].op, target) if loading.refused else None
        if place is not None and highest is not None:
            cause = version_cause(self._view(NodeKey(*place)), highest)
            changes += [feature_change(feature.code) for feature in cause.features]
        return Advice(code, tuple(changes) or (general_change("other-release"),), are_alternatives=True)

    def _version(self) -> Advice:
        subject = self.cause.identity.subject
        if all(code in FEATURES for code in subject):
            return Advice("change-converter-setting", tuple(map(feature_change, subject)))
        versions = set(self.cause.remedy.node_versions.values())
        if versions and min(versions) > int(subject[-1]):
            code = "raise-version"
        else:
            code = "lower-version" if versions else SUGGESTION_FOR[Problem.OPERATOR]
        return _general(code)

    def _operator(self, code: str) -> Advice:
        match self.cause.identity.subject:
            case ("compiled", _):
                return _general("analyse-source")
            case ("compile",):
                return Advice("compile-model", (self._compilation(),))
            case ("flex",):
                return _general("avoid-flex")
            case ("lists",) if open_inputs(self.model):
                return Advice("unroll-control-flow", (self._fixed_inputs(is_loop=True),))
            case ("lists",):
                return Advice("unroll-control-flow", (Change(UNROLLED_LOOP),))
            case ("text",) if self._is_all_text():
                return Advice("leave-on-cpu", (Change(_LEAVE_TEXT),))
            case ("text",):
                return Advice("leave-to-application", (Change(_TEXT_TO_APPLICATION),))
            case ("control-flow", op):
                return Advice("unroll-control-flow", (Change(UNROLLED.get(op, UNROLLED_LOOP)),))
            case ("application", op):
                return Advice("leave-to-application", (Change(IN_APPLICATION[op], ChangeKind.APPLICATION),))
        rewrites = self._rewrites()
        if rewrites is None and self._is_at_an_end(self._views().values()):
            return _general("leave-on-cpu")
        others = self._other_delegates() if self.cause.identity.problem is Problem.OPERATOR else ()
        return Advice(code, (rewrites or general_change(code), *others))

    def _views(self) -> dict[str, NodeView]:
        """Return the first node of each operator."""
        return {case.op: self._view(case.key) for case in reversed(self.cases)}

    def _rewrites(self) -> Change | None:
        """Return other ways to write the operators, if the target takes all operators of these ways."""
        views = self._views()
        rewrites = [(op, rewrite(views[op], self.first.run.target)) for op, _ in self.cause.operators if op in views]
        known = [f"{op} can be written as {words}" for op, words in rewrites if words]
        remedy = self.cause.remedy if self.cause.remedy.accepts else None
        if self.cause.identity.problem is Problem.TARGET_LEVEL and len(known) == len(self.cause.operators):
            remedy = Remedy(accepts=True)
        return Change("; ".join(known), ChangeKind.LAYER, remedy=remedy) if known else None

    def _devices(self) -> Change:
        """Return the options for devices that have the feature level of the remedy."""
        platform = self.last.run.delegate.behind.platform
        release = "" if platform is None else self.cause.remedy.options.get(platform.option, "")
        name = "" if platform is None else platform.key.capitalize()
        text = devices_text(name, release, self._options())
        return Change(text, ChangeKind.OPTIONS, self._options(), remedy=self.cause.remedy)

    def _compilation(self) -> Change:
        """Return the change for nodes that run on the delegate only after they are compiled.

        The result of a compilation is not simulated.
        """
        is_compiled = any(subgraph.delegated for subgraph in self.first.run.subgraphs)
        return Change(compile_text(self.last.run.delegate.compiler, is_compiled, form(self.model) == "integer"))

    def _view(self, key: NodeKey) -> NodeView:
        graph = file_graphs(self.model)[key.subgraph]
        return graph.view(graph.nodes[key.node])

    def _is_at_an_end(self, views: Iterable[NodeView]) -> bool:
        """Return whether the nodes have no multiply-adds and are at the model's start or end."""
        if any(multiply_adds(view) for view in views) or not any(subgraph.delegated for subgraph in self.last.run.subgraphs):
            return False
        return self.surroundings.is_at_an_end({case.key for case in self.cases})

    def _other_delegates(self) -> Iterator[Change]:
        """Yield a note that names the other delegates that take all nodes of the cause."""
        if self.others is not None:
            names = tuple(self.others.taking({case.key for case in self.cases}, [op for op, _ in self.cause.operators]))
            if names:
                yield Change(f"other delegates that take {self._ops}: {', '.join(names)}")


def _general(code: str) -> Advice:
    return Advice(code, (general_change(code),))


def _sizes(tensors: Sequence[Tensor]) -> str:
    return sizes_text([(tensor.name, tensor.shape) for tensor in tensors])


def _named_inputs(tensors: Sequence[Tensor]) -> str:
    named = [f"{tensor.name} {list(tensor.shape_signature or ())}" for tensor in tensors[:_INPUTS_TOLD]]
    return ", ".join(named) + (", ..." if len(tensors) > _INPUTS_TOLD else "")

"""Wording of causes: the title, the found values, and the instructions for a fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...delegates.options import as_typed
from ...foundation.printable import counted
from ...graph.graph import NodeView, file_graphs
from ...graph.unassigned_variables import no_weights
from ...hypothetical.fixed_inputs import open_inputs
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model, Tensor
from ...model.precompiled import COMPILED_OPERATORS
from ...results.report.multiply_adds import multiply_adds
from ...rules.kinds import CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED, Problem
from ...rules.rule import Reason
from ...runtime.model_loading import first_node, load_on
from ...runtime.resolver import highest_version
from ...versions.explanation import version_cause
from ...versions.features import FEATURES
from ..causes.cause import Identity, Remedy
from ..causes.conversion_causes import form
from ..causes.undelegatable_nodes import CHOOSING, CONTROL_FLOW, IN_APPLICATION, special_subject
from ..causes.whole_graph_causes import releases_that_load
from ..examiner import Examined
from .alternatives import CONVERSION_WORDS, FULLY_QUANTIZED, INSTEAD_OF_OPTIONS, SUPPORTED_BY, TAKE_NODES, WRITTEN_AS
from .change_kinds import OF_RUNTIME, SUGGESTION_FOR, SUGGESTIONS
from .layer_rewrites import may_help, rewrite
from .other_delegates import Others
from .surroundings import Surroundings

_FINDINGS_TOLD = 3
_NODES_TOLD = 10
_INPUTS_TOLD = 3

_HOW_FIXED = (
    "in Keras, call the model on a keras.Input with batch_shape; in TensorFlow, use a concrete function whose tf.TensorSpec has "
    "no None; in PyTorch, export without dynamic shapes. The converter then computes everything that depends on the shapes"
)

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

_UNKNOWN = "the result of this change is not known, because the converter will write other nodes"
_UNROLLED = (
    "unroll the loop if its number of steps is known (unroll=True in Keras' recurrent layers), or let the application run "
    f"its body as a separate model; {_UNKNOWN}"
)
_CONTROL_FLOW_CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "CALL": f"write the called function in place in the model's code; {_UNKNOWN}",
        "IF": "compute both branches and choose between them with tf.where, or let the application run the "
        f"branches as separate models; {_UNKNOWN}",
    }
)
"""Instructions for replacing operators that run subgraphs. No simulation shows the result."""

_OF_WEIGHTS = frozenset({"READ_VARIABLE", "VAR_HANDLE"})
"""The operators that a conversion without weights writes in place of constants."""

_FIXED_IN_FILE = (
    "delegate-sim fix --shape INPUT=SIZES fixes the sizes in the model file, without another conversion, but may keep nodes that "
    "a new conversion removes"
)


@dataclass(frozen=True, slots=True)
class RefusedCase:
    """A refused node of the model file, with one of its refusals."""

    key: NodeKey
    op: str
    reason: Reason


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
    identity: Identity
    operators: Sequence[tuple[str, int]]
    cases: Sequence[RefusedCase]
    remedy: Remedy
    others: Others | None = None
    """An object that finds other delegates for the nodes. If it is None, the text does not name other delegates."""

    @property
    def _ops(self) -> str:
        return ", ".join([op for op, _ in self.operators[:3]]) + (", ..." if len(self.operators) > 3 else "")

    def title(self) -> str:
        """Return a short title of the cause."""
        problem, subject = self.identity
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
                are = "is" if len(self.operators) == 1 else "are"
                return f"{_FORMS[subject[0]]}, and {self._ops} {are} supported with {_TAKEN[self.remedy.conversion]}"
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
            case Problem.TARGET_LEVEL:
                return f"{self._ops}: needs {self._options()}"
            case Problem.LIMIT:
                return f"accepted, but a limit drops the partitions: {reason.message}"
        return f"{self._ops}: needs {reason.needed}"

    def _special_title(self) -> str:
        problem, subject = self.identity
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
        own = dict.fromkeys([view.op for view in views if special_subject(view) == self.identity.subject])
        return ", ".join(list(own)[:_FINDINGS_TOLD]) + (", ..." if len(own) > _FINDINGS_TOLD else "")

    def _is_all_text(self) -> bool:
        return len(self.remedy.removed_nodes) == sum([len(graph.nodes) for graph in file_graphs(self.model)])

    def found(self, demanding: Collection[tuple[int, int]]) -> str:
        """Describe the found values. ``demanding`` are the nodes with the features that raised a version."""
        if self.identity.problem is Problem.RELEASE:
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

    def suggestion(self) -> tuple[str, str]:
        """Return the code of the suggestion, and the instructions for this cause."""
        problem, subject = self.identity
        code = SUGGESTION_FOR[problem]
        general = SUGGESTIONS[code].change
        if all(op in _OF_WEIGHTS for op, _ in self.operators) and (warning := no_weights(self.model)):
            return "change-converter-setting", f"{warning[0].lower()}{warning[1:]}"
        match problem:
            case Problem.DYNAMIC_SHAPE if subject == ("inputs",):
                return code, f"{self._fixed_inputs()}. {_FIXED_IN_FILE}"
            case Problem.DYNAMIC_SHAPE if subject == ("shapes",):
                return code, self._known_shapes()
            case Problem.DYNAMIC_SHAPE if op := self._chooser():
                return code, CHOOSING[op]
            case Problem.DYNAMIC_SHAPE:
                return code, "; ".join([hint for hint in (self.cases[0].reason.hint, general) if hint])
            case Problem.QUANTIZATION if subject[0] in _FORMS:
                return code, CONVERSION_WORDS[self.remedy.conversion].change
            case Problem.OPERATOR_VERSION:
                return self._version()
            case Problem.TARGET_LEVEL if may_help(problem, self.first.run.target) and (options := self._options()):
                own = self._rewrites()
                instead = "; ".join(own) or INSTEAD_OF_OPTIONS[problem]
                return SUGGESTION_FOR[Problem.OPERATOR] if own else code, f"{instead}; {self._devices()}{TAKE_NODES}{options}"
            case Problem.TARGET_LEVEL | Problem.LIMIT if options := self._options():
                # A plugin that fails as a whole takes no operators at any feature level.
                fails = self.last.run.delegate.is_plugin and self.cases[0].reason.hint
                lifted = " (no limit)" if problem is Problem.LIMIT and options.endswith("=0") else ""
                return code, f"{options}{lifted}{self._bound()}: {fails or general}"
            case Problem.DRIVER if self.cases[0].reason.kind == OF_RUNTIME:
                # No operator is at fault: the driver fails or is missing.
                return code, self.cases[0].reason.hint or general
            case Problem.OPERATOR | Problem.DRIVER:
                return self._operator(code)
            case Problem.RELEASE:
                return code, self._release()
            case Problem.MODEL if subject[0] == OPERATOR_NOT_REGISTERED.name:
                return _REGISTER, SUGGESTIONS[_REGISTER].change
            case Problem.MODEL:
                return code, general if subject[0] == CPU_KERNEL_NOT_PREPARED.name else self.cases[0].reason.hint or general
        return code, "; ".join(dict.fromkeys([case.reason.hint for case in self.cases if case.reason.hint])) or general

    def _options(self) -> str:
        """Return the options that remove the cause, in the form of the command line."""
        delegate = self.last.run.delegate
        limits = delegate.limits
        texts = []
        for name, _, value in [option.partition("=") for option in self.identity.subject]:
            partitions = limits.unlimited
            if name == limits.option and value == str(limits.unlimited):
                partitions = limited_partitions([case.reason for case in self.cases])
            # Some delegates have no value for "no limit", so the option is the number of partitions.
            text = f"{partitions} or more" if partitions < limits.unlimited else value
            texts.append(as_typed(delegate.options, name, text))
        return " ".join(texts)

    def _bound(self) -> str:
        """Return a phrase with the largest safe limit on partitions. The phrase is empty if the limit is lifted."""
        limits = self.last.run.delegate.limits
        raised = self.remedy.options.get(limits.option, limits.unlimited)
        return "" if raised == limits.unlimited else f" but not more, because with {raised + 1} the delegate rejects the model"

    def _fixed_inputs(self) -> str:
        inputs = open_inputs(self.model)
        only_batch = all(-1 not in (tensor.shape_signature or ())[1:] for tensor in inputs)
        how = "a fixed batch" if only_batch else "inputs of fixed sizes"
        return f"convert with {how}, such as {_sizes(inputs)}: {_HOW_FIXED}"

    def _chooser(self) -> str:
        """Return the operator that selects elements by value, or an empty string.

        Values decide the size of the operator's result.
        """
        for place in self.identity.subject:
            subgraph, _, node = place.partition(":")
            if subgraph.isdecimal() and node.isdecimal():
                op = self._view(NodeKey(int(subgraph), int(node))).op
                return op if op in CHOOSING else ""
        return ""

    def _known_shapes(self) -> str:
        first = self.model.subgraphs[0]
        inputs = [first.tensors[index] for index in first.inputs if index >= 0]
        return (
            f"convert again with inputs of fixed sizes, such as {_sizes(inputs)}, because an older converter may have written "
            f"these nodes for unknown sizes: {_HOW_FIXED}"
        )

    def _not_loaded(self) -> str:
        """Return the first operator or type that the release cannot load.

        The text also has the number of further operators and types.
        """
        first, _, _ = self.cases[0].reason.message.partition("; ")
        more = len(load_on(self.model, self.first.run.release).reasons) - 1
        return f"{first}, and {more:,} more" if more > 0 else first

    def _release(self) -> str:
        """Return instructions for loading the model.

        They name other releases, the registration of operators, and features to avoid in the conversion.
        """
        target = self.first.run.release
        releases = releases_that_load(self.model, target)
        ways = [f"use {releases} (see 'delegate-sim releases')"] if releases else []
        loading = load_on(self.model, target)
        if not loading.refused_tensors:
            ways.append("register the operator in the application (--assume-ops-registered)")
        place = first_node(self.model, loading.refused[0]) if loading.refused else None
        highest = highest_version(loading.refused[0].op, target) if loading.refused else None
        if place is not None and highest is not None:
            cause = version_cause(self._view(NodeKey(*place)), highest)
            ways += [FEATURES[feature.code].advice for feature in cause.features]
        return "; or ".join(ways) or SUGGESTIONS["other-release"].change

    def _version(self) -> tuple[str, str]:
        subject = self.identity.subject
        if all(code in FEATURES for code in subject):
            return "change-converter-setting", "; ".join([FEATURES[code].advice for code in subject])
        versions = set(self.remedy.node_versions.values())
        if versions and min(versions) > int(subject[-1]):
            code = "raise-version"
        else:
            code = "lower-version" if versions else SUGGESTION_FOR[Problem.OPERATOR]
        return code, SUGGESTIONS[code].change

    def _operator(self, code: str) -> tuple[str, str]:
        match self.identity.subject:
            case ("compiled", _):
                return "analyse-source", SUGGESTIONS["analyse-source"].change
            case ("compile",):
                return "compile-model", self._compilation()
            case ("flex",):
                return "avoid-flex", SUGGESTIONS["avoid-flex"].change
            case ("lists",) if open_inputs(self.model):
                return "unroll-control-flow", f"{self._fixed_inputs()}. At the same time, {_UNROLLED}"
            case ("lists",):
                return "unroll-control-flow", _UNROLLED
            case ("text",) if self._is_all_text():
                return "leave-on-cpu", "the model only processes text, which delegates do not support: run it without a delegate"
            case ("text",):
                return (
                    "leave-to-application",
                    "process text (such as splitting and looking up words) in the application, and pass numbers to the model",
                )
            case ("control-flow", op):
                return "unroll-control-flow", _CONTROL_FLOW_CHANGES.get(op, _UNROLLED)
            case ("application", op):
                return "leave-to-application", IN_APPLICATION[op]
        own = self._rewrites()
        if not own and self._is_at_an_end(self._views().values()):
            return "leave-on-cpu", SUGGESTIONS["leave-on-cpu"].change
        others = self._other_delegates() if self.identity.problem is Problem.OPERATOR else ()
        return code, "; ".join([*(own or [SUGGESTIONS[code].change]), *others])

    def _views(self) -> dict[str, NodeView]:
        """Return the first node of each operator."""
        return {case.op: self._view(case.key) for case in reversed(self.cases)}

    def _rewrites(self) -> list[str]:
        """Return other ways to write the operators, if the target takes all operators of these ways."""
        views = self._views()
        rewrites = [(op, rewrite(views[op], self.first.run.target)) for op, _ in self.operators if op in views]
        return [f"{op} {WRITTEN_AS} {words}" for op, words in rewrites if words]

    def _devices(self) -> str:
        """Describe the devices that have the feature level of the remedy."""
        platform = self.last.run.delegate.behind.platform
        release = "" if platform is None else self.remedy.options.get(platform.option, "")
        if platform is None or not release:
            return "devices with a higher feature level"
        return f"devices with {platform.key.capitalize()} {release} or later"

    def _compilation(self) -> str:
        """Return instructions for nodes that run on the delegate only after they are compiled.

        The result of a compilation is not simulated.
        """
        compiler = self.last.run.delegate.compiler
        table = "delegate-sim reconcile MODEL --log FILE reads its table of operators"
        if any(subgraph.delegated for subgraph in self.first.run.subgraphs):
            return f"{compiler} left these nodes to the CPU: {table}, which says why"
        first = "" if form(self.model) == "integer" else f"{FULLY_QUANTIZED}; then "
        return f"{first}compile the model with {compiler}, which is not simulated ({table})"

    def _view(self, key: NodeKey) -> NodeView:
        graph = file_graphs(self.model)[key.subgraph]
        return graph.view(graph.nodes[key.node])

    def _is_at_an_end(self, views: Iterable[NodeView]) -> bool:
        """Return whether the nodes have no multiply-adds and are at the model's start or end."""
        if any(multiply_adds(view) for view in views) or not any(subgraph.delegated for subgraph in self.last.run.subgraphs):
            return False
        return self.surroundings.is_at_an_end({case.key for case in self.cases})

    def _other_delegates(self) -> Iterator[str]:
        """Yield a text that names the other delegates that take all nodes of the cause."""
        if self.others is not None:
            names = list(self.others.taking({case.key for case in self.cases}, [op for op, _ in self.operators]))
            if names:
                yield f"{SUPPORTED_BY} {self._ops}: {', '.join(names)}"


def limited_partitions(reasons: Iterable[Reason]) -> int:
    """Return how many partitions the delegate would have without a limit. The ``reasons`` of the limit contain this number."""
    return max([int(reason.found.split()[0]) for reason in reasons])


def _sizes(tensors: Sequence[Tensor]) -> str:
    return ", ".join([f"{tensor.name} {list(tensor.shape)}" for tensor in tensors[:_INPUTS_TOLD]])


def _named_inputs(tensors: Sequence[Tensor]) -> str:
    named = [f"{tensor.name} {list(tensor.shape_signature or ())}" for tensor in tensors[:_INPUTS_TOLD]]
    return ", ".join(named) + (", ..." if len(tensors) > _INPUTS_TOLD else "")

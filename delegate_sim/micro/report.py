"""The verdict of TensorFlow Lite Micro on a model, as plain data."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, within
from ..foundation.converter_attributes import DENSE_PER_TENSOR
from ..foundation.printable import and_list, counted, item_list, printable, shortened
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import file_graphs
from ..graph.reachability import no_weights, unassigned_variables
from ..model.ethosu_programs import ETHOS_U, accelerators
from ..model.model import IDENTIFIER, Model
from .arena import Arena, plan_arena
from .checks import byte_size, count_external_tensors, count_variables
from .preparation import MicroNode, Preparation, Status, is_known_type, prepare_model, unsized_tensors
from .resolver import Operator, operators_of, resolver_lines
from .target import PACKAGE, MicroTarget


class Outcome(Enum):
    """The result of running a model: success, or the step that fails."""

    ALLOCATED = "allocated"
    MISSING_OPERATOR = "missing-op"
    PREPARE_FAILED = "prepare-failed"
    FILE = "file"
    """The file itself cannot be used, for example because a tensor has no fixed size."""


_REGISTERED = (
    *within("target.source", [Column("source", source="path")]),
    *within("target.source", [Column("operators", LIST, source=lambda own: own.registered and sorted(own.registered))]),
    *(*within("target.source", [Column("size", INTEGER)]), Column("unused", LIST)),
    *within("target.source", [Column("unknown_functions", LIST, source="unknown")]),
    *within("target.source", [Column("unreadable_calls", LIST, source="unreadable")]),
)
_NODE = (
    *attributes("subgraph", "index", type=INTEGER),
    *(*attributes("operator", "status"), Column("multiply_adds", INTEGER), Column("reasons", LIST)),
)
APPLICATION = (
    *(*attributes("outcome", "problem"), *attributes("runs", "computes", type=YES_OR_NO)),
    Column("kernels", source="target.kernels"),
    *within("target.runtime", (Column("runtime", source="name"), Column("is_checked", YES_OR_NO, source="is_known"))),
    *(*attributes("missing_operators", "failing_node", type=LIST), Column("refused", LIST, parts=_NODE[:4])),
    Column("operators", LIST, source=lambda report: [operator.name for operator in report.operators]),
    Column("resolver", LIST, source=lambda report: resolver_lines(report.operators, report.variables)),
    *(Column("arena", OBJECT, parts=Arena.columns), *attributes("external_tensors", "unassigned_variables", type=INTEGER)),
    *attributes("variables", "layers_with_channel_scales", type=INTEGER),
    Column("registered", OBJECT, source=lambda report: report.target.source and report, parts=_REGISTERED, is_optional=True),
    Column("package", source=lambda _: PACKAGE),
)
"""The columns of what the application must provide."""


@dataclass(frozen=True)
class MicroReport(Declared):
    """The verdict on a model: its outcome, all nodes, and the arena if tensors can be allocated."""

    columns = (*APPLICATION, Column("nodes", LIST, parts=_NODE))

    target: MicroTarget
    outcome: Outcome
    problem: str
    """The reason why the model file itself cannot be used; empty for other outcomes."""
    nodes: tuple[MicroNode, ...]
    missing_operators: tuple[str, ...]
    """The operators that the resolver does not have, in the order of their first nodes."""
    failing_node: tuple[int, int] | None
    """The subgraph and the index of the first node that the runtime refuses while it allocates tensors."""
    operators: tuple[Operator, ...]
    """All operators of the model, sorted."""
    external_tensors: int
    """The number of read tensors with data outside the flatbuffer. The runtime does not read this data."""
    unassigned_variables: int
    """The number of variables that the file reads and never assigns. It was probably converted without its weights."""
    variables: int
    """The number of variables, for which the application must give the interpreter ``MicroResourceVariables``."""
    layers_with_channel_scales: int
    """The number of FULLY_CONNECTED nodes with INT8 activations and a scale for each channel of the weights.

    Older copies of the runtime compute these layers wrongly, or fail (tflite-micro issue 2602).
    """
    plan: Callable[[], Arena] = field(repr=False, compare=False)
    """A function that plans the arena."""

    @functools.cached_property
    def arena(self) -> Arena | None:
        """The arena; None if tensors cannot be allocated. Raises LimitError if planning takes too long."""
        return self.plan() if self.outcome is Outcome.ALLOCATED else None

    @property
    def unused(self) -> tuple[str, ...]:
        """Registered operators that the model does not use."""
        source = self.target.source
        registered = () if source is None else source.registered or ()
        return tuple(sorted({*registered} - {operator.name for operator in self.operators}))

    @property
    def runs(self) -> bool:
        """True if tensors can be allocated and the kernels accept all nodes when the model is invoked."""
        return self.outcome is Outcome.ALLOCATED and all(node.status is Status.OK for node in self.nodes)

    @property
    def computes(self) -> bool:
        """True if the model runs and all its weights are in the flatbuffer, so that the results are meaningful."""
        return self.runs and not self.external_tensors and not self.unassigned_variables

    @functools.cached_property
    def refused(self) -> tuple[MicroNode, ...]:
        """The nodes without a kernel and the nodes that a kernel refuses."""
        return tuple(node for node in self.nodes if node.status is not Status.OK)


def _layers_with_channel_scales(model: Model) -> int:
    views = [graph.view(node) for graph in file_graphs(model) for node in graph.nodes if node.op == "FULLY_CONNECTED"]
    return sum([view.input(0).type == "INT8" and view.input(1).is_per_channel for view in views])


_DEFAULT = MicroTarget()


def analyze(model: Model, target: MicroTarget = _DEFAULT) -> MicroReport:
    """Return the report of TensorFlow Lite Micro on a model."""
    report = report_of(model, target, prepare_model(model, target), AnalysisCache())
    _ = report.arena  # raises LimitError here, if planning takes too long
    return report


def report_of(model: Model, target: MicroTarget, preparation: Preparation, cache: AnalysisCache) -> MicroReport:
    """Return the report on a prepared model.

    The arena is the same on every target that can allocate tensors, so ``cache`` keeps it.
    """
    outcome, problem, failing = _outcome(model, preparation)
    missing = [node.operator for node in preparation.nodes if node.status is Status.MISSING]
    return MicroReport(
        target=target,
        outcome=outcome,
        problem=problem,
        nodes=preparation.nodes,
        missing_operators=tuple(dict.fromkeys(missing)),
        failing_node=None if failing is None else (failing.subgraph, failing.index),
        operators=operators_of([node for subgraph in model.subgraphs for node in subgraph.nodes]),
        external_tensors=count_external_tensors(model),
        unassigned_variables=unassigned_variables(model),
        variables=count_variables(model),
        layers_with_channel_scales=_layers_with_channel_scales(model),
        plan=lambda: cache.get("arena", (model,), lambda: plan_arena(model, preparation)),
    )


def _outcome(model: Model, preparation: Preparation) -> tuple[Outcome, str, MicroNode | None]:
    """Return the outcome, its reason and the failing node.

    The checks run in the runtime's order: tensor types, operators, Prepare of each node, and the memory plan.
    """
    if not model.subgraphs:
        return Outcome.FILE, "the file has no subgraph", None
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            if not is_known_type(tensor.type):
                return (
                    Outcome.FILE,
                    f"tensor {tensor.index} of subgraph {subgraph.index} has the unknown type {tensor.type}",
                    None,
                )
    for status, outcome in ((Status.MISSING, Outcome.MISSING_OPERATOR), (Status.PREPARE, Outcome.PREPARE_FAILED)):
        for node in preparation.nodes:
            if node.status is status:
                if node.is_dynamic:
                    words = f"{node.operator} {node.index} of subgraph {node.subgraph} has a result without a fixed size"
                    return Outcome.FILE, words, node
                return outcome, "", node
    problem = _unplannable(preparation)
    return (Outcome.FILE, problem, None) if problem else (Outcome.ALLOCATED, "", None)


def _unplannable(preparation: Preparation) -> str:
    for subgraph, index, kind in unsized_tensors(preparation.graphs):
        return f"tensor {index} of subgraph {subgraph} has type {kind}, for which no memory can be planned"
    for graph in preparation.graphs:
        for node in graph.nodes:
            for index in node.intermediates:
                if index >= 0 and byte_size(graph.tensor(index)):
                    return f"intermediate tensor {index} of {node.op} {node.index} is not empty"
    return ""


_LONGEST_NAME = 60
_OPERATORS_WIDTH = 60
_REFUSED = (
    (Status.PREPARE, "cannot be prepared"),
    (Status.INVOKE, "cannot be invoked"),
    (Status.INVOKE_IF_CALLED, "in a branch or loop cannot be invoked"),
)


def refused_text(report: MicroReport) -> str:
    """Return the operators without a kernel, and the numbers of refused nodes."""
    parts = []
    if report.missing_operators:
        missing = [_name(operator.removeprefix("CUSTOM:")) for operator in report.missing_operators]
        lacks = "the runtime has no kernel for" if report.target.registered is None else "the resolver lacks"
        parts.append(f"{lacks} {item_list(missing, _OPERATORS_WIDTH)}")
    for status, words in _REFUSED:
        nodes = sum([node.status is status for node in report.nodes])
        if nodes:
            parts.append(f"{counted(nodes, 'node')} {words}")
    return ", ".join(parts)


def micro_warnings(model: Model, report: MicroReport) -> Iterator[str]:
    """Yield warnings about the file, about older copies of the runtime and about the resolver."""
    source = report.target.source
    if model.identifier != IDENTIFIER:
        yield (
            f"the identifier of the file is {model.identifier!r}, not {IDENTIFIER!r}. TensorFlow Lite Micro does not check the "
            "identifier, but other runtimes refuse the file"
        )
    if warning := no_weights(model):
        yield warning
    if report.runs and report.variables:
        yield f"the interpreter needs MicroResourceVariables for {counted(report.variables, 'variable')}"
    if any(node.status is Status.INVOKE_IF_CALLED for node in report.nodes):
        yield f"the runtime may fail while it runs the model: {refused_text(report)}"
    for operator, count in Counter([node.operator for node in report.nodes if node.is_assumed]).items():
        yield _assumption(model, operator, count)
    if layers := report.layers_with_channel_scales:
        yield (
            f"{layers:,} FULLY_CONNECTED with a scale for each channel: copies of TensorFlow Lite Micro from before 2024-06, "
            f"such as many in packages of boards, compute wrong numbers or fail. For such a copy, convert with {DENSE_PER_TENSOR}"
        )
    if source is not None and source.without_room:
        count = report.target.attempted
        yield (
            f"the source registers {counted(count, 'operator')}, but the resolver has room for {source.size:,}, so the last "
            f"calls fail. Write MicroMutableOpResolver<{count}>"
        )
    if source is not None and source.unknown:
        yield f"calls of functions that the runtime does not have: {item_list(list(map(_name, source.unknown)), 60)}"
    if source is not None and source.unreadable:
        yield (
            f"the source does not have the names of the operators that these calls register: "
            f"{item_list(list(map(_name, source.unreadable)), _OPERATORS_WIDTH)}. Write each name as a string literal"
        )


def _assumption(model: Model, operator: str, nodes: int) -> str:
    name = operator.removeprefix("CUSTOM:")
    pronoun = "it" if nodes == 1 else "each"
    if name == ETHOS_U:
        names = accelerators(model)
        npu = f"the NPU is {and_list(names)}, for which Vela compiled the model, and " if names else ""
        condition = f"{npu}the NPU's driver accepts the program in {pronoun} (not simulated)"
    else:
        condition = f"the application's own kernel accepts {pronoun}. The kernel and its memory are not simulated"
    return f"{counted(nodes, f'{_name(name)} node')} {'runs' if nodes == 1 else 'run'} if {condition}"


def _name(text: str) -> str:
    return shortened(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)

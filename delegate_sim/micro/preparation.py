"""Prepare a model: judge each node, set the shapes of results, and collect scratch buffers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib import import_module
from types import MappingProxyType, ModuleType

from ..graph.graph import Graph, NodeView
from ..micro import kernels
from ..model import schema
from ..model.ethosu_programs import ETHOS_U
from ..model.model import Model, Tensor
from ..model.schema import FAMILY_OF
from ..results.report.multiply_adds import multiply_adds
from ..rules.book import RuleBook, Unknown
from ..rules.rule import Reason, Rules, Source, family_rules
from .checks import has_size, micro_graph
from .kernels import custom
from .resolver import BUILTIN_FUNCTIONS, lacks, operator_name
from .target import DYNAMIC_TENSOR, KINDS, MISSING_OPERATOR, NAME, TENSOR_TYPE, TFLM, MicroKernel, MicroTarget, all_checks, reason

_UNKNOWN = Unknown("an operator that TensorFlow Lite Micro has", kind=MISSING_OPERATOR, problem="has no kernel")
_SOURCE = Source(TFLM, "tensorflow/lite/micro/micro_mutable_op_resolver.h", "MicroMutableOpResolver")


def kernel_of(op: str, *, is_custom: bool = False) -> MicroKernel | None:
    """Return the kernel of an operator, or None if TensorFlow Lite Micro has none."""
    if is_custom:
        return custom.KERNELS.get(op)
    if op not in BUILTIN_FUNCTIONS:
        return None
    family: Mapping[str, MicroKernel] = import_module(f"{kernels.__name__}.{kernels.MODULES[FAMILY_OF[op]]}").KERNELS
    return family[op]


def _unsized(node: NodeView, _: MicroTarget) -> Reason | None:
    """Refuse tensors of types without a size. Prepare treats such tensors as missing (``PopulateTfLiteTensorFromFlatbuffer``)."""
    kernel = kernel_of(node.op, is_custom=node.node.is_custom)
    if kernel is None or not kernel.prepare.checks or node.op in _READS_NO_TENSORS:
        return None
    for name, tensors in (("input", node.inputs), ("output", node.outputs)):
        for position, tensor in enumerate(tensors):
            if tensor.index >= 0 and not has_size(tensor):
                return reason(TENSOR_TYPE, f"{name} {position} is {tensor.type}", "tensors of types with a fixed size")
    return None


_READS_NO_TENSORS = frozenset({"SHAPE", "VAR_HANDLE", "READ_VARIABLE", "CALL_ONCE", "WHILE"})
"""Operators with a Prepare function that reads no tensor."""


def _book(read: Callable[[ModuleType], Rules[MicroTarget]], *, is_prepare: bool) -> RuleBook[MicroTarget]:
    return RuleBook(
        NAME,
        families=family_rules(kernels.__name__, kernels.MODULES, read),
        kinds=KINDS,
        source=_SOURCE,
        unknown=_UNKNOWN,
        custom=read(custom),
        unknown_custom=_UNKNOWN,
        excluded=_unsized if is_prepare else None,
        reads_operands=is_prepare,
    )


PREPARE = _book(lambda module: {op: kernel.prepare for op, kernel in module.KERNELS.items()}, is_prepare=True)
"""The checks of the kernels' Prepare functions."""
INVOKE = _book(lambda module: {op: kernel.invoke for op, kernel in module.KERNELS.items()}, is_prepare=False)
"""The checks of the kernels' Invoke functions. They apply to nodes that Prepare accepts."""
RULES = _book(lambda module: {op: all_checks(kernel) for op, kernel in module.KERNELS.items()}, is_prepare=True)
"""All checks, for documentation: the checks of Prepare, then the checks of Invoke."""


class Status(Enum):
    """The result for a node."""

    OK = "ok"
    MISSING = "missing-op"
    PREPARE = "prepare"
    INVOKE = "invoke"
    INVOKE_IF_CALLED = "invoke-if-called"
    """Invoke refuses the node, but the node is in a branch or loop body that may never run."""


@dataclass(frozen=True, slots=True)
class MicroNode:
    """The verdict on one node.

    ``is_dynamic`` is true if Prepare accepts the node, but a result has no fixed size. ``is_assumed`` is true if the node runs as
    far as known, because the application's own kernel, or the driver that the kernel calls, is not simulated.
    """

    subgraph: int
    index: int
    operator: str
    status: Status
    reasons: tuple[Reason, ...]
    multiply_adds: int
    is_dynamic: bool = False
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class ScratchRequest:
    """A buffer that a kernel needs while its node runs."""

    subgraph: int
    node: int
    size: int


@dataclass(frozen=True, slots=True)
class Preparation:
    """The result of preparing all nodes. ``graphs`` have the shapes that kernels set."""

    graphs: tuple[Graph, ...]
    nodes: tuple[MicroNode, ...]
    scratch: tuple[ScratchRequest, ...]
    persistent: tuple[int, ...]
    """The sizes of the large buffers that kernels keep."""


def prepare_model(
    model: Model, target: MicroTarget, accepted: Mapping[int, frozenset[int]] = MappingProxyType({})
) -> Preparation:
    """Judge each node independently of all other nodes. The runtime itself stops at the first failing node.

    ``accepted`` has the nodes that are assumed to be accepted, by subgraph. If their kernels refuse them in Prepare, the results
    keep the shapes of the file.
    """
    certain = _certain_subgraphs(model)
    graphs: list[Graph] = []
    nodes: list[MicroNode] = []
    scratch: list[ScratchRequest] = []
    persistent: list[int] = []
    for subgraph in model.subgraphs:
        initial = micro_graph(model, subgraph)
        graph = _GraphInPreparation(**vars(initial))
        for node in graph.nodes:
            view = graph.view(node)
            verdict = _judge(view, target, is_certain=subgraph.index in certain)
            is_prepared = verdict.status not in (Status.MISSING, Status.PREPARE)
            is_accepted = node.index in accepted.get(subgraph.index, ())
            if is_accepted:
                verdict = replace(verdict, status=Status.OK, reasons=())
            kernel = kernel_of(node.op, is_custom=node.is_custom)
            if kernel is not None and is_prepared:
                _set_shapes(graph, view, kernel)
                if kernel.scratch is not None:
                    scratch += [ScratchRequest(subgraph.index, node.index, size) for size in kernel.scratch(view)]
                if kernel.persistent is not None:
                    persistent += kernel.persistent(view)
                verdict = verdict if is_accepted else _check_results(view, verdict)
            nodes.append(verdict)
        graphs.append(replace(initial, tensors=tuple([graph.tensor(tensor.index) for tensor in initial.tensors])))
    return Preparation(tuple(graphs), tuple(nodes), tuple(scratch), tuple(persistent))


def _judge(view: NodeView, target: MicroTarget, *, is_certain: bool) -> MicroNode:
    node = view.node
    name = f"CUSTOM:{operator_name(node)}" if node.is_custom else node.op

    def found(status: Status, *reasons: Reason) -> MicroNode:
        return MicroNode(view.graph.index, node.index, name, status, reasons, multiply_adds(view))

    missing = lacks(node, target)
    if missing is not None:
        return found(Status.MISSING, missing)
    kernel = kernel_of(node.op, is_custom=node.is_custom)
    if kernel is None and node.is_custom:
        return replace(found(Status.OK), is_assumed=True)
    if kernel is None or node.outputs or not kernel.may_lack_results:
        verdict = PREPARE.validate(view, target)
        if not verdict.is_supported:
            return found(Status.PREPARE, *verdict.reasons)
    verdict = INVOKE.validate(view, target)
    refused = Status.INVOKE if is_certain else Status.INVOKE_IF_CALLED
    judged = found(Status.OK if verdict.is_supported else refused, *verdict.reasons)
    return replace(judged, is_assumed=node.is_custom and node.custom_code == ETHOS_U and verdict.is_supported)


def _certain_subgraphs(model: Model) -> frozenset[int]:
    """Return the subgraphs that run for all inputs.

    These are the first subgraph, the condition of each WHILE and the subgraph of each CALL_ONCE in a subgraph that runs for all
    inputs.
    """
    certain: set[int] = set()
    waiting = [0]
    while waiting:
        index = waiting.pop()
        if index in certain or not 0 <= index < len(model.subgraphs):
            continue
        certain.add(index)
        for node in model.subgraphs[index].nodes:
            field = {"WHILE": "cond_subgraph_index", "CALL_ONCE": "init_subgraph_index"}.get(node.op)
            if field is not None and not node.is_custom:
                waiting.append(getattr(model.options(node), field))
    return frozenset(certain)


@dataclass(frozen=True, eq=False, repr=False)
class _GraphInPreparation(Graph):
    changed: dict[int, Tensor] = field(default_factory=dict)
    """The tensors with other shapes than at the start, by index."""

    def tensor(self, index: int) -> Tensor:
        return self.changed[index] if index in self.changed else super().tensor(index)


def _set_shapes(graph: _GraphInPreparation, view: NodeView, kernel: MicroKernel) -> None:
    for position, shape in kernel.shapes(view).items() if kernel.shapes is not None else ():
        result = view.output(position)
        if result.index >= 0 and result.shape != shape:
            graph.changed[result.index] = result._replace(shape=shape)


def _check_results(view: NodeView, verdict: MicroNode) -> MicroNode:
    for position, tensor in enumerate(view.outputs):
        if tensor.index < 0 or tensor.shape == (0,) or min(tensor.shape, default=1) > 0:
            continue
        shape = f"output {position} of shape {list(tensor.shape)}"
        refused = reason(DYNAMIC_TENSOR, shape, "results with dimensions greater than 0")
        return replace(verdict, status=Status.PREPARE, reasons=(refused,), is_dynamic=True)
    return verdict


def unsized_tensors(graphs: tuple[Graph, ...]) -> tuple[tuple[int, int, str], ...]:
    """Return the subgraph, index and type of each tensor of unknown size (``InitializeAllocationInfo``)."""
    return tuple((graph.index, tensor.index, tensor.type) for graph in graphs for tensor in graph.tensors if not has_size(tensor))


def is_known_type(name: str) -> bool:
    """Return whether the runtime loads tensors of a type (``ConvertTensorType``)."""
    return name in schema.enum_values("TensorType")

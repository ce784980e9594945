"""The graph that a delegate sees: one subgraph with its nodes and tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, number_or_text
from ..model import schema
from ..model.model import NO_TENSOR, ControlEdges, Model, Node, Signature, Subgraph, Tensor, control_dependencies
from ..model.numbers import FlatNumbers
from ..model.options import Options
from ..refusal import Refusal
from .analysis_cache import AnalysisCache

_Fact = TypeVar("_Fact")


class DynamicTensor(NamedTuple):
    """The first tensor with a size that is known only at run time.

    ``node`` is the node that makes the tensor dynamic, or None if the tensor is dynamic from the start. ``cause`` is the
    operand that is not constant and therefore makes the size unknown, or None if there is no such operand.
    """

    tensor: int
    node: int | None
    cause: int | None
    named: int
    """The tensor index in the runtime's message, usually ``tensor``.

    If no kernel set the size of ``tensor``, the message names an earlier dynamic tensor, or -1 if there is none.
    """


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """One subgraph: its tensors and nodes in index order, and the results of preparation.

    ``inputs`` and ``outputs`` are tensor indices. An input that control flow does not use is -1.
    """

    model: Model
    index: int
    name: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    execution_plan: tuple[int, ...]
    """The indices of the nodes that run, in run order."""
    control_edges: ControlEdges | None = None
    """Pairs of nodes whose order the model's metadata fixes. None if the metadata fixes no order."""
    dynamic: DynamicTensor | None = None
    failure: Refusal | None = None
    """The node that the CPU runtime cannot prepare, or None."""
    assumed: frozenset[int] = frozenset()
    """The nodes that a hypothetical change makes supported, whatever the delegate's rules say."""
    shared: AnalysisCache = field(default_factory=AnalysisCache)
    """Cached results about forms of nodes (``forms.py``). All graphs of an analysis share them."""

    def tensor(self, index: int) -> Tensor:
        """Return the tensor with an index, or ``NO_TENSOR`` for the index -1 of an omitted or missing tensor."""
        return self.tensors[index] if index >= 0 else NO_TENSOR

    @functools.cached_property
    def operators(self) -> frozenset[tuple[str, bool]]:
        """The operators of the nodes, each with whether it is custom."""
        return frozenset([(op, code == schema.CUSTOM) for op, code in {(node.op, node.builtin_code) for node in self.nodes}])

    @functools.cached_property
    def types(self) -> frozenset[str]:
        """The types of all tensors."""
        return frozenset([tensor.type for tensor in self.tensors])

    @functools.cached_property
    def input_indices(self) -> frozenset[int]:
        """The inputs of the subgraph, to look up. A file may have very many inputs."""
        return frozenset(self.inputs)

    @functools.cached_property
    def output_indices(self) -> frozenset[int]:
        """The outputs of the subgraph, to look up."""
        return frozenset(self.outputs)

    @functools.cached_property
    def resources(self) -> frozenset[int]:
        """The tensors that are handles of resource variables and hash tables."""
        return frozenset(tensor.index for tensor in self.tensors if tensor.type == "RESOURCE")

    @functools.cached_property
    def readers(self) -> Mapping[int, Sequence[Node]]:
        """For each tensor, the nodes of the plan that read it, in order.

        A node that reads the tensor with two operands is listed twice.
        """
        return self._by_tensor(lambda node: node.inputs)

    @functools.cached_property
    def writers(self) -> Mapping[int, Sequence[Node]]:
        """For each tensor, the nodes of the plan that write it, in order."""
        return self._by_tensor(lambda node: node.outputs)

    @functools.cached_property
    def links(self) -> Sequence[tuple[int, int, int]]:
        """The links between nodes of the plan, as (writer, reader, tensor).

        If several nodes write the tensor before the reader reads it, the writer is the last of these nodes.
        """
        links: dict[tuple[int, int, int], None] = {}
        last: dict[int, int] = {}
        for position in self.execution_plan:
            node = self.nodes[position]
            links.update(dict.fromkeys([(last[tensor], node.index, tensor) for tensor in node.inputs if tensor in last]))
            last.update(dict.fromkeys([tensor for tensor in node.outputs if tensor >= 0], node.index))
        return tuple(links)

    def _by_tensor(self, operands: Callable[[Node], Iterable[int]]) -> Mapping[int, Sequence[Node]]:
        nodes: dict[int, list[Node]] = {}
        for position in self.execution_plan:
            for tensor in operands(self.nodes[position]):
                nodes.setdefault(tensor, []).append(self.nodes[position])
        return nodes

    def view(self, node: Node) -> NodeView:
        """Return a view of a node and its operands. Rules read this view."""
        return NodeView(self, node)

    def of_tensor(self, fact: Hashable, tensor: Tensor, find: Callable[[Tensor], _Fact]) -> _Fact:
        """Return a fact about a tensor. It is found once, however many nodes have the tensor as an operand.

        ``fact`` is a key for the fact. Use this function for facts about all scales or elements of a tensor, because a file
        decides how many nodes share the tensor.
        """
        facts: dict[int, _Fact] = self.results.get(fact, (), dict)
        if tensor.index not in facts:
            facts[tensor.index] = find(tensor)
        return facts[tensor.index]

    @functools.cached_property
    def results(self) -> AnalysisCache:
        """Cached results about this graph. A result must not depend on ``assumed``."""
        return AnalysisCache()

    def assuming(self, nodes: frozenset[int]) -> Graph:
        """Return a copy of this graph with other assumed nodes. Graph and copy share ``results``."""
        graph = replace(self, assumed=nodes)
        vars(graph)["results"] = self.results
        return graph

    def within(self, cache: AnalysisCache) -> Graph:
        """Return a copy of this graph that shares results about forms with an analysis. Graph and copy share ``results``."""
        graph = replace(self, shared=cache)
        vars(graph)["results"] = self.results
        return graph

    def with_inputs(self, inputs: Mapping[int, Sequence[int]]) -> Graph:
        """Return a copy of this graph in which some nodes have the new inputs ``inputs``, keyed by node index."""
        nodes = tuple(node._replace(inputs=tuple(inputs[node.index])) if node.index in inputs else node for node in self.nodes)
        return replace(self, nodes=nodes)


class NodeView:
    """A node together with its operands as tensors. An omitted or missing operand is ``NO_TENSOR``."""

    __slots__ = ("_graph", "_options", "kept", "node", "op", "reads_graph", "version")

    def __init__(self, graph: Graph, node: Node) -> None:
        self._graph = graph
        self.node = node
        self.op = node.op
        self.version = node.version
        self._options: Options | None = None
        self.reads_graph = False
        """True if somebody asked for the graph, so that a result may depend on more than the node and its operands."""
        self.kept: Any = None
        """A result that several checks of a rule share."""

    @property
    def graph(self) -> Graph:
        """The graph of the node."""
        self.reads_graph = True
        return self._graph

    @property
    def is_assumed(self) -> bool:
        """True if a hypothetical change makes the node supported."""
        return self.node.index in self._graph.assumed

    def tensor(self, index: int) -> Tensor:
        """Return an operand by its index in the graph, or ``NO_TENSOR`` for the index -1."""
        return self._graph.tensors[index] if index >= 0 else NO_TENSOR

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The operands."""
        return tuple(map(self._graph.tensor, self.node.inputs))

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The results."""
        return tuple(map(self._graph.tensor, self.node.outputs))

    @property
    def options(self) -> Options:
        """The builtin options."""
        if self._options is None:
            self._options = self._graph.model.options(self.node)
        return self._options

    def input(self, position: int) -> Tensor:
        """Return the operand at a position."""
        return self._graph.tensor(self.node.input(position))

    def output(self, position: int) -> Tensor:
        """Return the result at a position."""
        return self._graph.tensor(self.node.output(position))

    def value(self, tensor: Tensor) -> FlatNumbers | None:
        """Return the elements of a constant or persistent tensor as a flat sequence, or None for any other tensor."""
        return self._graph.model.constant(tensor)

    @property
    def is_constant_float16_dequantize(self) -> bool:
        """True if the node only converts constant float16 weights to float32.

        Source: ``FP16GraphPartitionHelper`` in ``delegates/utils.cc``.
        """
        if self.op != "DEQUANTIZE" or self.node.is_custom:
            return False
        source = self.input(0)
        return source.type == "FLOAT16" and source.is_constant


CALLING_OPS = frozenset({"IF", "WHILE", "CALL_ONCE"})
"""Operators that always have side effects."""


def has_side_effects(graph: Graph, node: Node) -> bool:
    """Return whether a node has side effects. Nodes with side effects keep their order.

    Source: ``OpMightHaveSideEffect`` (``core/subgraph.cc``).
    """
    if node.op in CALLING_OPS and not node.is_custom:
        return True
    resources = graph.resources
    return bool(resources) and not (resources.isdisjoint(node.inputs) and resources.isdisjoint(node.outputs))


def file_graph(model: Model, subgraph: Subgraph) -> Graph:
    """Return the graph of a subgraph before preparation. Delegates that accept dynamic tensors see this graph."""
    nodes = _added_nodes(subgraph)
    edges = control_dependencies(model)
    return Graph(
        model=model,
        index=subgraph.index,
        name=subgraph.name,
        tensors=subgraph.tensors,
        nodes=nodes,
        inputs=subgraph.inputs,
        outputs=subgraph.outputs,
        execution_plan=tuple(range(len(nodes))),
        control_edges=edges[subgraph.index] if edges else None,
    )


@functools.lru_cache(maxsize=4)
def file_graphs(model: Model) -> tuple[Graph, ...]:
    """Return the graphs of all subgraphs before preparation. The graphs of the last models are cached."""
    return tuple(file_graph(model, subgraph) for subgraph in model.subgraphs)


def _added_nodes(subgraph: Subgraph) -> tuple[Node, ...]:
    """Return the nodes that the runtime adds to the graph, with consecutive indices.

    A builtin node with parameters is not added if one of its inputs is also one of its outputs (``AddNodeWithParameters``,
    ``core/subgraph.cc``).
    """
    refused = {node.index for node in overlapping_nodes(subgraph)}
    if not refused:
        return subgraph.nodes
    kept = [node for node in subgraph.nodes if node.index not in refused]
    return tuple(node._replace(index=index) for index, node in enumerate(kept))


def overlapping_nodes(subgraph: Subgraph) -> tuple[Node, ...]:
    """Return the nodes that the runtime refuses to add, because an input is also an output of the same node.

    The runtime then allocates no tensors of the subgraph (``CheckInputAndOutputForOverlap``, ``core/subgraph.cc``).
    """
    looped = [node for node in subgraph.nodes if not set(node.outputs).isdisjoint(node.inputs)]
    return tuple([node for node in looped if (node.builtin_code != schema.CUSTOM and node.op not in OPS_WITHOUT_PARAMETERS)])


def index_in_graph(subgraph: Subgraph, node: Node) -> int | None:
    """Convert a node's index in the file to its index in the runtime's graph. None if the runtime refuses to add the node."""
    refused = [other.index for other in overlapping_nodes(subgraph)]
    return None if node.index in refused else node.index - sum([index < node.index for index in refused])


_NAMES_WITHOUT_PARAMETERS = """
ABS ADD_N ASSIGN_VARIABLE ATAN2 BATCH_TO_SPACE_ND BITCAST BITWISE_XOR BROADCAST_ARGS BROADCAST_TO CALL CEIL COMPLEX_ABS
CONCAT_EMBEDDINGS COS DENSIFY DEQUANTIZE DILATE DYNAMIC_UPDATE_SLICE ELU EMBEDDING_LOOKUP EQUAL EXP EXPAND_DIMS FILL FLOOR
FLOOR_DIV FLOOR_MOD GATHER_ND GREATER GREATER_EQUAL HARD_SWISH HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_LOOKUP HASHTABLE_SIZE
IMAG LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC LOG_SOFTMAX MATRIX_DIAG MATRIX_SET_DIAG MAXIMUM MINIMUM
NEG NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 NOT_EQUAL PAD PADV2 POW PRELU QUANTIZE RANGE RANK READ_VARIABLE REAL RELU
RELU6 RELU_0_TO_1 RELU_N1_TO_1 REVERSE_V2 RFFT2D RIGHT_SHIFT ROUND RSQRT SCATTER_ND SEGMENT_SUM SELECT SELECT_V2 SIGN SIN
SLICE SPACE_TO_BATCH_ND SQRT SQUARE SQUARED_DIFFERENCE STABLEHLO_ABS STABLEHLO_ADD STABLEHLO_AND STABLEHLO_BROADCAST_IN_DIM
STABLEHLO_CBRT STABLEHLO_CLAMP STABLEHLO_COMPARE STABLEHLO_CONCATENATE STABLEHLO_CONVERT STABLEHLO_CONVOLUTION
STABLEHLO_COSINE STABLEHLO_CUSTOM_CALL STABLEHLO_DIVIDE STABLEHLO_DOT_GENERAL STABLEHLO_DYNAMIC_SLICE
STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_IOTA STABLEHLO_LOG STABLEHLO_LOGISTIC
STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REDUCE
STABLEHLO_REMAINDER STABLEHLO_RESHAPE STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SHIFT_LEFT STABLEHLO_SLICE STABLEHLO_SORT
STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_TRANSPOSE STABLEHLO_WHILE TANH TILE TOPK_V2 TRANSPOSE UNSORTED_SEGMENT_MAX
UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM WHERE ZEROS_LIKE
"""
OPS_WITHOUT_PARAMETERS = frozenset(_NAMES_WITHOUT_PARAMETERS.split())
"""Builtin operators for which the runtime allocates no parameters (``ParseOpDataTfLite``, ``flatbuffer_conversions.cc``)."""

ACTIVATION_BOUNDS = {"RELU": (0.0,), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
"""The bounds of each fused activation that clips its result."""


class HasOptions(Protocol):
    """Interface of objects with builtin options, such as ``NodeView``."""

    @property
    def options(self) -> Options:
        """The builtin options."""


def fused_activation(node: HasOptions) -> str:
    """Return the schema's name of the fused activation, or NONE if the value is unknown.

    Source: ``ConvertActivation`` (``flatbuffer_conversions.cc``).
    """
    return schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function, "NONE")


_NODE = (
    *(Column("index", INTEGER), Column("op"), Column("version", INTEGER), Column("custom", YES_OR_NO, source="is_custom")),
    *attributes("inputs", "outputs", type=LIST),
)
_QUANTIZATION = (
    *(Column("kind"), Column("scales", LIST, source=lambda own: map(number_or_text, own.scales.tolist()))),
    *(Column("zero_points", LIST, source=lambda own: own.zero_points.tolist()), Column("dimension", INTEGER)),
)
_TENSOR = (
    *(Column("index", INTEGER), *attributes("name", "type"), *attributes("shape", "shape_signature", type=LIST)),
    *(Column("allocation"), Column("quantization", OBJECT, parts=_QUANTIZATION)),
    Column("sparse", YES_OR_NO, source=lambda tensor: tensor.sparsity is not None),
)
_FAILURE = (
    *(Column("node", INTEGER), Column("message"), Column("lines", LIST, source="log_lines")),
    Column("unregistered", source=lambda failure: failure.values["unregistered"]),
    Column("kernel", LIST, source=lambda failure: failure.values["kernel"]),
)
_GRAPH = (
    *(Column("index", INTEGER), Column("name"), *attributes("inputs", "outputs", type=LIST)),
    *(Column("dynamic", OBJECT), Column("failure", OBJECT, parts=_FAILURE)),
    *(Column("nodes", LIST, parts=_NODE), Column("tensors", LIST, parts=_TENSOR)),
)


@dataclass(frozen=True, slots=True)
class Inspected(Declared):
    """Some graphs of a model. ``shapes`` is ``prepared`` for the shapes that kernels compute, or ``file``."""

    document = "inspect"
    columns = (
        *(Column("model", OBJECT), Column("shapes"), Column("signatures", LIST)),
        Column("subgraphs", LIST, source="graphs", parts=_GRAPH),
    )

    model: Model
    graphs: tuple[Graph, ...]
    shapes: str

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures of the model."""
        return self.model.signatures

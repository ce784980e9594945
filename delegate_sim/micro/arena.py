"""The arena that a model needs: the planned head of the arena, and the estimated tail.

The size is an estimate, because it depends on the compiler and on the linked kernels. The sizes of structures are from a 32-bit
build. The sizes of kernel data were measured with the Python package on x86-64 and rounded up. On 32-bit systems, kernel data
is smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..foundation.columns import INTEGER, LIST, Column, Declared, attributes, within
from ..foundation.limits import naming_model
from ..graph.graph import Graph
from ..model.model import Model, Node
from .checks import byte_size, is_allocated, scales, variable_name
from .planner import Buffer, aligned, plan, planned_buffers, total_size
from .preparation import Preparation

_KERNEL_BYTES = """
16: ADD_N BATCH_TO_SPACE_ND BROADCAST_ARGS BROADCAST_TO CEIL COS DYNAMIC_UPDATE_SLICE EXP EXPAND_DIMS FILL FLOOR FLOOR_DIV
    FLOOR_MOD LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR MAXIMUM MINIMUM NEG REVERSE_V2 ROUND SIN SLICE SQRT SQUARE TRANSPOSE
    ZEROS_LIKE
24: ARG_MAX ARG_MIN CAST CUMSUM L2_NORMALIZATION PACK RELU6 RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SELECT_V2 SHAPE
    SPACE_TO_BATCH_ND SPLIT_V UNPACK
28: SPLIT
40: HARD_SWISH LOGISTIC SPACE_TO_DEPTH TANH
44: DEPTH_TO_SPACE
48: GATHER_ND MIRROR_PAD PRELU
56: ABS DEQUANTIZE DIV EQUAL GREATER GREATER_EQUAL LEAKY_RELU LESS LESS_EQUAL LOG_SOFTMAX NOT_EQUAL QUANTIZE RELU RESHAPE SQUEEZE
60: RSQRT
64: EMBEDDING_LOOKUP GATHER MEAN MUL REDUCE_ALL REDUCE_MAX REDUCE_MIN SUM
72: PADV2 SVDF
80: PAD
88: AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D SUB
96: ADD
112: CONCATENATION
128: STRIDED_SLICE
132: SOFTMAX
136: SQUARED_DIFFERENCE
144: FULLY_CONNECTED TRANSPOSE_CONV
160: CONV_2D DEPTHWISE_CONV_2D
216: BATCH_MATMUL
284: ELU
728: UNIDIRECTIONAL_SEQUENCE_LSTM
"""


def _kernel_bytes() -> Mapping[str, int]:
    table: dict[str, int] = {}
    size = 0
    for word in _KERNEL_BYTES.split():
        if word.endswith(":"):
            size = int(word[:-1])
        else:
            table[word] = size
    return MappingProxyType(table)


KERNEL_BYTES = _kernel_bytes()
"""For each operator, the size of kernel data and parameters: the largest size that was measured in models with one node."""
_OTHER_KERNEL = 120
_CHANNEL = 8
"""The size in bytes of the multiplier and the shift of one output channel."""
_TABLES_OF_INT16_SOFTMAX = 2 * 2 * 513
_PER_CHANNEL = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "TRANSPOSE_CONV": 0}
"""Operators with a multiplier for each output channel, and the filter dimension that contains the output channels."""
_POINTER = 4
"""The size in bytes of a pointer. The following numbers are sizes of structures in the runtime, also in bytes."""
_FIXED = 256
"""The size in bytes of the allocators, the planner, and the table of subgraphs."""
_EVAL_TENSOR = 12
_NODE = 32
_TENSOR = 40
_QUANTIZATION = 12
_ALLOCATION_INFO = 24
_SCRATCH_REQUEST = 12
_PLANNED_BUFFER = 40
_RESOURCE = 40
"""The size in bytes of the record of a variable."""
_MOST_SCRATCH = 12
"""The number of scratch requests for which the runtime reserves memory."""


def tail_size(preparation: Preparation) -> int:
    """Return the estimated size of the tail."""
    total = _FIXED
    for graph in preparation.graphs:
        total += _EVAL_TENSOR * len(graph.tensors) + _NODE * len(graph.nodes)
        total += sum([aligned(byte_size(tensor)) for tensor in graph.tensors if tensor.is_variable and is_allocated(tensor)])
        total += sum([_kernel_size(graph, node) for node in graph.nodes])
    total += sum([aligned(size) + _RESOURCE for size in _resource_sizes(preparation.graphs)])
    total += sum(preparation.persistent) + _POINTER * len(preparation.scratch)
    if preparation.graphs:
        first = preparation.graphs[0]
        for index in (*first.inputs, *first.outputs):
            total += _POINTER + _TENSOR
            channels = len(scales(first.tensor(index)))
            total += _QUANTIZATION + 4 + 4 * channels if channels else 0
    return aligned(total)


def _resource_sizes(graphs: tuple[Graph, ...]) -> list[int]:
    sizes: dict[tuple[str, str], int] = {}
    for graph in graphs:
        names: dict[int, tuple[str, str]] = {}
        for node in graph.nodes:
            variable = variable_name(graph.model, node)
            if variable is not None:
                names[node.output(0)] = variable
            elif node.op == "ASSIGN_VARIABLE" and not node.is_custom and node.input(0) in names:
                sizes.setdefault(names[node.input(0)], byte_size(graph.tensor(node.input(1))))
    return list(sizes.values())


def planning_size(preparation: Preparation, buffers: int) -> int:
    """Return the bytes that the runtime needs for planning, in addition to the tail. Later, the head uses the same bytes."""
    tensors = sum([len(graph.tensors) for graph in preparation.graphs])
    scratch = len(preparation.scratch)
    records = _ALLOCATION_INFO * (tensors + scratch) + _POINTER * len(preparation.graphs)
    return aligned(_SCRATCH_REQUEST * (scratch + _MOST_SCRATCH)) + records + _PLANNED_BUFFER * buffers


def _kernel_size(graph: Graph, node: Node) -> int:
    size = _OTHER_KERNEL if node.is_custom else KERNEL_BYTES.get(node.op, _OTHER_KERNEL)
    filters = graph.tensor(node.input(1))
    if node.is_custom:
        return size
    if node.op in _PER_CHANNEL:
        return size + _CHANNEL * filters.size(_PER_CHANNEL[node.op])
    if node.op == "FULLY_CONNECTED" and len(scales(filters)) > 1:
        return size + _CHANNEL * len(scales(filters))
    if node.op == "SOFTMAX" and graph.tensor(node.input(0)).type == "INT16":
        return size + _TABLES_OF_INT16_SOFTMAX
    return size


BASIS = (
    "head: activations and scratch buffers of the reference kernels, as the greedy planner places them; "
    "tail: an estimate for a 32-bit build, from the sizes of its structures, and from kernel data that was measured on x86-64; "
    "planning: an estimate of the memory that the planner needs, and that the head uses later; "
    "total: the tail plus the larger of head and planning. CMSIS-NN's scratch buffers, for example, have other sizes, so measure "
    "the arena with arena_used_bytes() on the device. Leave a margin, because allocation can need more bytes than are used at "
    "the end"
)
"""An explanation of the sizes."""


@dataclass(frozen=True, slots=True)
class PlacedBuffer(Declared):
    """A buffer with its place in the head."""

    columns = (
        *within("buffer", [Column("name"), *attributes("subgraph", "tensor", "node", type=INTEGER)]),
        *(Column("bytes", INTEGER, source="buffer.requirement.size"), Column("offset", INTEGER)),
        Column("first_step", INTEGER, source="buffer.requirement.first"),
        Column("last_step", INTEGER, source="buffer.requirement.last"),
    )

    buffer: Buffer
    offset: int

    @property
    def area(self) -> int:
        """The size in bytes, multiplied by the number of steps in which the buffer is needed."""
        wanted = self.buffer.requirement
        return wanted.size * (wanted.last - wanted.first + 1)


@dataclass(frozen=True, slots=True)
class Arena(Declared):
    """The memory of a model, in bytes."""

    columns = (
        *(Column("head", INTEGER), Column("tail_estimate", INTEGER, source="tail")),
        *(Column("planning_estimate", INTEGER, source="planning"), Column("total_estimate", INTEGER, source="total")),
        *(Column("basis", source=lambda _: BASIS), Column("buffers", LIST, parts=PlacedBuffer.columns)),
    )

    head: int
    """The plan of activations and scratch buffers."""
    tail: int
    """The estimated size of the data that stays in memory: structures, kernel data and variables."""
    planning: int
    """The estimated bytes that the planner needs. The head later uses the same memory."""
    buffers: tuple[PlacedBuffer, ...]

    @property
    def total(self) -> int:
        """The estimated size of the arena."""
        return self.tail + max(self.head, self.planning)


def plan_arena(model: Model, preparation: Preparation) -> Arena:
    """Return the arena of a model. Raise LimitError if planning its buffers takes too long."""
    buffers = planned_buffers(model, preparation)
    requirements = [buffer.requirement for buffer in buffers]
    with naming_model(model.path):
        offsets = plan(requirements)
    return Arena(
        total_size(requirements, offsets),
        tail_size(preparation),
        planning_size(preparation, len(buffers)),
        tuple(map(PlacedBuffer, buffers, offsets)),
    )

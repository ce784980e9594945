"""Creation of the kernel of one partition.

Source: ``Subgraph::Create`` and the visits that define XNNPACK's nodes (``delegates/xnnpack/xnnpack_delegate.cc``), and the
checks of types and quantization in XNNPACK's ``xnn_define`` functions (``src/subgraph``). The module ``shapes`` simulates
failures to compute shapes. Failures that depend on the processor are not simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...foundation.float32 import float32, quotient
from ...foundation.limits import has_too_many_dimensions
from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Node, Tensor
from ...model.numbers import FlatNumbers, StoredNumbers, as_list, distinct
from ...refusal import Refusal
from ...releases.catalogue import parse_release
from . import shapes
from .rules.calls import ATTENTION
from .rules.checks import MAX_RANK
from .target import EIGHT_BIT_TYPES, Visit, datatype, kernel_failure, scales_of

_FIRST_OPERAND_ONLY = frozenset(
    {"MEAN", "PAD", "REDUCE_MAX", "REDUCE_MIN", "RESHAPE", "RESIZE_BILINEAR", "SLICE", "STRIDED_SLICE", "SUM", "TRANSPOSE"}
)
"""Operators for which only the first operand becomes an XNNPACK value. The delegate reads all other operands as parameters."""

_WEIGHTED_FLOAT = {
    "fp32": {("fp32", "fp32", "fp32"), ("fp16", "fp32", "fp16")},
    "fp16": {("fp32", "fp16", "fp32"), ("fp32", "fp32", "fp32"), ("fp16", "fp16", "fp16"), ("fp16", "fp32", "fp16")},
}
_CONVOLUTION = {
    **_WEIGHTED_FLOAT,
    "qint8": {("qint8", "qint32", "qint8")},
    "qcint8": {("qint8", "qcint32", "qint8"), ("qdint8", "fp32", "fp32")},
    "quint8": {("quint8", "qint32", "quint8")},
}
"""Supported datatypes (input, bias, output) of convolutions, by the datatype of the weights."""
_DYNAMIC = {("qdint8", "fp32", "fp32"), ("qdint8", "fp32", "fp16")}
_INTEGER = {("qint8", "qcint32", "qint8"), ("qint8", "qint32", "qint8")}
_FULLY_CONNECTED = {
    **_WEIGHTED_FLOAT,
    "qcint2": _DYNAMIC | _INTEGER,
    "qcint4": _DYNAMIC | _INTEGER,
    "qcint8": _DYNAMIC | _INTEGER,
    "qbint4": _DYNAMIC,
    "quint8": {("quint8", "qint32", "quint8")},
}
"""Supported datatypes (input, bias, output) of FULLY_CONNECTED, by the datatype of the weights."""
_PRODUCT = {"fp16": {("fp16", "fp16")}, "fp32": {("fp32", "fp32")}, "qint8": {("qint8", "qint8")}, "qcint8": {("qdint8", "fp32")}}
"""Supported datatypes (first input, output) of BATCH_MATMUL, by the datatype of the second input."""

_INT4_ZERO_POINTS = (0, 8)
_LARGEST_REQUANTIZATION = 256.0
_SPLIT_KEEPS_PARAMETERS = parse_release("litert-2.1.5")
"""From this release on, all results of a SPLIT must have the operand's scale and zero point.

Measured with ``ai-edge-litert`` 2.1.4 and 2.1.5.
"""


class _Kernel:
    """The kernel of one partition under construction.

    ``inputs`` are the inputs of the model. ``outputs`` are the tensors that leave the partition. ``positions`` maps each node of
    the partition to its position in the running order.
    """

    def __init__(
        self, graph: Graph, visit: Visit, inputs: Collection[int], outputs: Collection[int], positions: Mapping[int, int]
    ) -> None:
        self.graph = graph
        self.visit = visit
        self.inputs = inputs
        self.outputs = outputs
        self.positions = positions
        self.release = visit.release
        self.value_of_variable = visit.variables.value_of
        self.elided_float16 = visit.unpacking.elided_float16
        self._datatypes: dict[int, str | None] = {}

    def tensor(self, index: int) -> Tensor:
        """Return a tensor. For the handle of a variable, return a tensor with the variable's type and shape."""
        return self.value_of_variable(index) or self.graph.tensors[index]

    def datatype(self, index: int) -> str | None:
        """Return XNNPACK's datatype of a tensor, or fp16 if a float16 constant replaces the tensor."""
        if index not in self._datatypes:
            is_float16 = index in self.elided_float16
            self._datatypes[index] = "fp16" if is_float16 else datatype(self.graph, self.tensor(index), self.release)
        return self._datatypes[index]

    def operands(self, node: Node) -> Sequence[int]:
        inputs = node.inputs
        if not node.is_custom:
            if node.op in _FIRST_OPERAND_ONLY:
                inputs = node.inputs[:1]
            elif node.op == "SPLIT":
                inputs = node.inputs[1:2]
            elif node.op == "TRANSPOSE_CONV":
                inputs = node.inputs[1:]
        return [index for index in inputs if index >= 0]

    def define_values(self, nodes: Iterable[Node]) -> Refusal | None:
        """Define the values of all nodes in the order of tensor indices (``DefineXNNPACKValue``). Return the first failure."""
        for index in sorted({index for node in nodes for index in self.values(node)}):
            if self.lacks_datatype(index):
                tensor = self.tensor(index)
                return kernel_failure("xnnpack-kernel-datatype", None, tensor, found=scales_of(tensor))
        return None

    def values(self, node: Node) -> Sequence[int]:
        return [index for index in (*self.operands(node), *node.outputs) if index >= 0]

    def lacks_datatype(self, index: int) -> bool:
        """Return whether XNNPACK cannot store a tensor. The handle of an unused variable needs no storage."""
        is_unused = self.graph.tensors[index].type == "RESOURCE" and self.value_of_variable(index) is None
        return not is_unused and self.datatype(index) is None

    def define_node(self, view: NodeView) -> Refusal | None:
        """Define one node.

        Return a failure if a tensor has too many dimensions or a check of the operator fails; otherwise None.
        """
        node = view.node
        for index in (*self.operands(node), *node.outputs):
            if self.tensor(index).rank > MAX_RANK:
                return kernel_failure("xnnpack-kernel-rank", node.index, self.tensor(index))
        define = (_DEFINE_CUSTOM if node.is_custom else _DEFINE).get(node.op)
        failure = define(self, view) if define is not None else None
        failure = failure or shapes.operands_of_other_shape(view, self.inputs)
        return (
            failure
            or shapes.weights_of_other_shape(view, self.visit)
            or shapes.variable_read_twice(view, self.positions, self.outputs)
        )

    def mixed(self, node: NodeView, *datatypes: str | None) -> Refusal | None:
        description = ", ".join(name or "no bias" for name in datatypes)
        return kernel_failure("xnnpack-kernel-mixed-types", node.node.index, op=node.op, found=description)


def build_partition(graph: Graph, subset: Subset, visit: Visit) -> Refusal | None:
    """Create the kernel of one partition, and return the first failure, or None."""
    positions = {index: position for position, index in enumerate(subset.nodes)}
    failure = shapes.overflowing_constant(graph, positions, visit)
    if failure is not None:
        return failure
    # The inputs of a called subgraph get their shapes from the caller, so the shapes in the file are not used.
    inputs = frozenset(() if graph.index else graph.inputs)
    kernel = _Kernel(graph, visit, inputs, frozenset(subset.outputs), positions)
    unpacking = set(visit.unpacking.producers.values())
    nodes = [graph.nodes[index] for index in subset.nodes if index not in unpacking]
    failure = kernel.define_values(nodes)
    if failure is not None:
        return failure
    for node in nodes:
        failure = kernel.define_node(graph.view(node))
        if failure is not None:
            return failure
    return None


def _same_type(kernel: _Kernel, node: NodeView) -> Refusal | None:
    datatypes = [kernel.datatype(index) for index in (*kernel.operands(node.node), *node.node.outputs)]
    return None if len(set(datatypes)) <= 1 else kernel.mixed(node, *datatypes)


def _moved(kernel: _Kernel, node: NodeView) -> Refusal | None:
    return _same_type(kernel, node) or _same_parameters(kernel, node)


def _same_parameters(kernel: _Kernel, node: NodeView) -> Refusal | None:
    """Return a failure unless 8-bit results have the same scale and zero point as the operands.

    Upstream: ``xnn_subgraph_check_quantization_parameter_matches``.
    """
    for source in map(kernel.tensor, kernel.operands(node.node)):
        for result in map(kernel.tensor, node.node.outputs):
            failure = _rescaled(node, source, result) if result.type in EIGHT_BIT_TYPES else None
            if failure is not None:
                return failure
    return None


def _rescaled(node: NodeView, source: Tensor, result: Tensor) -> Refusal | None:
    if (source.scale, source.zero_point) == (result.scale, result.zero_point):
        return None
    description = f"{source.scale:g} and {source.zero_point} to {result.scale:g} and {result.zero_point}"
    return kernel_failure("xnnpack-kernel-rescaling", node.node.index, op=node.op, found=description)


def _assigned(kernel: _Kernel, node: NodeView) -> Refusal | None:
    source, result = kernel.tensor(node.node.input(1)), kernel.tensor(node.node.input(0))
    return _rescaled(node, source, result) if source.type in EIGHT_BIT_TYPES else None


def _max_pooled(kernel: _Kernel, node: NodeView) -> Refusal | None:
    is_activation = node.options.filter_height == node.options.filter_width == 1
    failure = _same_type(kernel, node) if is_activation else _moved(kernel, node)
    return failure or _pooled_image(kernel, node)


def _transposed(kernel: _Kernel, node: NodeView) -> Refusal | None:
    sizes = _read_as_int32(node.value(node.input(1)))
    count = len(sizes)
    if not count or sorted(size + count if size < 0 else size for size in sizes) != list(range(len(sizes))):
        axes = f"{count:,} axes" if has_too_many_dimensions(count) else sizes
        return kernel_failure("xnnpack-kernel-permutation", node.node.index, found=axes)
    return _moved(kernel, node)


def _read_as_int32(value: FlatNumbers | None) -> list[int]:
    if value is None:
        return []
    content = value.tobytes().ljust(4 * len(value), b"\0")
    return as_list(StoredNumbers.read("<i4", content)[: len(value)])


def _convolved(kernel: _Kernel, node: NodeView) -> Refusal | None:
    source, weights, bias = node.node.inputs
    tensor = kernel.tensor(weights)
    if kernel.datatype(source) not in ("fp32", "fp16") and kernel.datatype(weights) == "qint8" and tensor.zero_point:
        return kernel_failure("xnnpack-kernel-zero-point", node.node.index, tensor, found=tensor.zero_point)
    return _weighted(kernel, node, _CONVOLUTION, source, weights, bias)


def _transpose_convolved(kernel: _Kernel, node: NodeView) -> Refusal | None:
    """Check TRANSPOSE_CONV. XNNPACK ignores the zero point of the weights."""
    _, weights, source, *bias = node.node.inputs
    return _weighted(kernel, node, _CONVOLUTION, source, weights, bias[0] if bias else -1)


def _weighted(
    kernel: _Kernel, node: NodeView, table: dict[str, set[tuple[str, str, str]]], source: int, weights: int, bias: int
) -> Refusal | None:
    source_type, weights_type, bias_type = kernel.datatype(source), kernel.datatype(weights), None
    output_type = kernel.datatype(node.node.output(0))
    is_dynamic = source_type in ("fp32", "fp16") and weights_type in ("qint8", "qcint8")
    if is_dynamic:
        source_type, weights_type = "qdint8", "qcint8"
    if bias >= 0:
        bias_type = kernel.datatype(bias)
    if not _go_together(table, weights_type, source_type, bias_type, output_type):
        return kernel.mixed(node, source_type, weights_type, bias_type, output_type)
    return None if is_dynamic else _requantized(kernel, node, source, weights)


def _go_together(
    table: dict[str, set[tuple[str, str, str]]], weights: str | None, source: str | None, bias: str | None, output: str | None
) -> bool:
    combinations = table.get(weights or "", set())
    return any(
        combination[0] == source and combination[2] == output and bias in (combination[1], None) for combination in combinations
    )


def _requantized(kernel: _Kernel, node: NodeView, source: int, weights: int) -> Refusal | None:
    """Return a failure if input scale times weight scale is at least 256 times the output scale."""
    quantization, output = kernel.tensor(weights).quantization, kernel.tensor(node.node.output(0))
    if output.type not in ("INT8", "UINT8") or quantization is None or not quantization.is_affine:
        return None
    product = float32(float32(kernel.tensor(source).scale) * max(distinct(quantization.scales)))
    factor = quotient(product, output.scale)
    if factor < _LARGEST_REQUANTIZATION:
        return None
    description = f"input scale * weight scale / output scale = {factor:g}; needs a number below {_LARGEST_REQUANTIZATION:g}"
    return kernel_failure("xnnpack-kernel-scale", node.node.index, kernel.tensor(weights), found=description)


def _fully_connected(kernel: _Kernel, node: NodeView) -> Refusal | None:
    source, weights, *bias = node.node.inputs
    source_type, weights_type = kernel.datatype(source), kernel.datatype(weights)
    bias_type = kernel.datatype(bias[0]) if bias and bias[0] >= 0 else None
    output_type = kernel.datatype(node.node.output(0))
    tensor = kernel.tensor(weights)
    is_dynamic = source_type in ("fp32", "fp16") and tensor.type in ("INT8", "INT4", "INT2")
    if weights_type in ("qint8", "qint4", "qint2"):
        weights_type = weights_type.replace("qint", "qcint")
    zero_point = tensor.quantization.zero_point if tensor.quantization is not None else 0
    zero_points = _INT4_ZERO_POINTS if weights_type == "qcint4" else (0,)
    if weights_type in ("qcint8", "qcint4", "qcint2") and zero_point not in zero_points:
        return kernel_failure("xnnpack-kernel-zero-point", node.node.index, tensor, found=zero_point)
    if weights_type == "qbint4" and tensor.quantization is not None and tensor.shape[1] % tensor.quantization.block_size:
        description = f"{tensor.shape[1]} input channels in blocks of {tensor.quantization.block_size}"
        return kernel_failure("xnnpack-kernel-block-size", node.node.index, tensor, found=description)
    if is_dynamic:
        source_type = "qdint8"
        if not kernel.tensor(source).shape:
            return kernel_failure("xnnpack-kernel-scalar", node.node.index, kernel.tensor(source), op=node.op)
    if not _go_together(_FULLY_CONNECTED, weights_type, source_type, bias_type, output_type):
        return kernel.mixed(node, source_type, weights_type, bias_type, output_type)
    return None if is_dynamic else _requantized(kernel, node, source, weights)


def _pooled_image(kernel: _Kernel, node: NodeView) -> Refusal | None:
    if node.options.filter_height == node.options.filter_width == 1:
        return None
    return shapes.not_an_image(node, kernel.inputs, kernel.release)


def _moved_blocks(kernel: _Kernel, node: NodeView) -> Refusal | None:
    return _moved(kernel, node) or shapes.not_an_image(node, kernel.inputs, kernel.release)


def _split(kernel: _Kernel, node: NodeView) -> Refusal | None:
    is_checked = kernel.release.is_at_least(_SPLIT_KEEPS_PARAMETERS)
    failure = _moved(kernel, node) if is_checked else _same_type(kernel, node)
    return failure or shapes.uneven_split(node, kernel.inputs, kernel.release)


def _multiplied(kernel: _Kernel, node: NodeView) -> Refusal | None:
    first, second = (kernel.datatype(index) for index in node.node.inputs[:2])
    output = kernel.datatype(node.node.output(0))
    if first == "fp32" and node.input(1).type == "INT8":
        failure = _unusable_dynamic_operand(node)
        if failure is not None:
            return failure
        first, second = "qdint8", "qcint8"
    return None if (first, output) in _PRODUCT.get(second or "", ()) else kernel.mixed(node, first, second, output)


def _unusable_dynamic_operand(node: NodeView) -> Refusal | None:
    tensor = node.input(1)
    if tensor.quantization is None:
        return None
    zero_point = tensor.quantization.zero_point
    if zero_point:
        return kernel_failure("xnnpack-kernel-zero-point", node.node.index, tensor, found=zero_point)
    *batches, rows, columns = tensor.shape
    needed, count = (rows if node.options.adj_y else columns), len(tensor.quantization.scales)
    for size in batches:
        needed *= size
    if needed % count:
        return kernel_failure("xnnpack-kernel-scale", node.node.index, tensor, found=f"{count} scales for {needed} columns")
    return None


_SAME_TYPE = (
    "ABS", "ADD", "CEIL", "COS", "DIV", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG",
    "LOGISTIC", "MAXIMUM", "MINIMUM", "MUL", "NEG", "PRELU", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIN", "SOFTMAX",
    "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SUB", "TANH",
)  # fmt: skip
_MOVED = ("CONCATENATION", "PAD", "READ_VARIABLE", "RESHAPE", "SLICE", "STRIDED_SLICE")

_DEFINE: dict[str, Callable[[_Kernel, NodeView], Refusal | None]] = {
    **dict.fromkeys(_SAME_TYPE, _same_type),
    **dict.fromkeys(_MOVED, _moved),
    "ASSIGN_VARIABLE": _assigned,
    "AVERAGE_POOL_2D": lambda kernel, node: _same_type(kernel, node) or _pooled_image(kernel, node),
    "BATCH_MATMUL": _multiplied,
    "CONV_2D": _convolved,
    "DEPTHWISE_CONV_2D": _convolved,
    "DEPTH_TO_SPACE": _moved_blocks,
    "FULLY_CONNECTED": _fully_connected,
    "MAX_POOL_2D": _max_pooled,
    **dict.fromkeys(("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"), lambda kernel, node: shapes.missing_axis(node, kernel.inputs)),
    "RESIZE_BILINEAR": _same_parameters,
    "SPACE_TO_DEPTH": _moved_blocks,
    "SPLIT": _split,
    "STABLEHLO_COMPOSITE": lambda _, node: shapes.attention_of_other_shapes(node),
    "TRANSPOSE": _transposed,
    "TRANSPOSE_CONV": _transpose_convolved,
}
_DEFINE_CUSTOM: dict[str, Callable[[_Kernel, NodeView], Refusal | None]] = {
    ATTENTION: lambda _, node: shapes.attention_of_other_shapes(node)
}

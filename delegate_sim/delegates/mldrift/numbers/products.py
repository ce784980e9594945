"""Wrong numbers of convolutions and matrix products."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....releases.catalogue import parse_release
from ..shapes import are_groups_split, groups_of
from .rule import Affected, GraphPart, number_rule, vector


def _is_quantized(weights: Tensor) -> bool:
    return weights.is_constant and weights.quantization is not None and weights.quantization.is_affine


def _strided_matrix(node: NodeView, part: GraphPart) -> Affected | None:
    weights, result, options = node.input(1), node.output(0), node.options
    is_matrix = weights.rank == 4 and result.rank == 4 and weights.shape[1:3] == (1, 1)
    if not is_matrix or weights.type not in ("INT8", "INT4") or not _is_quantized(weights):
        return None
    steps = ((options.stride_h, result.shape[1]), (options.stride_w, result.shape[2]))
    is_strided = any(stride > 1 and size > 1 for stride, size in steps)
    return Affected(weights, {"stride": max(options.stride_h, options.stride_w)}) if is_strided else None


def _grouped(node: NodeView, part: GraphPart) -> Affected | None:
    shapes = node.input(0).shape, node.input(1).shape, node.output(0).shape
    if not node.input(1).is_constant or not are_groups_split(*shapes):
        return None
    groups, inputs, outputs = groups_of(*shapes)
    return Affected(node.output(0), {"groups": groups, "inputs": inputs, "outputs": outputs})


def multiplied(node: NodeView, part: GraphPart) -> Affected | None:
    """Find a depthwise convolution of several channels with constant weights and a depth multiplier above 1."""
    source, weights = node.input(0), node.input(1)
    if source.rank != 4 or weights.rank != 4 or not weights.is_constant:
        return None
    return Affected(weights) if 1 < source.shape[3] < weights.shape[3] else None


def _depthwise(node: NodeView, part: GraphPart) -> Affected | None:
    return multiplied(node, part) if node.input(1).shape[1:3] == (1, 1) else None


def _transposed(node: NodeView, part: GraphPart) -> Affected | None:
    source, weights, result, options = node.input(2), node.input(1), node.output(0), node.options
    is_same = schema.enum_names("Padding").get(options.padding) == "SAME"
    if not is_same or source.rank != 4 or weights.rank != 4 or result.rank != 4:
        return None
    for axis, stride in ((1, options.stride_h), (2, options.stride_w)):
        size, window, given = source.shape[axis], weights.shape[axis], result.shape[axis]
        if stride <= 0:
            return None
        taken = max(0, window - (size % stride or stride)) // 2
        meant = max(0, (size - 1) * stride + window - given) // 2
        if taken != meant:
            return Affected(result, {"axis": axis, "taken": taken, "meant": meant})
    return None


def _is_flattened(node: NodeView) -> bool:
    source, weights = node.input(0), node.input(1)
    return source.rank > 1 and weights.rank == 2 and source.shape[-1] != weights.shape[-1]


def several_rows(node: NodeView, part: GraphPart) -> Affected | None:
    """Find a matrix product that does not keep the rank of its input, although the input has several rows in a batch."""
    source = node.input(0)
    if not node.input(1).is_constant or node.options.keep_num_dims or _is_flattened(node):
        return None
    return Affected(source) if source.rank > 2 and element_count(source.shape[1:-1]) > 1 else None


def _quantized_rows(node: NodeView, part: GraphPart) -> Affected | None:
    return several_rows(node, part) if _is_quantized(node.input(1)) else None


def _broadcast_batches(node: NodeView, part: GraphPart) -> Affected | None:
    batches = element_count(node.output(0).shape[:-2])
    for position in (0, 1):
        operand = node.input(position)
        is_matrix = position == 1 and operand.is_constant and operand.rank == 2
        if not is_matrix and element_count(operand.shape[:-2]) != batches:
            return Affected(operand, {"batches": batches})
    return None


def _transposed_constant(node: NodeView, part: GraphPart) -> Affected | None:
    matrix, options = node.input(1), node.options
    is_matrix = matrix.is_constant and matrix.rank == 2
    return Affected(matrix) if is_matrix and (options.adj_x or options.adj_y) else None


def _mask(node: NodeView, part: GraphPart) -> Affected | None:
    for scores, mask in (node.inputs, node.inputs[::-1]) if len(node.inputs) == 2 else ():
        is_product = _is_behind_product(scores, part)
        if is_product and scores.rank == mask.rank == 4 and mask.shape[1] == 1 < scores.shape[1]:
            return Affected(mask, {"other": list(scores.shape)})
    return None


def _is_behind_product(tensor: Tensor, part: GraphPart) -> bool:
    """Return whether a BATCH_MATMUL computes a tensor, perhaps before a multiplication by one number."""
    writer = part.writer(tensor)
    if writer is not None and writer.op in ("MUL", "DIV") and writer.input(1).is_constant and writer.input(1).element_count == 1:
        writer = part.writer(writer.input(0))
    return writer is not None and writer.op == "BATCH_MATMUL"


def _table(node: NodeView, part: GraphPart) -> Affected | None:
    table = node.input(1)
    is_single = table.type == "INT8" and _is_quantized(table) and not table.is_per_channel
    return Affected(table) if is_single and table.shape[:1] > (1,) else None


RULES = (
    number_rule("conv-1x1-int8-stride", ("CONV_2D",), _strided_matrix, is_before_backend=True),
    number_rule("grouped-conv", ("CONV_2D",), _grouped, is_before_backend=True),
    number_rule("dwconv-1x1-multiplier", ("DEPTHWISE_CONV_2D",), _depthwise, is_before_backend=True),
    number_rule("tconv-same-padding", ("TRANSPOSE_CONV",), _transposed),
    number_rule("fc-rank1", ("FULLY_CONNECTED",), vector, is_before_backend=True),
    number_rule(
        "fc-flatten",
        ("FULLY_CONNECTED",),
        lambda node, _: Affected(node.input(0), {"needed": node.input(1).shape[-1]}) if _is_flattened(node) else None,
        is_before_backend=True,
    ),
    number_rule("fc-int8-flatten", ("FULLY_CONNECTED",), _quantized_rows, is_before_backend=True),
    number_rule(
        "fc-runtime-weights-bias",
        ("FULLY_CONNECTED",),
        lambda node, _: Affected(node.input(2)) if not node.input(1).is_constant and node.node.input(2) >= 0 else None,
        is_before_backend=True,
    ),
    number_rule("bmm-broadcast", ("BATCH_MATMUL",), _broadcast_batches),
    number_rule("bmm-const2d-adj", ("BATCH_MATMUL",), _transposed_constant, is_before_backend=True),
    number_rule(
        "bmm-masked",
        ("ADD",),
        _mask,
        depends_on_values=True,
        only_on="opencl",
        fixed_in=parse_release("litert-2.1.6"),
        read_in="Reported with OpenCL in litert-2.1.3 and litert-2.1.5 (LiteRT issue 8593), not measured. WebGPU is right.",
    ),
    number_rule("embedding-per-tensor", ("EMBEDDING_LOOKUP",), _table),
)

"""Wrong numbers of convolutions and matrix products."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....rules.kinds import Problem
from ..shapes import are_groups_split, groups_of
from .rule import Affected, GraphPart, NumberRule


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


def _depthwise(node: NodeView, part: GraphPart) -> Affected | None:
    source, weights = node.input(0), node.input(1)
    if source.rank != 4 or weights.rank != 4 or not weights.is_constant or weights.shape[1:3] != (1, 1):
        return None
    channels = source.shape[3]
    return Affected(weights) if channels > 1 and weights.shape[3] > channels else None


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


def _vector(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    return Affected(source) if source.rank == 1 and source.element_count > 1 else None


def _is_flattened(node: NodeView) -> bool:
    source, weights = node.input(0), node.input(1)
    return source.rank > 1 and weights.rank == 2 and source.shape[-1] != weights.shape[-1]


def _quantized_rows(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    if not _is_quantized(node.input(1)) or node.options.keep_num_dims or _is_flattened(node):
        return None
    return Affected(source) if source.rank > 2 and element_count(source.shape[1:-1]) > 1 else None


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


def _table(node: NodeView, part: GraphPart) -> Affected | None:
    table = node.input(1)
    is_single = table.type == "INT8" and _is_quantized(table) and not table.is_per_channel
    return Affected(table) if is_single and table.shape[:1] > (1,) else None


RULES = (
    NumberRule(
        "conv-1x1-int8-stride",
        Problem.ATTRIBUTE,
        "stride of a convolution with quantized 1x1 weights",
        ("CONV_2D",),
        "A convolution has constant INT8 weights of height 1 and width 1, with one scale or one for each channel, and a stride "
        "above 1 in an axis whose result has several elements. ML Drift turns the node into a matrix product and forgets the "
        "stride. ResNets with quantized weights have such nodes.",
        "The result is the top left corner of the unstrided result.",
        "Take every n-th pixel with STRIDED_SLICE first, and use a stride of 1. Or keep the weights as float.",
        "take every n-th pixel with STRIDED_SLICE first, or keep the weights as float",
        "the GPU forgets the stride of {stride} of the convolution with the quantized 1x1 weights {tensor}",
        _strided_matrix,
        is_before_backend=True,
    ),
    NumberRule(
        "grouped-conv",
        Problem.SHAPE,
        "grouped convolution",
        ("CONV_2D",),
        "A CONV_2D with constant weights has groups: the input has more channels than the weights. It gives right numbers only "
        "if the input and output channels of each group are multiples of 4, or if each group has one input channel and one "
        "output channel.",
        "The result is zero, or has values of another group. Some of these convolutions end the process.",
        "Split the input into groups, use one CONV_2D for each group, and concatenate the results, as onnx2tf does.",
        "use SPLIT, one CONV_2D for each group, and CONCATENATION",
        "the GPU computes the {groups} groups of {inputs} input and {outputs} output channels wrongly",
        _grouped,
        is_before_backend=True,
    ),
    NumberRule(
        "dwconv-1x1-multiplier",
        Problem.SHAPE,
        "1x1 depthwise convolution with a multiplier",
        ("DEPTHWISE_CONV_2D",),
        "A depthwise convolution has constant weights of height 1 and width 1, a depth multiplier above 1, and several input "
        "channels.",
        "Output channels get each other's weights.",
        "Put the weights in the middle of a 3x3 kernel of zeros.",
        "put the weights in the middle of a 3x3 kernel of zeros",
        "the GPU gives output channels each other's weights of {tensor} of shape {shape}",
        _depthwise,
        is_before_backend=True,
    ),
    NumberRule(
        "tconv-same-padding",
        Problem.ATTRIBUTE,
        "transposed convolution with SAME padding",
        ("TRANSPOSE_CONV",),
        "A TRANSPOSE_CONV with SAME padding has an axis in which ML Drift removes another number of elements at the start than "
        "the CPU. With a window of 3 and a stride of 2, this happens for every odd input size.",
        "The result is shifted by a pixel.",
        "Use VALID padding, and cut the result with SLICE.",
        "use VALID padding, and cut the result with SLICE",
        "the GPU removes {taken} in place of {meant} elements at the start of dimension {axis} of {tensor}, so the result is "
        "shifted",
        _transposed,
    ),
    NumberRule(
        "fc-rank1",
        Problem.RANK,
        "matrix product with a vector of rank 1",
        ("FULLY_CONNECTED",),
        "The input of FULLY_CONNECTED has rank 1 and several elements.",
        "The GPU uses only the first element.",
        "Reshape the input to [1, n].",
        "reshape the input to rank 2",
        "the GPU uses only the first element of {tensor} of shape {shape}",
        _vector,
        is_before_backend=True,
    ),
    NumberRule(
        "fc-flatten",
        Problem.SHAPE,
        "matrix product that flattens its input",
        ("FULLY_CONNECTED",),
        "The last dimension of the input of FULLY_CONNECTED differs from the last dimension of the weights, so that the CPU "
        "flattens the input. Old converters write such nodes.",
        "The whole result is wrong.",
        "Put a RESHAPE to [rows, columns] before the node.",
        "reshape the input to [n, {needed}] first",
        "the GPU does not flatten {tensor} of shape {shape} to rows of {needed} elements",
        lambda node, _: Affected(node.input(0), {"needed": node.input(1).shape[-1]}) if _is_flattened(node) else None,
        is_before_backend=True,
    ),
    NumberRule(
        "fc-int8-flatten",
        Problem.SHAPE,
        "matrix product with quantized weights and rank 3 or 4",
        ("FULLY_CONNECTED",),
        "FULLY_CONNECTED has constant quantized weights, does not keep the number of dimensions (keep_num_dims), and its input "
        "has rank 3 or 4 and several rows in a batch.",
        "The first row is right, and all other rows are zero.",
        "Put a RESHAPE to [rows, columns] before the node, or set keep_num_dims.",
        "reshape the input to rank 2 first, or set keep_num_dims",
        "the GPU computes only the first row of {tensor} of shape {shape}, because the weights are quantized",
        _quantized_rows,
        is_before_backend=True,
    ),
    NumberRule(
        "fc-runtime-weights-bias",
        Problem.CONSTANT,
        "bias of a matrix product with weights from the GPU",
        ("FULLY_CONNECTED",),
        "The weights of FULLY_CONNECTED are not constant, and there is a bias.",
        "The GPU does not add the bias.",
        "Leave out the bias, and add it with ADD.",
        "leave out the bias, and add it with ADD",
        "the GPU does not add the bias {tensor}, because the weights are not constant",
        lambda node, _: Affected(node.input(2)) if not node.input(1).is_constant and node.node.input(2) >= 0 else None,
        is_before_backend=True,
    ),
    NumberRule(
        "bmm-broadcast",
        Problem.SHAPE,
        "matrix product with broadcast batches",
        ("BATCH_MATMUL",),
        "An operand of BATCH_MATMUL has fewer matrices than the result. A constant right operand of rank 2 is no problem.",
        "Batch 0 is right. Other batches are wrong, zero, or different from run to run.",
        "Repeat the operand for each batch with TILE, or fold the batches into the rows with RESHAPE.",
        "repeat the operand with TILE, or fold the batches into the rows",
        "the GPU does not repeat {tensor} of shape {shape} for the {batches} batches of the result",
        _broadcast_batches,
    ),
    NumberRule(
        "bmm-const2d-adj",
        Problem.ATTRIBUTE,
        "transposed matrix product with a constant matrix",
        ("BATCH_MATMUL",),
        "The right operand of BATCH_MATMUL is a constant of rank 2, and adj_x or adj_y is set.",
        "The GPU transposes nothing, so the whole result is wrong.",
        "Store the constant transposed, and do not set adj_x and adj_y.",
        "store the constant transposed, without adj_x and adj_y",
        "the GPU ignores adj_x and adj_y, because the right operand {tensor} is a constant matrix",
        _transposed_constant,
        is_before_backend=True,
    ),
    NumberRule(
        "embedding-per-tensor",
        Problem.QUANTIZATION,
        "quantized table with one scale",
        ("EMBEDDING_LOOKUP",),
        "The table of EMBEDDING_LOOKUP is INT8, has several rows and one scale.",
        "Row 0 is right, and all other rows are zero.",
        "Quantize the table with one scale for each row.",
        "quantize the table with one scale for each row",
        "the GPU gives zero for all rows but the first of the table {tensor}, because it has only one scale",
        _table,
    ),
)

"""Wrong numbers of elementwise nodes, convolutions and matrix products.

A constant operand keeps another place in ML Drift's four axes than the runtime operand if their ranks or shapes differ. Most
wrong numbers of elementwise nodes come from this difference.
"""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView, fused_activation
from ....model import schema
from ....model.model import Tensor
from ....model.numbers import FlatNumbers, fact_of, fulfill
from ....releases.catalogue import parse_release
from ...gpu_compatibility import Bhwc, axes_of, bhwc, filled
from ..target import are_groups_split, groups_of
from .rule import Affected, GraphPart, is_never_negative, is_positive, number_rule, vector

_BROADCASTING = (
    "ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD", "ATAN2", "EQUAL",
    "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR",
)  # fmt: skip
_WITH_ACTIVATION = (
    "ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D",
)  # fmt: skip
_CUBE = 3
"""The only odd power that the GPU computes rightly for negative numbers."""


def _strides(sizes: tuple[int, ...]) -> list[int]:
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step if size > 1 else 0)
        step *= size
    return strides[::-1]


def is_read_elsewhere(shape: tuple[int, ...], layout: Bhwc, result: tuple[int, ...]) -> bool:
    """Return whether the GPU reads other elements of an operand than the CPU, which broadcasts as numpy does.

    ``shape`` is the shape of the operand, ``layout`` its sizes along the GPU's axes, and ``result`` the shape of the result.
    """
    own_axes = axes_of(len(result))[len(result) - len(shape) :]
    meant = filled(Bhwc(0, 0, 0, 0), own_axes, tuple(_strides(shape)))
    taken = _strides(layout)
    return any(
        size > 1 and (layout[axis] not in (1, size) or taken[axis] != meant[axis]) for axis, size in enumerate(bhwc(result))
    )


def moved(tensor: Tensor, result: Tensor) -> Affected | None:
    """Find a runtime operand whose elements the GPU reads at other places than the CPU."""
    is_elsewhere = is_read_elsewhere(tensor.shape, bhwc(tensor.shape), result.shape)
    return Affected(tensor, {"other": list(result.shape)}) if is_elsewhere else None


def constant_layout(constant: Tensor) -> Bhwc:
    """Return the sizes of a constant operand along the GPU's axes.

    Float and quantized constants are aligned to the last axis. Other constants of several elements keep their axes.
    """
    if constant.element_count == 1:
        return Bhwc(1, 1, 1, 1)
    if constant.type not in ("FLOAT32", "FLOAT16") and constant.quantization is None:
        return bhwc(constant.shape)
    return aligned(constant.shape)


def aligned(shape: tuple[int, ...]) -> Bhwc:
    """Return the sizes of a tensor whose last dimension becomes the channels, as broadcasting aligns shapes."""
    return Bhwc(*((1,) * (4 - len(shape)) + shape)[-4:])


def _constant_and_other(node: NodeView) -> tuple[Tensor, Tensor] | None:
    inputs = node.inputs[:2]
    if len(inputs) != 2 or inputs[0].is_constant == inputs[1].is_constant:
        return None
    constant, other = sorted(inputs, key=lambda tensor: not tensor.is_constant)
    result = node.output(0)
    if result.rank > 4 or max(constant.rank, other.rank) > result.rank:
        return None
    return constant, other


def _constant_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or not is_read_elsewhere(operands[0].shape, constant_layout(operands[0]), node.output(0).shape):
        return None
    return Affected(operands[0], {"other": list(operands[1].shape)})


def _operand_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    return None if operands is None else moved(operands[1], node.output(0))


def _constant_batches(node: NodeView, part: GraphPart) -> Affected | None:
    operands = _constant_and_other(node)
    if operands is None or constant_layout(operands[0]).b == 1 or bhwc(operands[1].shape).b > 1:
        return None
    if _constant_elsewhere(node, part) or _operand_elsewhere(node, part):
        return None
    return Affected(operands[0], {"other": list(operands[1].shape)})


def runtime_operands(node: NodeView) -> tuple[Tensor, Tensor] | None:
    """Return the two operands that are computed at run time, or None."""
    inputs, rank = node.inputs, node.output(0).rank
    if len(inputs) != 2 or rank > 4 or any(tensor.is_constant or tensor.rank > rank for tensor in inputs):
        return None
    return inputs[0], inputs[1]


def takes_place_of(second: Bhwc, first: Bhwc) -> bool:
    """Return whether ADD and MUL read the second operand as the first one, because it seems to be larger."""
    return first.h <= second.h and first.w <= second.w and first.c == second.c


def _mixed_ranks(node: NodeView, part: GraphPart) -> Affected | None:
    operands = runtime_operands(node)
    if operands is None or operands[0].rank == operands[1].rank:
        return None
    first, second = (tensor.shape for tensor in operands)
    if aligned(first) == aligned(second) or not takes_place_of(bhwc(second), bhwc(first)):
        return None
    return Affected(min(operands, key=lambda tensor: tensor.rank), {"other": list(node.output(0).shape)})


def _quantized_ranks(node: NodeView, part: GraphPart) -> Affected | None:
    operands = runtime_operands(node)
    if operands is None or operands[0].rank == operands[1].rank:
        return None
    lower = min(operands, key=lambda tensor: tensor.rank)
    return Affected(lower, {"other": list(node.output(0).shape)}) if any(tensor.is_affine for tensor in operands) else None


def _condition_elsewhere(node: NodeView, part: GraphPart) -> Affected | None:
    condition, result = node.input(0), node.output(0)
    # A condition of SELECT may have one element for each batch.
    is_of_batches = condition.element_count == 1 or (node.op == "SELECT" and condition.rank == 1)
    return None if is_of_batches or result.rank > 4 or condition.rank > result.rank else moved(condition, result)


def _negative_base(node: NodeView, part: GraphPart) -> Affected | None:
    base, exponent = node.input(0), node.input(1)
    powers = part.constant(exponent)
    if powers is None:
        return None if is_positive(part, base) else Affected(base)
    is_right = is_never_negative(part, base) or fact_of(powers, _are_exact)
    return None if is_right else Affected(base)


def _are_exact(powers: FlatNumbers) -> bool:
    return fulfill(powers, lambda power: (power % 2 == 0) | (power == _CUBE))


def _leaky(node: NodeView, part: GraphPart) -> Affected | None:
    alpha = node.options.alpha
    return Affected(node.output(0), {"alpha": alpha}) if alpha > 1 or alpha < 0 else None


RULES = (
    number_rule("elementwise-const-layout", _BROADCASTING, _constant_elsewhere, is_before_backend=True),
    number_rule("elementwise-runtime-layout", _BROADCASTING, _operand_elsewhere, is_before_backend=True),
    number_rule("elementwise-const-batch", _BROADCASTING, _constant_batches),
    number_rule(
        "elementwise-mixed-ranks", ("ADD", "MUL"), _mixed_ranks, is_before_backend=True, fixed_in=parse_release("litert-2.1.6")
    ),
    number_rule(
        "elementwise-quantized-ranks",
        ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"),
        _quantized_ranks,
    ),
    number_rule("select-cond-layout", ("SELECT", "SELECT_V2"), _condition_elsewhere, is_before_backend=True),
    number_rule(
        "fused-tanh",
        _WITH_ACTIVATION,
        lambda node, _: Affected(node.output(0)) if fused_activation(node) == "TANH" else None,
        is_before_backend=True,
    ),
    number_rule("pow-negative", ("POW",), _negative_base, depends_on_values=True),
    number_rule("leaky-relu-alpha", ("LEAKY_RELU",), _leaky, depends_on_values=True),
)


def _is_quantized(weights: Tensor) -> bool:
    return weights.is_constant and weights.is_affine


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
    # The product may be multiplied by one number.
    writer = part.writer(tensor)
    if writer is not None and writer.op in ("MUL", "DIV") and writer.input(1).is_constant and writer.input(1).element_count == 1:
        writer = part.writer(writer.input(0))
    return writer is not None and writer.op == "BATCH_MATMUL"


def _table(node: NodeView, part: GraphPart) -> Affected | None:
    table = node.input(1)
    is_single = table.type == "INT8" and _is_quantized(table) and not table.is_per_channel
    return Affected(table) if is_single and table.shape[:1] > (1,) else None


PRODUCTS = (
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

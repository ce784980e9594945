"""Rewrite convolutions and matrix products, for example a BATCH_MATMUL as FULLY_CONNECTED nodes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...foundation.limits import element_count, is_above_limit
from ...model.model import Node, Quantization, Tensor
from ..pass_workspace import Work, WorkCount
from .base import FINITE, Exactness, Pass, cure, node_pass
from .slices import lowered

if TYPE_CHECKING:
    import numpy.typing as npt

_BIAS: Mapping[str, tuple[int, int]] = {
    "CONV_2D": (2, 0),
    "DEPTHWISE_CONV_2D": (2, 3),
    "FULLY_CONNECTED": (2, 0),
    "TRANSPOSE_CONV": (3, 0),
}
"""The position of the bias, and the dimension of the weights that gives the size of the bias, keyed by operator."""
_SOURCE: Mapping[str, int] = {"TRANSPOSE_CONV": 2}
_ACTIVATIONS: Mapping[int, str] = {1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}
"""The operator of each fused activation that the CPU kernel of TRANSPOSE_CONV computes."""
_FUSED_VERSION = 4
"""The version of TRANSPOSE_CONV from which on its kernels compute a fused activation."""
_TYPES: Mapping[str, str] = {"FLOAT32": "FLOAT32", "INT8": "INT32", "UINT8": "INT32", "INT16": "INT64"}


def _zero_bias(work: Work, node: Node) -> Sequence[Node] | None:
    position, dimension = _BIAS[node.op]
    source, weights = work.input(node, _SOURCE.get(node.op, 0)), work.input(node, 1)
    if work.input(node, position).index >= 0 or len(node.inputs) < position or weights.rank <= dimension:
        return None
    bias = _zeros(work, node, source, weights, weights.shape[dimension])
    return None if bias is None else [node._replace(inputs=(*node.inputs[:position], bias, *node.inputs[position + 1 :]))]


def _zeros(work: Work, node: Node, source: Tensor, weights: Tensor, units: int) -> int | None:
    kind = _TYPES.get(source.type)
    quantization = None
    if kind is None:
        return None
    if kind != "FLOAT32":
        if source.quantization is None or weights.quantization is None or len(source.quantization.scales) != 1:
            return None
        scales = np.asarray(source.quantization.scales) * np.asarray(weights.quantization.scales)
        quantization = Quantization("affine", scales.astype(np.float32), np.zeros(len(scales), np.int64), 0)
    return work.zeros(f"{work.output(node).name}/bias", kind, units, quantization)


def _matrix_of(work: Work, weights: Tensor) -> tuple[int, int] | None:
    if not work.has_elements(weights) or weights.type != "FLOAT32" or weights.rank < 2 or set(weights.shape[:-2]) - {1}:
        return None
    return weights.shape[-2], weights.shape[-1]


def _batch_matmul(work: Work, node: Node) -> Sequence[Node] | None:
    options, target = work.options(node), work.output(node)
    source, weights = work.input(node, 0), work.input(node, 1)
    sizes = _matrix_of(work, weights)
    if sizes is None or options.adj_x or source.type != "FLOAT32" or source.is_constant or work.is_open(source, target):
        return None
    depth, units = sizes[::-1] if options.adj_y else sizes
    if not source.rank or source.shape[-1] != depth or target.shape[-1:] != (units,):
        return None
    rows = element_count(source.shape[:-1])
    if rows != element_count(target.shape[:-1]):
        return None
    read = work.later(weights)
    matrix = work.computed(
        f"{weights.name}/transposed",
        "FLOAT32",
        (units, depth),
        lambda: read().reshape(sizes) if options.adj_y else read().reshape(sizes).T,
    )
    flat, result = work.result(source, "rows", (rows, depth)), work.result(target, "rows", (rows, units))
    return [
        work.reshape(node.inputs[0], flat),
        work.node("FULLY_CONNECTED", [flat, matrix, -1], [result]),
        work.reshape(result, node.outputs[0]),
    ]


def _symmetric(work: Work, node: Node) -> Sequence[Node] | None:
    if not work.options(node).asymmetric_quantize_inputs:
        return None
    return [work.editor.with_options(node, asymmetric_quantize_inputs=False)]


def _rows(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    if target.rank < 3 or weights.rank != 2 or source.is_constant or work.is_open(source, target):
        return None
    units, depth = weights.shape
    rows = source.element_count // max(depth, 1)
    if rows * depth != source.element_count or rows * units != target.element_count:
        return None
    return lowered(work, node, {0: (rows, depth)}, [(rows, units)], keep_num_dims=False)


_CONVOLVED: Mapping[str, str] = {"FLOAT32": "FLOAT32", "INT8": "INT8", "INT16": "INT8"}
"""The type of a convolution's weights for each type of its operand.

With weights of any other type, the runtime would quantize more tensors.
"""
_VALID = 1


def _as_convolution(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    options = work.options(node)
    if not work.has_elements(weights) or weights.rank != 2 or _CONVOLVED.get(source.type) != weights.type:
        return None
    if options.weights_format or source.is_constant or source.type != target.type or work.is_open(source, target):
        return None
    if weights.is_per_channel and weights.quantization is not None and weights.quantization.dimension != 0:
        return None
    units, depth = weights.shape
    rows = source.element_count // max(depth, 1)
    if rows * depth != source.element_count or rows * units != target.element_count:
        return None
    bias = work.input(node, 2).index
    if bias < 0:
        zeros = _zeros(work, node, source, weights, units)
        if zeros is None:
            return None
        bias = zeros
    image, target_image = work.result(source, "image", (1, rows, 1, depth)), work.result(target, "image", (1, rows, 1, units))
    windows = work.reshaped(weights, (units, 1, 1, depth))
    convolution = work.node(
        "CONV_2D",
        [image, windows, bias],
        [target_image],
        padding=_VALID,
        stride_w=1,
        stride_h=1,
        fused_activation_function=options.fused_activation_function,
    )
    return [work.reshape(source.index, image), convolution, work.reshape(target_image, target.index)]


_SAME = 0


def _filters_of_frame(read: WorkCount, frame: int) -> npt.NDArray[Any]:
    return np.ascontiguousarray(read()[frame].transpose(3, 0, 1, 2))


def _conv_3d(work: Work, node: Node) -> Sequence[Node] | None:
    """Return one CONV_2D for each frame of the window, and ADDs of their results.

    A STRIDED_SLICE selects the frames for each CONV_2D. For the padding SAME, frames of zeros are added first.
    """
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    options = work.options(node)
    if {source.type, weights.type, target.type} != {"FLOAT32"} or not work.has_elements(weights) or source.is_constant:
        return None
    if not source.rank == weights.rank == target.rank == 5 or work.is_open(source, target):
        return None
    batch, frames, height, width, depth = source.shape
    window, _, _, own_depth, units = weights.shape
    out_frames, stride, step = target.shape[1], options.stride_d, max(options.dilation_d_factor, 1)
    if own_depth != depth or stride < 1:
        return None
    needed = (out_frames - 1) * stride + (window - 1) * step + 1
    missing = max(needed - frames, 0) if options.padding == _SAME else 0
    if needed > frames + missing or is_above_limit(window):
        return None
    size = height * width * depth
    flat = work.result(source, "frames", (batch, frames, size))
    nodes = [work.reshape(source.index, flat)]
    if missing:
        padded = work.result(source, "padded", (batch, frames + missing, size))
        sizes = work.constant(f"{target.name}/paddings", "INT32", [[0, 0], [missing // 2, missing - missing // 2], [0, 0]])
        nodes.append(work.node("PAD", [flat, sizes], [padded]))
        flat = padded
    read, bias = work.later(weights), work.input(node, 2).index
    total = -1
    image = (batch * out_frames, height, width, depth)
    result_shape = (batch * out_frames, *target.shape[2:])
    # bounded: is_above_limit
    for frame in range(window):
        start = frame * step
        begin = work.constant(f"{target.name}/begin_{frame}", "INT32", [0, start, 0])
        end = work.constant(f"{target.name}/end_{frame}", "INT32", [batch, start + (out_frames - 1) * stride + 1, size])
        strides = work.constant(f"{target.name}/strides", "INT32", [1, stride, 1])
        part = work.result(source, f"part_{frame}", (batch, out_frames, size))
        images = work.result(source, f"images_{frame}", image)
        shape = (units, *weights.shape[1:3], depth)
        filters = work.computed(f"{weights.name}/{frame}", "FLOAT32", shape, functools.partial(_filters_of_frame, read, frame))
        own_bias = bias if not frame and bias >= 0 else work.zeros(f"{target.name}/bias_{frame}", "FLOAT32", units)
        result = work.result(target, f"conv_{frame}", result_shape)
        is_last = frame == window - 1
        activation = options.fused_activation_function
        convolution = work.node(
            "CONV_2D",
            [images, filters, own_bias],
            [result],
            padding=options.padding,
            stride_w=options.stride_w,
            stride_h=options.stride_h,
            dilation_w_factor=options.dilation_w_factor,
            dilation_h_factor=options.dilation_h_factor,
            fused_activation_function=activation if is_last and total < 0 else 0,
        )
        nodes += [work.node("STRIDED_SLICE", [flat, begin, end, strides], [part]), work.reshape(part, images), convolution]
        if total >= 0:
            added = work.result(target, f"sum_{frame}", result_shape)
            nodes.append(work.node("ADD", [total, result], [added], fused_activation_function=activation if is_last else 0))
            result = added
        total = result
    return [*nodes, work.reshape(total, target.index)]


_DYNAMIC = """
BATCH_MATMUL BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN FULLY_CONNECTED LSTM RNN SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
UNIDIRECTIONAL_SEQUENCE_RNN
"""


def _unfused(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a TRANSPOSE_CONV without its activation, which needs version 4, and the activation as a node."""
    target = work.output(node)
    activation = _ACTIVATIONS.get(work.options(node).fused_activation_function)
    if activation is None or target.type != "FLOAT32" or node.version < _FUSED_VERSION:
        return None
    sums = work.result(target, "sums")
    layer = work.editor.with_options(node._replace(index=-1, outputs=(sums,)), fused_activation_function=0)
    return [layer, work.node(activation, [sums], node.outputs)]


_IMAGE_RANK = 4


def _explicit_padding(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a convolution without padding, and a PAD before it where the padding SAME adds elements.

    Return None unless, in one dimension, the windows end before the operand does.
    """
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    options = work.options(node)
    if options.padding != _SAME or source.is_constant or work.is_open(source, target):
        return None
    if not source.rank == weights.rank == target.rank == _IMAGE_RANK:
        return None
    steps = (options.stride_h, options.stride_w), (options.dilation_h_factor, options.dilation_w_factor)
    sizes = zip(source.shape[1:3], weights.shape[1:3], target.shape[1:3], *steps, strict=True)
    totals = [(result - 1) * stride + (window - 1) * max(step, 1) + 1 - size for size, window, result, stride, step in sizes]
    if min(totals) >= 0:
        return None
    before = [max(total, 0) // 2 for total in totals]
    behind = [max(total, 0) - front for total, front in zip(totals, before, strict=True)]
    nodes, image = [], source.index
    if max(totals) > 0:
        padded = [size + max(total, 0) for size, total in zip(source.shape[1:3], totals, strict=True)]
        image = work.result(source, "padded", (source.shape[0], *padded, source.shape[3]))
        paddings = [[0, 0], *map(list, zip(before, behind, strict=True)), [0, 0]]
        nodes = [work.node("PAD", [source.index, work.constant(f"{target.name}/paddings", "INT32", paddings)], [image])]
    convolution = work.editor.with_options(node, padding=_VALID)
    return [*nodes, convolution._replace(inputs=(image, *node.inputs[1:]))]


def _copied_operand(work: Work, node: Node) -> Sequence[Node] | None:
    operand = work.input(node, 1)
    if node.inputs[0] != node.inputs[1] or operand.is_constant or work.is_open(operand):
        return None
    copied = work.result(operand, "copied")
    return [work.reshape(operand.index, copied), node._replace(inputs=(node.inputs[0], copied))]


PASSES: tuple[Pass, ...] = (
    cure("padding-as-node", "CONV_2D DEPTHWISE_CONV_2D", Exactness.EXACT, _explicit_padding),
    cure("operand-as-copy", "BATCH_MATMUL", Exactness.EXACT, _copied_operand),
    node_pass("bias-of-zeros", " ".join(_BIAS), Exactness.EXACT, _zero_bias),
    node_pass("activation-unfused", "TRANSPOSE_CONV", Exactness.EXACT, _unfused, FINITE),
    node_pass("matrix-product-as-layer", "BATCH_MATMUL", Exactness.ROUNDING, _batch_matmul),
    node_pass("layer-as-convolution", "FULLY_CONNECTED", Exactness.ROUNDING, _as_convolution),
    node_pass("layer-of-rows", "FULLY_CONNECTED", Exactness.EXACT, _rows),
    node_pass("conv-3d-by-frames", "CONV_3D", Exactness.ROUNDING, _conv_3d),
    node_pass("symmetric-activations", _DYNAMIC, Exactness.APPROXIMATE, _symmetric),
)


MOST_MATRICES = 128
"""Largest number of matrices of an operand, and of the result."""


def _matrix(read: WorkCount, sizes: tuple[int, int, int], place: int, is_transposed: bool) -> npt.NDArray[Any]:
    matrix: npt.NDArray[Any] = read().reshape(sizes)[place]
    return np.ascontiguousarray(matrix.T) if is_transposed else matrix


def _matrices(work: Work, tensor: Tensor, is_transposed: bool) -> tuple[list[Node], list[int]]:
    rows, columns = tensor.shape[-2:]
    count = element_count(tensor.shape[:-2])
    sizes = (count, rows, columns)
    shape = (columns, rows) if is_transposed else (rows, columns)
    if tensor.is_constant:
        read = work.later(tensor)
        return [], [
            work.computed(
                f"{tensor.name}/matrix_{place}", "FLOAT32", shape, functools.partial(_matrix, read, sizes, place, is_transposed)
            )
            for place in range(min(count, MOST_MATRICES))
        ]
    nodes = []
    source = tensor.index
    if is_transposed:
        flat, turned = work.result(tensor, "matrices", sizes), work.result(tensor, "transposed", (count, *shape))
        order = work.constant(f"{tensor.name}/order", "INT32", [0, 2, 1])
        nodes = [work.reshape(source, flat), work.node("TRANSPOSE", [flat, order], [turned])]
        source = turned
    joined = work.result(tensor, "rows", (count * shape[0], shape[1]))
    nodes.append(work.reshape(source, joined))
    if count == 1:
        return nodes, [joined]
    parts = [work.result(tensor, f"matrix_{place}", shape) for place in range(min(count, MOST_MATRICES))]
    axis = work.constant(f"{tensor.name}/axis", "INT32", 0)
    return [*nodes, work.node("SPLIT", [axis, joined], parts, num_splits=count)], parts


def _by_matrix(work: Work, node: Node) -> Sequence[Node] | None:
    options, target = work.options(node), work.output(node)
    operands = work.input(node, 0), work.input(node, 1)
    if {tensor.type for tensor in (*operands, target)} != {"FLOAT32"} or work.is_open(*operands, target):
        return None
    if min(tensor.rank for tensor in (*operands, target)) < 2 or not target.element_count:
        return None
    if all(tensor.is_constant for tensor in operands):
        return None
    if any(tensor.is_constant and not work.has_elements(tensor) for tensor in operands):
        return None
    batches = [tensor.shape[:-2] for tensor in (*operands, target)]
    counts = [element_count(batch) for batch in batches]
    if max(counts) > MOST_MATRICES or (operands[1].is_constant and counts[1] == 1 and not options.adj_x):
        return None  # one FULLY_CONNECTED for all rows is better for a single constant matrix
    turned = bool(options.adj_x), not options.adj_y
    (rows, depth), (units, own_depth) = [
        tensor.shape[-2:][::-1] if is_turned else tensor.shape[-2:] for tensor, is_turned in zip(operands, turned, strict=True)
    ]
    if depth != own_depth or target.shape[-2:] != (rows, units):
        return None
    places = [_places(batch, batches[2]) for batch in batches[:2]]
    if places[0] is None or places[1] is None:
        return None
    first, ones = _matrices(work, operands[0], turned[0])
    second, others = _matrices(work, operands[1], turned[1])
    nodes, results = [*first, *second], []
    for number, (one, other) in enumerate(zip(places[0], places[1], strict=True)):
        results.append(work.result(target, f"product_{number}", (rows, units)))
        nodes.append(work.node("FULLY_CONNECTED", [ones[one], others[other], -1], [results[-1]]))
    joined = results[0]
    if len(results) > 1:
        joined = work.result(target, "products", (counts[2] * rows, units))
        nodes.append(work.node("CONCATENATION", results, [joined], axis=0))
    return [*nodes, work.reshape(joined, target.index)]


def _places(batch: Sequence[int], whole: Sequence[int]) -> list[int] | None:
    padded = (1,) * (len(whole) - len(batch)) + tuple(batch)
    if len(padded) != len(whole) or any(own not in (1, size) for own, size in zip(padded, whole, strict=True)):
        return None
    places = [0]
    for own, size in zip(padded, whole, strict=True):
        steps = [index if own > 1 else 0 for index in range(min(size, MOST_MATRICES))]
        places = [place * own + step for place in places for step in steps]
    return places


PRODUCTS: tuple[Pass, ...] = (node_pass("matrix-product-unfolded", "BATCH_MATMUL", Exactness.ROUNDING, _by_matrix),)

"""Rewrite nodes that ML Drift computes wrongly as other nodes.

ML Drift takes the first dimension of every tensor as the batch. A node of rank 1 to 3 then gets other numbers than on the CPU.
With sizes of 1 in front, the numbers are the same. Other nodes are wrong along one axis, or for groups or batches.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model import schema
from ...model.model import Node, Tensor
from ..pass_workspace import Work
from .base import Exactness, Pass, cure, node_pass
from .elementwise import axes_of
from .slices import BROADCASTING, MOST, lowered

_MOST_CHANNELS = 4096
"""The largest number of slopes in a constant."""


def _as_image(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1, 1, 1, 1)[len(shape) :], *shape)


def _is_known_image(work: Work, node: Node) -> bool:
    tensors = [work.tensor(index) for index in (*node.inputs, *node.outputs) if index >= 0]
    return not work.is_open(*tensors) and all(tensor.rank <= MOST for tensor in tensors)


def _with_constant(work: Work, node: Node) -> Sequence[Node] | None:
    constants = [work.tensor(index).is_constant for index in node.inputs]
    if sorted(constants) != [False, True] or not _is_known_image(work, node):
        return None
    position = constants.index(False)
    source, target = work.input(node, position), work.output(node)
    if source.rank == target.rank == MOST:
        return None
    operands = {position: _as_image(source.shape)}
    return lowered(work, node, operands, [_as_image(target.shape)], keeps_rank=True)


def _padding_of_image(work: Work, node: Node) -> Sequence[Node] | None:
    source, target, pads = work.input(node, 0), work.output(node), work.integers(work.input(node, 1))
    if source.rank != 3 or pads is None or pads.shape != (3, 2) or not _is_known_image(work, node):
        return None
    operands = {0: (1, *source.shape)}
    return lowered(work, node, operands, [(1, *target.shape)], {1: np.pad(pads, [(1, 0), (0, 0)])}, keeps_rank=True)


def _layer(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    if weights.rank != 2 or not weights.shape[1] or target.rank < 1 or not _is_known_image(work, node):
        return None
    rows, rest = divmod(source.element_count, weights.shape[1])
    if rest or source.shape == (rows, weights.shape[1]) or source.is_constant:
        return None
    return lowered(work, node, {0: (rows, weights.shape[1])}, [(rows, weights.shape[0])], keeps_rank=True, keep_num_dims=False)


def _layer_with_rows(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    is_matrix = weights.rank == 2 and target.rank == 2 and 2 <= source.rank < MOST and source.shape[-1] == weights.shape[1]
    if not is_matrix or source.is_constant or work.options(node).keep_num_dims or not _is_known_image(work, node):
        return None
    shape = source.shape if source.rank > target.rank else (1, *source.shape)
    result = (*shape[:-1], weights.shape[0])
    return lowered(work, node, {0: shape}, [result], keeps_rank=True, keep_num_dims=True)


def _axis_from_front(work: Work, node: Node) -> Sequence[Node] | None:
    source, axes = work.input(node, 0), work.integers(work.input(node, 1))
    if axes is None or axes.size != 1 or not -source.rank <= int(axes.reshape(-1)[0]) < 0:
        return None
    return lowered(work, node, {}, [], {1: int(axes.reshape(-1)[0]) + source.rank})


def _softmax(work: Work, node: Node) -> Sequence[Node] | None:
    source = work.input(node, 0)
    if source.rank != 1 or not _is_known_image(work, node):
        return None
    return lowered(work, node, {0: (1, *source.shape)}, [(1, *source.shape)], keeps_rank=True)


def _sums(work: Work, node: Node) -> Sequence[Node] | None:
    source, axes = work.input(node, 0), work.integers(work.input(node, 1))
    if not 1 <= source.rank < MOST or axes is None or axes.size != 1 or not _is_known_image(work, node):
        return None
    axis = int(axes.reshape(-1)[0]) % source.rank + MOST - source.rank
    shape = _as_image(source.shape)
    return lowered(work, node, {0: shape}, [shape], {1: axis}, keeps_rank=True)


def _ones(work: Work, node: Node) -> Sequence[Node] | None:
    indices, target = work.input(node, 0), work.output(node)
    is_last = work.options(node).axis in (-1, indices.rank)
    if indices.rank < 2 or not is_last or not _is_known_image(work, node):
        return None
    count = indices.element_count
    return lowered(work, node, {0: (count,)}, [(count, target.shape[-1])], keeps_rank=True, axis=-1)


def _slope(work: Work, node: Node) -> Sequence[Node] | None:
    source = work.input(node, 0)
    if source.type != "FLOAT32" or source.rank < 2 or source.shape[-1] > _MOST_CHANNELS or not _is_known_image(work, node):
        return None
    shape = (*(1, 1)[: source.rank - 2], source.shape[-1])
    alpha = work.options(node).alpha
    values = [alpha for _ in range(min(source.shape[-1], _MOST_CHANNELS))]
    slopes = work.constant(f"{work.output(node).name}/slopes", "FLOAT32", np.reshape(values, shape))
    return [work.node("PRELU", [source.index, slopes], node.outputs)]


ROWS: tuple[Pass, ...] = (
    cure("constant-operand-of-image", BROADCASTING, Exactness.EXACT, _with_constant),
    cure("padding-of-image", "MIRROR_PAD PAD PADV2", Exactness.EXACT, _padding_of_image),
    cure("layer-of-matrix", "FULLY_CONNECTED", Exactness.EXACT, _layer),
    node_pass("layer-with-rows", "FULLY_CONNECTED", Exactness.EXACT, _layer_with_rows),
    node_pass("axis-from-front", "CUMSUM", Exactness.EXACT, _axis_from_front),
    cure("softmax-of-row", "SOFTMAX", Exactness.EXACT, _softmax),
    cure("sums-of-image", "CUMSUM", Exactness.EXACT, _sums),
    cure("ones-of-vector", "ONE_HOT", Exactness.EXACT, _ones),
    cure("leaky-relu-as-prelu", "LEAKY_RELU", Exactness.ROUNDING, _slope),
)
"""The passes in the order in which the search tries them."""


_MOST_PARTS = 128
"""The largest number of nodes in place of one node."""
_MOST_POSITIONS = 4096
"""The largest number of elements along a reversed axis."""


def _is_known(work: Work, node: Node) -> bool:
    return not work.is_open(*[work.tensor(index) for index in (*node.inputs, *node.outputs) if index >= 0])


def _parts(work: Work, tensor: Tensor, number: int, shape: Sequence[int]) -> list[int]:
    labels = [f"part_{index}" for index in range(min(number, _MOST_PARTS))]
    return [work.result(tensor, label, shape) for label in labels]


def _reverse(work: Work, node: Node) -> Sequence[Node] | None:
    axes, source = axes_of(work, node), work.input(node, 0)
    if axes is None or len(axes) != 1 or not _is_known(work, node) or not 0 < source.shape[axes[0]] <= _MOST_POSITIONS:
        return None
    descending = np.arange(min(source.shape[axes[0]], _MOST_POSITIONS))[::-1]
    indices = work.constant(f"{work.output(node).name}/indices", "INT32", descending)
    return [work.node("GATHER", [source.index, indices], node.outputs, axis=axes[0])]


def _largest(work: Work, node: Node) -> Sequence[Node] | None:
    axes, source, target = axes_of(work, node), work.input(node, 0), work.output(node)
    is_last = axes is not None and tuple(axes) == (source.rank - 1,)
    if not is_last or source.rank < 2 or source.element_count == 0 or not _is_known(work, node):
        return None
    rows = element_count(source.shape[:-1])
    shape = (rows, source.shape[-1], 1)
    return lowered(work, node, {0: shape}, [(rows, 1)], {1: 1}, keeps_rank=True) if target.element_count == rows else None


def _blocks(work: Work, node: Node) -> Sequence[Node] | None:
    source, target = work.input(node, 0), work.output(node)
    if source.rank != MOST or not 1 < source.shape[0] <= _MOST_PARTS or source.is_constant or not _is_known(work, node):
        return None
    number = source.shape[0]
    parts, results = (_parts(work, tensor, number, (1, *tensor.shape[1:])) for tensor in (source, target))
    axis = work.constant(f"{target.name}/axis", "INT32", 0)
    nodes = [node._replace(index=-1, inputs=(part,), outputs=(result,)) for part, result in zip(parts, results, strict=True)]
    return [
        work.node("SPLIT", [axis, source.index], parts, num_splits=number),
        *nodes,
        work.node("CONCATENATION", results, node.outputs, axis=0),
    ]


def _padding(work: Work, node: Node) -> Sequence[Node] | None:
    source, target, pads = work.input(node, 0), work.output(node), work.integers(work.input(node, 1))
    is_padded = source.rank == MOST and source.shape[0] == 1 and pads is not None and pads.shape == (MOST, 2) and pads[0].any()
    if not is_padded or pads is None or source.is_constant or not _is_known(work, node):
        return None
    other = next((axis for axis in (1, 2) if source.shape[axis] > 1 or not pads[axis].any()), None)
    if other is None:
        return None
    order = list(range(MOST))
    order[0], order[other] = order[other], order[0]
    permutation = work.constant(f"{target.name}/order", "INT32", order)
    swapped, padded = (
        work.result(tensor, f"swapped_{name}", [tensor.shape[axis] for axis in order])
        for name, tensor in (("input", source), ("result", target))
    )
    operands = (swapped, work.constant(f"{target.name}/paddings", "INT32", pads[order]), *node.inputs[2:])
    return [
        work.node("TRANSPOSE", [source.index, permutation], [swapped]),
        node._replace(index=-1, inputs=operands, outputs=(padded,)),
        work.node("TRANSPOSE", [padded, permutation], node.outputs),
    ]


def _batches(work: Work, node: Node) -> Sequence[Node] | None:
    constants = [work.tensor(index).is_constant for index in node.inputs]
    target = work.output(node)
    if sorted(constants) != [False, True] or target.rank != MOST or not _is_known(work, node):
        return None
    position = constants.index(False)
    source = work.input(node, position)
    if source.rank != MOST or source.shape[0] != 1 or target.shape[0] == 1:
        return None
    repeated = work.result(source, "repeated", (target.shape[0], *source.shape[1:]))
    multiples = work.constant(f"{source.name}/multiples", "INT32", (target.shape[0], 1, 1, 1))
    inputs = [repeated if place == position else index for place, index in enumerate(node.inputs)]
    return [work.node("TILE", [source.index, multiples], [repeated]), node._replace(index=-1, inputs=tuple(inputs))]


def _reversed_sum(work: Work, node: Node) -> Sequence[Node] | None:
    source, axes, options = work.input(node, 0), axes_of(work, node), work.options(node)
    if not options.reverse or options.exclusive or axes is None or len(axes) != 1 or not _is_known(work, node):
        return None
    places = work.constant(f"{source.name}/axes", "INT32", list(axes))
    before, behind = (work.result(source, label) for label in ("reversed", "reversed_sum"))
    sums = work.editor.with_options(node._replace(index=-1, inputs=(before, node.inputs[1]), outputs=(behind,)), reverse=False)
    return [
        work.node("REVERSE_V2", [source.index, places], [before]),
        sums,
        work.node("REVERSE_V2", [behind, places], node.outputs),
    ]


def _exclusive_sum(work: Work, node: Node) -> Sequence[Node] | None:
    source, target, options = work.input(node, 0), work.output(node), work.options(node)
    if not options.exclusive or target.type != "FLOAT32" or not _is_known(work, node):
        return None
    whole = work.result(target, "whole_sum")
    sums = work.editor.with_options(node._replace(index=-1, outputs=(whole,)), exclusive=False)
    return [sums, work.node("SUB", [whole, source.index], node.outputs)]


def _transposed(work: Work, node: Node) -> Sequence[Node] | None:
    sizes, weights, source, target = (
        work.integers(work.input(node, 0)),
        work.input(node, 1),
        work.input(node, 2),
        work.output(node),
    )
    padding, options = schema.enum_values("Padding"), work.options(node)
    is_usual = sizes is not None and target.rank == source.rank == weights.rank == MOST and options.padding == padding["SAME"]
    if not is_usual or options.fused_activation_function or not _is_known(work, node):
        return None
    starts, whole = [0, 0, 0, 0], list(target.shape)
    for axis, stride in ((1, options.stride_h), (2, options.stride_w)):
        if stride <= 0:
            return None
        whole[axis] = (source.shape[axis] - 1) * stride + weights.shape[axis]
        starts[axis] = max(0, whole[axis] - target.shape[axis]) // 2
        if starts[axis] + target.shape[axis] > whole[axis]:
            return None
    name = target.name
    larger = work.result(target, "whole", whole)
    operands = (work.constant(f"{name}/whole_shape", "INT32", whole), *node.inputs[1:])
    moved = work.editor.with_options(node._replace(index=-1, inputs=operands, outputs=(larger,)), padding=padding["VALID"])
    cut = [larger, work.constant(f"{name}/starts", "INT32", starts), work.constant(f"{name}/sizes", "INT32", target.shape)]
    return [moved, work.node("SLICE", cut, node.outputs)]


def _slices(work: Work, tensor: Tensor, number: int, size: int) -> int:
    whole = work.later(tensor)
    shape = (size, *tensor.shape[1:])
    return work.computed(
        f"{tensor.name}/group_{number}", tensor.type, shape, lambda: whole()[number * size : (number + 1) * size]
    )


def _grouped(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, bias, target = work.input(node, 0), work.input(node, 1), work.input(node, 2), work.output(node)
    is_usual = source.rank == weights.rank == target.rank == MOST and source.type == target.type == weights.type == "FLOAT32"
    if not is_usual or not weights.shape[3] or source.is_constant or not _is_known(work, node):
        return None
    groups = source.shape[3] // weights.shape[3]
    has_bias = len(node.inputs) > 2 and node.inputs[2] >= 0
    constants = [weights, *([bias] if has_bias else [])]
    if not 1 < groups <= _MOST_PARTS or target.shape[3] % groups or not all(map(work.has_elements, constants)):
        return None
    size = target.shape[3] // groups
    parts = _parts(work, source, groups, (*source.shape[:3], weights.shape[3]))
    results = _parts(work, target, groups, (*target.shape[:3], size))
    axis = work.constant(f"{target.name}/axis", "INT32", 3)
    nodes = []
    for index, (part, result) in enumerate(zip(parts, results, strict=True)):
        operands = (part, *[_slices(work, constant, index, size) for constant in constants])
        nodes.append(node._replace(index=-1, inputs=(*operands, *node.inputs[len(operands) :]), outputs=(result,)))
    return [
        work.node("SPLIT", [axis, source.index], parts, num_splits=groups),
        *nodes,
        work.node("CONCATENATION", results, node.outputs, axis=3),
    ]


def _strided(work: Work, node: Node) -> Sequence[Node] | None:
    return None if _is_hybrid(work, node) else _every_pixel(work, node)


def _hybrid(work: Work, node: Node) -> Sequence[Node] | None:
    return _every_pixel(work, node) if _is_hybrid(work, node) else None


def _is_hybrid(work: Work, node: Node) -> bool:
    """Return whether the CPU quantizes the activations, with a scale that depends on all pixels."""
    return work.input(node, 0).type == "FLOAT32" and work.input(node, 1).type != "FLOAT32"


def _every_pixel(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, options = work.input(node, 0), work.input(node, 1), work.options(node)
    is_pointwise = source.rank == weights.rank == MOST and weights.shape[1:3] == (1, 1) and weights.is_constant
    strides = (options.stride_h, options.stride_w)
    if not is_pointwise or min(strides) <= 0 or max(strides) == 1 or source.is_per_channel or not _is_known(work, node):
        return None
    taken = [-(-size // stride) for size, stride in zip(source.shape[1:3], strides, strict=True)]
    name = source.name
    pixels = work.result(source, "every_pixel", (source.shape[0], *taken, source.shape[3]))
    places = (("begin", (0, 0, 0, 0)), ("end", source.shape), ("strides", (1, *strides, 1)))
    cut = [source.index, *[work.constant(f"{name}/{label}", "INT32", values) for label, values in places]]
    plain = work.editor.with_options(node._replace(index=-1, inputs=(pixels, *node.inputs[1:])), stride_h=1, stride_w=1)
    return [work.node("STRIDED_SLICE", cut, [pixels]), plain]


def _without_bias(work: Work, node: Node) -> Sequence[Node] | None:
    target, options = work.output(node), work.options(node)
    has_bias = len(node.inputs) > 2 and node.inputs[2] >= 0
    if not has_bias or target.type != "FLOAT32" or work.input(node, 1).is_constant or not _is_known(work, node):
        return None
    activation = options.fused_activation_function
    product = work.result(target, "product")
    layer = node._replace(index=-1, inputs=(*node.inputs[:2], -1), outputs=(product,))
    return [
        work.editor.with_options(layer, fused_activation_function=0),
        work.node("ADD", [product, node.inputs[2]], node.outputs, fused_activation_function=activation),
    ]


def _wider_window(work: Work, node: Node) -> Sequence[Node] | None:
    weights, options = work.input(node, 1), work.options(node)
    is_pointwise = weights.rank == MOST and weights.shape[:3] == (1, 1, 1) and weights.type == "FLOAT32"
    is_plain = options.stride_h == options.stride_w == 1 and work.has_elements(weights)
    if not is_pointwise or not is_plain or not _is_known(work, node):
        return None
    whole = work.later(weights)
    shape = (1, 3, 3, weights.shape[3])
    wide = work.computed(f"{weights.name}/wide", "FLOAT32", shape, lambda: np.pad(whole(), [(0, 0), (1, 1), (1, 1), (0, 0)]))
    wider = node._replace(index=-1, inputs=(node.inputs[0], wide, *node.inputs[2:]))
    same = schema.enum_values("Padding")["SAME"]
    return [work.editor.with_options(wider, padding=same, dilation_h_factor=1, dilation_w_factor=1)]


PASSES: tuple[Pass, ...] = (
    cure("convolution-of-every-pixel", "CONV_2D", Exactness.EXACT, _strided),
    cure("hybrid-convolution-of-every-pixel", "CONV_2D", Exactness.APPROXIMATE, _hybrid),
    cure("layer-without-bias", "FULLY_CONNECTED", Exactness.ROUNDING, _without_bias),
    cure("depthwise-convolution-of-wider-window", "DEPTHWISE_CONV_2D", Exactness.ROUNDING, _wider_window),
    cure("reverse-as-gather", "REVERSE_V2", Exactness.EXACT, _reverse),
    cure("largest-before-last-axis", "ARG_MAX", Exactness.EXACT, _largest),
    cure("blocks-of-each-batch", "DEPTH_TO_SPACE SPACE_TO_DEPTH", Exactness.EXACT, _blocks),
    cure("padding-of-other-dimension", "MIRROR_PAD PAD PADV2", Exactness.EXACT, _padding),
    cure("operand-of-each-batch", BROADCASTING, Exactness.EXACT, _batches),
    cure("reversed-sum-by-reverse", "CUMSUM", Exactness.EXACT, _reversed_sum),
    cure("exclusive-sum-by-sub", "CUMSUM", Exactness.ROUNDING, _exclusive_sum),
    cure("transposed-convolution-cut", "TRANSPOSE_CONV", Exactness.EXACT, _transposed),
    cure("convolution-of-each-group", "CONV_2D", Exactness.ROUNDING, _grouped),
)
"""The passes in the order in which the search tries them."""

"""Wrong numbers of operators that work along one axis, and of operators that move elements."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....rules.kinds import Problem
from ..rules.checks import integers
from ..shapes import axes_of, bhwc
from .rule import Affected, GraphPart, NumberRule

_LANES = 4
"""The number of channels that a kernel reads at once."""


def _has_incomplete_lanes(tensor: Tensor) -> bool:
    return tensor.rank > 0 and tensor.shape[-1] % _LANES != 0


def _axis(node: NodeView, tensor: Tensor) -> int | None:
    axes = integers(node, 1)
    return axes[0] % tensor.rank if axes and tensor.rank else None


def _vector_softmax(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    return Affected(source) if source.rank == 1 and source.element_count > 1 else None


def _is_only_batch(tensor: Tensor, axis: int) -> bool:
    return tensor.rank == 4 and axis == 0 and tensor.shape[0] == 1


def _unordered(node: NodeView, part: GraphPart) -> Affected | None:
    source, options = node.input(0), node.options
    axis = _axis(node, source)
    if axis is None or _is_only_batch(source, axis) or not (options.exclusive or (options.reverse and source.shape[axis] > 1)):
        return None
    return Affected(source, {"ignored": "exclusive" if options.exclusive else "reverse"})


def _other_axis(node: NodeView, part: GraphPart) -> Affected | None:
    source, axes = node.input(0), integers(node, 1)
    if not axes or not 1 <= source.rank <= 4:
        return None
    taken, meant, sizes = axes[0] + 4 - source.rank, axes_of(source.rank)[axes[0] % source.rank], bhwc(source.shape)
    if taken == meant or not 0 <= taken < 4 or (sizes[taken] == 1 and sizes[meant] == 1):
        return None
    return Affected(source, {"axis": axes[0]})


def _sum_of_batches(node: NodeView, part: GraphPart) -> Affected | None:
    source, axis = node.input(0), _axis(node, node.input(0))
    is_zero = axis is None or not _is_only_batch(source, axis) or node.options.exclusive
    return None if is_zero else Affected(source)


def _one_hot(node: NodeView, part: GraphPart) -> Affected | None:
    source, result = node.input(0), node.output(0)
    is_wrong = source.rank == 3 and source.shape[1] > 1 and result.rank == 4 and result.shape[3] > 1
    return Affected(source) if is_wrong else None


def _reversed_channels(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    axes = {axis % source.rank for axis in integers(node, 1)} if source.rank > 1 else set()
    is_last = source.rank - 1 in axes
    return Affected(source) if is_last and source.shape[-1] > _LANES and _has_incomplete_lanes(source) else None


def _negative_maximum(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    is_last = source.rank > 1 and _axis(node, source) == source.rank - 1
    return Affected(source) if is_last and _has_incomplete_lanes(source) else None


def _largest(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    if not _has_incomplete_lanes(source):
        return None
    return Affected(source, is_certain=element_count(source.shape[:-1]) > 1)


def _blocks(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    return Affected(source) if source.rank == 4 and source.shape[0] > 1 else None


def _update(node: NodeView, part: GraphPart) -> Affected | None:
    operand, update = node.input(0), node.input(1)
    return Affected(operand) if 1 <= operand.rank <= 3 and update.shape[:1] < operand.shape[:1] else None


def _bits(node: NodeView, part: GraphPart) -> Affected | None:
    sizes = [schema.BITS_PER_ELEMENT.get(tensor.type) for tensor in (node.input(0), node.output(0))]
    return Affected(node.input(0), {"result": node.output(0).type}) if sizes[0] != sizes[1] else None


RULES = (
    NumberRule(
        "softmax-rank1",
        Problem.RANK,
        "SOFTMAX of rank 1",
        ("SOFTMAX",),
        "The input of SOFTMAX has rank 1 and several elements.",
        "Every element of the result is 1.",
        "Reshape the input to [1, n], and the result back.",
        "reshape the input to rank 2",
        "the GPU takes the elements of {tensor} of shape {shape} as batches, so every result is 1",
        _vector_softmax,
    ),
    NumberRule(
        "cumsum-exclusive-reverse",
        Problem.ATTRIBUTE,
        "exclusive or reversed CUMSUM",
        ("CUMSUM",),
        "CUMSUM is exclusive, or is reversed along an axis of several elements. ML Drift does not read these attributes.",
        "The result is the plain sum.",
        "For exclusive, subtract the input from the sum. For reverse, use REVERSE_V2 before and after CUMSUM.",
        "subtract the input from the sum, or use REVERSE_V2 before and after",
        "the GPU ignores the attribute {ignored}",
        _unordered,
        is_before_backend=True,
    ),
    NumberRule(
        "cumsum-axis",
        Problem.RANK,
        "CUMSUM along another axis",
        ("CUMSUM",),
        "The input of CUMSUM has rank 1 to 3, and the axis is 0 or negative. ML Drift counts the axis as if the rank were 4.",
        "The GPU sums along another axis. Usually, this axis has one element, and the result is the input.",
        "Reshape the input to rank 4, and give the axis as a number of 0 or more.",
        "reshape the input to rank 4",
        "the GPU counts the axis {axis} of {tensor} of shape {shape} as if the rank were 4",
        _other_axis,
        is_before_backend=True,
    ),
    NumberRule(
        "cumsum-batch1",
        Problem.SHAPE,
        "CUMSUM along a batch of 1",
        ("CUMSUM",),
        "The input of CUMSUM has rank 4 and one batch, the axis is 0, and the sum is not exclusive.",
        "The result is zero.",
        "Remove the node, because it changes nothing.",
        "remove the node",
        "the GPU gives zero for a sum along the only batch of {tensor}",
        _sum_of_batches,
    ),
    NumberRule(
        "one-hot-rank3",
        Problem.RANK,
        "ONE_HOT of rank 3",
        ("ONE_HOT",),
        "The indices of ONE_HOT have rank 3 and a second dimension above 1, and the depth is above 1.",
        "The ones are at other places.",
        "Reshape the indices to rank 1, and the result back.",
        "reshape the indices to rank 1",
        "the GPU puts ones at other places, because the indices {tensor} have shape {shape}",
        _one_hot,
    ),
    NumberRule(
        "reverse-channels",
        Problem.SHAPE,
        "reversed channels",
        ("REVERSE_V2",),
        "REVERSE_V2 reverses the last axis of a tensor of rank 2 or more, and this axis has more than 4 elements and not a "
        "multiple of 4.",
        "The channels are wrong.",
        "Use GATHER with descending indices. Or transpose before and after the node, so that another axis is reversed.",
        "use GATHER with descending indices",
        "the GPU reverses the last axis of {tensor} of shape {shape} wrongly, because its size is not a multiple of 4",
        _reversed_channels,
    ),
    NumberRule(
        "argmax-negative",
        Problem.SHAPE,
        "largest element of negative channels",
        ("ARG_MAX",),
        "ARG_MAX searches the last axis of a tensor of rank 2 or more, and the size of this axis is not a multiple of 4.",
        "If all elements of a row are negative, the index is beyond the last element.",
        "Pad the last axis to a multiple of 4 with PADV2 and the value -60000. Or transpose first.",
        "pad the last axis to a multiple of 4 with the value -60000",
        "the GPU counts elements of value 0 behind the last axis of {tensor} of shape {shape}",
        _negative_maximum,
        depends_on_values=True,
    ),
    NumberRule(
        "topk-channels",
        Problem.SHAPE,
        "largest elements of channels",
        ("TOPK_V2",),
        "The size of the last axis of TOPK_V2 is not a multiple of 4.",
        "With several rows, the result is wrong. With one row, elements of value 0 behind the last axis count too.",
        "Pad the last axis to a multiple of 4 with PADV2 and the value -60000.",
        "pad the last axis to a multiple of 4 with the value -60000",
        "the GPU counts elements behind the last axis of {tensor} of shape {shape}, because its size is not a multiple of 4",
        _largest,
    ),
    NumberRule(
        "depth-space-batch",
        Problem.SHAPE,
        "blocks of several batches",
        ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"),
        "DEPTH_TO_SPACE or SPACE_TO_DEPTH has several batches.",
        "Most elements are zero.",
        "Split the batches, use one node for each batch, and concatenate the results.",
        "use SPLIT, one node for each batch, and CONCATENATION",
        "the GPU gives zero for most elements, because {tensor} of shape {shape} has several batches",
        _blocks,
    ),
    NumberRule(
        "dus-first-axis",
        Problem.RANK,
        "update of a part of the first dimension",
        ("DYNAMIC_UPDATE_SLICE",),
        "DYNAMIC_UPDATE_SLICE updates a part of the first dimension of a tensor of rank 1, 2 or 3.",
        "If the update does not start at 0 in this dimension, the GPU writes it at another place.",
        "Reshape both operands to rank 4, with sizes of 1 in front.",
        "reshape the operands to rank 4, with sizes of 1 in front",
        "the GPU writes the update of {tensor} of shape {shape} at another place if it does not start at 0",
        _update,
        depends_on_values=True,
    ),
    NumberRule(
        "bitcast-size",
        Problem.TYPE,
        "BITCAST to a type of another size",
        ("BITCAST",),
        "BITCAST changes the size of the elements.",
        "Most bytes are zero.",
        "Do the conversion in the application.",
        "do the conversion in the application",
        "the GPU gives zero for most bytes, because {type} and {result} have different sizes",
        _bits,
    ),
)

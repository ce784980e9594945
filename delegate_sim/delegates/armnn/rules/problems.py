"""The problems of nodes that the delegate itself finds.

A function returns a problem, or None or False if a node has no problem. Some functions raise Thrown, as the delegate does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model.model import Allocation
from ....rules.operands import Operand, operand
from ..tensors import Thrown, checked, input_info, input_infos, output_info
from .questions import full_shape, is_reflected, pads, slices, split_axis, target_shape, values_of

_ALLOCATIONS = (None, Allocation.CONSTANT, Allocation.ARENA, Allocation.VARIABLE, Allocation.DYNAMIC, Allocation.PERSISTENT)
"""The places of data by the runtime's number (``TfLiteAllocationType``)."""
_WINDOW = ("stride_d", "stride_w", "stride_h", "dilation_d_factor", "dilation_w_factor", "dilation_h_factor")


def computed_weights(which: Operand, text: str, node: NodeView) -> None:
    """Raise Thrown with a text for weights that are not constant."""
    tensor = which.tensor(node)
    if not tensor.is_constant and which.is_given(node):
        number = _ALLOCATIONS.index(tensor.allocation) if tensor.allocation in _ALLOCATIONS else 0
        raise Thrown(text.format(number=number), f"{which.name} is not constant")


def _negative(names: tuple[str, ...], node: NodeView) -> None:
    """Raise Thrown for the first negative option (``NonNegative``)."""
    for name in names:
        value = getattr(node.options, name)
        if value < 0:
            raise Thrown(f"TfLiteArmnnDelegate: Non-negative value in node {node.node.index}", f"{name} {value}")


def _no_affine_quantization(node: NodeView) -> bool:
    given = node.output(0).quantization
    return given is None or not given.is_affine


def _other_type(position: int, types: tuple[str, ...], node: NodeView) -> str | None:
    kind = node.input(position).type
    return None if kind in types else kind


def _other_result_type(name: str, node: NodeView) -> int | None:
    # INT32 is 2 and INT64 is 4 in the schema.
    value: int = getattr(node.options, name)
    return None if value in (2, 4) else value


def _other_rank(position: int, rank: int, node: NodeView) -> int | None:
    given = input_info(node, position).rank
    return None if given == rank else given


def _several(position: int, node: NodeView) -> int | None:
    count = input_info(node, position).element_count
    return None if count == 1 else count


def _other_size_count(node: NodeView) -> tuple[int, list[int]] | None:
    shape = list(node.input(1).shape)
    count = shape[0] if len(shape) == 1 else 0
    return None if count == 2 else (count, shape)


def _uneven(is_output: bool, node: NodeView) -> tuple[int, int] | None:
    """Return the elements and the row of a tensor of a higher rank than 2 that has no full rows."""
    info = output_info(node) if is_output else input_info(node, 0)
    row = input_info(node, 1).size(0 if is_output else 1)
    return None if info.rank <= 2 or info.element_count % row == 0 else (info.element_count, row)


def _several_wildcards(node: NodeView) -> list[int] | None:
    shape = target_shape(node) or []
    return shape if shape.count(-1) > 1 else None


def _other_element_count(node: NodeView) -> tuple[list[int], int] | None:
    count, shape = input_info(node, 0).element_count, full_shape(node)
    return None if element_count(checked((*shape,))) == count else (shape, count)


def _expanded_axis(node: NodeView) -> int | None:
    rank, axes = input_info(node, 0).rank, values_of(node, 1)
    return None if not axes or -(rank + 1) <= axes[0] <= rank else axes[0]


def _gathered_axis(node: NodeView) -> int | None:
    rank = input_info(node, 0).rank
    return None if -rank <= node.options.axis < max(rank, 1) else rank


def _gathered_rank(node: NodeView) -> tuple[int, int, int] | None:
    output, source, indices = output_info(node).rank, input_info(node, 0).rank, input_info(node, 1).rank
    return None if output == source + indices - 1 else (output, source, indices)


def _other_count_of_multiples(node: NodeView) -> tuple[int, int] | None:
    rank, count = input_info(node, 0).rank, input_info(node, 1).element_count
    return None if rank == count else (count, rank)


def _wide_padding(node: NodeView) -> tuple[list[int], int] | None:
    source = input_info(node, 0)
    sizes = ((pair, source.size(at)) for at, pair in enumerate(pads(node)))
    return next((([*pair], size) for pair, size in sizes if max(pair) > size - is_reflected(node)), None)


def _wide_size(node: NodeView) -> tuple[int, int] | None:
    """Return the first size that is too wide or below -1, with the largest size at its place."""
    sizes = zip(node.input(0).shape, values_of(node, 1), values_of(node, 2), strict=False)
    return next(((size, whole - begin) for whole, begin, size in sizes if size < -1 or size > whole - begin), None)


def _joined_ranks(node: NodeView) -> None:
    """Raise Thrown for operands of another rank than the first."""
    rank = node.input(0).rank
    for position, info in enumerate(input_infos(node)):
        if info.rank != rank:
            text = f"The number of dimensions for input tensors of the concatenation operator should be: {rank}"
            raise Thrown(text, f"input {position} of rank {info.rank} beside rank {rank}")


def _uneven_split(node: NodeView) -> int | None:
    size, count = input_info(node, 1).size(split_axis(node, 1, 0)), node.options.num_splits
    return None if count and size % count == 0 else size


def _other_sum_of_sizes(node: NodeView) -> tuple[list[int], int] | None:
    sizes = values_of(node, 1)
    whole = input_info(node, 0).size(split_axis(node, 0, 2))
    return None if min(sizes, default=0) < 0 or sum(sizes) == whole else (sizes, whole)


def _several_inferred_sizes(node: NodeView) -> int | None:
    count = sum(size < 0 for size in values_of(node, 1))
    return count if count > 1 else None


def _unpacked_axis(node: NodeView) -> int | None:
    rank = input_info(node, 0).rank
    return None if node.options.axis < rank else rank


def _other_count_of_slices(node: NodeView) -> tuple[int, int] | None:
    size, count = input_info(node, 0).size(node.options.axis), slices(node)
    return None if size == count else (count, size)


PROBLEMS: Mapping[str, Callable[[NodeView], object]] = {
    "always": lambda _: True,
    "no affine quantization": _no_affine_quantization,
    "negative window": partial(_negative, _WINDOW),
    "negative axis": partial(_negative, ("axis",)),
    "negative num_splits": partial(_negative, ("num_splits",)),
    "computed weights": partial(
        computed_weights, operand(1, "weights"), "TfLiteArmnnDelegate:  Not constant allocation type: {number}"
    ),
    "other size count": _other_size_count,
    "other rank of weights": partial(_other_rank, 1, 2),
    "uneven input": partial(_uneven, False),
    "uneven output": partial(_uneven, True),
    "no new shape": lambda node: target_shape(node) is None,
    "several wildcards": _several_wildcards,
    "other element count": _other_element_count,
    "expanded axis": _expanded_axis,
    "other out_type": partial(_other_result_type, "out_type"),
    "other output_type": partial(_other_result_type, "output_type"),
    "axis type": partial(_other_type, 1, ("INT32", "INT64")),
    "gathered axis": _gathered_axis,
    "gathered rank": _gathered_rank,
    "other type of value": partial(_other_type, 1, ("FLOAT32", "INT32")),
    "other count of multiples": _other_count_of_multiples,
    "several padding values": partial(_several, 2),
    "type of padding value": partial(_other_type, 2, ("FLOAT32", "UINT8", "INT8")),
    "other mode": lambda node: node.options.mode not in (0, 1),
    "wide padding": _wide_padding,
    "wide size": _wide_size,
    "joined ranks": _joined_ranks,
    "several axes of input 0": partial(_several, 0),
    "several axes of input 2": partial(_several, 2),
    "uneven split": _uneven_split,
    "other rank of sizes": partial(_other_rank, 1, 1),
    "other sum of sizes": _other_sum_of_sizes,
    "several inferred sizes": _several_inferred_sizes,
    "unpacked axis": _unpacked_axis,
    "other count of slices": _other_count_of_slices,
}
"""The functions by the names in ``operators.json``."""

"""Rewrite several nodes as one node: repeats of an image as a RESIZE_NEAREST_NEIGHBOR, or a dilated convolution.

Keras 3 writes UpSampling2D with nearest interpolation as RESHAPE, TILE and RESHAPE, with tensors of five dimensions. TensorFlow
writes a dilated convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND. The converter joins these three nodes only if the
sizes of the input are known.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model import schema
from ...model.model import Node, Tensor
from ...rules.operands import is_whole
from ..pass_workspace import Work
from .base import Exactness, Pass, graph_pass, node_pass

_SHAPES = frozenset({"EXPAND_DIMS", "RESHAPE", "SQUEEZE"})
_OPS = _SHAPES | {"BROADCAST_TO", "TILE"}
_TYPES = ("FLOAT32", "INT8", "UINT8")
_MOST_NODES = 16
"""The largest number of nodes to replace by one node."""

_MOST_POSITIONS = 4096
"""The largest number of rows or columns of a result."""

_Repeat = tuple[int, int]
"""The number of elements in a block, and the number of times that each block is repeated.

A repeat treats the elements of a tensor as one sequence, which a RESHAPE does not change.
"""


class _RepeatChain(NamedTuple):
    source: Tensor
    steps: tuple[tuple[int, Node], ...]
    """The nodes from last to first, each with its index before the pass."""

    @property
    def results(self) -> set[int]:
        """The tensors that the nodes write."""
        return {node.outputs[0] for _, node in self.steps}


def _repeats(work: Work, node: Node) -> list[_Repeat] | None:
    source, target = work.input(node, 0), work.output(node)
    is_same = (source.type, source.scale, source.zero_point) == (target.type, target.scale, target.zero_point)
    if not is_same or source.type not in _TYPES or source.is_per_channel or target.is_per_channel:
        return None
    if work.is_open(source, target) or not (source.element_count and target.element_count):
        return None
    if node.op in _SHAPES:
        return [] if source.element_count == target.element_count else None
    shape = (1,) * (target.rank - source.rank) + source.shape
    if len(shape) != target.rank or any(size % own for own, size in zip(shape, target.shape, strict=True)):
        return None
    times = [size // own for own, size in zip(shape, target.shape, strict=True)]
    multiples = work.integers(work.input(node, 1))
    if node.op == "TILE" and (multiples is None or multiples.reshape(-1).tolist() != times):
        return None
    if node.op == "BROADCAST_TO" and any(own != 1 and count != 1 for own, count in zip(shape, times, strict=True)):
        return None
    blocks = [own * element_count(target.shape[axis + 1 :]) for axis, own in enumerate(shape)]
    return [(block, count) for block, count in zip(blocks, times, strict=True) if count != 1][::-1]


def _is_enlarged(source: Tensor, target: Tensor, repeats: Sequence[_Repeat]) -> bool:
    if (source.rank, target.rank) != (4, 4) or not repeats:
        return False
    batch, height, width, depth = source.shape
    for block, count in repeats:
        if block == depth and target.shape[2] % (width * count) == 0:
            width *= count
        elif block == width * depth:
            height *= count
        else:
            return False
    if (batch, height, width, depth) != target.shape:
        return False
    return _is_sampled_exactly(source.shape[1], height) and _is_sampled_exactly(source.shape[2], width)


@functools.lru_cache(maxsize=64)
def _is_sampled_exactly(size: int, result: int) -> bool:
    """Return whether the kernels compute the right position for each result along one dimension.

    The kernel for FLOAT32 multiplies by a FLOAT32 scale. The kernels for INT8 and UINT8 multiply by a
    scale with 16 bits after the point.
    """
    if result > _MOST_POSITIONS:
        return False
    positions = np.arange(min(result, _MOST_POSITIONS))
    expected = positions // (result // size)
    scaled = np.floor(positions.astype(np.float32) * np.float32(size / result))
    return bool((scaled == expected).all() and (positions * ((size << 16) // result + 1) >> 16 == expected).all())


def _longest(
    work: Work,
    last: tuple[int, Node],
    writers: Mapping[int, tuple[int, Node]],
    repeats_of: Callable[[Node], list[_Repeat] | None],
) -> _RepeatChain | None:
    target = work.output(last[1])
    step: tuple[int, Node] | None = last
    steps: list[tuple[int, Node]] = []
    repeats: list[_Repeat] = []
    longest = None
    while step is not None and len(steps) < _MOST_NODES:
        own = repeats_of(step[1])
        if own is None:
            break
        steps.append(step)
        repeats[:0] = own
        source = work.input(step[1], 0)
        if not source.is_constant and not source.is_variable and _is_enlarged(source, target, repeats):
            longest = _RepeatChain(source, tuple(steps))
        step = writers.get(source.index)
    return longest


def _resize_repeated(work: Work) -> None:
    editor = work.editor
    moves = [
        (origin, node)
        for origin, node in editor.nodes
        if node.op in _OPS and not node.is_custom and is_whole(node) and len(node.outputs) == 1
    ]
    writers = {node.outputs[0]: (origin, node) for origin, node in moves}
    repeats_of = functools.cache(functools.partial(_repeats, work))
    resizes: dict[int, Node] = {}
    replaced: set[int] = set()
    for last in reversed(moves):
        target = work.output(last[1])
        chain = None if target.index in replaced else _longest(work, last, writers, repeats_of)
        if chain is None or not any(work.is_chosen(origin) for origin, _ in chain.steps):
            continue
        size = work.constant(f"{target.name}/size", "INT32", target.shape[1:3])
        resizes[target.index] = work.node("RESIZE_NEAREST_NEIGHBOR", [chain.source.index, size], [target.index])
        replaced |= chain.results
    nodes = []
    for origin, node in editor.nodes:
        resize = resizes.get(node.outputs[0]) if len(node.outputs) == 1 else None
        nodes.append((origin, node) if resize is None else (-1, resize))
    editor.nodes = nodes
    editor.remove_unread(replaced - resizes.keys())


def _without_half_pixels(work: Work, node: Node) -> Sequence[Node] | None:
    source, target, options = work.input(node, 0), work.output(node), work.options(node)
    if not options.half_pixel_centers or options.align_corners or source.type not in _TYPES or work.is_open(source, target):
        return None
    sizes = work.integers(work.input(node, 1))
    if (source.rank, target.rank) != (4, 4) or sizes is None or tuple(sizes.reshape(-1).tolist()) != target.shape[1:3]:
        return None
    pairs = list(zip(source.shape[1:3], target.shape[1:3], strict=True))
    if not all(size > 0 and result % size == 0 and _is_sampled_exactly(size, result) for size, result in pairs):
        return None
    return [work.editor.with_options(node._replace(index=-1), half_pixel_centers=False)]


PASSES: tuple[Pass, ...] = (
    graph_pass("repeats-as-resize", Exactness.EXACT, _resize_repeated, _OPS),
    node_pass("resize-without-half-pixels", "RESIZE_NEAREST_NEIGHBOR", Exactness.EXACT, _without_half_pixels),
)


_LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D")
_DILATED = frozenset({"SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", *_LAYERS})
_WEIGHTS: Mapping[str, str] = {"FLOAT32": "FLOAT32", "INT8": "INT8", "UINT8": "UINT8", "INT16": "INT8"}
"""The type of the weights for each type of the operand. With other types, the kernel quantizes each batch by itself."""
_IMAGE_RANK = 4


class _DilatedAxis(NamedTuple):
    """One spatial axis of the dilated convolution: the distance of its taps, and the padding at both ends."""

    dilation: int
    begin: int
    end: int
    span: int
    """The number of elements that the window covers, without the first one."""

    @property
    def is_same(self) -> bool:
        return (self.begin, self.end) == (self.span // 2, self.span - self.span // 2)


class _Dilation(NamedTuple):
    """The nodes of a dilated convolution. Around a convolution of rows, one reshape adds a dimension, and another removes it."""

    spread: Node
    before: Node | None
    layer: Node
    after: Node | None
    joined: Node

    def added_dimension(self, work: Work) -> int | None:
        """Return the dimension of size 1 that the reshapes add, 0 without reshapes, or None if they do anything else."""
        if self.before is None or self.after is None:
            return 0 if self.before is self.after else None
        pairs = [
            (work.output(self.spread).shape, work.output(self.before).shape),
            (work.output(self.after).shape, work.output(self.layer).shape),
        ]
        return next(
            (place for place in (1, 2) if all(_with_dimension(shape, place) == image for shape, image in pairs)),
            None,
        )


def _with_dimension(shape: Sequence[int], place: int) -> tuple[int, ...]:
    """Return a shape with one more dimension of size 1. ``place`` 0 adds none."""
    return (*shape[:place], *([1] if place else []), *shape[place:])


def _is_moved_only(before: Tensor, after: Tensor) -> bool:
    return before.rank == after.rank and (before.type, before.scale, before.zero_point) == (
        after.type,
        after.scale,
        after.zero_point,
    )


def _axes(work: Work, chain: _Dilation, added: int) -> list[_DilatedAxis] | None:
    """Return both spatial axes, or None if the nodes are no dilated convolution."""
    numbers = [work.integers(work.input(node, position)) for node in (chain.spread, chain.joined) for position in (1, 2)]
    if any(values is None for values in numbers):
        return None
    blocks, paddings, joined_blocks, crops = [values.reshape(-1).tolist() for values in numbers if values is not None]
    if added:
        at = added - 1
        blocks, joined_blocks = ([*values[:at], 1, *values[at:]] for values in (blocks, joined_blocks))
        paddings, crops = ([*values[: 2 * at], 0, 0, *values[2 * at :]] for values in (paddings, crops))
    if blocks != joined_blocks or [len(blocks), len(paddings), len(crops)] != [2, 4, 4] or min(blocks) < 1:
        return None
    options, windows = work.options(chain.layer), work.input(chain.layer, 1).shape[1:3]
    if (options.stride_h, options.stride_w) != (1, 1):
        return None
    is_same = options.padding == schema.enum_values("Padding")["SAME"]
    axes = []
    for place, own in enumerate((options.dilation_h_factor, options.dilation_w_factor)):
        block, taps = blocks[place], windows[place] - 1
        inner = max(own, 1) * taps if is_same else 0
        begin = paddings[2 * place] + block * (inner // 2) - crops[2 * place]
        end = paddings[2 * place + 1] + block * (inner - inner // 2) - crops[2 * place + 1]
        axes.append(_DilatedAxis(max(own, 1) * block, begin, end, max(own, 1) * block * taps))
    sizes = [_with_dimension(tensor.shape, added)[1:3] for tensor in (work.input(chain.spread, 0), work.output(chain.joined))]
    for axis, size, result in zip(axes, *sizes, strict=True):
        if min(axis.begin, axis.end) < 0 or size + axis.begin + axis.end - axis.span != result:
            return None
    return axes


def _dilated_nodes(work: Work, chain: _Dilation) -> Sequence[Node] | None:
    source, weights, target = work.input(chain.spread, 0), work.input(chain.layer, 1), work.output(chain.joined)
    added = chain.added_dimension(work)
    is_plain = _is_moved_only(source, work.output(chain.spread)) and _is_moved_only(work.input(chain.joined, 0), target)
    if added is None or not is_plain or source.is_constant or weights.rank != _IMAGE_RANK:
        return None
    if source.rank != _IMAGE_RANK - bool(added) or _WEIGHTS.get(source.type) != weights.type:
        return None
    axes = _axes(work, chain, added)
    if axes is None:
        return None
    is_same = all(axis.is_same for axis in axes)
    is_padded = not is_same and any(axis.begin or axis.end for axis in axes)
    if (added or is_padded) and work.is_open(source, target):
        return None
    nodes, image, result = [], source.index, target.index
    batch, height, width, depth = _with_dimension(source.shape, added)
    if added:
        image = work.result(source, "image", (batch, height, width, depth))
        result = work.result(target, "image", _with_dimension(target.shape, added))
        nodes.append(work.reshape(source.index, image))
    if is_padded:
        height, width = [size + axis.begin + axis.end for size, axis in zip((height, width), axes, strict=True)]
        padded = work.result(source, "padded", (batch, height, width, depth))
        sizes = [[0, 0], *[[axis.begin, axis.end] for axis in axes], [0, 0]]
        nodes.append(work.node("PAD", [image, work.constant(f"{source.name}/paddings", "INT32", sizes)], [padded]))
        image = padded
    whole = chain.layer._replace(index=-1, inputs=(image, *chain.layer.inputs[1:]), outputs=(result,))
    padding = schema.enum_values("Padding")["SAME" if is_same else "VALID"]
    dilations = {"dilation_h_factor": axes[0].dilation, "dilation_w_factor": axes[1].dilation}
    nodes.append(work.editor.with_options(whole, padding=padding, **dilations))
    return [*nodes, work.reshape(result, target.index)] if added else nodes


def _dilate(work: Work) -> None:
    editor = work.editor
    ops = _DILATED | _SHAPES
    whole = [(origin, node) for origin, node in editor.nodes if node.op in ops and not node.is_custom and is_whole(node)]
    writers = {node.outputs[0]: (origin, node) for origin, node in whole if len(node.outputs) == 1}
    readers = Counter([index for _, node in editor.nodes for index in node.inputs])
    replaced: dict[int, Sequence[Node]] = {}
    unread = set()

    def writer(index: int) -> tuple[int, Node | None, Node | None]:
        """Return the index and node of the writer before a reshape, and the reshape, or None."""
        origin, node = writers.get(index, (-1, None))
        if node is None or node.op not in _SHAPES:
            return origin, node, None
        return *writers.get(node.inputs[0], (-1, None)), node

    for origin, joined in whole:
        if joined.op != "BATCH_TO_SPACE_ND":
            continue
        layer_origin, layer, after = writer(joined.inputs[0])
        between = {joined.inputs[0], *(after.inputs[:1] if after is not None else ())}
        if layer is None or layer.op not in _LAYERS or any(readers[index] != 1 or index in editor.outputs for index in between):
            continue
        spread_origin, spread, before = writer(layer.inputs[0])
        if spread is None or spread.op != "SPACE_TO_BATCH_ND":
            continue
        if any(work.is_chosen(place) for place in (origin, layer_origin, spread_origin)):
            nodes = _dilated_nodes(work, _Dilation(spread, before, layer, after, joined))
            if nodes is not None:
                replaced[joined.outputs[0]] = nodes
                unread.add(joined.inputs[0])
    nodes_after = []
    for origin, node in editor.nodes:
        new = replaced.get(node.outputs[0]) if node.op == "BATCH_TO_SPACE_ND" and node.outputs else None
        nodes_after += [(origin, node)] if new is None else [(-1, own) for own in new]
    editor.nodes = nodes_after
    editor.remove_unread(unread)


DILATIONS: tuple[Pass, ...] = (graph_pass("dilated-convolution", Exactness.ROUNDING, _dilate, _DILATED),)

"""Rewrite a convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND as one dilated convolution.

TensorFlow writes a dilated convolution as these three nodes. The converter joins them only if the sizes of the input are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...model import schema
from ...model.model import Node, Tensor
from ...rules.operands import is_whole
from ..pass_workspace import Work
from .base import Exactness, Pass, graph_pass

_OPS = frozenset({"SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "CONV_2D", "DEPTHWISE_CONV_2D"})
_LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D")
_WEIGHTS: Mapping[str, str] = {"FLOAT32": "FLOAT32", "INT8": "INT8", "UINT8": "UINT8", "INT16": "INT8"}
"""The type of the weights for each type of the operand. With other types, the kernel quantizes each batch by itself."""
_IMAGE = 4


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


def _is_moved_only(before: Tensor, after: Tensor) -> bool:
    return before.rank == after.rank == _IMAGE and (before.type, before.scale, before.zero_point) == (
        after.type,
        after.scale,
        after.zero_point,
    )


def _axes(work: Work, spread: Node, layer: Node, joined: Node) -> list[_DilatedAxis] | None:
    """Return both spatial axes, or None if the three nodes are no dilated convolution."""
    numbers = [work.integers(work.input(node, position)) for node in (spread, joined) for position in (1, 2)]
    if any(values is None for values in numbers):
        return None
    blocks, paddings, joined_blocks, crops = [values.reshape(-1).tolist() for values in numbers if values is not None]
    if blocks != joined_blocks or [len(blocks), len(paddings), len(crops)] != [2, 4, 4] or min(blocks) < 1:
        return None
    options, windows = work.options(layer), work.input(layer, 1).shape[1:3]
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
    source, target = work.input(spread, 0), work.output(joined)
    for axis, size, result in zip(axes, source.shape[1:3], target.shape[1:3], strict=True):
        if min(axis.begin, axis.end) < 0 or size + axis.begin + axis.end - axis.span != result:
            return None
    return axes


def _dilated(work: Work, spread: Node, layer: Node, joined: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(spread, 0), work.input(layer, 1), work.output(joined)
    is_plain = _is_moved_only(source, work.output(spread)) and _is_moved_only(work.output(layer), target)
    if not is_plain or source.is_constant or weights.rank != _IMAGE or _WEIGHTS.get(source.type) != weights.type:
        return None
    axes = _axes(work, spread, layer, joined)
    if axes is None:
        return None
    nodes, image = [], source.index
    is_same = all(axis.is_same for axis in axes)
    if not is_same and any(axis.begin or axis.end for axis in axes):
        if work.is_open(source):
            return None
        height, width = [size + axis.begin + axis.end for size, axis in zip(source.shape[1:3], axes, strict=True)]
        image = work.result(source, "padded", (source.shape[0], height, width, source.shape[3]))
        sizes = [[0, 0], *[[axis.begin, axis.end] for axis in axes], [0, 0]]
        nodes.append(work.node("PAD", [source.index, work.constant(f"{source.name}/paddings", "INT32", sizes)], [image]))
    whole = layer._replace(index=-1, inputs=(image, *layer.inputs[1:]), outputs=joined.outputs)
    padding = schema.enum_values("Padding")["SAME" if is_same else "VALID"]
    dilations = {"dilation_h_factor": axes[0].dilation, "dilation_w_factor": axes[1].dilation}
    return [*nodes, work.editor.with_options(whole, padding=padding, **dilations)]


def _dilate(work: Work) -> None:
    editor = work.editor
    whole = [(origin, node) for origin, node in editor.nodes if node.op in _OPS and not node.is_custom and is_whole(node)]
    writers = {node.outputs[0]: (origin, node) for origin, node in whole if len(node.outputs) == 1}
    readers = Counter([index for _, node in editor.nodes for index in node.inputs])
    replaced: dict[int, Sequence[Node]] = {}
    unread = set()
    for origin, joined in whole:
        if joined.op != "BATCH_TO_SPACE_ND" or readers[joined.inputs[0]] != 1 or joined.inputs[0] in editor.outputs:
            continue
        layer_origin, layer = writers.get(joined.inputs[0], (-1, None))
        spread_origin, spread = writers.get(layer.inputs[0], (-1, None)) if layer is not None else (-1, None)
        if layer is None or spread is None or layer.op not in _LAYERS or spread.op != "SPACE_TO_BATCH_ND":
            continue
        if any(work.is_chosen(place) for place in (origin, layer_origin, spread_origin)):
            nodes = _dilated(work, spread, layer, joined)
            if nodes is not None:
                replaced[joined.outputs[0]] = nodes
                unread.add(layer.outputs[0])
    nodes_after = []
    for origin, node in editor.nodes:
        new = replaced.get(node.outputs[0]) if node.op == "BATCH_TO_SPACE_ND" and node.outputs else None
        nodes_after += [(origin, node)] if new is None else [(-1, own) for own in new]
    editor.nodes = nodes_after
    editor.remove_unread(unread)


PASSES: tuple[Pass, ...] = (graph_pass("dilated-convolution", Exactness.ROUNDING, _dilate, _OPS),)

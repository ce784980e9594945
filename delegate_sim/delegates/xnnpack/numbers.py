"""Nodes that XNNPACK accepts and computes differently from the CPU kernels of the runtime.

Sources (google/XNNPACK):

- ``create_prelu_operator`` (``src/subgraph/prelu.c``), before and after commit 1005cb0406
- ``reshape_convolution2d_nhwc`` (``src/operators/convolution-nhwc.c``), before and after commit bf3014548c
- ``create_fully_connected_nc_qd8_f32_qb4w_f16_scales`` (``src/operators/fully-connected-nc.c``), before commit ac2acbd560
- ``xnn_subgraph_analyze_consumers_and_producers`` and ``optimize_common_subgraphs_gemm_rhs_transpose`` (``src/subgraph.c``), from
  commit b37be49acb on

Source in google-ai-edge/LiteRT: ``VisitFullyConnectedNode`` (``delegates/xnnpack/xnnpack_delegate.cc``), before and after commit
b0b8578a8.

The releases were measured with wheels: ``tflite-runtime`` 2.14.0, ``ai-edge-litert`` 1.0.1 to 2.3.0, and the development build of
2.4. Between two measured releases with the problem, all releases have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...model.model import Tensor
from ...model.numbers import as_list
from ...refusal import Effect, Refusal, Stage
from ...releases.catalogue import OLDEST, Release, parse_release
from ...rules.kinds import kinds_in
from .rules.checks import padding_mode
from .shapes import IMAGE_RANK, dilated_window
from .target import XnnpackTarget

NUMBER_KINDS = kinds_in("delegates/xnnpack", "numbers", is_shared=True, stage=Stage.COMPUTING, effect=Effect.WRONG_NUMBERS)
"""The kinds of nodes with other numbers, by code."""

_MATRIX = 2
_TF_MEASURED, _MEASURED_FROM = parse_release("tf-2.14"), parse_release("litert-1.0.1")


def are_measured(release: Release) -> bool:
    """Return whether the numbers of a release were measured, or the numbers of a release before it and of a release after it."""
    return not release.is_after_newest and (release.is_at_least(_MEASURED_FROM) or release.order == _TF_MEASURED.order)


class _Affected(NamedTuple):
    tensor: Tensor
    values: Mapping[str, Any] = {}


class _Condition(NamedTuple):
    code: str
    operators: frozenset[str]
    find: Callable[[NodeView, Subset], _Affected | None]
    since: Release = OLDEST
    may_be_right_from: Release | None = None
    """The first release that may be right. From ``right_from`` on, all releases are right."""
    right_from: Release | None = None
    is_rewrite: bool = False
    """Whether a rewrite of the subgraph causes the problem. The flag slow_consistent_arithmetic turns these rewrites off."""

    def counts_for(self, target: XnnpackTarget) -> bool:
        is_right = self.right_from is not None and target.release.is_at_least(self.right_from)
        is_off = self.is_rewrite and target.has("slow_consistent_arithmetic")
        return target.release.is_at_least(self.since) and not is_right and not is_off

    def risk(self, affected: _Affected, node: int, release: Release) -> Refusal:
        risk = NUMBER_KINDS[self.code].failure(affected.tensor, node, **affected.values)
        is_possible = self.may_be_right_from is not None and release.is_at_least(self.may_be_right_from)
        return replace(risk, effect=Effect.PERHAPS_WRONG_NUMBERS) if is_possible else risk


def _single_slope(node: NodeView, subset: Subset) -> _Affected | None:
    source, slope = node.input(0), node.input(1)
    channels = source.shape[-1] if source.shape else 1
    return _Affected(slope, {"needed": channels}) if slope.element_count == 1 and channels > 1 else None


def _negative_padding(node: NodeView, subset: Subset) -> _Affected | None:
    """Find the operand of a convolution whose windows end before the operand does, so that its total padding is negative."""
    source, weights, options = node.input(0), node.input(1), node.options
    if padding_mode(node) != "SAME" or source.rank != IMAGE_RANK or weights.rank != IMAGE_RANK or weights.shape[1:3] == (1, 1):
        return None
    strides, window = (options.stride_h, options.stride_w), dilated_window(node)
    if min(*strides, *source.shape[1:3]) < 1:
        return None
    ends = [(size - 1) // stride * stride + own for size, stride, own in zip(source.shape[1:3], strides, window, strict=True)]
    if ends[0] >= source.shape[1] and ends[1] >= source.shape[2]:
        return None
    return _Affected(source, {"strides": "{}x{}".format(*strides), "needed": "{}x{}".format(*window)})


def _weights_in_blocks(node: NodeView, subset: Subset) -> _Affected | None:
    weights = node.input(1)
    return _Affected(weights) if weights.quantization is not None and weights.quantization.kind == "blockwise" else None


def _rows_of_other_size(node: NodeView, subset: Subset) -> _Affected | None:
    """Find float rows that are quantized at run time, and that the layer then divides into rows of another size."""
    source, weights = node.input(0), node.input(1)
    if node.options.keep_num_dims or source.type != "FLOAT32" or weights.type not in ("INT8", "INT4") or weights.rank != _MATRIX:
        return None
    size = source.shape[-1] if source.shape else 1
    is_divided = size != weights.shape[1] and source.element_count > size
    return _Affected(source, {"needed": weights.shape[1], "found": size}) if is_divided else None


def _transposed_twice(node: NodeView, subset: Subset) -> _Affected | None:
    """Find the operand of a product with itself if a TRANSPOSE computes it and nothing else reads it.

    XNNPACK counts one reader, changes the TRANSPOSE to swap the last two dimensions, and marks only the second operand.
    """
    graph, operand = node.graph, node.input(0)
    if node.node.inputs[:1] != node.node.inputs[1:2] or node.options.adj_x or node.options.adj_y or operand.shape[-1:] == (1,):
        return None
    writers, readers = graph.writers.get(operand.index, ()), graph.readers.get(operand.index, ())
    if not writers or writers[-1].index not in subset.nodes or operand.index in subset.outputs:
        return None
    transposing = graph.view(writers[-1])
    if transposing.op != "TRANSPOSE" or {reader.index for reader in readers} != {node.node.index}:
        return None
    permutation = transposing.value(transposing.input(1))
    if permutation is None or len(permutation) < _MATRIX:
        return None
    *batches, row, column = as_list(permutation)
    only_swaps = row > column == len(batches) and batches == sorted(batches)
    return None if only_swaps else _Affected(operand)


_CONDITIONS = (
    _Condition(
        "xnnpack-numbers-prelu-slope",
        frozenset({"PRELU"}),
        _single_slope,
        may_be_right_from=parse_release("tf-2.17"),
        right_from=parse_release("litert-1.0.1"),
    ),
    _Condition(
        "xnnpack-numbers-negative-padding",
        frozenset({"CONV_2D", "DEPTHWISE_CONV_2D"}),
        _negative_padding,
        right_from=parse_release("litert-2.2.0"),
    ),
    _Condition(
        "xnnpack-numbers-flattened-rows",
        frozenset({"FULLY_CONNECTED"}),
        _rows_of_other_size,
        since=parse_release("litert-1.1.2"),
        right_from=parse_release("litert-1.4.0"),
    ),
    _Condition(
        "xnnpack-numbers-blockwise-weights",
        frozenset({"FULLY_CONNECTED"}),
        _weights_in_blocks,
        since=parse_release("litert-1.4.0"),
        right_from=parse_release("litert-2.1.0"),
    ),
    _Condition(
        "xnnpack-numbers-matrix-square",
        frozenset({"BATCH_MATMUL"}),
        _transposed_twice,
        since=parse_release("litert-2.1.0"),
        is_rewrite=True,
    ),
)


def number_risks(graph: Graph, subset: Subset, target: XnnpackTarget) -> Iterator[Refusal]:
    """Yield the nodes of a partition that XNNPACK computes wrongly, in the order of the nodes."""
    conditions = [condition for condition in _CONDITIONS if condition.counts_for(target)]
    for index in subset.nodes if conditions else ():
        node = graph.nodes[index]
        for condition in conditions:
            if node.op in condition.operators and not node.is_custom:
                affected = condition.find(graph.view(node), subset)
                if affected is not None:
                    yield condition.risk(affected, index, target.release)

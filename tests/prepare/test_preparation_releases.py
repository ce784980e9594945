"""Changes of the Prepare functions of CPU kernels by releases of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.model.model import Allocation
from delegate_sim.model.reader import load
from delegate_sim.prepare.kernel import KernelNode
from delegate_sim.prepare.preparation import PrepareError, prepare
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, Release, parse_release
from fixtures.builder import ModelBuilder
from tests.support.graphs import arena, constant, quantized
from tests.support.kernels import Kernels

LITERT = [name for name in KNOWN_RELEASES if name.startswith("litert-")]
TAKEN, REFUSED = True, False
REFLECT, SYMMETRIC = 0, 1
INT32 = 2
REDUCTIONS = ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")


class Change(NamedTuple):
    """A node by its name, the release that changes it, and whether it can be prepared before and from then on."""

    name: str
    release: str
    before: bool
    after: bool
    prepare: Callable[[Kernels, Release], KernelNode]


def l2_normalization(*shape):
    def run(kernels, release):
        operands, results = [kernels.arena("FLOAT32", *shape)], [kernels.arena("FLOAT32")]
        return kernels.prepare("L2_NORMALIZATION", operands, results, release=release, fused_activation_function=0)

    return run


def transpose(kernels, release):
    source = kernels.arena("FLOAT32", 1, 1, 1, 1, 2, 2, 2)
    permutation = kernels.constant([0, 1, 2, 3, 4, 6, 5])
    return kernels.prepare("TRANSPOSE", [source, permutation], [kernels.arena("FLOAT32")], release=release)


def batch_to_space(kernels, release):
    operands = [kernels.arena("FLOAT32", 4, 2, 2, 3), kernels.constant([2, 2]), kernels.constant([[2, 2], [5, 5]])]
    return kernels.prepare("BATCH_TO_SPACE_ND", operands, [kernels.arena("FLOAT32")], release=release)


def batch_matmul(kernels, release):
    operands = [
        kernels.quantized(kernels.arena("INT16", 2, 3), 0.5),
        kernels.quantized(kernels.arena("INT8", 3, 4), 0.5),
    ]
    result = kernels.quantized(kernels.arena("INT16"), 0.5)
    return kernels.prepare("BATCH_MATMUL", operands, [result], release=release, adj_x=False, adj_y=False)


def arg_max(op):
    def run(kernels, release):
        operands = [kernels.arena("FLOAT32", 2, 0), kernels.constant([1])]
        return kernels.prepare(op, operands, [kernels.arena("INT32")], release=release, output_type=INT32)

    return run


def mirror_pad(mode, width):
    def run(kernels, release):
        operands = [kernels.arena("FLOAT32", 3), kernels.constant([[0, width]])]
        return kernels.prepare("MIRROR_PAD", operands, [kernels.arena("FLOAT32")], release=release, mode=mode)

    return run


def slice_from(begin, *shape):
    def run(kernels, release):
        operands = [kernels.arena("FLOAT32", 4), kernels.constant([begin]), kernels.constant([2])]
        return kernels.prepare("SLICE", operands, [kernels.arena("FLOAT32", *shape)], release=release)

    return run


def reduction(op, axis, keep_dims=True):
    def run(kernels, release):
        operands = [kernels.arena("FLOAT32", 2), kernels.constant([0, axis])]
        return kernels.prepare(op, operands, [kernels.arena("FLOAT32")], release=release, keep_dims=keep_dims)

    return run


def product_of_uint8(kernels, release):
    operands = [kernels.quantized(kernels.arena("UINT8", 2, 3), 0.5), kernels.constant([0])]
    result = kernels.quantized(kernels.arena("UINT8"), 0.5)
    return kernels.prepare("REDUCE_PROD", operands, [result], release=release, keep_dims=False)


def depthwise_conv(kernels, release):
    weights = kernels.constant([[[[1.0, 1.0, 1.0]]]], "FLOAT32")
    return kernels.prepare(
        "DEPTHWISE_CONV_2D",
        [kernels.arena("FLOAT32", 1, 4, 4, 2), weights],
        [kernels.arena("FLOAT32")],
        release=release,
        stride_h=1,
        stride_w=1,
        dilation_h_factor=1,
        dilation_w_factor=1,
        padding=0,
        depth_multiplier=1,
        fused_activation_function=0,
    )


def transpose_conv(kernels, release):
    operands = [
        kernels.arena("INT32", 4),
        kernels.quantized(kernels.constant([[[[1, 1]]]], "UINT8"), 0.5),
        kernels.arena("FLOAT32", 1, 4, 4, 2),
    ]
    result = kernels.arena("FLOAT32", 1, 4, 4, 1)
    return kernels.prepare("TRANSPOSE_CONV", operands, [result], release=release, stride_h=1, stride_w=1, padding=0)


def concatenation_of_scalars(kernels, release):
    operands = [kernels.arena("FLOAT32"), kernels.arena("FLOAT32")]
    node = kernels.prepare(
        "CONCATENATION", operands, [kernels.arena("FLOAT32")], release=release, axis=0, fused_activation_function=0
    )
    assert node.output().shape == ()
    return node


def top_k(kernels, release, k):
    results = [kernels.arena("FLOAT32"), kernels.arena("INT32")]
    return kernels.prepare("TOPK_V2", [kernels.arena("FLOAT32", 2, 5), k], results, release=release)


def top_k_of_unknown_int64(kernels, release):
    return top_k(kernels, release, kernels.arena("INT64"))


def dequantize(kind):
    def run(kernels, release):
        return kernels.prepare("DEQUANTIZE", [kernels.arena(kind, 2, 3)], [kernels.arena("FLOAT32")], release=release)

    return run


def half(op, *others, operands=1, known=False, **options):
    def run(kernels, release):
        source = kernels.constant([[1, 2]], "FLOAT16") if known or op == "TILE" else kernels.arena("FLOAT16", 1, 2)
        inputs = [*[source] * operands, *map(kernels.constant, others)]
        return kernels.prepare(op, inputs, [kernels.arena("FLOAT16")], release=release, **options)

    return run


def node(op, *operands, results=None, **options):
    def run(kernels, release):
        return kernels.prepare(op, operands, results or [arena("FLOAT32")], release=release, **options)

    return run


def quantize(source, result):
    operands = [quantized(arena(source, 2), 0.5)] if source != "FLOAT32" else [arena(source, 2)]
    return node("QUANTIZE", *operands, results=[quantized(arena(result, 2), 0.25)])


def zeros(*shape, kind="FLOAT32"):
    return constant(np.zeros(shape), kind)


def conv_2d(source, weights, *, kind="FLOAT32", scales=(), dimension=0, **options):
    stored = zeros(*weights, kind=kind)
    return node(
        "CONV_2D",
        arena("FLOAT32", *source),
        quantized(stored, *scales, dimension=dimension) if scales else stored,
        zeros(weights[0]),
        **{**STEPS, **options},
    )


def depthwise(source, weights, **options):
    return node("DEPTHWISE_CONV_2D", arena("FLOAT32", *source), zeros(*weights), **{**STEPS, "depth_multiplier": 1, **options})


def deconvolution(shape, source, **options):
    operands = [constant(shape), zeros(1, 1, 1, 1), arena("FLOAT32", *source)]
    return node("TRANSPOSE_CONV", *operands, stride_h=1, stride_w=1, padding=SAME, **options)


def conv_3d(source, weights, **options):
    return node("CONV_3D", arena("FLOAT32", *source), arena("FLOAT32", *weights), **{**STEPS_3D, **options})


def deconvolution_3d(channels, weights, **options):
    shape = arena("INT32", 5) if channels is None else constant([1, 4, 4, 4, channels])
    operands = [shape, zeros(*weights), arena("FLOAT32", 1, 4, 4, 4, 1)]
    return node("CONV_3D_TRANSPOSE", *operands, **{**STEPS_3D, **options})


def max_pool(size):
    options = {"stride_h": 1, "stride_w": 1, "filter_height": size, "filter_width": size, "padding": VALID}
    return node("MAX_POOL_2D", arena("FLOAT32", 1, 2, 2, 1), fused_activation_function=0, **options)


def strided_slice(source, begin, stride=1, **options):
    masks = {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 0, "new_axis_mask": 0, "ellipsis_mask": 0, "offset": False}
    operands = [source, constant(begin), constant([index + 1 for index in begin]), constant([stride for _ in begin])]
    return node("STRIDED_SLICE", *operands, results=[arena(source.type)], **{**masks, **options})


def padded(op, kind, fill=(), **options):
    return node(op, arena("FLOAT32", 1), constant([[0, 1]], kind), *fill, **options)


def embedding(kind, result, zero_points):
    table = quantized(zeros(2, 4, kind=kind), 0.5, 0.25)
    table = table._replace(quantization=table.quantization._replace(zero_points=np.zeros(zero_points, np.int64)))
    return node("EMBEDDING_LOOKUP", constant([0]), table, results=[arena(result)])


def sparse_to_dense(indices, values):
    return node("SPARSE_TO_DENSE", constant(indices), constant([4]), constant(values), constant(0), validate_indices=False)


def suppression(kind):
    scalars = [constant(2), constant(0.5, "FLOAT32"), constant(1, kind)]
    operands = [arena("FLOAT32", 3, 4), arena("FLOAT32", 3), *scalars]
    return node("NON_MAX_SUPPRESSION_V4", *operands, results=[arena("INT32"), arena("INT32")])


def unique(**options):
    return node("UNIQUE", arena("INT32", 2), results=[arena("INT32"), arena("INT32")], **options)


def fully_connected(kind, scales, dimension):
    weights = quantized(zeros(2, 3, kind=kind), *scales, dimension=dimension)
    source, result = (quantized(arena("INT16", *shape), 0.5) for shape in ((1, 3), (1, 2)))
    options = {"weights_format": 0, "keep_num_dims": False, "fused_activation_function": 0, "quantized_bias_type": 0}
    return node("FULLY_CONNECTED", source, weights, None, results=[result], **options)


def sequence_rnn(*bias):
    operands = [arena("FLOAT32", 2, 3, 4), zeros(5, 4), zeros(5, 5), zeros(*bias), arena("FLOAT32", 2, 5, is_variable=True)]
    return node("UNIDIRECTIONAL_SEQUENCE_RNN", *operands, time_major=False, fused_activation_function=0)


def stablehlo_gather(slice_sizes):
    options = {"offset_dims": [1], "collapsed_slice_dims": [], "start_index_map": [0], "index_vector_dim": 1}
    operands = [arena("FLOAT32", 3), constant([[0], [1]])]
    return node("STABLEHLO_GATHER", *operands, results=[arena("FLOAT32", 2, 1)], slice_sizes=slice_sizes, **options)


def stablehlo_pad(interior, fill):
    options = {"edge_padding_low": [1], "edge_padding_high": [1], "interior_padding": [interior]}
    return node("STABLEHLO_PAD", arena("FLOAT32", 3), fill, **options)


STEPS = {
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h_factor": 1,
    "dilation_w_factor": 1,
    "padding": 0,
    "fused_activation_function": 0,
}
STEPS_3D = {**STEPS, "stride_d": 1, "dilation_d_factor": 1}
SAME, VALID = 0, 1
RANK_9 = (1,) * 9
ONE = constant([1.0], "FLOAT32")
SQUARE = (1, 4, 4, 1)

CHANGES = [
    *[Change(f"{op}-of-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, half(op)) for op in ("FLOOR", "ROUND")],
    Change("ATAN2-of-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, half("ATAN2", operands=2)),
    Change("GATHER-of-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, half("GATHER", [0], axis=0, batch_dims=0)),
    Change("GATHER_ND-of-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, half("GATHER_ND", [0])),
    Change("REVERSE_V2-of-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, half("REVERSE_V2", [0])),
    Change(
        "CONCATENATION-of-FLOAT16",
        "litert-1.3.0",
        REFUSED,
        TAKEN,
        half("CONCATENATION", operands=2, axis=0, fused_activation_function=0),
    ),
    Change("STRIDED_SLICE-of-known-FLOAT16", "litert-1.3.0", REFUSED, TAKEN, strided_slice(zeros(4, kind="FLOAT16"), [0])),
    Change("PADV2-by-INT8", "litert-1.3.0", REFUSED, TAKEN, padded("PADV2", "INT8")),
    Change("CONV_2D-stride-0", "litert-1.4.0", TAKEN, REFUSED, conv_2d(SQUARE, (1, 1, 1, 1), stride_h=0)),
    Change("DEPTHWISE-stride-65536", "litert-1.4.0", TAKEN, REFUSED, depthwise(SQUARE, (1, 1, 1, 1), stride_h=65536)),
    Change("EMBEDDING_LOOKUP-one-zero-point", "litert-1.4.0", REFUSED, TAKEN, embedding("INT8", "FLOAT32", 1)),
    Change("PRELU-types", "litert-2.0.2", REFUSED, TAKEN, node("PRELU", arena("FLOAT32", 2), constant([1, 2], "INT8"))),
    Change(
        "SQRT-of-INT8",
        "litert-2.0.2",
        REFUSED,
        TAKEN,
        node("SQRT", quantized(arena("INT8", 2), 0.5), results=[quantized(arena("INT8"), 0.5)]),
    ),
    Change("QUANTIZE-to-INT4", "litert-2.1.0", REFUSED, TAKEN, quantize("FLOAT32", "INT4")),
    Change("QUANTIZE-to-UINT4", "litert-2.1.2", REFUSED, TAKEN, quantize("FLOAT32", "UINT4")),
    Change("EMBEDDING_LOOKUP-to-FLOAT16", "litert-2.1.2", REFUSED, TAKEN, embedding("INT8", "FLOAT16", 2)),
    Change("QUANTIZE-of-INT8-to-INT16", "litert-2.1.3", REFUSED, TAKEN, quantize("INT8", "INT16")),
    Change("QUANTIZE-of-UINT8-to-INT16", "litert-2.1.3", REFUSED, TAKEN, quantize("UINT8", "INT16")),
    Change("STRIDED_SLICE-of-known-UINT16", "litert-2.1.3", REFUSED, TAKEN, strided_slice(zeros(4, kind="UINT16"), [0])),
    Change("FULLY_CONNECTED-INT16", "litert-2.1.4", REFUSED, TAKEN, fully_connected("INT16", (0.5,), 0)),
    Change("CONV_2D-im2col", "litert-2.1.4", TAKEN, REFUSED, conv_2d((1, 60000, 40000, 1), (1, 2, 2, 1))),
    Change("FULLY_CONNECTED-dimension", "litert-2.1.5", TAKEN, REFUSED, fully_connected("INT8", (0.5, 0.25, 0.5), 1)),
    Change("NON_MAX_SUPPRESSION-type", "litert-2.1.6", TAKEN, REFUSED, suppression("INT32")),
    Change("BROADCAST_TO-rank", "litert-2.1.6", REFUSED, TAKEN, node("BROADCAST_TO", arena("FLOAT32", 1), constant(RANK_9))),
    Change("TILE-negative", "litert-2.1.6", TAKEN, REFUSED, node("TILE", arena("FLOAT32", 0), constant([-1]))),
    Change("MUL-of-known-FLOAT16", "litert-2.1.6", REFUSED, TAKEN, half("MUL", operands=2, known=True)),
    Change("SPARSE_TO_DENSE-scalar", "litert-2.1.6", REFUSED, TAKEN, sparse_to_dense([0, 1], 5)),
    Change("SPARSE_TO_DENSE-vector", "litert-2.1.6", TAKEN, REFUSED, sparse_to_dense([0, 1], [5, 6, 7])),
    Change("UNIQUE-index-type", "litert-2.1.6", TAKEN, REFUSED, unique(idx_out_type=4)),
    Change("UNIDIRECTIONAL_SEQUENCE_RNN-rank", "litert-2.1.6", TAKEN, REFUSED, sequence_rnn(5, 1)),
    Change("STABLEHLO_GATHER-sizes", "litert-2.1.6", TAKEN, REFUSED, stablehlo_gather([1, 1])),
    Change(
        "DILATE-rank", "litert-2.1.6", REFUSED, TAKEN, node("DILATE", arena("FLOAT32", *RANK_9[:7]), constant(RANK_9[:7]), ONE)
    ),
    Change(
        "SLICE-rank",
        "litert-2.2.0",
        REFUSED,
        TAKEN,
        node("SLICE", arena("FLOAT32", *RANK_9[:6]), zeros(6, kind="INT32"), constant(RANK_9[:6])),
    ),
    Change("STRIDED_SLICE-rank", "litert-2.2.0", REFUSED, TAKEN, strided_slice(arena("FLOAT32", *RANK_9[:6]), [0])),
    Change(
        "STRIDED_SLICE-added-rank",
        "litert-2.2.0",
        REFUSED,
        TAKEN,
        strided_slice(arena("FLOAT32", *RANK_9[:5]), [0], new_axis_mask=1),
    ),
    Change(
        "STRIDED_SLICE-indices", "litert-2.2.0", TAKEN, REFUSED, strided_slice(arena("FLOAT32", 2), [0] * 32, shrink_axis_mask=0)
    ),
    Change("SELECT_V2-rank", "litert-2.2.0", TAKEN, REFUSED, node("SELECT_V2", arena("BOOL", 2), ONE, arena("FLOAT32", *RANK_9))),
    Change(
        "SEGMENT_SUM-rank",
        "litert-2.2.0",
        TAKEN,
        REFUSED,
        node("SEGMENT_SUM", zeros(1, 2), zeros(1, 1, kind="INT32")),
    ),
    Change(
        "RESIZE_BILINEAR-size",
        "litert-2.2.0",
        TAKEN,
        REFUSED,
        node("RESIZE_BILINEAR", arena("FLOAT32", *SQUARE), constant([2, 2, 2]), align_corners=False, half_pixel_centers=False),
    ),
    Change("CONV_2D-empty", "litert-2.2.0", TAKEN, REFUSED, conv_2d((1, 0, 4, 1), (1, 1, 1, 1))),
    Change("CONV_2D-groups", "litert-2.2.0", TAKEN, REFUSED, conv_2d((1, 4, 4, 2), (3, 1, 1, 1))),
    Change("DEPTHWISE-empty", "litert-2.2.0", TAKEN, REFUSED, depthwise((1, 0, 4, 1), (1, 1, 1, 1))),
    Change("DEPTHWISE-stride-32768", "litert-2.2.0", TAKEN, REFUSED, depthwise(SQUARE, (1, 1, 1, 1), stride_h=32768)),
    Change("TRANSPOSE_CONV-empty", "litert-2.2.0", TAKEN, REFUSED, deconvolution([1, 0, 4, 1], (1, 0, 4, 1))),
    Change("CONV_3D-empty", "litert-2.2.0", TAKEN, REFUSED, conv_3d((1, 0, 4, 4, 1), (1, 1, 1, 1, 1))),
    Change("CONV_3D-window", "litert-2.2.0", REFUSED, TAKEN, conv_3d((1, 2, 2, 2, 1), (9, 1, 1, 1, 1), padding=VALID)),
    Change("CONV_3D_TRANSPOSE-channels", "litert-2.2.0", TAKEN, REFUSED, deconvolution_3d(4, (1, 1, 1, 2, 1))),
    Change("MAX_POOL_2D-window", "litert-2.2.0", REFUSED, TAKEN, max_pool(5)),
    Change("PADV2-fill", "litert-2.2.0", TAKEN, REFUSED, padded("PADV2", "INT32", [constant([1.0, 2.0], "FLOAT32")])),
    Change("PAD-by-BOOL", "litert-2.2.0", REFUSED, TAKEN, padded("PAD", "BOOL")),
    Change("MIRROR_PAD-mode", "litert-2.2.0", TAKEN, REFUSED, padded("MIRROR_PAD", "INT32", mode=2)),
    Change("STABLEHLO_PAD-interior", "litert-2.2.0", TAKEN, REFUSED, stablehlo_pad(-1, constant(1.0, "FLOAT32"))),
    Change("STABLEHLO_PAD-fill", "litert-2.2.0", TAKEN, REFUSED, stablehlo_pad(0, zeros(2))),
    Change("CONV_2D-stride-32768", "litert-2.3.0", TAKEN, REFUSED, conv_2d(SQUARE, (1, 1, 1, 1), stride_h=32768)),
    Change(
        "CONV_2D-hybrid-groups",
        "litert-2.3.0",
        TAKEN,
        REFUSED,
        conv_2d((1, 4, 4, 2), (2, 1, 1, 1), kind="INT8", scales=(0.5,)),
    ),
    Change(
        "CONV_2D-hybrid-dimension",
        "litert-2.3.0",
        TAKEN,
        REFUSED,
        conv_2d((1, 4, 4, 2), (2, 1, 1, 2), kind="INT8", scales=(0.5, 0.25), dimension=3),
    ),
    Change("DEPTHWISE-multiplier", "litert-2.3.0", TAKEN, REFUSED, depthwise((1, 1, 1, 1), (1, 1, 1, 40000))),
    Change("TRANSPOSE_CONV-shape", "litert-2.3.0", TAKEN, REFUSED, deconvolution([1, 9, 9, 1], SQUARE)),
    Change("CONV_3D-no-window", "litert-2.3.0", TAKEN, REFUSED, conv_3d((1, 2, 2, 2, 1), (9, 1, 1, 1, 1), padding=VALID)),
    Change(
        "CONV_3D_TRANSPOSE-dilation", "litert-2.3.0", TAKEN, REFUSED, deconvolution_3d(None, (1, 1, 1, 1, 1), dilation_d_factor=0)
    ),
    Change("SIN-of-FLOAT16", "litert-2.1.6", REFUSED, TAKEN, half("SIN")),
    Change("COS-of-FLOAT16", "litert-2.1.6", REFUSED, TAKEN, half("COS")),
    Change("UNPACK-of-FLOAT16", "litert-2.1.3", REFUSED, TAKEN, half("UNPACK", num=1, axis=0)),
    Change("TILE-of-FLOAT16", "litert-2.1.3", REFUSED, TAKEN, half("TILE", [1, 2])),
    Change("DEQUANTIZE-INT2", "litert-2.1.0", REFUSED, TAKEN, dequantize("INT2")),
    Change("DEQUANTIZE-UINT4", "litert-2.1.3", REFUSED, TAKEN, dequantize("UINT4")),
    Change("CONCATENATION-of-scalars", "litert-2.1.6", TAKEN, REFUSED, concatenation_of_scalars),
    Change("TOPK_V2-k-of-INT64", "litert-2.2.0", TAKEN, REFUSED, top_k_of_unknown_int64),
    Change("L2_NORMALIZATION-of-rank-5", "litert-2.1.6", REFUSED, TAKEN, l2_normalization(1, 1, 2, 2, 2)),
    Change("L2_NORMALIZATION-of-scalar", "litert-2.1.6", TAKEN, REFUSED, l2_normalization()),
    Change("TRANSPOSE", "litert-2.1.6", REFUSED, TAKEN, transpose),
    Change("BATCH_MATMUL", "litert-2.1.4", REFUSED, TAKEN, batch_matmul),
    Change("ARG_MAX", "litert-2.2.0", TAKEN, REFUSED, arg_max("ARG_MAX")),
    Change("ARG_MIN", "litert-2.2.0", TAKEN, REFUSED, arg_max("ARG_MIN")),
    Change("MIRROR_PAD-reflect", "litert-2.2.0", TAKEN, REFUSED, mirror_pad(REFLECT, 3)),
    Change("MIRROR_PAD-symmetric", "litert-2.2.0", TAKEN, REFUSED, mirror_pad(SYMMETRIC, 4)),
    Change("TRANSPOSE_CONV", "litert-2.2.0", TAKEN, REFUSED, transpose_conv),
    Change("DEPTHWISE_CONV_2D", "litert-2.2.0", TAKEN, REFUSED, depthwise_conv),
    *[Change(op, "litert-2.2.0", TAKEN, REFUSED, reduction(op, 1)) for op in REDUCTIONS],
    Change("REDUCE_PROD-of-UINT8", "litert-2.1.5", TAKEN, REFUSED, product_of_uint8),
    Change("BATCH_TO_SPACE_ND", "litert-2.1.5", TAKEN, REFUSED, batch_to_space),
    Change("SLICE-begin", "litert-2.3.0", TAKEN, REFUSED, slice_from(-1)),
    Change("SLICE-shape", "litert-2.3.0", TAKEN, REFUSED, slice_from(0, 3)),
]


def is_taken(change: Change, kernels: Kernels, release: str) -> bool:
    try:
        change.prepare(kernels, parse_release(release))
    except PrepareError:
        return False
    return True


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.name}-{change.release}")
def test_node_can_be_prepared_before_or_from_a_release_on(kernels, change):
    before = LITERT[LITERT.index(change.release) - 1]
    assert is_taken(change, kernels, before) == change.before
    assert is_taken(change, kernels, change.release) == change.after


@pytest.mark.parametrize("op", REDUCTIONS)
def test_axis_out_of_range_is_passed_over_with_keep_dims_only(kernels, op):
    before = parse_release("litert-2.1.6")
    assert reduction(op, 1)(kernels, before).output().shape == (1,)
    with pytest.raises(PrepareError, match="out of range"):
        reduction(op, 1, keep_dims=False)(kernels, before)


@pytest.mark.parametrize("release", ["tf-2.14", "litert-2.1.6", "litert-2.2.0"])
def test_a_known_k_is_of_32_or_16_bits_in_every_release(kernels, release):
    assert top_k(kernels, parse_release(release), kernels.constant(3, "INT16")).output().shape == (2, 3)
    with pytest.raises(PrepareError, match="INT64"):
        top_k(kernels, parse_release(release), kernels.constant(3, "INT64"))


@pytest.mark.parametrize(("release", "is_known"), [("tf-2.17", False), ("tf-2.18", True), ("litert-1.0.1", True)])
def test_four_bits_are_dequantized_since_a_release(kernels, release, is_known):
    assert is_taken(Change("DEQUANTIZE", release, REFUSED, TAKEN, dequantize("INT4")), kernels, release) == is_known


def test_slice_keeps_a_complete_shape_of_the_file_before_a_release(kernels):
    assert slice_from(0, 3)(kernels, parse_release("litert-2.2.0")).output().shape == (3,)


@pytest.mark.parametrize(
    ("op", "operands", "fields"),
    [
        ("MUL", ([1, 8], [1, 1]), {}),
        ("GATHER", ([1, 8], [0, 1]), {"axis": 0, "batch_dims": 0}),
        ("RESHAPE", ([[1], [8]], [2]), {}),
        ("TILE", ([1, 8], [1]), {}),
        ("RANGE", (1, 9, 7), {}),
        ("BROADCAST_ARGS", ([1, 8], [1, 1]), {}),
        ("REDUCE_PROD", ([[1, 1], [2, 4]], [1]), {"keep_dims": False}),
    ],
)
def test_results_of_constants_are_computed_by_prepare_since_a_release(kernels, op, operands, fields):
    """Measured in the wheels of tf-2.12 and tf-2.13."""

    def prepared(release):
        constants = [kernels.constant(value) for value in operands]
        return kernels.prepare(op, constants, [kernels.arena("INT32")], release=parse_release(release), **fields)

    kernels.assert_static(prepared("tf-2.12"), (2,))
    assert prepared("tf-2.13").output().allocation is Allocation.PERSISTENT


@pytest.mark.parametrize("op", ["PAD", "PADV2"])
@pytest.mark.parametrize("release", ["litert-1.1.0", "litert-2.1.6", "litert-2.2.0"])
def test_result_with_computed_paddings_is_static(kernels, op, release):
    operands = [kernels.arena("FLOAT32", 3), kernels.persistent([[0, 1]])]
    kernels.assert_static(kernels.prepare(op, operands, [kernels.arena("FLOAT32")], release=parse_release(release)), (4,))


@pytest.mark.parametrize(("release", "expected"), [("litert-2.1.3", 16777216), ("litert-2.1.4", 16777217)])
def test_strided_slice_counts_in_float32_before_a_release(kernels, release, expected):
    operands = [kernels.arena("FLOAT32", 16777217), *map(kernels.constant, ([0], [16777217], [1]))]
    masks = {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 0, "new_axis_mask": 0, "ellipsis_mask": 0, "offset": False}
    node = kernels.prepare("STRIDED_SLICE", operands, [kernels.arena("FLOAT32")], release=parse_release(release), **masks)
    kernels.assert_static(node, (expected,))


def l2_model(*shape):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("in", "FLOAT32", shape), graph.tensor("out", "FLOAT32", shape)
    graph.node("L2_NORMALIZATION", (source,), (result,), options={})
    graph.outputs(result)
    return load(builder.bytes())


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_model_is_prepared_by_the_kernels_of_a_release(fixed_shapes):
    model = l2_model(1, 1, 2, 2, 2)
    assert prepare(model, fixed_shapes, parse_release("litert-2.1.5"))[0].failure.node == 0
    assert prepare(model, fixed_shapes, NEWEST)[0].failure is None


@pytest.mark.parametrize(("shape", "are_equal"), [((1, 2, 2, 2), True), ((1, 1, 2, 2, 2), False)])
def test_releases_share_only_equal_graphs(shape, are_equal):
    model, cache = l2_model(*shape), AnalysisCache()
    before, after = [prepare(model, release=release, cache=cache) for release in (parse_release("litert-2.1.5"), NEWEST)]
    assert (before is after) == are_equal

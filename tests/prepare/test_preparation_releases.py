"""Changes of the Prepare functions of CPU kernels by releases of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.model.reader import load
from delegate_sim.prepare.kernel import KernelNode
from delegate_sim.prepare.preparation import PrepareError, prepare
from delegate_sim.releases.catalogue import KNOWN_RELEASES, NEWEST, Release, parse_release
from fixtures.builder import ModelBuilder
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


def half(op, *others, **options):
    def run(kernels, release):
        source = kernels.constant([[1, 2]], "FLOAT16") if op == "TILE" else kernels.arena("FLOAT16", 1, 2)
        return kernels.prepare(
            op, [source, *map(kernels.constant, others)], [kernels.arena("FLOAT16")], release=release, **options
        )

    return run


CHANGES = [
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
    Change("BATCH_MATMUL", "litert-2.1.5", REFUSED, TAKEN, batch_matmul),
    Change("ARG_MAX", "litert-2.2.0", TAKEN, REFUSED, arg_max("ARG_MAX")),
    Change("ARG_MIN", "litert-2.2.0", TAKEN, REFUSED, arg_max("ARG_MIN")),
    Change("MIRROR_PAD-reflect", "litert-2.2.0", TAKEN, REFUSED, mirror_pad(REFLECT, 3)),
    Change("MIRROR_PAD-symmetric", "litert-2.2.0", TAKEN, REFUSED, mirror_pad(SYMMETRIC, 4)),
    Change("TRANSPOSE_CONV", "litert-2.2.0", TAKEN, REFUSED, transpose_conv),
    Change("DEPTHWISE_CONV_2D", "litert-2.2.0", TAKEN, REFUSED, depthwise_conv),
    *[Change(op, "litert-2.2.0", TAKEN, REFUSED, reduction(op, 1)) for op in REDUCTIONS],
    Change("REDUCE_PROD-of-UINT8", "litert-2.1.5", TAKEN, REFUSED, product_of_uint8),
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


@pytest.mark.parametrize("op", ["PAD", "PADV2"])
@pytest.mark.parametrize(("release", "expected"), [("litert-2.1.6", Allocation.DYNAMIC), ("litert-2.2.0", Allocation.ARENA)])
def test_result_with_computed_paddings(kernels, op, release, expected):
    operands = [kernels.arena("FLOAT32", 3), kernels.persistent([[0, 1]])]
    node = kernels.prepare(op, operands, [kernels.arena("FLOAT32")], release=parse_release(release))
    assert node.output().allocation is expected
    assert node.cause == (1 if expected is Allocation.DYNAMIC else None)


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_model_is_prepared_by_the_kernels_of_a_release(fixed_shapes):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("in", "FLOAT32", (1, 1, 2, 2, 2)), graph.tensor("out", "FLOAT32", (1, 1, 2, 2, 2))
    graph.node("L2_NORMALIZATION", (source,), (result,), options={})
    graph.outputs(result)
    model = load(builder.bytes())
    assert prepare(model, fixed_shapes, parse_release("litert-2.1.5"))[0].failure.node == 0
    assert prepare(model, fixed_shapes, NEWEST)[0].failure is None

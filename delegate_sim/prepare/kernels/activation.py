"""Activation functions and conversions."""

from __future__ import annotations

import itertools

from ...graph.graph import fused_activation
from ...model import schema
from ...model.model import Allocation
from ..kernel import KernelNode, kernel
from ..operands import check_int16, check_symmetric
from ..tensors import KernelTensor, affine_quantization, broadcast_shape, power_of_two_exponent

_SOFTMAX_RESULTS = {"INT8": (1 / 256, -128), "INT16": (1 / 32768, 0)}
_LOGISTIC_SCALES = {"UINT8": 1 / 256, "INT8": 1 / 256, "INT16": 1 / 32768}
_LOG_SOFTMAX_RESULTS = {"UINT8": (16 / 256, 255), "INT8": (16 / 256, 127)}
_L2_NORMALIZATION_RESULTS = {"UINT8": (1 / 128, 128), "INT8": (1 / 128, 0)}
"""The scale and the zero point that a quantized result of L2_NORMALIZATION must have, by type."""

_SOFTMAX_TOLERANCE = 0.0010000000474974513
"""The largest relative error that SOFTMAX accepts in the scale of its result: 0.001 as a float32."""
_HARD_SWISH_RESOLUTION = 128
"""HARD_SWISH divides the input scale by this number."""
_TANH_RESULT_EXPONENT = -15


def _single_of_one_type(node: KernelNode) -> tuple[KernelTensor, KernelTensor]:
    source, result = node.operands(1)
    node.ensure(source.type == result.type, "input and output have different types")
    return source, result


def _check_result(node: KernelNode, result: KernelTensor, expected: tuple[float, int] | None) -> None:
    if expected is not None:
        scale, zero_point = expected
        node.ensure(result.scale == scale, "the output has a scale that the kernel does not support")
        node.ensure(result.zero_point == zero_point, "the output has a zero point that the kernel does not support")


@kernel("ELU", "GELU")
def prepare_elu(node: KernelNode) -> None:
    """``kernels/activations.cc: EluPrepare, GeluPrepare, GenericPrepare``."""
    source, result = _single_of_one_type(node)
    node.resize(result, source.shape)


@kernel("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LEAKY_RELU")
def prepare_relu(node: KernelNode) -> None:
    """``kernels/activations.cc: ReluPrepare, LeakyReluPrepare``."""
    source, result = _single_of_one_type(node)
    check_int16(node, source, result)
    node.resize(result, source.shape)


@kernel("HARD_SWISH")
def prepare_hard_swish(node: KernelNode) -> None:
    """``kernels/activations.cc: HardSwishPrepare``."""
    source, result = _single_of_one_type(node)
    node.resize(result, source.shape)
    if result.type in ("UINT8", "INT8"):
        # Without an output scale, the multiplier is infinite, but the kernel treats it as small.
        is_shifted_right = result.scale == 0 or source.scale < result.scale * _HARD_SWISH_RESOLUTION
        node.ensure(is_shifted_right, "the output scale is too small for the input scale")


@kernel("TANH")
def prepare_tanh(node: KernelNode) -> None:
    """``kernels/activations.cc: TanhPrepare``."""
    source, result = _single_of_one_type(node)
    if source.type == "INT16":
        check_symmetric(node, source, result)
        node.ensure(power_of_two_exponent(result) == _TANH_RESULT_EXPONENT, "the scale of the output is not 1/32768")
    node.resize(result, source.shape)


@kernel("LOGISTIC")
def prepare_logistic(node: KernelNode) -> None:
    """``kernels/activations.cc: SigmoidPrepare``."""
    source, result = _single_of_one_type(node)
    scale = _LOGISTIC_SCALES.get(source.type)
    node.ensure(scale is None or result.scale == scale, "the output has a scale that the kernel does not support")
    check_int16(node, source, result)
    node.resize(result, source.shape)


@kernel("SOFTMAX")
def prepare_softmax(node: KernelNode) -> None:
    """``kernels/activations.cc: SoftmaxPrepare``. Input and output may have different types."""
    source, result = node.operands(1)
    node.ensure(source.rank >= 1, "the input is a scalar")
    if source.type == result.type and result.type in _SOFTMAX_RESULTS:
        scale, zero_point = _SOFTMAX_RESULTS[result.type]
        node.ensure(result.zero_point == zero_point, "the output has a zero point that the kernel does not support")
        is_near = abs(result.scale - scale) <= scale * _SOFTMAX_TOLERANCE
        node.ensure(is_near, "the output has a scale that the kernel does not support")
    check_int16(node, source, result)
    node.resize(result, source.shape)


@kernel("LOG_SOFTMAX")
def prepare_log_softmax(node: KernelNode) -> None:
    """``kernels/activations.cc: LogSoftmaxPrepare``."""
    source, result = _single_of_one_type(node)
    _check_result(node, result, _LOG_SOFTMAX_RESULTS.get(result.type))
    node.resize(result, source.shape)


@kernel("PRELU", changed_in=("litert-2.0.2",))
def prepare_prelu(node: KernelNode) -> None:
    """``kernels/activations.cc: PreluPrepare``. Newer releases do not check the type of alpha."""
    source, alpha, result = node.operands(2)
    if not node.since("litert-2.0.2"):
        node.ensure(source.type == alpha.type, "input and alpha have different types")
    result.type = source.type
    shape = broadcast_shape(source.shape, alpha.shape)
    node.resize(result, shape)
    node.ensure(shape == source.shape, "alpha cannot be broadcast to the shape of the input")


@kernel("L2_NORMALIZATION", changed_in=("litert-2.1.6",))
def prepare_l2_normalization(node: KernelNode) -> None:
    """``kernels/l2norm.cc: Prepare``."""
    source, result = node.operands(1)
    if node.since("litert-2.1.6"):
        node.ensure(source.rank >= 1, "the input is a scalar")
    else:
        node.ensure(source.rank <= 4, "the input has more than 4 dimensions")
    node.ensure_type(result, ("FLOAT32", "UINT8", "INT8"))
    node.ensure(source.type == result.type, "input and output have different types")
    _check_result(node, result, _L2_NORMALIZATION_RESULTS.get(result.type))
    node.ensure(fused_activation(node) == "NONE", "there is a fused activation")
    node.resize(result, source.shape)


@kernel("LOCAL_RESPONSE_NORMALIZATION")
def prepare_local_response_normalization(node: KernelNode) -> None:
    """``kernels/local_response_norm.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure(source.rank == 4, "the input does not have 4 dimensions")
    node.ensure_type(result, "FLOAT32")
    node.ensure(source.type == result.type, "input and output have different types")
    node.resize(result, source.shape)


_BUCKETIZE_TYPES = ("INT32", "FLOAT32", "INT64", "FLOAT64")
_QUANTIZE_TYPES = {
    "FLOAT32": ("UINT8", "INT8", "INT16"),
    "INT32": ("INT8", "INT16"),
    "INT16": ("INT8", "INT16", "INT32"),
    "INT8": ("UINT8", "INT8"),
    "UINT8": ("UINT8", "INT8"),
}
"""The output types that QUANTIZE supports in every release, by input type."""
_LATER_QUANTIZE_TYPES = {
    "FLOAT32": {"litert-2.1.0": ("INT4",), "litert-2.1.2": ("UINT4",)},
    "INT8": {"litert-2.1.3": ("INT16",)},
    "UINT8": {"litert-2.1.3": ("INT16",)},
}
"""The output types that QUANTIZE supports since a release, by input type."""
_LATER_DEQUANTIZE_TYPES = {"tf-2.18": ("INT4",), "litert-2.1.0": ("INT2",), "litert-2.1.3": ("UINT4",)}


@kernel("CAST")
def prepare_cast(node: KernelNode) -> None:
    """``kernels/cast.cc: Prepare``. The result keeps its type from the model file. The type in the options is ignored."""
    source, result = node.operands(1)
    node.resize(result, source.shape)


@kernel("BITCAST")
def prepare_bitcast(node: KernelNode) -> None:
    """``kernels/bitcast.cc: Prepare, CalculateShape``.

    If the result's elements are smaller than the input's elements, the result has one more dimension than the input.
    """
    source, result = node.operands(1)
    source_size, result_size = _unpacked_size(node, source), _unpacked_size(node, result)
    if source_size > result_size:
        node.resize(result, (*source.shape, source_size // result_size))
    elif source_size < result_size:
        is_whole = source.shape[-1:] == (result_size // source_size,)
        node.ensure(is_whole, "the last dimension of the input does not have the size of one output element")
        node.resize(result, source.shape[:-1])
    else:
        node.resize(result, source.shape)


def _unpacked_size(node: KernelNode, tensor: KernelTensor) -> int:
    bits = schema.BITS_PER_ELEMENT.get(tensor.type)
    if bits is None:
        node.fail(f"elements of type {tensor.type} have no size")
    return (bits + 7) // 8


@kernel("QUANTIZE", changed_in=("litert-2.1.0", "litert-2.1.2", "litert-2.1.3"))
def prepare_quantize(node: KernelNode) -> None:
    """``kernels/quantize.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure(affine_quantization(result) is not None, "the output has no affine quantization")
    node.ensure_type(source, _QUANTIZE_TYPES)
    node.ensure_type(result, _QUANTIZE_TYPES[source.type], _LATER_QUANTIZE_TYPES.get(source.type, {}))
    if source.type == result.type == "INT16":
        check_symmetric(node, source, result)
    node.resize(result, source.shape)


@kernel("DEQUANTIZE", changed_in=_LATER_DEQUANTIZE_TYPES)
def prepare_dequantize(node: KernelNode) -> None:
    """``kernels/dequantize.cc: Prepare``. If the operand is constant, the result is kept between invocations."""
    source, result = node.operands(1)
    node.ensure_type(source, ("UINT8", "INT8", "INT16", "FLOAT16"), _LATER_DEQUANTIZE_TYPES)
    check_int16(node, source)
    result.type = "FLOAT32"
    if source.is_constant:
        result.allocation = Allocation.VARIABLE
    node.resize(result, source.shape)


@kernel("FAKE_QUANT")
def prepare_fake_quant(node: KernelNode) -> None:
    """``kernels/fake_quant.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure(not node.options.narrow_range, "narrow_range is supported only for weights")
    node.make_like(result, source)


@kernel("BUCKETIZE")
def prepare_bucketize(node: KernelNode) -> None:
    """``kernels/bucketize.cc: Prepare``."""
    source, result = node.operands(1)
    boundaries = node.options.boundaries
    is_sorted = not any(later < earlier for earlier, later in itertools.pairwise(boundaries))
    node.ensure(is_sorted, "the boundaries are not in order")
    node.ensure_type(source, _BUCKETIZE_TYPES)
    result.type = "INT32"
    node.resize(result, source.shape)


@kernel("DENSIFY")
def prepare_densify(node: KernelNode) -> None:
    """``kernels/densify.cc: Prepare``. The result is kept between invocations."""
    source, result = node.operands(1)
    node.ensure(source.type != "STRING", "strings cannot be sparse")
    node.ensure(source.is_constant, "the input is not constant")
    node.ensure(source.source.sparsity is not None, "the input is not sparse")
    result.type = source.type
    result.allocation = Allocation.VARIABLE
    node.resize(result, source.shape)

"""Functions of Compute Library for convolutions, pooling, resizing, normalization, matrix products and LSTMs."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE
from ..demands import INPUT, OUTPUT, SECOND, WEIGHTS
from ..steps import Call, Demand
from ..tensors import PER_CHANNEL, Info
from .checks import (
    BOOL,
    EIGHT_BITS,
    FLOAT16,
    FLOAT32,
    FLOATS_AND_EIGHT_BITS,
    INT8,
    INT32,
    UINT8,
    Place,
    known,
    no_half,
    refused,
    same_type,
    shaped,
    typed,
)

_Demands = tuple[Demand[Call], ...]

_GEMM_CONVOLUTION, _GEMM = "cpu/operators/CpuGemmConv2d.cpp", "cpu/operators/CpuGemm.cpp"
_FOLD = "fold the DEQUANTIZE of weights into constants, add CpuRef to the backends, or convert without float16 weights"


def _computed_bias(workload: str) -> Demand[Call]:
    def find(call: Call) -> str | None:
        return "bias is not constant" if call.bias is not None and not call.bias.is_constant and _has_bias(call) else None

    return refused(CONSTANT, "a constant bias", find, f"ArmNN {workload} does not support non constant bias.", _FOLD)


def _has_bias(call: Call) -> bool:
    return call.bias is not None


def _computed_weights(call: Call) -> str | None:
    return None if call.weights is None or call.weights.is_constant else "weights are not constant"


def _channels(call: Call) -> str | None:
    assert call.weights is not None
    source, filters = call.input.known_shape[-1], call.weights.known_shape[-1]
    is_right = source == filters or _is_winograd(call)
    return None if is_right else f"weights for {filters} channels, and an input of {source}"


_WINOGRAD = frozenset({(3, 3), (5, 5), (1, 3), (3, 1), (1, 5), (5, 1), (1, 7), (7, 1)})
"""The windows (height and width) of Winograd's function, which does not compare the channels."""


def _is_winograd(call: Call) -> bool:
    """Return whether Winograd's function is chosen (``CpuConv2d::get_convolution_method``)."""
    assert call.weights is not None
    steps = [call.values[f"{name}_{side}"] for name in ("stride", "dilation") for side in ("h", "w")]
    is_float = {info.type for info in (call.input, call.weights, call.bias) if info is not None} == {FLOAT32}
    return is_float and set(steps) == {1} and call.input.size(3) >= 16 and call.weights.known_shape[1:3] in _WINOGRAD


def _biased(place: Place, other: Place) -> Demand[Call]:
    """Demand a bias of type INT32 for quantized inputs, and of the input's type otherwise."""

    def wanted(call: Call) -> str:
        return INT32 if call.input.type in EIGHT_BITS else call.input.type

    def find(call: Call) -> str | None:
        is_right = call.bias is None or call.bias.type == wanted(call)
        return None if is_right else f"{call.input.type} input and bias of type {call.bias.type if call.bias else ''}"

    def said(call: Call) -> str:
        if call.input.type in EIGHT_BITS:
            return place.says("ITensor data type not supported by this kernel")
        return other.says("Tensors have different data types")

    return Demand(HYBRID, "a bias of type INT32 for 8-bit inputs, and of the input's type otherwise", find, said)


def _mixed_weights(call: Call) -> str | None:
    assert call.weights is not None
    allowed = (UINT8, INT8, PER_CHANNEL) if call.input.type in EIGHT_BITS else (call.input.type,)
    return None if call.weights.type in allowed else f"{call.input.type} input and {call.weights.type} weights"


_MIXED = refused(
    HYBRID,
    "weights of the input's type, or 8-bit weights for 8-bit inputs",
    _mixed_weights,
    Place(_GEMM, 257, "validate").says("Tensors have different data types"),
    "quantize activations too (full int8), or keep float weights",
)
_CONVOLUTION = known(
    _computed_bias("NeonConvolution2dWorkload"),
    refused(
        CONSTANT,
        "constant weights",
        _computed_weights,
        Place("runtime/NEON/functions/NEConvolutionLayer.cpp", 136, "validate").says("Dynamic weights are not supported"),
        _FOLD,
    ),
    typed(INPUT, (UINT8, INT8, FLOAT16, FLOAT32), Place(_GEMM_CONVOLUTION, 670, "validate")),
    typed(WEIGHTS, (UINT8, INT8, PER_CHANNEL, FLOAT16, FLOAT32), Place(_GEMM_CONVOLUTION, 672, "validate")),
    refused(
        SHAPE,
        "weights for all channels of the input (no groups)",
        _channels,
        Place(_GEMM_CONVOLUTION, 717, "validate").says("weights->dimension(idx_channel) != src->dimension(idx_channel)"),
        "split the grouped convolution into several convolutions",
    ),
    _biased(Place(_GEMM_CONVOLUTION, 725, "validate"), Place(_GEMM_CONVOLUTION, 733, "validate")),
    no_half(Place("cpu/kernels/CpuIm2ColKernel.cpp", 257)),
    _MIXED,
)

_DEPTHWISE = "cpu/kernels/CpuDepthwiseConv2dNativeKernel.cpp"


def _multiplier(call: Call) -> str | None:
    assert call.weights is not None
    source, filters = call.input.known_shape[-1], call.weights.known_shape[-1]
    return None if filters >= source and filters % source == 0 else f"{filters} filters for {source} channels"


def _channel_scales(call: Call) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type != PER_CHANNEL or call.weights.scales == call.weights.known_shape[-1]
    return None if is_right else f"{call.weights.scales} scales for {call.weights.known_shape[-1]} channels"


def _float_by_channel(call: Call) -> str | None:
    assert call.weights is not None
    is_mixed = call.weights.type == PER_CHANNEL and call.input.type not in EIGHT_BITS
    return f"{call.input.type} input and {PER_CHANNEL} weights" if is_mixed else None


def _depthwise_mixed(call: Call) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type in (PER_CHANNEL, call.input.type)
    return None if is_right else f"{call.input.type} input and {call.weights.type} weights"


_FULL = "quantize activations too (full int8), or keep float weights"
_SCALES_DIFFER = "weights->dimension(0) != weights->quantization_info().scale().size()"
_DEPTHWISE_DEMANDS = known(
    _computed_bias("NeonDepthwiseConvolutionWorkload"),
    no_half(Place(_DEPTHWISE, 77)),
    typed(INPUT, FLOATS_AND_EIGHT_BITS, Place(_DEPTHWISE, 79)),
    refused(
        SHAPE,
        "filters that are a multiple of the input's channels",
        _multiplier,
        Place(_DEPTHWISE, 86).says("(src->dimension(0) * info.depth_multiplier) != weights->dimension(0)"),
    ),
    refused(QUANTIZATION, "a scale for each filter", _channel_scales, Place(_DEPTHWISE, 94).says(_SCALES_DIFFER)),
    refused(
        HYBRID,
        "8-bit inputs for INT8 weights with a scale for each channel",
        _float_by_channel,
        Place(_DEPTHWISE, 95).says("ITensor data type F32 not supported by this kernel"),
        _FULL,
    ),
    refused(
        HYBRID,
        "weights of the input's type, or INT8 weights with a scale for each channel",
        _depthwise_mixed,
        Place(_DEPTHWISE, 99).says("Tensors have different data types"),
        _FULL,
    ),
    _biased(Place(_DEPTHWISE, 109), Place(_DEPTHWISE, 113)),
    same_type(INPUT, OUTPUT, Place(_DEPTHWISE, 122)),
)

_DECONVOLUTION = "runtime/NEON/functions/NEDeconvolutionLayer.cpp"


def _deconvolved_mixed(call: Call) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type == call.input.type or (call.weights.type == PER_CHANNEL and call.input.type in EIGHT_BITS)
    return None if is_right else f"{call.input.type} input and {call.weights.type} weights"


def _deconvolved(call: Call) -> tuple[int, ...]:
    assert call.weights is not None
    values = call.values
    sides = [
        (call.input.size(at) - 1) * values[f"stride_{side}"] + call.weights.size(at) - sum(values[f"padding_{side}"])
        for side, at in (("h", 1), ("w", 2))
    ]
    return call.input.size(0), *sides, call.weights.size(0)


_TRANSPOSED = known(
    typed(INPUT, (FLOAT32, FLOAT16, UINT8, INT8), Place(_DECONVOLUTION, 95, "validate")),
    refused(
        HYBRID,
        "weights of the input's type, or INT8 weights with a scale for each channel",
        _deconvolved_mixed,
        Place(_DECONVOLUTION, 109, "validate").says("Tensors have different data types"),
        _FULL,
    ),
    same_type(INPUT, OUTPUT, Place(_DECONVOLUTION, 140, "validate")),
    shaped(_deconvolved, Place(_DECONVOLUTION, 146, "validate"), "Output's height is invalid."),
    no_half(Place("cpu/kernels/CpuIm2ColKernel.cpp", 257)),
)

_CONVOLUTION_3D = "cpu/kernels/CpuDirectConv3dKernel.cpp"


def _dilated(call: Call) -> str | None:
    sizes = [call.values[f"dilation_{side}"] for side in ("d", "h", "w")]
    return None if sizes == [1, 1, 1] else f"dilation {' x '.join(map(str, sizes))}"


_FULLY = "cpu/operators/CpuFullyConnected.cpp"


def _columns(call: Call) -> str | None:
    assert call.weights is not None
    source, rows = call.input.known_shape[-1], call.weights.size(1)
    return None if source == rows else f"input rows of {source} and weights of {rows}"


def _batches(call: Call) -> str | None:
    one, two = (info.size(0) if info.rank > 1 else 1 for info in (call.input, call.output))
    return None if one == two else f"{one} rows of input and {two} rows of output"


_MATRIX = "cpu/operators/CpuMatMul.cpp"


def _product(call: Call) -> str | None:
    first, second = call.inputs
    columns = first.size(first.rank - 2 if call.values["transpose_x"] else first.rank - 1)
    rows = second.size(second.rank - 1 if call.values["transpose_y"] else second.rank - 2)
    return None if columns == rows else f"{columns} columns and {rows} rows"


def _other_batches(call: Call) -> str | None:
    shapes = [info.known_shape[:-2] for info in call.inputs]
    rank = max(map(len, shapes))
    one, two = ((1,) * (rank - len(shape)) + shape for shape in shapes)
    return None if one == two else f"batches of shape {list(shapes[0])} and {list(shapes[1])}"


_POOLING = "cpu/kernels/CpuPool2dKernel.cpp"


def _empty_window(call: Call) -> str | None:
    height, width = call.values["window_h"], call.values["window_w"]
    return None if min(height, width) > 0 else f"a window of {height} x {width}"


def _quantized_l2(call: Call) -> str | None:
    is_refused = call.values["kind"] == "L2_POOL_2D" and call.input.is_quantized
    return f"L2_POOL_2D of {call.input.type}" if is_refused else None


_SCALE = "cpu/kernels/CpuScaleKernel.cpp"


def _unscaled(call: Call) -> str | None:
    return None if call.input.type in (FLOAT32, UINT8, INT8, BOOL) else f"input 0 is {call.input.type}"


def _aligned_centers(call: Call) -> str | None:
    both = call.values["align_corners"] and call.values["half_pixel_centers"]
    return "align_corners with half_pixel_centers" if both else None


_NORMALIZATION = "core/NEON/kernels/NENormalizationLayerKernel.cpp"
_L2, _REDUCTION = "core/NEON/kernels/NEL2NormalizeLayerKernel.cpp", "core/NEON/kernels/NEReductionOperationKernel.cpp"


def _lstm_types(call: Call) -> str | None:
    infos = {name: info for name, info in call.values.items() if isinstance(info, Info)}
    return next((f"{name} is {info.type}" for name, info in infos.items() if info.type != call.input.type), None)


def _lstm(said: str) -> _Demands:
    types = f"the type of input in all tensors, and {FLOAT32}"

    def find(call: Call) -> str | None:
        return f"input is {call.input.type}" if call.input.type != FLOAT32 else _lstm_types(call)

    return known(refused(HYBRID, types, find, said, "convert the layer with FLOAT32 weights and states"))


_LSTM = Place("runtime/NEON/functions/NELSTMLayer.cpp", 512, "validate").says("Tensors have different data types")


def _sequence_rank(call: Call) -> str | None:
    return None if call.input.rank == 3 else f"input of rank {call.input.rank}"


def _sequence_lstm() -> _Demands:
    """Return the demands of sequences: the float function, or the quantized function for INT8 with an INT16 cell state."""
    said = "Unidirectional Sequence LSTM layer validate status failed."

    def is_quantized(call: Call) -> bool:
        values = call.values
        eight = {call.input.type, values["outputStateIn"].type, values["outputStateOut"].type, call.output.type}
        return eight == {INT8} and {values["cellStateIn"].type, values["cellStateOut"].type} == {"INT16"}

    def find(call: Call) -> str | None:
        if is_quantized(call):
            batch, time, _ = call.input.known_shape
            is_permuted = call.values["time_major"] or batch == time
            return None if is_permuted else f"quantized input of {batch} batches and {time} steps"
        return f"input is {call.input.type}" if call.input.type != FLOAT32 else _lstm_types(call)

    return known(
        refused(RANK, "input of rank 3", _sequence_rank, said),
        refused(
            HYBRID,
            "FLOAT32 in all tensors, or INT8 with an INT16 cell state and the time as the first dimension",
            find,
            said,
            "convert with FLOAT32 weights",
        ),
    )


LAYERS: Mapping[str, _Demands] = {
    "convolution": _CONVOLUTION,
    "depthwise": _DEPTHWISE_DEMANDS,
    "transpose_convolution": _TRANSPOSED,
    "convolution_3d": known(
        no_half(Place(_CONVOLUTION_3D, 72)),
        typed(INPUT, FLOATS_AND_EIGHT_BITS, Place(_CONVOLUTION_3D, 73)),
        same_type(INPUT, WEIGHTS, Place(_CONVOLUTION_3D, 75)),
        refused(
            ATTRIBUTE,
            "no dilation",
            _dilated,
            Place(_CONVOLUTION_3D, 76).says("conv_info.dilation != Size3D(1U, 1U, 1U)"),
            "use a larger filter instead of dilation",
        ),
        _biased(Place(_CONVOLUTION_3D, 94), Place(_CONVOLUTION_3D, 98)),
    ),
    "fully_connected": known(
        typed(INPUT, FLOATS_AND_EIGHT_BITS, Place(_FULLY, 385, "validate")),
        same_type(INPUT, WEIGHTS, Place(_FULLY, 396, "validate")),
        same_type(INPUT, OUTPUT, Place(_FULLY, 396, "validate")),
        _biased(Place(_FULLY, 434, "validate"), Place(_FULLY, 438, "validate")),
        refused(
            SHAPE,
            "input rows as long as the rows of weights",
            _columns,
            Place(_FULLY, 481, "validate").says("src->dimension(0) != weights_to_use->dimension(1)"),
        ),
        no_half(Place(_GEMM, 246, "validate")),
        refused(
            SHAPE,
            "as many rows of output as of input",
            _batches,
            Place(_GEMM, 321, "validate").says("a->dimension(1) != d->dimension(1)"),
        ),
    ),
    "batch_mat_mul": known(
        same_type(INPUT, SECOND, Place(_MATRIX, 104, "validate")),
        same_type(INPUT, OUTPUT, Place(_MATRIX, 104, "validate")),
        typed(INPUT, (FLOAT32, FLOAT16, UINT8, INT8), Place(_MATRIX, 105, "validate")),
        no_half(Place(_MATRIX, 109, "validate")),
        refused(
            SHAPE,
            "as many columns of the first input as rows of the second",
            _product,
            Place(_MATRIX, 143, "validate").says(
                "The product AB is defined only if the number of columns in A is equal to the number of rows in B (after "
                "transpose)"
            ),
        ),
        refused(
            SHAPE,
            "equal batches of both inputs",
            _other_batches,
            Place(_MATRIX, 150, "validate").says("Broadcasting in Batch dimension is unsupported by this operator."),
            "give both inputs the same batch dimensions",
        ),
    ),
    "pooling": known(
        refused(ATTRIBUTE, "a window larger than 0", _empty_window, Place(_POOLING, 158).says("pool_size.x() == 0")),
        no_half(Place(_POOLING, 184)),
        typed(INPUT, FLOATS_AND_EIGHT_BITS, Place(_POOLING, 192)),
        refused(
            TENSOR_TYPE,
            "FLOAT32 for L2_POOL_2D",
            _quantized_l2,
            Place(_POOLING, 194).says("pool_type == PoolingType::L2 && is_data_type_quantized(src->data_type())"),
        ),
        same_type(INPUT, OUTPUT, Place(_POOLING, 203)),
    ),
    "pooling_3d": known(
        no_half(Place("cpu/kernels/CpuPool3dKernel.cpp", 61)),
        typed(INPUT, FLOATS_AND_EIGHT_BITS, Place("cpu/kernels/CpuPool3dKernel.cpp", 62)),
        same_type(INPUT, OUTPUT, Place("cpu/kernels/CpuPool3dKernel.cpp", 101)),
    ),
    "resize": known(
        refused(
            TENSOR_TYPE,
            "input 0 of type FLOAT32, UINT8, INT8 or BOOL",
            _unscaled,
            Place(_SCALE, 346).says("uk == nullptr || uk->ukernel == nullptr"),
            "add CpuRef to the backends, or convert with other types",
        ),
        same_type(INPUT, OUTPUT, Place(_SCALE, 348)),
        refused(
            ATTRIBUTE,
            "align_corners or half_pixel_centers, not both",
            _aligned_centers,
            Place(_SCALE, 384).says(
                "info.align_corners && !scale_utils::is_align_corners_allowed_sampling_policy(info.sampling_policy)"
            ),
        ),
    ),
    "l2_normalization": known(
        no_half(Place(_REDUCTION, 257)),
        typed(INPUT, (INT8, UINT8, INT32, FLOAT16, FLOAT32), Place(_REDUCTION, 261)),
        typed(INPUT, (FLOAT16, FLOAT32), Place(_L2, 118)),
        same_type(INPUT, OUTPUT, Place(_L2, 131)),
    ),
    "normalization": known(
        no_half(Place(_NORMALIZATION, 54)),
        typed(INPUT, (FLOAT16, FLOAT32), Place(_NORMALIZATION, 55)),
        same_type(INPUT, OUTPUT, Place(_NORMALIZATION, 64)),
    ),
    "lstm": _lstm(_LSTM),
    "sequence_lstm": _sequence_lstm(),
}
"""The demands of CpuAcc for each layer."""

"""Functions of Compute Library for convolutions, pooling, resizing, normalization, matrix products and LSTMs."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.kinds import ATTRIBUTE, CONSTANT, HYBRID, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE
from ..demands import INPUT, OUTPUT, SECOND, WEIGHTS
from ..steps import Need, Needs, Query
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
    CodeLine,
    known,
    no_half,
    of_types,
    refused,
    same_type,
    shaped,
)

_GEMM_CONVOLUTION, _GEMM = "cpu/operators/CpuGemmConv2d.cpp", "cpu/operators/CpuGemm.cpp"
_FOLD = "fold the DEQUANTIZE of weights into constants, add CpuRef to the backends, or convert without float16 weights"


def _computed_bias(workload: str) -> Need[Query]:
    def find(call: Query) -> str | None:
        return "bias is not constant" if call.bias is not None and not call.bias.is_constant and _has_bias(call) else None

    return refused(CONSTANT, "a constant bias", find, f"ArmNN {workload} does not support non constant bias.", _FOLD)


def _has_bias(call: Query) -> bool:
    return call.bias is not None


def _computed_weights(call: Query) -> str | None:
    return None if call.weights is None or call.weights.is_constant else "weights are not constant"


def _channels(call: Query) -> str | None:
    assert call.weights is not None
    source, filters = call.input.known_shape[-1], call.weights.known_shape[-1]
    is_right = source == filters or _is_winograd(call)
    return None if is_right else f"weights for {filters} channels, and an input of {source}"


_WINOGRAD = frozenset({(3, 3), (5, 5), (1, 3), (3, 1), (1, 5), (5, 1), (1, 7), (7, 1)})
"""The windows (height and width) of Winograd's function, which does not compare the channels."""


def _is_winograd(call: Query) -> bool:
    """Return whether Winograd's function is chosen (``CpuConv2d::get_convolution_method``)."""
    assert call.weights is not None
    steps = [call.values[f"{name}_{side}"] for name in ("stride", "dilation") for side in ("h", "w")]
    is_float = {info.type for info in (call.input, call.weights, call.bias) if info is not None} == {FLOAT32}
    return is_float and set(steps) == {1} and call.input.size(3) >= 16 and call.weights.known_shape[1:3] in _WINOGRAD


def _biased(place: CodeLine, other: CodeLine) -> Need[Query]:
    """Demand a bias of type INT32 for quantized inputs, and of the input's type otherwise."""

    def wanted(call: Query) -> str:
        return INT32 if call.input.type in EIGHT_BITS else call.input.type

    def find(call: Query) -> str | None:
        is_right = call.bias is None or call.bias.type == wanted(call)
        return None if is_right else f"{call.input.type} input and bias of type {call.bias.type if call.bias else ''}"

    def said(call: Query) -> str:
        if call.input.type in EIGHT_BITS:
            return place.says("ITensor data type not supported by this kernel")
        return other.says("Tensors have different data types")

    return Need(HYBRID, "a bias of type INT32 for 8-bit inputs, and of the input's type otherwise", find, said)


def _mixed_weights(call: Query) -> str | None:
    assert call.weights is not None
    allowed = (UINT8, INT8, PER_CHANNEL) if call.input.type in EIGHT_BITS else (call.input.type,)
    return None if call.weights.type in allowed else f"{call.input.type} input and {call.weights.type} weights"


_MIXED = refused(
    HYBRID,
    "weights of the input's type, or 8-bit weights for 8-bit inputs",
    _mixed_weights,
    CodeLine(_GEMM, 257, "validate").says("Tensors have different data types"),
    "quantize activations too (full int8), or keep float weights",
)
_CONVOLUTION = known(
    _computed_bias("NeonConvolution2dWorkload"),
    refused(
        CONSTANT,
        "constant weights",
        _computed_weights,
        CodeLine("runtime/NEON/functions/NEConvolutionLayer.cpp", 136, "validate").says("Dynamic weights are not supported"),
        _FOLD,
    ),
    of_types(INPUT, (UINT8, INT8, FLOAT16, FLOAT32), CodeLine(_GEMM_CONVOLUTION, 670, "validate")),
    of_types(WEIGHTS, (UINT8, INT8, PER_CHANNEL, FLOAT16, FLOAT32), CodeLine(_GEMM_CONVOLUTION, 672, "validate")),
    refused(
        SHAPE,
        "weights for all channels of the input (no groups)",
        _channels,
        CodeLine(_GEMM_CONVOLUTION, 717, "validate").says("weights->dimension(idx_channel) != src->dimension(idx_channel)"),
        "split the grouped convolution into several convolutions",
    ),
    _biased(CodeLine(_GEMM_CONVOLUTION, 725, "validate"), CodeLine(_GEMM_CONVOLUTION, 733, "validate")),
    no_half(CodeLine("cpu/kernels/CpuIm2ColKernel.cpp", 257)),
    _MIXED,
)

_DEPTHWISE = "cpu/kernels/CpuDepthwiseConv2dNativeKernel.cpp"


def _multiplier(call: Query) -> str | None:
    assert call.weights is not None
    source, filters = call.input.known_shape[-1], call.weights.known_shape[-1]
    return None if filters >= source and filters % source == 0 else f"{filters} filters for {source} channels"


def _channel_scales(call: Query) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type != PER_CHANNEL or call.weights.scales == call.weights.known_shape[-1]
    return None if is_right else f"{call.weights.scales} scales for {call.weights.known_shape[-1]} channels"


def _float_by_channel(call: Query) -> str | None:
    assert call.weights is not None
    is_mixed = call.weights.type == PER_CHANNEL and call.input.type not in EIGHT_BITS
    return f"{call.input.type} input and {PER_CHANNEL} weights" if is_mixed else None


def _depthwise_mixed(call: Query) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type in (PER_CHANNEL, call.input.type)
    return None if is_right else f"{call.input.type} input and {call.weights.type} weights"


_FULL = "quantize activations too (full int8), or keep float weights"
_SCALES_DIFFER = "weights->dimension(0) != weights->quantization_info().scale().size()"
_DEPTHWISE_DEMANDS = known(
    _computed_bias("NeonDepthwiseConvolutionWorkload"),
    no_half(CodeLine(_DEPTHWISE, 77)),
    of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_DEPTHWISE, 79)),
    refused(
        SHAPE,
        "filters that are a multiple of the input's channels",
        _multiplier,
        CodeLine(_DEPTHWISE, 86).says("(src->dimension(0) * info.depth_multiplier) != weights->dimension(0)"),
    ),
    refused(QUANTIZATION, "a scale for each filter", _channel_scales, CodeLine(_DEPTHWISE, 94).says(_SCALES_DIFFER)),
    refused(
        HYBRID,
        "8-bit inputs for INT8 weights with a scale for each channel",
        _float_by_channel,
        CodeLine(_DEPTHWISE, 95).says("ITensor data type F32 not supported by this kernel"),
        _FULL,
    ),
    refused(
        HYBRID,
        "weights of the input's type, or INT8 weights with a scale for each channel",
        _depthwise_mixed,
        CodeLine(_DEPTHWISE, 99).says("Tensors have different data types"),
        _FULL,
    ),
    _biased(CodeLine(_DEPTHWISE, 109), CodeLine(_DEPTHWISE, 113)),
    same_type(INPUT, OUTPUT, CodeLine(_DEPTHWISE, 122)),
)

_DECONVOLUTION = "runtime/NEON/functions/NEDeconvolutionLayer.cpp"


def _deconvolved_mixed(call: Query) -> str | None:
    assert call.weights is not None
    is_right = call.weights.type == call.input.type or (call.weights.type == PER_CHANNEL and call.input.type in EIGHT_BITS)
    return None if is_right else f"{call.input.type} input and {call.weights.type} weights"


def _deconvolved(call: Query) -> tuple[int, ...]:
    assert call.weights is not None
    values = call.values
    sides = [
        (call.input.size(at) - 1) * values[f"stride_{side}"] + call.weights.size(at) - sum(values[f"padding_{side}"])
        for side, at in (("h", 1), ("w", 2))
    ]
    return call.input.size(0), *sides, call.weights.size(0)


_TRANSPOSED = known(
    of_types(INPUT, (FLOAT32, FLOAT16, UINT8, INT8), CodeLine(_DECONVOLUTION, 95, "validate")),
    refused(
        HYBRID,
        "weights of the input's type, or INT8 weights with a scale for each channel",
        _deconvolved_mixed,
        CodeLine(_DECONVOLUTION, 109, "validate").says("Tensors have different data types"),
        _FULL,
    ),
    same_type(INPUT, OUTPUT, CodeLine(_DECONVOLUTION, 140, "validate")),
    shaped(_deconvolved, CodeLine(_DECONVOLUTION, 146, "validate"), "Output's height is invalid."),
    no_half(CodeLine("cpu/kernels/CpuIm2ColKernel.cpp", 257)),
)

_CONVOLUTION_3D = "cpu/kernels/CpuDirectConv3dKernel.cpp"


def _dilated(call: Query) -> str | None:
    sizes = [call.values[f"dilation_{side}"] for side in ("d", "h", "w")]
    return None if sizes == [1, 1, 1] else f"dilation {' x '.join(map(str, sizes))}"


_FULLY = "cpu/operators/CpuFullyConnected.cpp"


def _columns(call: Query) -> str | None:
    assert call.weights is not None
    source, rows = call.input.known_shape[-1], call.weights.size(1)
    return None if source == rows else f"input rows of {source} and weights of {rows}"


def _batches(call: Query) -> str | None:
    one, two = (info.size(0) if info.rank > 1 else 1 for info in (call.input, call.output))
    return None if one == two else f"{one} rows of input and {two} rows of output"


_MATRIX = "cpu/operators/CpuMatMul.cpp"


def _product(call: Query) -> str | None:
    first, second = call.inputs
    columns = first.size(first.rank - 2 if call.values["transpose_x"] else first.rank - 1)
    rows = second.size(second.rank - 1 if call.values["transpose_y"] else second.rank - 2)
    return None if columns == rows else f"{columns} columns and {rows} rows"


def _other_batches(call: Query) -> str | None:
    shapes = [info.known_shape[:-2] for info in call.inputs]
    rank = max(map(len, shapes))
    one, two = ((1,) * (rank - len(shape)) + shape for shape in shapes)
    return None if one == two else f"batches of shape {list(shapes[0])} and {list(shapes[1])}"


_POOLING = "cpu/kernels/CpuPool2dKernel.cpp"


def _empty_window(call: Query) -> str | None:
    height, width = call.values["window_h"], call.values["window_w"]
    return None if min(height, width) > 0 else f"a window of {height} x {width}"


def _quantized_l2(call: Query) -> str | None:
    is_refused = call.values["kind"] == "L2_POOL_2D" and call.input.is_quantized
    return f"L2_POOL_2D of {call.input.type}" if is_refused else None


_SCALE = "cpu/kernels/CpuScaleKernel.cpp"


def _unscaled(call: Query) -> str | None:
    return None if call.input.type in (FLOAT32, UINT8, INT8, BOOL) else f"input 0 is {call.input.type}"


def _aligned_centers(call: Query) -> str | None:
    both = call.values["align_corners"] and call.values["half_pixel_centers"]
    return "align_corners with half_pixel_centers" if both else None


_NORMALIZATION = "core/NEON/kernels/NENormalizationLayerKernel.cpp"
_L2, _REDUCTION = "core/NEON/kernels/NEL2NormalizeLayerKernel.cpp", "core/NEON/kernels/NEReductionOperationKernel.cpp"


def _lstm_types(call: Query) -> str | None:
    infos = {name: info for name, info in call.values.items() if isinstance(info, Info)}
    return next((f"{name} is {info.type}" for name, info in infos.items() if info.type != call.input.type), None)


def _lstm(said: str) -> Needs:
    types = f"the type of input in all tensors, and {FLOAT32}"

    def find(call: Query) -> str | None:
        return f"input is {call.input.type}" if call.input.type != FLOAT32 else _lstm_types(call)

    return known(refused(HYBRID, types, find, said, "convert the layer with FLOAT32 weights and states"))


_LSTM = CodeLine("runtime/NEON/functions/NELSTMLayer.cpp", 512, "validate").says("Tensors have different data types")


def _sequence_rank(call: Query) -> str | None:
    return None if call.input.rank == 3 else f"input of rank {call.input.rank}"


def _sequence_lstm() -> Needs:
    """Return the demands of sequences: the float function, or the quantized function for INT8 with an INT16 cell state."""
    said = "Unidirectional Sequence LSTM layer validate status failed."

    def is_quantized(call: Query) -> bool:
        values = call.values
        eight = {call.input.type, values["outputStateIn"].type, values["outputStateOut"].type, call.output.type}
        return eight == {INT8} and {values["cellStateIn"].type, values["cellStateOut"].type} == {"INT16"}

    def find(call: Query) -> str | None:
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


LAYERS: Mapping[str, Needs] = {
    "convolution": _CONVOLUTION,
    "depthwise": _DEPTHWISE_DEMANDS,
    "transpose_convolution": _TRANSPOSED,
    "convolution_3d": known(
        no_half(CodeLine(_CONVOLUTION_3D, 72)),
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_CONVOLUTION_3D, 73)),
        same_type(INPUT, WEIGHTS, CodeLine(_CONVOLUTION_3D, 75)),
        refused(
            ATTRIBUTE,
            "no dilation",
            _dilated,
            CodeLine(_CONVOLUTION_3D, 76).says("conv_info.dilation != Size3D(1U, 1U, 1U)"),
            "use a larger filter instead of dilation",
        ),
        _biased(CodeLine(_CONVOLUTION_3D, 94), CodeLine(_CONVOLUTION_3D, 98)),
    ),
    "fully_connected": known(
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_FULLY, 385, "validate")),
        same_type(INPUT, WEIGHTS, CodeLine(_FULLY, 396, "validate")),
        same_type(INPUT, OUTPUT, CodeLine(_FULLY, 396, "validate")),
        _biased(CodeLine(_FULLY, 434, "validate"), CodeLine(_FULLY, 438, "validate")),
        refused(
            SHAPE,
            "input rows as long as the rows of weights",
            _columns,
            CodeLine(_FULLY, 481, "validate").says("src->dimension(0) != weights_to_use->dimension(1)"),
        ),
        no_half(CodeLine(_GEMM, 246, "validate")),
        refused(
            SHAPE,
            "as many rows of output as of input",
            _batches,
            CodeLine(_GEMM, 321, "validate").says("a->dimension(1) != d->dimension(1)"),
        ),
    ),
    "batch_mat_mul": known(
        same_type(INPUT, SECOND, CodeLine(_MATRIX, 104, "validate")),
        same_type(INPUT, OUTPUT, CodeLine(_MATRIX, 104, "validate")),
        of_types(INPUT, (FLOAT32, FLOAT16, UINT8, INT8), CodeLine(_MATRIX, 105, "validate")),
        no_half(CodeLine(_MATRIX, 109, "validate")),
        refused(
            SHAPE,
            "as many columns of the first input as rows of the second",
            _product,
            CodeLine(_MATRIX, 143, "validate").says(
                "The product AB is defined only if the number of columns in A is equal to the number of rows in B (after "
                "transpose)"
            ),
        ),
        refused(
            SHAPE,
            "equal batches of both inputs",
            _other_batches,
            CodeLine(_MATRIX, 150, "validate").says("Broadcasting in Batch dimension is unsupported by this operator."),
            "give both inputs the same batch dimensions",
        ),
    ),
    "pooling": known(
        refused(ATTRIBUTE, "a window larger than 0", _empty_window, CodeLine(_POOLING, 158).says("pool_size.x() == 0")),
        no_half(CodeLine(_POOLING, 184)),
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_POOLING, 192)),
        refused(
            TENSOR_TYPE,
            "FLOAT32 for L2_POOL_2D",
            _quantized_l2,
            CodeLine(_POOLING, 194).says("pool_type == PoolingType::L2 && is_data_type_quantized(src->data_type())"),
        ),
        same_type(INPUT, OUTPUT, CodeLine(_POOLING, 203)),
    ),
    "pooling_3d": known(
        no_half(CodeLine("cpu/kernels/CpuPool3dKernel.cpp", 61)),
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine("cpu/kernels/CpuPool3dKernel.cpp", 62)),
        same_type(INPUT, OUTPUT, CodeLine("cpu/kernels/CpuPool3dKernel.cpp", 101)),
    ),
    "resize": known(
        refused(
            TENSOR_TYPE,
            "input 0 of type FLOAT32, UINT8, INT8 or BOOL",
            _unscaled,
            CodeLine(_SCALE, 346).says("uk == nullptr || uk->ukernel == nullptr"),
            "add CpuRef to the backends, or convert with other types",
        ),
        same_type(INPUT, OUTPUT, CodeLine(_SCALE, 348)),
        refused(
            ATTRIBUTE,
            "align_corners or half_pixel_centers, not both",
            _aligned_centers,
            CodeLine(_SCALE, 384).says(
                "info.align_corners && !scale_utils::is_align_corners_allowed_sampling_policy(info.sampling_policy)"
            ),
        ),
    ),
    "l2_normalization": known(
        no_half(CodeLine(_REDUCTION, 257)),
        of_types(INPUT, (INT8, UINT8, INT32, FLOAT16, FLOAT32), CodeLine(_REDUCTION, 261)),
        of_types(INPUT, (FLOAT16, FLOAT32), CodeLine(_L2, 118)),
        same_type(INPUT, OUTPUT, CodeLine(_L2, 131)),
    ),
    "normalization": known(
        no_half(CodeLine(_NORMALIZATION, 54)),
        of_types(INPUT, (FLOAT16, FLOAT32), CodeLine(_NORMALIZATION, 55)),
        same_type(INPUT, OUTPUT, CodeLine(_NORMALIZATION, 64)),
    ),
    "lstm": _lstm(_LSTM),
    "sequence_lstm": _sequence_lstm(),
}
"""The demands of CpuAcc for each layer."""

"""The backend CpuRef: reference code that runs on every processor, slowly.

Source: ``RefLayerSupport.cpp`` (``src/backends/reference``) and ``LayerSupportRules.hpp`` (``src/backends/backendsCommon``).
The backend reports all demands that a layer does not meet, one in each line. No demand is about strides, padding or sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...rules.kinds import QUANTIZATION, RANK
from .demands import BIAS, INPUT, OUTPUT, SECOND, WEIGHTS, QueryPart, broadcast, of_type, ranked, same_rank, same_size, same_type
from .steps import Backend, Need, Needs, Query
from .tensors import PER_CHANNEL, Info

_FLOATS = ("FLOAT32", "FLOAT16")
_NUMBERS = (*_FLOATS, "INT8", "UINT8", "INT16")
_WITH_INT32 = (*_NUMBERS, "INT32")
_WITH_PER_CHANNEL = (*_NUMBERS, PER_CHANNEL)
_EIGHT_BITS = ("INT8", "UINT8", PER_CHANNEL)
_INT8_WEIGHTS = "quantize activations too (full int8), or keep float weights"


def _unary(
    types: tuple[str, ...], name: str, first: str, second: str, third: str = "", *, results: tuple[str, ...] = ()
) -> Needs:
    """Return the demands of a layer with one operand. ``first``, ``second`` and ``third`` end the three reasons."""
    equal = (same_type(INPUT, OUTPUT, f"{name}{third}"),) if third else ()
    return of_type(INPUT, types, f"{name}{first}"), of_type(OUTPUT, results or types, f"{name}{second}"), *equal


_SUPPORTED = ("input type not supported", "output type not supported")
_SUPPORTED_TYPE = ("input is not a supported type.", "output is not a supported type.")


def _closed(*texts: str) -> tuple[str, ...]:
    return tuple([f"{text}." for text in texts])


def _weighted(name: str) -> Needs:
    """Return the demands of a convolution (``IsConvolution2dSupported`` and the others)."""

    def weights(call: Query) -> str | None:
        assert call.weights is not None
        allowed = _EIGHT_BITS if _has_eight_bits(call) else _WITH_PER_CHANNEL
        return None if call.weights.type in allowed else f"weights are {call.weights.type}"

    def mixed(call: Query) -> str | None:
        assert call.weights is not None
        is_same = _has_eight_bits(call) or call.weights.type == call.input.type
        return None if is_same else f"{call.input.type} input and {call.weights.type} weights"

    def said(call: Query) -> str:
        ending = (
            "weights type not supported for quantized input." if _has_eight_bits(call) else "weights is not a supported type."
        )
        return f"{name}: {ending}"

    types = of_type(WEIGHTS, _WITH_PER_CHANNEL)
    same = same_type(INPUT, WEIGHTS, f"{name}: input and weights types mismatched.", hint=_INT8_WEIGHTS)
    return (
        *_unary(_WITH_PER_CHANNEL, f"{name}: ", *_SUPPORTED_TYPE, "input and output types mismatched."),
        replace(types, find=weights, said=said),
        replace(same, find=mixed),
        of_type(BIAS, (*_FLOATS, "INT32"), f"{name}: biases is not a supported type."),
    )


def _has_eight_bits(call: Query) -> bool:
    return call.input.type in _EIGHT_BITS


def _joined(name: str, types: tuple[str, ...]) -> Needs:
    """Return the demands of a layer with any number of operands, whose reasons are repeated for each operand."""
    ends = ("input type not supported", "input and output types mismatched.")

    def reasons(call: Query) -> Iterator[str]:
        for info in call.inputs:
            yield from [ends[0]] * (info.type not in types)
            yield from [ends[1]] * (info.type != call.output.type)

    def find(call: Query) -> str | None:
        bad = {info.type for info in call.inputs if info.type not in types or info.type != call.output.type}
        return f"inputs of type {', '.join(sorted(bad))} and output of type {call.output.type}" if bad else None

    def said(call: Query) -> str:
        return "\n".join([f"{name}: {reason}" for reason in reasons(call)])

    every = of_type(QueryPart("every input", lambda call: call.input), types)
    return of_type(OUTPUT, types, f"{name}: output type not supported"), replace(every, find=find, said=said)


def _split() -> Needs:
    name, types = "Reference splitter", _NUMBERS

    def find(call: Query) -> str | None:
        results = {info.type for info in call.outputs}
        bad = call.input.type not in types or results != {call.input.type}
        return f"input of type {call.input.type} and outputs of type {', '.join(sorted(results))}" if bad else None

    def said(call: Query) -> str:
        is_known = call.input.type in types
        lines = [] if is_known else ["output type not supported"]
        for info in call.outputs:
            lines += [] if is_known else ["input type not supported"]
            lines += [] if info.type == call.input.type else ["input and output types mismatched."]
        return "\n".join([f"{name}: {line}" for line in lines])

    return (replace(of_type(INPUT, types), find=find, said=said),)


def _bias_type(weights: Info) -> str:
    """Return the type of a bias for weights (``GetBiasTypeFromWeightsType``)."""
    return weights.type if weights.type in _FLOATS else "INT32"


def _fully_connected() -> Needs:
    name, types = "Reference Fully Connected", _NUMBERS

    def other_bias(call: Query) -> str | None:
        if call.bias is None or call.weights is None or call.bias.type == _bias_type(call.weights):
            return None
        return f"bias is {call.bias.type} with {call.weights.type} weights"

    match = of_type(BIAS, ("FLOAT32", "FLOAT16", "INT32"))
    return (
        *_unary(types, f"{name}: ", *_closed(*_SUPPORTED)),
        of_type(WEIGHTS, types, f"{name}: weights type not supported.", hint="quantize weights with one scale per tensor"),
        same_type(INPUT, OUTPUT, f"{name}: input and output types mismatched."),
        replace(
            of_type(
                WEIGHTS, types, f"{name}: weights is not a supported type.", hint="quantize weights with one scale per tensor"
            ),
            needed="weights of one of these types too",
        ),
        same_type(INPUT, WEIGHTS, f"{name}: input and weights types mismatched.", hint=_INT8_WEIGHTS),
        of_type(BIAS, (*_FLOATS, "INT32", "INT8"), f"{name}: bias type not supported."),
        replace(
            match,
            needed="a bias of the type that belongs to the weights",
            find=other_bias,
            said=f"{name}: bias and weight types mismatch.",
        ),
        ranked(BIAS, range(1, 2), "1", f"{name}: bias must have 1 dimension."),
    )


def _dequantize() -> Needs:
    name = "Reference for Dequantize layer"

    def per_axis(call: Query) -> str | None:
        is_per_axis = call.input.is_quantized and call.input.is_per_axis
        return f"{call.input.scales} scales" if is_per_axis else None

    return (
        of_type(INPUT, (*_EIGHT_BITS, "INT16", "FLOAT16"), f"{name}: input type not supported."),
        Need(
            QUANTIZATION,
            "input with one scale",
            per_axis,
            f"{name}: per-axis quantized input not supported.",
            "quantize weights with one scale per tensor, or store them as FLOAT16",
        ),
        of_type(OUTPUT, _FLOATS, f"{name}: output type not supported."),
        same_size(INPUT, OUTPUT, f"{name}: input/output shapes have different num total elements."),
    )


def _mean() -> Needs:
    def wanted(call: Query) -> int:
        if call.values["keep_dims"]:
            return call.input.rank
        return max(call.input.rank - len(call.values["axes"]), 1) if call.values["axes"] else 1

    def rank(call: Query) -> str | None:
        return None if call.output.rank == wanted(call) else f"output of rank {call.output.rank}"

    def said(call: Query) -> str:
        end = "dimensions instead, for the 'output' tensor."
        return f"Reference Mean: Expected {wanted(call)} dimensions but got {call.output.rank} {end}"

    return (
        of_type(INPUT, _NUMBERS, "Reference Mean: input type not supported."),
        same_type(INPUT, OUTPUT, "Reference Mean: input and output types are mismatched"),
        Need(RANK, "output with the rank of input less the axes", rank, said),
    )


def _elementwise(types: tuple[str, ...]) -> Needs:
    name = "Reference elementwise unary"
    demands = _unary(types, f"{name}: ", *_SUPPORTED, "input and output types not matching")
    return *demands, same_size(INPUT, OUTPUT, f"{name}: input and output shapeshave different number of total elements")


def _binary() -> Needs:
    name = "Reference elementwise unary: "
    return (
        of_type(INPUT, _WITH_INT32, f"{name}input type not supported"),
        of_type(SECOND, _WITH_INT32, f"{name}input type not supported"),
        of_type(OUTPUT, _WITH_INT32, f"{name}output type not supported"),
        same_type(INPUT, SECOND, f"{name}input types not matching"),
        same_type(INPUT, OUTPUT, f"{name}input and output types not matching"),
    )


def _gather(name: str) -> Needs:
    return (
        *_unary(_WITH_INT32, f"{name}: ", *_SUPPORTED),
        of_type(SECOND, ("INT32",), f"{name}: indices (input1) type not supported", hint="convert with INT32 indices"),
        same_type(INPUT, OUTPUT, f"{name}: input and output types not matching"),
    )


def _sizes_differ(name: str) -> Need[Query]:
    return same_size(INPUT, OUTPUT, f"{name}: input and output shapes have different num total elements.")


_LSTM_PARTS = [
    "outputStateIn",
    "cellStateIn",
    "scratchBuffer",
    "outputStateOut",
    "cellStateOut",
    "output",
    "InputToForgetWeights",
    "InputToCellWeights",
    "InputToOutputWeights",
    "RecurrentToForgetWeights",
    "RecurrentToCellWeights",
    "RecurrentToOutputWeights",
    "ForgetGateBias",
    "CellBias",
    "OutputGateBias",
    "InputToInputWeights",
    "RecurrentToInputWeights",
    "InputGateBias",
    "CellToInputWeights",
    "CellToForgetWeights",
    "CellToOutputWeights",
    "ProjectionWeights",
    "ProjectionBias",
    "InputLayerNormWeights",
    "ForgetLayerNormWeights",
    "CellLayerNormWeights",
    "OutputLayerNormWeights",
]


def _of_lstm(name: str) -> QueryPart:
    return QueryPart(name, lambda call: call.values.get(name))


def _lstm() -> Needs:
    name = "Reference Lstm: input"
    shown = {"ProjectionWeights": "mProjectionWeights"}
    same = [same_type(INPUT, _of_lstm(part), f"{name} and {shown.get(part, part)} types are mismatched") for part in _LSTM_PARTS]
    # The list of types has an empty place, which stands for FLOAT16.
    return of_type(INPUT, (*_FLOATS, "INT16"), f"{name} is not a supported type."), *same


def _sequence_lstm() -> Needs:
    name, types = "Reference UnidirectionalSequenceLstm: ", ("FLOAT32", "INT8")

    def demand(part: str) -> Need[Query]:
        if part == "ProjectionBias":
            return same_type(INPUT, _of_lstm(part), f"{name}input and ProjectionBias types are mismatched")
        allowed = (*types, "INT32") if part.endswith("Bias") else types
        return of_type(_of_lstm(part), allowed, f"{name}{part} is not a supported type.")

    return *_unary(types, name, *_SUPPORTED_TYPE), *map(demand, _LSTM_PARTS[6:])


_MISMATCHED = "input and output types mismatched"
_ARE_MISMATCHED = "input and output types are mismatched"
_NOT_MATCHING = "input and output types not matching"


def _prelu_types(call: Query) -> str | None:
    types = [info.type for info in (*call.inputs, call.output)]
    return None if len(set(types)) == 1 else f"types {', '.join(types)}"


LAYERS: Mapping[str, Needs] = {
    "activation": (
        *_unary(_NUMBERS, "Reference activation: ", *_closed(*_SUPPORTED, _MISMATCHED)),
        same_rank(INPUT, OUTPUT, "Reference activation: input and output shapes are of different rank."),
    ),
    "arg_min_max": _unary(
        (*_WITH_INT32, "INT64"), "Reference ArgMinMax: ", _SUPPORTED_TYPE[0], _SUPPORTED[1], results=("INT32", "INT64")
    ),
    "batch_mat_mul": (
        of_type(INPUT, _NUMBERS, "Reference batch matrix multiplication: input X is not a supported type"),
        of_type(SECOND, _NUMBERS, "Reference batch matrix multiplication: input Y is not a supported type"),
        of_type(OUTPUT, _NUMBERS, "Reference batch matrix multiplication: output is not a supported type"),
        same_type(INPUT, SECOND, "Reference batch matrix multiplication: input X and input Y types are mismatched"),
        same_type(INPUT, OUTPUT, "Reference batch matrix multiplication: inputs and output types are mismatched"),
        ranked(INPUT, range(2, 6), "2 or more", "Reference batch matrix multiplication: input X is not of rank 2 or greater"),
        ranked(SECOND, range(2, 6), "2 or more", "Reference batch matrix multiplication: input Y is not of rank 2 or greater"),
    ),
    "batch_to_space": _unary(_NUMBERS, "Reference BatchToSpaceNd: ", *_closed(*_SUPPORTED, _MISMATCHED)),
    "cast": (
        *_unary(
            (*_WITH_PER_CHANNEL, "INT32"), "Reference cast: ", "input is not a supported type", "output is not a supported type"
        ),
        same_size(INPUT, OUTPUT, "Reference cast: input and output shapes have different number of total elements"),
    ),
    "comparison": (
        of_type(INPUT, ("BOOL", *_WITH_INT32), "Reference comparison: input 0 is not a supported type"),
        same_type(INPUT, SECOND, "Reference comparison: input 0 and Input 1 types are mismatched"),
        of_type(OUTPUT, ("BOOL",), "Reference comparison: output is not of type Boolean"),
    ),
    "concat": _joined("Reference concatenation", _WITH_INT32),
    "constant": (of_type(OUTPUT, (*_WITH_PER_CHANNEL, "INT32"), "Reference constant: output is not a supported type."),),
    "convolution": _weighted("Reference Convolution2d"),
    "convolution_3d": _weighted("Reference Convolution3d"),
    "depthwise": _weighted("Reference DepthwiseConvolution2d"),
    "transpose_convolution": _weighted("Reference TransposeConvolution2d"),
    "depth_to_space": _unary(_NUMBERS, "Reference DepthToSpace: ", *_SUPPORTED, _ARE_MISMATCHED),
    "dequantize": _dequantize(),
    "logical_not": _elementwise(("BOOL",)),
    "fill": (
        of_type(INPUT, ("INT32",), "Reference Fill: input type not supported.", hint="convert with INT32 dimensions"),
        of_type(OUTPUT, (*_FLOATS, "INT32"), "Reference Fill: output type not supported."),
    ),
    "floor": _unary(_FLOATS, "Reference Floor: ", *_closed(*_SUPPORTED)),
    "fully_connected": _fully_connected(),
    "gather": _gather("Reference Gather"),
    "gather_nd": _gather("Reference GatherNd"),
    "l2_normalization": (
        *_unary(_NUMBERS, "Reference L2normalization: ", *_closed(*_SUPPORTED, _MISMATCHED)),
        _sizes_differ("Reference L2normalization"),
    ),
    **dict.fromkeys(
        ("logical_and", "logical_or"),
        (
            of_type(INPUT, ("BOOL",), "Reference LogicalBinary: input 0 type not supported"),
            of_type(SECOND, ("BOOL",), "Reference LogicalBinary: input 1 type not supported"),
            same_type(INPUT, OUTPUT, "Reference LogicalBinary: input and output types do not match"),
        ),
    ),
    "log_softmax": _unary(_FLOATS, "Reference LogSoftmax: ", *_SUPPORTED, "input and output types do not match"),
    "lstm": _lstm(),
    "mean": _mean(),
    "normalization": (
        *_unary(_NUMBERS, "Reference normalization: ", *_closed(*_SUPPORTED)),
        _sizes_differ("Reference normalization"),
    ),
    "pad": _unary(_NUMBERS, "Reference pad: ", *_SUPPORTED_TYPE, f"{_ARE_MISMATCHED}."),
    "pooling": _unary(_NUMBERS, "Reference poolind2d: ", *_SUPPORTED_TYPE, f"{_ARE_MISMATCHED}."),
    "pooling_3d": _unary(_NUMBERS, "Reference poolind3d: ", *_SUPPORTED_TYPE, f"{_ARE_MISMATCHED}."),
    "quantize": (
        *_unary(_WITH_PER_CHANNEL, "Reference quantize: ", *_closed(*_SUPPORTED), results=(*_EIGHT_BITS, "INT16")),
        _sizes_differ("Reference quantize"),
    ),
    "reduce": _unary(_WITH_INT32, "Reference Reduce: ", *_SUPPORTED, _NOT_MATCHING),
    "reshape": (of_type(INPUT, (*_WITH_INT32, "BOOL"), "Reference reshape: input type not supported."),),
    "resize": _unary(_NUMBERS, "Reference Resize: ", *_SUPPORTED, _NOT_MATCHING),
    "reverse": (
        of_type(INPUT, (*_WITH_PER_CHANNEL, "INT32"), "Reference ReverseV2: input0 type not supported"),
        of_type(OUTPUT, (*_WITH_PER_CHANNEL, "INT32"), "Reference ReverseV2: output type not supported"),
        same_type(INPUT, OUTPUT, "Reference ReverseV2: input0 and output types not matching"),
        # The list of types has five empty places, which stand for FLOAT16.
        of_type(SECOND, ("INT32", "FLOAT16"), "Reference ReverseV2: input1 type not supported"),
    ),
    "shape": (of_type(OUTPUT, ("INT32",), "Reference Shape: output type not supported"),),
    "slice": _unary(("FLOAT32", "INT8", "UINT8", "INT16", "INT32"), "Reference Slice: ", *_SUPPORTED, _ARE_MISMATCHED),
    "softmax": _unary(
        _WITH_PER_CHANNEL,
        "Reference Softmax: ",
        "output type not supported",
        "input type not supported",
        "input type not supported",
    ),
    "space_to_batch": _unary(_NUMBERS, "Reference SpaceToBatchNd: ", *_SUPPORTED, _ARE_MISMATCHED),
    "space_to_depth": _unary(_NUMBERS, "Reference SpaceToDepth: ", *_SUPPORTED, _ARE_MISMATCHED),
    "split": _split(),
    "stack": _joined("Reference stack", _WITH_INT32),
    # The list of types has an empty place, which stands for FLOAT16.
    "strided_slice": _unary(_NUMBERS, "Reference StridedSlice: ", *_SUPPORTED, _ARE_MISMATCHED),
    "prelu": (
        of_type(INPUT, _NUMBERS, "PReLU: input is not a supported type."),
        of_type(SECOND, _NUMBERS, "PReLU: alpha is not a supported type."),
        of_type(OUTPUT, _NUMBERS, "PReLU: output is not a supported type."),
        replace(
            same_type(INPUT, SECOND),
            needed="the same type in all tensors",
            find=_prelu_types,
            said="PReLU: input, alpha and output types are mismatched",
        ),
        broadcast("PReLU: shapes are not suitable for implicit broadcast"),
    ),
    "tile": (
        of_type(INPUT, (*_WITH_PER_CHANNEL, "INT32"), "Tile: input type not supported."),
        of_type(OUTPUT, (*_WITH_PER_CHANNEL, "INT32"), "Tile: output type not supported"),
    ),
    "transpose": _unary(_NUMBERS, "Reference transpose: ", *_SUPPORTED_TYPE, f"{_ARE_MISMATCHED}."),
    "sequence_lstm": _sequence_lstm(),
    **dict.fromkeys(("abs", "ceil", "exp", "log", "neg", "rsqrt", "sin", "sqrt"), _elementwise(_WITH_INT32)),
    **dict.fromkeys(("add", "div", "maximum", "minimum", "mul", "power", "squared_difference", "sub"), _binary()),
}
"""The demands of CpuRef for each layer."""
CPU_REF = Backend("CpuRef", LAYERS, reports_all=True)

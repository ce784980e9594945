"""Functions of Compute Library that compute element by element."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.kinds import ATTRIBUTE, BROADCAST, QUANTIZATION, TENSOR_TYPE
from ..demands import INPUT, OUTPUT, SECOND
from ..steps import Need, Needs, Query
from .checks import (
    BOOL,
    EIGHT_BITS,
    FLOAT16,
    FLOAT32,
    FLOATS_AND_EIGHT_BITS,
    INT8,
    INT16,
    INT32,
    MOST_DIMENSIONS,
    UINT8,
    CodeLine,
    known,
    no_half,
    of_types,
    rank_at_most,
    refused,
    same_type,
)

_ACTIVATION = "cpu/kernels/CpuActivationKernel.cpp"
_EIGHT_BIT_FUNCTIONS = ("relu", "bounded_relu", "sigmoid", "tanh", "hard_swish", "leaky_relu")
_INT16_FUNCTIONS = ("sigmoid", "tanh", "hard_swish", "bounded_relu")
_FIXED: Mapping[tuple[str, str], tuple[float, int, int, str]] = {
    (UINT8, "tanh"): (1 / 128, 128, 97, "TANH) && (oq_info != QuantizationInfo(1.f / 128.f, 128)"),
    (UINT8, "sigmoid"): (1 / 256, 0, 100, "LOGISTIC) && (oq_info != QuantizationInfo(1.f / 256.f, 0)"),
    (INT8, "tanh"): (1 / 128, 0, 104, "TANH) && (oq_info != QuantizationInfo(1.f / 128.f, 0)"),
    (INT8, "sigmoid"): (1 / 256, -128, 107, "LOGISTIC) && (oq_info != QuantizationInfo(1.f / 256.f, -128)"),
    (INT16, "tanh"): (1 / 32768, 0, 111, "TANH) && (oq_info != QuantizationInfo(1.f / 32768.f, 0)"),
    (INT16, "sigmoid"): (1 / 32768, 0, 114, "LOGISTIC) && (oq_info != QuantizationInfo(1.f / 32768.f, 0)"),
}
"""The scale and zero point of the output of an activation, the line of the check, and the end of its text."""
_CONDITIONS = {
    UINT8: "(data_type == DataType::QASYMM8 || data_type == DataType::QASYMM16)",
    INT8: "data_type == DataType::QASYMM8_SIGNED",
    INT16: "is_data_type_quantized_symmetric(data_type)",
}


def _function(call: Query) -> str:
    return str(call.values.get("function", "sqrt"))


def _other_function(types: tuple[str, ...], functions: tuple[str, ...], line: int, text: str) -> Need[Query]:
    def find(call: Query) -> str | None:
        is_known = call.input.type not in types or _function(call) in functions
        return None if is_known else f"{_function(call)} of {call.input.type}"

    said = CodeLine(_ACTIVATION, line).says(text)
    hint = "add CpuRef to the backends, or convert with FLOAT32 activations"
    return refused(ATTRIBUTE, f"{', '.join(functions)} for {' and '.join(types)}", find, said, hint)


def _fixed_space() -> Need[Query]:
    def wanted(call: Query) -> tuple[float, int, int, str] | None:
        return _FIXED.get((call.input.type, _function(call)))

    def find(call: Query) -> str | None:
        fixed, output = wanted(call), call.output
        if fixed is None or (output.scale, output.zero_point) == fixed[:2]:
            return None
        return f"{_function(call)} to scale {output.scale:g} and zero point {output.zero_point}"

    def said(call: Query) -> str:
        _, _, line, text = wanted(call) or (0, 0, 0, "")
        function = f"(f_act == ActivationLayerInfo::ActivationFunction::{text})"
        return CodeLine(_ACTIVATION, line).says(f"{_CONDITIONS[call.input.type]} && {function}")

    return Need(QUANTIZATION, "the library's fixed scale and zero point of the result", find, said)


_ACTIVATIONS: Needs = known(
    no_half(CodeLine(_ACTIVATION, 69)),
    of_types(INPUT, (INT8, UINT8, INT16, FLOAT16, FLOAT32), CodeLine(_ACTIVATION, 70)),
    _other_function(
        EIGHT_BITS,
        _EIGHT_BIT_FUNCTIONS,
        87,
        "For QASYMM8 only hard swish, leaky relu, tanh, logistic, relu and lower/upper bounded relu are supported",
    ),
    _other_function((INT16,), _INT16_FUNCTIONS, 93, "For QSYMM16 only tanh and logistic are supported"),
    _fixed_space(),
    same_type(INPUT, OUTPUT, CodeLine(_ACTIVATION, 122)),
)

_UNARY = "cpu/kernels/CpuElementwiseUnaryKernel.cpp"


def _unary(*types: str, line: int) -> Needs:
    def no_kernel(call: Query) -> str | None:
        return None if call.input.type in (FLOAT32, INT32, *EIGHT_BITS) else f"input 0 is {call.input.type}"

    return known(
        no_half(CodeLine(_UNARY, 214, "validate")),
        refused(
            TENSOR_TYPE,
            "input 0 of type FLOAT32, INT32, UINT8 or INT8",
            no_kernel,
            CodeLine(_UNARY, 219, "validate").says("uk == nullptr || uk->ukernel == nullptr"),
            "add CpuRef to the backends, or convert with other types",
        ),
        of_types(INPUT, types, CodeLine(_UNARY, line, "validate")),
        same_type(INPUT, OUTPUT, CodeLine(_UNARY, 242, "validate")),
    )


def _arithmetic(file: str, line: int) -> Needs:
    """Return the demands of additions and subtractions."""
    path = f"cpu/kernels/{file}.cpp"
    types = (BOOL, UINT8, INT8, INT16, FLOAT16, INT32, FLOAT32)
    return known(
        no_half(CodeLine(path, line - 1)),
        of_types(INPUT, types, CodeLine(path, line)),
        same_type(INPUT, SECOND, CodeLine(path, line + 3)),
        same_type(INPUT, OUTPUT, CodeLine(path, 137 if file == "CpuAddKernel" else 113)),
    )


_MUL = "cpu/kernels/CpuMulKernel.cpp"


def _repeated_column(call: Query) -> str | None:
    one, two = call.inputs
    is_slow = one.type in (INT16, BOOL)
    if not is_slow or one.size(one.rank - 1) == two.size(two.rank - 1):
        return None
    return f"{one.type} inputs of shape {list(one.known_shape)} and {list(two.known_shape)}"


def _product_types(call: Query) -> str | None:
    types = [info.type for info in (*call.inputs, call.output)]
    is_known = len(set(types)) == 1 or types == [INT16, INT16, INT32]
    return None if is_known else f"types {', '.join(types)}"


def _multiplication() -> Needs:
    types = (BOOL, UINT8, INT8, INT32, INT16, FLOAT16, FLOAT32)
    return known(
        no_half(CodeLine(_MUL, 71)),
        of_types(INPUT, types, CodeLine(_MUL, 72)),
        of_types(SECOND, types, CodeLine(_MUL, 75)),
        of_types(OUTPUT, types, CodeLine(_MUL, 78)),
        refused(TENSOR_TYPE, "equal types", _product_types, CodeLine(_MUL, 95).says("Invalid data type combination")),
        refused(
            BROADCAST,
            "INT16 and BOOL inputs of the same last size",
            _repeated_column,
            CodeLine(_MUL, 136).says("X-broadcasting is not supported in certain data type configurations."),
            "give both inputs the same last size",
        ),
    )


_ELEMENTWISE = "cpu/kernels/CpuElementwiseKernel.cpp"
_COMMON = "validate_arguments_common"
_SHARED = (no_half(CodeLine(_ELEMENTWISE, 227, _COMMON)), same_type(INPUT, SECOND, CodeLine(_ELEMENTWISE, 228, _COMMON)))
_OTHERS: Needs = (
    of_types(INPUT, (UINT8, INT8, FLOAT16, INT32, FLOAT32), CodeLine(_ELEMENTWISE, 328)),
    same_type(INPUT, OUTPUT, CodeLine(_ELEMENTWISE, 333)),
    *_SHARED,
)

_CASTS: Mapping[str, tuple[tuple[str, ...], int, str]] = {
    INT8: ((INT32, FLOAT32), 101, "QASYMM8 -> [out] U16, S16, S32, F16, F32"),
    UINT8: ((INT32, FLOAT32), 106, "QASYMM8 -> [out] U16, S16, S32, F16, F32"),
    BOOL: ((INT32, FLOAT32), 112, "U8 -> [out] U16, S16, S32, F16, F32"),
    FLOAT32: ((INT8, UINT8, INT32, BOOL), 133, "F32 -> [out] QASYMM8, F16, S32, U8"),
    INT32: ((INT8, UINT8, FLOAT32, BOOL, "INT64"), 139, "S32 -> [out] QASYMM8, F16, F32, U8, S64"),
    "INT64": ((FLOAT32,), 146, "S64 ->  [out] F32"),
}
"""The types to which each type can be cast, the line of the check, and the end of its text."""
_CAST = "cpu/kernels/CpuCastKernel.cpp"


def _uncast(call: Query) -> str | None:
    allowed = _CASTS.get(call.input.type, ((), 0, ""))[0]
    return None if call.output.type in allowed else f"{call.input.type} to {call.output.type}"


def _uncast_line(call: Query) -> str:
    _, line, text = _CASTS.get(call.input.type, ((), 83, ""))
    return CodeLine(_CAST, line).says(f"Only data_types supported [in] {text}")


_SOFTMAX = "cpu/kernels/CpuSoftmaxKernel.cpp"
_SOFTMAX_SPACES = {
    (UINT8, False): (1 / 256, 0),
    (INT8, False): (1 / 256, -128),
    (UINT8, True): (16 / 256, 255),
    (INT8, True): (16 / 256, 127),
}
"""The scale and zero point of the output of SOFTMAX (False) and LOG_SOFTMAX (True)."""


def _softmax(*, is_log: bool) -> Needs:
    function = "validate_arguments_softmax"

    def space(call: Query) -> str | None:
        fixed = _SOFTMAX_SPACES.get((call.input.type, is_log))
        scale, zero_point = call.output.scale, call.output.zero_point
        return None if fixed in (None, (scale, zero_point)) else f"output of scale {scale:g} and zero point {zero_point}"

    return known(
        rank_at_most(
            INPUT,
            MOST_DIMENSIONS,
            CodeLine("cpu/operators/CpuSoftmax.cpp", 93, "validate"),
            "Only up to 4 dimensions are supported",
        ),
        no_half(CodeLine(_SOFTMAX, 120, function)),
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_SOFTMAX, 121, function)),
        same_type(INPUT, OUTPUT, CodeLine(_SOFTMAX, 134, function)),
        refused(
            QUANTIZATION,
            "the library's fixed scale and zero point of the result",
            space,
            CodeLine(_SOFTMAX, 136, function).says("dst.quantization_info() != output_quantization"),
        ),
    )


_DEQUANTIZE, _QUANTIZE = "cpu/kernels/CpuDequantizeKernel.cpp", "cpu/kernels/CpuQuantizeKernel.cpp"
_LOGICAL = "core/NEON/kernels/NELogicalKernel.cpp"
_ALL_FLOATS = (FLOAT16, FLOAT32)


def _floor(call: Query) -> str | None:
    return None if call.input.type == FLOAT32 else f"input 0 is {call.input.type}"


def _floor_line(call: Query) -> str:
    name = {FLOAT16: "float16", UINT8: "8-bit", BOOL: "8-bit", INT32: "int32"}.get(call.input.type)
    return f"Layer is not supported with {name} data type" if name else ""


_LOGIC = known(
    of_types(INPUT, (BOOL,), CodeLine(_LOGICAL, 300, "validate")),
    same_type(INPUT, SECOND, CodeLine(_LOGICAL, 308, "validate")),
    same_type(INPUT, OUTPUT, CodeLine(_LOGICAL, 315, "validate")),
)
_PER_CHANNEL = "per-channel INT8"

LAYERS: Mapping[str, Needs] = {
    "activation": _ACTIVATIONS,
    "sqrt": _ACTIVATIONS,
    **dict.fromkeys(("abs", "neg"), _unary(FLOAT16, FLOAT32, INT32, UINT8, INT8, line=233)),
    **dict.fromkeys(("exp", "log", "rsqrt", "sin"), _unary(FLOAT16, FLOAT32, UINT8, INT8, line=228)),
    "logical_not": known(
        of_types(INPUT, (BOOL,), CodeLine(_LOGICAL, 300, "validate")),
        same_type(INPUT, OUTPUT, CodeLine(_LOGICAL, 315, "validate")),
    ),
    **dict.fromkeys(("logical_and", "logical_or"), _LOGIC),
    "add": _arithmetic("CpuAddKernel", 120),
    "sub": _arithmetic("CpuSubKernel", 90),
    "mul": _multiplication(),
    "div": known(of_types(INPUT, (INT32, FLOAT16, FLOAT32), CodeLine(_ELEMENTWISE, 443)), *_OTHERS[1:]),
    "power": known(of_types(INPUT, _ALL_FLOATS, CodeLine(_ELEMENTWISE, 464)), *_OTHERS[1:]),
    **dict.fromkeys(("maximum", "minimum", "squared_difference", "prelu"), known(*_OTHERS)),
    "comparison": known(
        of_types(INPUT, (BOOL, UINT8, INT8, FLOAT16, INT32, FLOAT32), CodeLine(_ELEMENTWISE, 488)),
        of_types(OUTPUT, (BOOL,), CodeLine(_ELEMENTWISE, 494)),
        *_SHARED,
    ),
    "cast": known(
        no_half(CodeLine(_CAST, 78)),
        no_half(CodeLine(_CAST, 79), OUTPUT),
        Need(TENSOR_TYPE, "two types that the library casts", _uncast, _uncast_line, "cast by way of FLOAT32 or INT32"),
    ),
    "floor": (Need(TENSOR_TYPE, "input 0 of type FLOAT32", _floor, _floor_line, "convert with FLOAT32 activations"),),
    "softmax": _softmax(is_log=False),
    "log_softmax": _softmax(is_log=True),
    "dequantize": known(
        of_types(INPUT, (UINT8, INT8, _PER_CHANNEL, INT16), CodeLine(_DEQUANTIZE, 54)),
        no_half(CodeLine(_DEQUANTIZE, 60), OUTPUT),
        of_types(OUTPUT, _ALL_FLOATS, CodeLine(_DEQUANTIZE, 61)),
    ),
    "quantize": known(
        no_half(CodeLine(_QUANTIZE, 54)),
        of_types(INPUT, FLOATS_AND_EIGHT_BITS, CodeLine(_QUANTIZE, 55)),
        of_types(OUTPUT, EIGHT_BITS, CodeLine(_QUANTIZE, 58)),
    ),
}
"""The demands of CpuAcc for each layer."""

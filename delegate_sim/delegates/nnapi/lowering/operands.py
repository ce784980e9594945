"""NNAPI operands of tensors, and the places in the delegate's source at which NNAPI may reject a call.

Source: ``RETURN_TFLITE_ERROR_IF_NN_ERROR`` and ``NnApiErrorDescription`` (``delegates/nnapi/nnapi_delegate.cc``). Line numbers
refer to the newest sources. Other releases have other line numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ....foundation.printable import printable
from ....model.model import Quantization, Tensor
from ....model.numbers import distinct
from ....nnapi_runtime.refusal import Call
from ....nnapi_runtime.types import OperandType, ResultCode
from ....refusal import Refusal


class Site(NamedTuple):
    """One place in the delegate's source: line number, text about the call, and whether the error message names the tensor."""

    line: int
    doing: str
    names_tensor: bool = False


OPERATION = Site(1144, "adding operation")
DEQUANTIZED = Site(1171, "adding operand")
SCALAR_TENSOR = Site(1547, "adding operand", names_tensor=True)
NEW_CONSTANT = Site(1608, "adding operand")
NEW_CONSTANT_VALUE = Site(1615, "setting new operand value")
SCALAR = Site(1700, "adding operand")
SCALAR_VALUE = Site(1705, "setting new operand value")
VECTOR = Site(1724, "adding operand")
VECTOR_VALUE = Site(1730, "settings new operand value")
RESULT = Site(1766, "adding operand")
TENSOR = Site(1932, "adding operand", names_tensor=True)
TENSOR_CHANNELS = Site(1938, "setting new operand per channel quantization params", names_tensor=True)
TENSOR_CONVERTED = Site(1972, "setting new operand value", names_tensor=True)
TENSOR_WIDENED = Site(2000, "setting new operand value", names_tensor=True)
TENSOR_VALUE = Site(2035, "setting new operand value", names_tensor=True)
COMPILATION = Site(4783, "completing NNAPI compilation")
BOUNDARY = Site(6345, "identifying model inputs and outputs")
FINISH = Site(6362, "finalizing the model")

_NAMES: Mapping[int, str] = {
    ResultCode.UNEXPECTED_NULL: "ANEURALNETWORKS_UNEXPECTED_NULL",
    ResultCode.BAD_DATA: "ANEURALNETWORKS_BAD_DATA",
    ResultCode.OP_FAILED: "ANEURALNETWORKS_OP_FAILED",
}


def refused_at(site: Site, refusal: Refusal, node: int | None, tensor: Tensor | None = None, operation: str = "") -> Refusal:
    """Return a refusal by the runtime with the node that was lowered, and the line that TFLite prints for the rejected call.

    ``node`` is None if the call is about the whole model. ``operation`` is the NNAPI operation that the call adds, or empty.
    """
    name = f" for tensor '{printable(tensor.name)}'" if site.names_tensor and tensor is not None else ""
    line = f"NN API returned error {_NAMES[refusal.result]} at line {site.line} while {site.doing}{name}."
    index = None if tensor is None else tensor.index
    call = Call(refusal.call).short_name
    return replace(refusal, call=call, node=node, tensor=index, operation=operation, log_lines=(line,))


SCALAR_AS_TENSOR, CONVERT_INT8, SIGNED, PER_CHANNEL, WIDEN, REPEATED_SCALE = 1, 2, 4, 8, 16, 32
"""Flags for adding a tensor (``NN_TENSOR_FLAG_...``).

The flags have these effects, in order:

- A scalar becomes a vector of one element.
- INT8 becomes UINT8 by adding 128.
- INT8 becomes a signed asymmetric type.
- Weights become quantized per channel, even if they have a single scale.
- A float16 constant becomes float32.
- A single scale is repeated for each channel, as in the Prepare of a hybrid TRANSPOSE_CONV.
"""

_T = OperandType

OPERAND_TYPES: Mapping[str, int] = {
    "FLOAT32": _T.TENSOR_FLOAT32.value,
    "FLOAT16": _T.TENSOR_FLOAT16.value,
    "UINT8": _T.TENSOR_QUANT8_ASYMM.value,
    "INT8": _T.TENSOR_QUANT8_SYMM.value,
    "INT32": _T.TENSOR_INT32.value,
    "BOOL": _T.TENSOR_BOOL8.value,
    "INT16": _T.TENSOR_QUANT16_SYMM.value,
}
"""The NNAPI operand type of each tensor type. Flags and quantization can change the operand type of INT8 and FLOAT16."""

INTERMEDIATE_TYPES: Mapping[str, int] = {
    "FLOAT32": _T.TENSOR_FLOAT32.value,
    "UINT8": _T.TENSOR_QUANT8_ASYMM.value,
    "INT8": _T.TENSOR_QUANT8_ASYMM_SIGNED.value,
}
"""The operand types of results that one NNAPI operation of a node passes to the next (``AddIntermediateOutputTensor``)."""

_CHANNEL_TYPE = _T.TENSOR_QUANT8_SYMM_PER_CHANNEL.value


class OperandOfTensor(NamedTuple):
    """The NNAPI operand for a tensor.

    ``channels`` has the channel dimension, the scales along this dimension, and the number of repetitions of the scales.
    ``length`` is the number of bytes of a constant.
    """

    code: int
    dimensions: tuple[int, ...]
    scale: float
    zero_point: int
    channels: tuple[int, Sequence[float], int] | None
    length: int
    value_site: Site


def operand_type(tensor: Tensor, flags: int, is_hybrid: bool, allows_dynamic: bool) -> OperandOfTensor:
    """Return the NNAPI operand for a tensor. The tensor's type must be in ``OPERAND_TYPES``.

    UINT8 weights of hybrid operators are treated as INT8.
    """
    kind = "INT8" if is_hybrid and tensor.type == "UINT8" else tensor.type
    code = OPERAND_TYPES[kind]
    scale, zero_point, channels = 0.0, 0, None
    length, site = 0, TENSOR_VALUE
    if tensor.is_constant:
        length = tensor.byte_size if tensor.data is None else tensor.data[1]
    if kind == "INT8":
        code, scale, zero_point, channels = _of_int8(tensor, flags)
        if flags & CONVERT_INT8 and channels is None:
            length, site = tensor.element_count, TENSOR_CONVERTED
    elif kind == "UINT8":
        # A scale of 0 is not valid in NNAPI.
        scale, zero_point = tensor.scale or 1.0, tensor.zero_point
    elif kind in ("INT32", "INT16"):
        scale, zero_point = tensor.scale, tensor.zero_point
    elif kind == "FLOAT16" and flags & WIDEN:
        code = OPERAND_TYPES["FLOAT32"]
        length, site = 4 * tensor.element_count, TENSOR_WIDENED
    return OperandOfTensor(code, _dimensions(tensor, flags, allows_dynamic), scale, zero_point, channels, length, site)


def _of_int8(tensor: Tensor, flags: int) -> tuple[int, float, int, tuple[int, Sequence[float], int] | None]:
    if flags & SIGNED:
        code = _T.TENSOR_QUANT8_ASYMM_SIGNED.value
    else:
        code = _T.TENSOR_QUANT8_ASYMM.value if flags & CONVERT_INT8 else _T.TENSOR_QUANT8_SYMM.value
    scale, zero_point = tensor.scale, tensor.zero_point
    quantization = tensor.quantization
    if quantization is not None and quantization.is_affine:
        count = len(quantization.scales)
        if count > 1 or flags & PER_CHANNEL:
            return _CHANNEL_TYPE, 0.0, 0, _channels(tensor, quantization, flags)
        if count == 1:
            scale = quantization.scale
            zero_point = quantization.zero_point
    if flags & CONVERT_INT8 and not flags & SIGNED:
        zero_point += 128
    return code, scale or 1.0, zero_point, None


def _channels(tensor: Tensor, quantization: Quantization, flags: int) -> tuple[int, Sequence[float], int]:
    dimension, scales = quantization.dimension, distinct(quantization.scales)
    if flags & REPEATED_SCALE and len(quantization.scales) == 1 and dimension < tensor.rank:
        return dimension, scales, max(tensor.shape[dimension], 0)
    return dimension, scales, len(quantization.scales) // max(len(scales), 1)


def _dimensions(tensor: Tensor, flags: int, allows_dynamic: bool) -> tuple[int, ...]:
    if not tensor.shape:
        return (1,) if flags & SCALAR_AS_TENSOR else ()
    if allows_dynamic and tensor.has_unspecified_dimension:
        assert tensor.shape_signature is not None
        return tuple([max(size, 0) for size in tensor.shape_signature])
    return tensor.shape

"""XNNPACK's checks of weights and biases: types, scales, and the combination of weights and bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import HYBRID, QUANTIZATION, TENSOR_TYPE
from ....rules.operands import Operand
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target
from ..node_visit import Visit
from ..target import QS8, are_usable_scales, has_one_scale, is_usable_zero_point, scales_of
from .checks import FLOAT16_LAYERS, FLOAT_OR_8_BITS, MAX_RANK, WEIGHTS, in_method, of_type

_TYPES = replace(FLOAT_OR_8_BITS, function="CheckTensorFloat32OrQCInt8Type").with_float16_from(FLOAT16_LAYERS)


def quantized_weights(dimension: Callable[[NodeView], int], words: str) -> tuple[Check[Visit], ...]:
    """Require supported types and scales of the weights (``CheckTensorFloat32OrQCInt8Type``).

    8-bit weights may have a single scale. INT8 weights may also have one scale for each channel along ``dimension``.
    """

    def find(node: NodeView) -> str | None:
        tensor = node.input(1)
        if tensor.type == "INT8":
            return _unusable_weights(tensor, dimension(node))
        if tensor.type != "UINT8" or (has_one_scale(tensor) and _has_valid_parameters(tensor)):
            return None
        return f"weights with {scales_of(tensor)}"

    needed = f"valid scales and zero points for 8-bit weights: one per tensor or, for INT8, one per index along {words}"
    of_scales = check(QUANTIZATION, needed, find, "quantize weights per tensor or per output channel")
    return (*of_type(WEIGHTS, _TYPES), *in_method(_TYPES.function, of_scales))


def _unusable_weights(tensor: Tensor, dimension: int) -> str | None:
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine:
        return f"weights with {scales_of(tensor)}"
    if quantization.is_per_channel:
        if quantization.dimension != dimension:
            return f"weights with {scales_of(tensor)}"
        is_valid = quantization.zero_point == 0 and _has_valid_channels(tensor)
        return None if is_valid else "weights with invalid scales, or with zero points other than 0"
    return None if _has_valid_parameters(tensor) else "weights with an invalid scale or zero point"


def _has_valid_parameters(tensor: Tensor) -> bool:
    quantization = tensor.quantization
    return (
        quantization is not None
        and are_usable_scales(quantization.scales)
        and is_usable_zero_point(tensor.type, quantization)
        and tensor.rank <= MAX_RANK
    )


def _has_valid_channels(tensor: Tensor) -> bool:
    quantization = tensor.quantization
    return (
        quantization is not None and quantization.dimension < tensor.rank <= MAX_RANK and are_usable_scales(quantization.scales)
    )


def quantized_bias(which: Operand) -> tuple[Check[Visit], ...]:
    """Require a supported type and supported scales of a bias (``CheckTensorFloat32OrFloat16OrQCInt32Type``)."""

    def find_type(node: NodeView, visit: Visit) -> str | None:
        name = which.tensor(node).type
        return (
            None if name in ("FLOAT32", "FLOAT16") or (name == "INT32" and visit.target.flags & QS8) else f"bias of type {name}"
        )

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        quantization = tensor.quantization
        if tensor.type != "INT32":
            return None
        if quantization is None or not quantization.is_affine or quantization.dimension != 0:
            return f"bias with {scales_of(tensor)}"
        is_valid = _has_valid_channels(tensor) if quantization.is_per_channel else _has_valid_parameters(tensor)
        return None if is_valid else "bias with an invalid scale or zero point"

    return in_method(
        "CheckTensorFloat32OrFloat16OrQCInt32Type",
        check_for_target(TENSOR_TYPE, "a bias of type FLOAT32 or FLOAT16, or of type INT32 if the flag qs8 is set", find_type),
        check(QUANTIZATION, "valid scales for an INT32 bias, along dimension 0", find),
    )


def _float_types(node: NodeView, visit: Visit) -> tuple[str, str] | None:
    """Return the types of float weights and of their bias (``GetTensorType``), or None if the weights are not float.

    If a float16 constant replaces a tensor, the tensor's type is FLOAT16.
    """
    is_elided = visit.unpacking.is_elided
    of_weights, of_bias = ("FLOAT16" if is_elided(tensor) else tensor.type for tensor in (node.input(1), node.input(2)))
    return (of_weights, of_bias) if of_weights in ("FLOAT16", "FLOAT32") else None


def _other_bias(node: NodeView, visit: Visit) -> str | None:
    types = _float_types(node, visit)
    return f"{types[0]} weights and {types[1]} bias" if types is not None and types[0] != types[1] else None


def _other_float_bias(node: NodeView, visit: Visit) -> str | None:
    types = _float_types(node, visit)
    return f"{types[0]} weights and {types[1]} bias" if types is not None and types[1] not in (types[0], "FLOAT32") else None


FLOAT_BIAS_LIKE_WEIGHTS = in_method(
    "CheckFilterAndBiasTypes",
    check_for_target(HYBRID, "a bias of the same type as the float weights", _other_bias)
    .from_release("litert-1.4.0")
    .before_release("litert-2.2.0"),
    check_for_target(
        HYBRID, "a bias of the same type as the float weights, or FLOAT16 weights with a FLOAT32 bias", _other_float_bias
    ).from_release("litert-2.2.0"),
)
"""Require that float weights and their bias have the same type (``CheckFilterAndBiasTypes``).

From litert-2.2.0 on, FLOAT16 weights may also have a FLOAT32 bias.
"""

"""Matrix products.

Source: ``VisitFullyConnectedNode`` and ``VisitBatchMatMulNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule
from ..datatypes import datatype, first_zero_point
from ..target import Target
from .checks import (
    ATTRIBUTE,
    FLOAT16_LAYERS,
    FLOAT32,
    FLOAT32_OR_8_BITS,
    HYBRID,
    INPUT,
    OUTPUT,
    QUANTIZATION,
    RANK,
    SHAPE,
    TENSOR_TYPE,
    VERSION,
    activation,
    bias,
    check,
    check_for_target,
    constant_or_unpacked,
    counting_before,
    float_bias_like_weights,
    has_one_scale,
    operand,
    operands,
    scales_of,
    shaped,
    typed,
    weights,
    where_given,
)

_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_LAYERS)
_WEIGHTS, _BIAS = operand(1, "weights"), operand(2, "bias")
_SPARSE_VERSION = 8
_INTEGER_WEIGHTS = ("INT2", "INT4", "INT8")
_BLOCK_MULTIPLE = 32


def _unless_dynamic(position: int, inner: Check) -> Check:
    """A check that float32 weights and biases need not meet with the flag for those computed while running."""

    def find(node: NodeView, target: Target) -> str | None:
        if target.dynamic_fully_connected and node.input(position).type == "FLOAT32":
            return None
        return inner.finder(node, target)

    return replace(inner, needed=f"{inner.needed} (unless FLOAT32 and dynamic_fully_connected)", finder=find)


def _weights_type(node: NodeView, target: Target) -> str | None:
    """The types that ``CheckTensorFilterType`` takes."""
    name = node.input(1).type
    if name in ("FLOAT32", "FLOAT16") or (name in _INTEGER_WEIGHTS and target.signed_8_bits):
        return None
    return None if name == "UINT8" and target.unsigned_8_bits else f"weights of type {name}"


def _not_yet(kind: str) -> Check:
    """Weights of a type that came with a later release."""
    return check(
        TENSOR_TYPE,
        f"weights of another type than {kind}",
        lambda node: f"{kind} weights" if node.input(1).type == kind else None,
    )


def _weights_quantization(node: NodeView) -> str | None:
    """The quantisation that ``CheckTensorFilterType`` takes; signed weights without any pass."""
    tensor = node.input(1)
    if tensor.type == "UINT8":
        return None if has_one_scale(tensor) else f"weights with {scales_of(tensor)}"
    return _signed_weights_quantization(tensor) if tensor.type in _INTEGER_WEIGHTS else None


def _signed_weights_quantization(tensor: Tensor) -> str | None:
    quantization = tensor.quantization
    if quantization is None:
        return None
    if quantization.kind == "blockwise":
        if quantization.scales_tensor < 0:
            return "blocks of weights without scales"
        return f"blocks of {quantization.block_size} weights" if quantization.block_size % _BLOCK_MULTIPLE else None
    if not quantization.is_affine:
        return None
    if quantization.is_per_channel and quantization.dimension != 0:
        return f"weights with {scales_of(tensor)}"
    if tensor.type == "INT2" and len(quantization.scales) != tensor.shape[quantization.dimension]:
        return f"INT2 weights with {scales_of(tensor)}"
    return None


def _blocks(node: NodeView) -> str | None:
    quantization = node.input(1).quantization
    return "weights in blocks" if quantization is not None and quantization.kind == "blockwise" else None


def _int4_without_channels(node: NodeView) -> str | None:
    tensor = node.input(1)
    quantization = tensor.quantization
    if tensor.type != "INT4" or quantization is None or not quantization.is_affine:
        return None
    return None if len(quantization.scales) == tensor.shape[0] else f"INT4 weights with {scales_of(tensor)}"


def _other_bias_size(node: NodeView) -> str | None:
    size, channels = node.input(2).element_count, node.input(1).shape[0]
    return None if size == channels else f"bias of {size} elements for {channels} output channels"


def _is_dynamically_quantized(node: NodeView, target: Target) -> bool:
    return target.dynamic_quantization and node.input(0).type in ("FLOAT32", "FLOAT16") and node.input(1).type in _INTEGER_WEIGHTS


def _mixed_types(node: NodeView, target: Target) -> str | None:
    source, of_weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    is_taken = (
        source == of_weights or (source == "INT8" and of_weights in _INTEGER_WEIGHTS) or _is_dynamically_quantized(node, target)
    )
    return None if source == output and is_taken else f"{source} input, {of_weights} weights and {output} output"


def _int4_with_integers(node: NodeView) -> str | None:
    return "INT4 weights with INT8 input" if (node.input(0).type, node.input(1).type) == ("INT8", "INT4") else None


def _float16_with_integers(node: NodeView) -> str | None:
    found = node.input(0).type, node.input(1).type
    return f"FLOAT16 input with {found[1]} weights" if found[0] == "FLOAT16" and found[1] in _INTEGER_WEIGHTS else None


def _other_last_dimension(node: NodeView, target: Target) -> str | None:
    shape, channels = node.input(0).shape, node.input(1).shape[1]
    is_taken = not _is_dynamically_quantized(node, target) or shape[-1:] == (channels,)
    return None if is_taken else f"input {list(shape)} for {channels} input channels"


def _weights_zero_point(node: NodeView, target: Target) -> str | None:
    tensor = node.input(1)
    if tensor.type != "INT8" or not tensor.zero_point or _is_dynamically_quantized(node, target):
        return None
    return f"weights with zero point {tensor.zero_point}"


def _packed_channels(kind: str, multiple: int) -> Check:
    def find(node: NodeView) -> str | None:
        tensor = node.input(1)
        return f"{tensor.shape[1]} input channels" if tensor.type == kind and tensor.shape[1] % multiple else None

    return check(SHAPE, f"input channels in multiples of {multiple} with {kind} weights", find)


_FULLY_CONNECTED = (
    check(
        VERSION,
        f"another version than {_SPARSE_VERSION}, which has sparse weights",
        lambda node: f"version {_SPARSE_VERSION}" if node.version == _SPARSE_VERSION else None,
        "convert without sparse weights",
    ),
    check(
        ATTRIBUTE,
        "weights_format DEFAULT",
        lambda node: f"weights_format {node.options.weights_format}" if node.options.weights_format else None,
    ),
    operands(2, 1, most=3),
    *typed(INPUT, _FLOAT_OR_8_BITS),
    *shaped(_WEIGHTS, 2),
    _unless_dynamic(
        1,
        check_for_target(
            TENSOR_TYPE, "weights of type FLOAT32, FLOAT16, INT8 (qs8), INT4 (qs8), INT2 (qs8) or UINT8 (qu8)", _weights_type
        ),
    ),
    _not_yet("FLOAT16").before_release(FLOAT16_LAYERS),
    _not_yet("INT2").before_release("litert-2.1.2"),
    check(QUANTIZATION, "weights that are not quantised in blocks", _blocks).before_release("litert-1.3.0"),
    check(QUANTIZATION, "a scale for each output channel of INT4 weights", _int4_without_channels).before_release("litert-2.1.5"),
    _unless_dynamic(
        1,
        check(
            QUANTIZATION,
            "weights quantised per tensor (not with INT2), along dimension 0 (not with UINT8), or in blocks of a multiple of "
            f"{_BLOCK_MULTIPLE}",
            _weights_quantization,
            "quantise weights per output channel",
        ),
    ),
    _unless_dynamic(1, constant_or_unpacked(_WEIGHTS)),
    *where_given(
        2,
        _unless_dynamic(2, check(SHAPE, "as many elements of the bias as output channels", _other_bias_size)),
        *(_unless_dynamic(2, each) for each in bias(2)),
        _unless_dynamic(2, constant_or_unpacked(_BIAS)),
        *float_bias_like_weights(1, 2),
    ),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    check_for_target(
        HYBRID, "input and output of one type, and weights of it, or of INT8, INT4 or INT2 with float or INT8 input", _mixed_types
    ),
    check(HYBRID, "another input than INT8 with INT4 weights", _int4_with_integers).before_release("litert-1.3.0"),
    check(HYBRID, "float weights with FLOAT16 input", _float16_with_integers).before_release("litert-2.3.0"),
    # These two are measured, not read.
    check(RANK, "input of at least one dimension", lambda node: None if node.input(0).rank else "input of rank 0").before_release(
        "litert-1.1.0"
    ),
    check_for_target(
        SHAPE, "float input with the input channels of integer weights as its last dimension", _other_last_dimension
    ).before_release("litert-1.1.0"),
    check_for_target(
        QUANTIZATION,
        "zero point 0 of INT8 weights with INT8 input",
        _weights_zero_point,
        "quantise weights symmetrically",
    ).from_release("litert-2.1.5"),
    _packed_channels("INT4", 2),
    _packed_channels("INT2", 4),
    activation(),
)

_FIRST = operand(0, "first input")


def _column_dimension(node: NodeView) -> int:
    return node.input(1).rank - (2 if node.options.adj_y else 1)


def _is_dynamic_product(node: NodeView) -> bool:
    return node.input(0).type == "FLOAT32" and node.input(1).type == "INT8"


def _second_zero_point(node: NodeView) -> str | None:
    quantization = node.input(1).quantization
    if node.input(1).type != "INT8" or quantization is None or _is_dynamic_product(node):
        return None
    zero_point = first_zero_point(quantization)
    return f"second input with zero point {zero_point}" if zero_point else None


def _different_datatypes(node: NodeView, target: Target) -> str | None:
    if _is_dynamic_product(node):
        return None
    first, second = (datatype(node.graph, tensor, target.release) for tensor in node.inputs[:2])
    return None if first == second else f"{node.input(0).type} and {node.input(1).type}, in XNNPACK {first} and {second}"


def _matrices(position: int, name: str) -> Check:
    return check(
        RANK,
        f"{name} of at least 2 dimensions",
        lambda node: None if (rank := node.input(position).rank) >= 2 else f"{name} of rank {rank}",
    )


_BATCH_MATMUL = (
    # Measured, not read.
    check(ATTRIBUTE, "adj_x false", lambda node: "adj_x true" if node.options.adj_x else None).before_release("litert-1.1.0"),
    *counting_before("litert-2.0.2", *typed(_FIRST, FLOAT32)),
    *typed(_FIRST, _FLOAT_OR_8_BITS),
    *weights(1, _column_dimension, "the dimension of its columns"),
    check(
        QUANTIZATION,
        "zero point 0 of an INT8 second input, unless the first is FLOAT32",
        _second_zero_point,
        "quantise the second input symmetrically",
    ).from_release("litert-2.1.3"),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    check_for_target(HYBRID, "inputs that XNNPACK stores alike, or a FLOAT32 and an INT8 input", _different_datatypes),
    _matrices(0, "first input"),
    _matrices(1, "second input"),
)

RULES = {"FULLY_CONNECTED": OpRule(_FULLY_CONNECTED), "BATCH_MATMUL": OpRule(_BATCH_MATMUL)}

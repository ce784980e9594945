"""Matrix products.

Source: ``VisitFullyConnectedNode`` and ``VisitBatchMatMulNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import ATTRIBUTE, HYBRID, QUANTIZATION, SHAPE, TENSOR_TYPE, VERSION
from ....rules.operands import OUTPUT, at_least, between
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target, option, rank, refused_if, unset, where_given
from ..target import QS8, QU8, Visit, datatype, has_one_scale, scales_of
from .checks import (
    BIAS,
    BOUNDING_ACTIVATION,
    FIRST,
    FLOAT16_LAYERS,
    FLOAT32,
    FLOAT_BIAS_LIKE_WEIGHTS,
    FLOAT_OR_8_BITS_LAYERS,
    INPUT,
    SECOND,
    SOURCE,
    WEIGHTS,
    counting_before,
    in_method,
    method,
    of_type,
    of_types,
    operands,
    quantized_bias,
    quantized_weights,
    shaped,
    stored_or_unpacked,
    xnnpack_rule,
)

_SPARSE_VERSION = 8
_INTEGER_WEIGHTS = ("INT2", "INT4", "INT8")
_BLOCK_MULTIPLE = 32


def _unless_dynamic(position: int, *checks: Check[Visit]) -> tuple[Check[Visit], ...]:
    """Return changed checks. If the flag dynamic_fully_connected is set, a FLOAT32 operand at ``position`` passes the checks."""

    def unless(inner: Check[Visit]) -> Check[Visit]:
        find_inner = inner.finder

        def find(node: NodeView, visit: Visit) -> str | None:
            problem = find_inner(node, visit)
            if problem is None or (node.input(position).type == "FLOAT32" and visit.target.has("dynamic_fully_connected")):
                return None
            return problem

        return replace(inner, applies="unless FLOAT32 with the flag dynamic_fully_connected", finder=find, data=())

    return tuple(unless(check) for check in checks)


def _weights_type(node: NodeView, visit: Visit) -> str | None:
    name = node.input(1).type
    if name in ("FLOAT32", "FLOAT16") or (name in _INTEGER_WEIGHTS and visit.target.flags & QS8):
        return None
    return None if name == "UINT8" and visit.target.flags & QU8 else f"weights of type {name}"


def _not_yet(kind: str) -> Check[object]:
    return refused_if(
        TENSOR_TYPE, f"weights of any type except {kind}", lambda node: node.input(1).type == kind, f"{kind} weights"
    )


def _weights_quantization(node: NodeView) -> str | None:
    """Return the quantization of the weights as text, or None if the quantization is supported (``CheckTensorFilterType``).

    Signed weights without quantization parameters are supported.
    """
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
            return "weights quantized in blocks without scales"
        return f"weights quantized in blocks of {quantization.block_size}" if quantization.block_size % _BLOCK_MULTIPLE else None
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


_SPECIFICATIONS_FROM = "litert-2.3.0"
"""The first release that reads ``quant_spec``. CPU kernels read it only since LiteRT 2.4."""
_BLOCK_SHAPES_FROM = "litert-2.4"
"""The first release that reads ``block_shape`` of quantization in blocks."""


def _block_shape(node: NodeView) -> str | None:
    quantization = node.input(1).quantization
    return None if quantization is None or quantization.block_shape is None else "weights with block_shape"


def _int4_without_channels(node: NodeView) -> str | None:
    tensor = node.input(1)
    quantization = tensor.quantization
    if tensor.type != "INT4" or quantization is None or not quantization.is_affine:
        return None
    return None if len(quantization.scales) == tensor.shape[0] else f"INT4 weights with {scales_of(tensor)}"


def _other_bias_size(node: NodeView) -> str | None:
    size, channels = node.input(2).element_count, node.input(1).shape[0]
    return None if size == channels else f"a bias with {size} elements for {channels} output channels"


def _is_dynamically_quantized(node: NodeView, visit: Visit) -> bool:
    return (
        node.input(1).type in _INTEGER_WEIGHTS
        and node.input(0).type in ("FLOAT32", "FLOAT16")
        and visit.target.dynamic_quantization
    )


def _mixed_types(node: NodeView, visit: Visit) -> str | None:
    source, weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    is_taken = source == weights or (source == "INT8" and weights in _INTEGER_WEIGHTS) or _is_dynamically_quantized(node, visit)
    return None if source == output and is_taken else f"{source} input, {weights} weights and {output} output"


def _int4_with_integers(node: NodeView) -> str | None:
    return "INT4 weights with INT8 input" if (node.input(0).type, node.input(1).type) == ("INT8", "INT4") else None


def _float16_with_integers(node: NodeView) -> str | None:
    types = node.input(0).type, node.input(1).type
    return f"FLOAT16 input with {types[1]} weights" if types[0] == "FLOAT16" and types[1] in _INTEGER_WEIGHTS else None


def _other_last_dimension(node: NodeView, visit: Visit) -> str | None:
    shape, channels = node.input(0).shape, node.input(1).shape[1]
    is_taken = not _is_dynamically_quantized(node, visit) or shape[-1:] == (channels,)
    return None if is_taken else f"input of shape {list(shape)} for {channels} input channels"


def _weights_zero_point(node: NodeView, visit: Visit) -> str | None:
    tensor = node.input(1)
    if tensor.type != "INT8" or not tensor.zero_point or _is_dynamically_quantized(node, visit):
        return None
    return f"weights with zero point {tensor.zero_point}"


def _packed_channels(kind: str, multiple: int) -> Check[object]:
    def find(node: NodeView) -> str | None:
        tensor = node.input(1)
        return f"{tensor.shape[1]} input channels" if tensor.type == kind and tensor.shape[1] % multiple else None

    return check(SHAPE, f"a multiple of {multiple} input channels if the weights are {kind}", find)


def _is_dynamic_product(node: NodeView) -> bool:
    return node.input(0).type == "FLOAT32" and node.input(1).type == "INT8"


def _second_zero_point(node: NodeView) -> str | None:
    quantization = node.input(1).quantization
    if node.input(1).type != "INT8" or quantization is None or _is_dynamic_product(node):
        return None
    zero_point = quantization.zero_point
    return f"second input with zero point {zero_point}" if zero_point else None


def _different_datatypes(node: NodeView, visit: Visit) -> str | None:
    if _is_dynamic_product(node):
        return None
    first, second = (datatype(node.graph, tensor, visit.release) for tensor in node.inputs[:2])
    return None if first == second else f"{node.input(0).type} and {node.input(1).type} ({first} and {second} in XNNPACK)"


_WEIGHTS_TYPE = check_for_target(
    TENSOR_TYPE, "weights of type FLOAT32, FLOAT16, INT8 (qs8), INT4 (qs8), INT2 (qs8) or UINT8 (qu8)", _weights_type
)
_WEIGHTS_QUANTIZATION = check(
    QUANTIZATION,
    "weights quantized per tensor (except INT2), along dimension 0 (except UINT8), or in blocks of a multiple of "
    f"{_BLOCK_MULTIPLE} elements",
    _weights_quantization,
    "quantize weights per output channel",
)

RULES = {
    "BATCH_MATMUL": xnnpack_rule(
        "VisitBatchMatMulNode",
        # This check was measured; it is not in the source.
        unset("adj_x", hint="transpose the first input with TRANSPOSE").before_release("litert-1.1.0"),
        *counting_before("litert-2.0.2", *in_method(FLOAT_OR_8_BITS_LAYERS.function, *of_type(FIRST, FLOAT32))),
        *of_types(FIRST, FLOAT_OR_8_BITS_LAYERS),
        *quantized_weights(lambda node: node.input(1).rank - (2 if node.options.adj_y else 1), "the dimension of its columns"),
        check(
            QUANTIZATION,
            "zero point 0 for an INT8 second input, unless the first input is FLOAT32",
            _second_zero_point,
            "quantize the second input symmetrically",
        ).from_release("litert-2.1.3"),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        check_for_target(
            HYBRID, "two inputs that XNNPACK stores in the same datatype, or a FLOAT32 and an INT8 input", _different_datatypes
        ),
        rank(FIRST, at_least(2)),
        rank(SECOND, at_least(2)),
    ),
    "FULLY_CONNECTED": xnnpack_rule(
        "VisitFullyConnectedNode",
        refused_if(
            VERSION,
            f"a version other than {_SPARSE_VERSION}, the version for sparse weights",
            lambda node: node.version == _SPARSE_VERSION,
            f"version {_SPARSE_VERSION}",
        ).from_source(SOURCE),
        option("weights_format", 0, hint="convert with weights in the default format").from_source(
            method("CheckFullyConnectedParams")
        ),
        operands(between(2, 3)),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(WEIGHTS, 2),
        *_unless_dynamic(1, *in_method("CheckTensorFilterType", _WEIGHTS_TYPE)),
        _not_yet("FLOAT16").before_release(FLOAT16_LAYERS),
        _not_yet("INT2").before_release("litert-2.1.2"),
        check(QUANTIZATION, "weights that are not quantized in blocks", _blocks).before_release("litert-1.3.0"),
        refused_if(ATTRIBUTE, "no quant_spec", lambda node: bool(node.options.quant_spec), "quant_spec")
        .from_source(SOURCE)
        .from_release(_SPECIFICATIONS_FROM),
        check(QUANTIZATION, "weights without block_shape", _block_shape).from_release(_BLOCK_SHAPES_FROM),
        check(QUANTIZATION, "one scale for each output channel of INT4 weights", _int4_without_channels).before_release(
            "litert-2.1.5"
        ),
        *_unless_dynamic(1, *in_method("CheckTensorFilterType", _WEIGHTS_QUANTIZATION)),
        *_unless_dynamic(1, stored_or_unpacked(WEIGHTS)),
        *where_given(
            BIAS,
            *_unless_dynamic(
                2,
                check(SHAPE, "a bias with one element for each output channel", _other_bias_size),
                *quantized_bias(BIAS),
                stored_or_unpacked(BIAS),
            ),
            *FLOAT_BIAS_LIKE_WEIGHTS,
        ),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        check_for_target(
            HYBRID,
            "the same type in input, output and weights, or INT8, INT4 or INT2 weights with a float or INT8 input and output",
            _mixed_types,
        ),
        check(HYBRID, "no INT8 input with INT4 weights", _int4_with_integers).before_release("litert-1.3.0"),
        check(HYBRID, "float weights if the input is FLOAT16", _float16_with_integers).before_release("litert-2.3.0"),
        # The next two checks were measured; they are not in the source.
        rank(INPUT, at_least(1)).before_release("litert-1.1.0"),
        check_for_target(
            SHAPE,
            "a last dimension of the input equal to the input channels of the weights, if the input is float and the weights "
            "are integer",
            _other_last_dimension,
        ).before_release("litert-1.1.0"),
        check_for_target(
            QUANTIZATION,
            "zero point 0 for INT8 weights if the input is INT8",
            _weights_zero_point,
            "quantize weights symmetrically",
        ).from_release("litert-2.1.5"),
        _packed_channels("INT4", 2),
        _packed_channels("INT2", 4),
        BOUNDING_ACTIVATION,
    ),
}

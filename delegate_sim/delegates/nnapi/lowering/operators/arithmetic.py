"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

import math

from .....foundation.float32 import float32, quotient
from .....graph.graph import NodeView
from .....nnapi_runtime.types import OperandType
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operand_types import SCALAR_AS_TENSOR, SIGNED
from ..operator_lowering import Lowering, Lowerings
from ..parameters import NO_ACTIVATION, activation_code

_T = OperandType


def _add_activated(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_int(activation_code(node))
    builder.finish(node)


def _add_cos(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower cos(x) to sin(pi/2 - x) (``TransformCosIntoSupportedOps``)."""
    source = node.view.input(0)
    size = 4 * source.element_count
    builder.add_constant(_T.TENSOR_FLOAT32, source.shape, size, source.scale, source.zero_point)
    builder.add_flagged_input(node, 0)
    builder.add_int(NO_ACTIVATION)
    difference = builder.add_result(_T.TENSOR_FLOAT32, node.view.output(0).shape)
    builder.add_operation(node, "SUB")
    builder.inputs.append(difference)
    builder.add_output(node, 0)
    builder.add_operation(node, "SIN")


_SCALAR_CONSTANTS = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 4),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 1),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1),
    "INT32": (_T.TENSOR_INT32, 4),
}
"""The NNAPI type and the element size in bytes of the vector that replaces a scalar, by tensor type."""


def _add_extremum(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower MAXIMUM or MINIMUM.

    Scalars become tensors with one element, unless INT8 is converted to UINT8.
    """
    for position, operand in enumerate(node.view.inputs):
        if operand.rank or node.converts_int8:
            builder.add_input(node, position)
        elif not operand.is_constant:
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found="not constant")
        elif operand.type not in _SCALAR_CONSTANTS:
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found=f"of type {operand.type}")
        else:
            code, size = _SCALAR_CONSTANTS[operand.type]
            scale = operand.scale
            if operand.type == "INT8":
                scale = scale or 1.0
                # Before NNAPI 1.3, no type is signed.
                code = code if node.output_flags & SIGNED else _T.TENSOR_QUANT8_ASYMM
            builder.add_constant(code, (1,), size, scale, operand.zero_point)
    builder.finish(node)


_DIFFERENCES = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 0, 0),
    "INT32": (_T.TENSOR_INT32, 0, 0),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 128, 255),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 0, 127),
}
"""For each tensor type: the NNAPI type and zero point of the difference, and the highest quantized value (0 if unquantized)."""


def _add_squared_difference(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower SQUARED_DIFFERENCE to SUB and MUL (``TransformSquaredDifferenceIntoSupportedOps``)."""
    source, output = node.view.input(0), node.view.output(0)
    if source.type not in _DIFFERENCES:
        raise kernel_error("nnapi-intermediate-type", node.index, source, op=node.view.op)
    code, zero_point, highest = _DIFFERENCES[source.type]
    # The absolute difference is at most the square root of the largest result.
    largest = float32(float32(highest - output.zero_point) * float32(output.scale)) if highest else 0.0
    scale = quotient(2 * float32(math.sqrt(largest)), 254) if largest >= 0 else math.nan
    for position in range(len(node.inputs[:2])):
        builder.add_flagged_input(node, position, SCALAR_AS_TENSOR | SIGNED)
    builder.add_int(NO_ACTIVATION)
    difference = builder.add_result(code, output.shape, scale, zero_point)
    builder.add_operation(node, "SUB")
    builder.inputs += [difference, difference]
    builder.add_int(NO_ACTIVATION)
    builder.add_output(node, 0, SIGNED)
    builder.add_operation(node, "MUL")


def _values_are_int8(view: NodeView) -> bool:
    return view.input(1).type == "INT8"


_BINARY = OperandTraits(takes_scalars=True, converts_int8=first_is_int8, converts_all_inputs=True)
_SCALARS = OperandTraits(takes_scalars=True)
_SELECTION = OperandTraits(converts_int8=_values_are_int8, converts_all_inputs=True)

LOWERINGS: Lowerings = {
    "ABS": Lowering("ABS"),
    "ADD": Lowering("ADD", _add_activated, _BINARY),
    "COS": Lowering(add=_add_cos),
    "DIV": Lowering("DIV", _add_activated, _SCALARS),
    "EQUAL": Lowering("EQUAL", traits=_BINARY),
    "EXP": Lowering("EXP"),
    "FLOOR": Lowering("FLOOR"),
    "GREATER": Lowering("GREATER", traits=_BINARY),
    "GREATER_EQUAL": Lowering("GREATER_EQUAL", traits=_BINARY),
    "LESS": Lowering("LESS", traits=_BINARY),
    "LESS_EQUAL": Lowering("LESS_EQUAL", traits=_BINARY),
    "LOG": Lowering("LOG"),
    "LOGICAL_AND": Lowering("LOGICAL_AND"),
    "LOGICAL_NOT": Lowering("LOGICAL_NOT"),
    "LOGICAL_OR": Lowering("LOGICAL_OR"),
    "MAXIMUM": Lowering("MAXIMUM", _add_extremum, _BINARY),
    "MINIMUM": Lowering("MINIMUM", _add_extremum, _BINARY),
    "MUL": Lowering("MUL", _add_activated, _BINARY),
    "NEG": Lowering("NEG"),
    "NOT_EQUAL": Lowering("NOT_EQUAL", traits=_BINARY),
    "POW": Lowering("POW", traits=_SCALARS),
    "RSQRT": Lowering("RSQRT"),
    "SELECT": Lowering("SELECT", traits=_SELECTION),
    "SIN": Lowering("SIN"),
    "SQRT": Lowering("SQRT"),
    "SQUARED_DIFFERENCE": Lowering(add=_add_squared_difference),
    "SUB": Lowering("SUB", _add_activated, _BINARY),
}

"""Conversions between types, and nodes that unpack constants: DENSIFY and DEQUANTIZE.

Source: ``VisitUnaryNode`` and ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).

A node that unpacks a constant is supported if all readers of the node's result are supported. If a DENSIFY does not unpack a
constant, the delegate does not visit the DENSIFY. A supported node can still fail when its kernel is created (see
``kernel_creation.py``).
"""

from __future__ import annotations

from dataclasses import replace

from ....graph.graph import NodeView
from ....rules.kinds import CONSTANT, NEIGHBOR, QUANTIZATION, TENSOR_TYPE
from ....rules.rule import OpRule
from ....rules.vocabulary import check, check_for_target
from ..datatypes import datatype
from ..node_visit import Visit
from ..scales import float32_ratio, only_scale
from ..unpacking import densifies_constant
from .checks import LARGEST_CONVERSION, SMALLEST_CONVERSION, unary
from .types import EIGHT_BITS, FLOAT, FLOAT16_ARITHMETIC, FLOAT_OR_8_BITS_ARITHMETIC
from .upstream import PREPARATION, method


def _is_requantized(node: NodeView) -> bool:
    source_type = datatype(node.graph, node.input(0))
    return source_type in ("qint8", "quint8") and source_type == datatype(node.graph, node.output(0))


def _unusable_requantization(node: NodeView) -> str | None:
    if not _is_requantized(node):
        return None
    source, output = only_scale(node.input(0)), only_scale(node.output(0))
    if source is None or output is None:
        return None
    ratio = float32_ratio(source, output)
    return f"input scale / output scale = {ratio:g}" if ratio < SMALLEST_CONVERSION or ratio > LARGEST_CONVERSION else None


def _unknown_conversion(node: NodeView) -> str | None:
    if _is_requantized(node) or datatype(node.graph, node.input(0)) in ("fp32", "fp16"):
        return None
    return f"{node.input(0).type} to {node.output(0).type}"


def _refused_reader(node: NodeView, visit: Visit) -> str | None:
    reader = visit.unpacking.refused_readers.get(node.node.index)
    return None if reader is None else f"node {reader.index} ({reader.op}), which is refused, reads the result"


_UNPACKING = PREPARATION.with_branch("kTfLiteBuiltinDequantize &&")
_ACCEPTED_READERS = check_for_target(
    NEIGHBOR,
    "no unsupported reader of the result if the input is a constant",
    _refused_reader,
    "look at the refusal of the node that reads the result",
).from_source(PREPARATION.with_branch("Subgraph::VisitNode"))


def _unpacks_no_constant(node: NodeView, visit: Visit) -> str | None:
    if not visit.unpacking.widens_constant(node):
        return f"{node.input(0).type} to {node.output(0).type}"
    return _refused_reader(node, visit)


_UNPACKS_CONSTANT = check_for_target(
    CONSTANT,
    "a FLOAT16 or INT8 constant (from litert-1.2.0 on, INT8 with a scale), a FLOAT32 output, and no unsupported reader of the "
    "result",
    _unpacks_no_constant,
).from_source(_UNPACKING)


def _no_constant_to_densify(node: NodeView) -> str | None:
    if densifies_constant(node):
        return None
    source = node.input(0)
    words = ("constant" if source.is_constant else "computed", "dense" if source.sparsity is None else "sparse")
    return f"{' '.join(words)} {source.type} to {node.output(0).type}"


_DEQUANTIZE = unary(EIGHT_BITS, FLOAT.with_float16_from(FLOAT16_ARITHMETIC))

RULES = {
    "DENSIFY": OpRule(
        (
            check(
                CONSTANT,
                "a sparse constant of type FLOAT32, FLOAT16 or INT8, and an output of the same type",
                _no_constant_to_densify,
            ),
            _ACCEPTED_READERS,
        )
    ).from_source(PREPARATION.with_branch("kTfLiteBuiltinDensify &&")),
    "DEQUANTIZE": replace(
        _DEQUANTIZE, checks=(_ACCEPTED_READERS, *_DEQUANTIZE.checks), accepted_early=_UNPACKS_CONSTANT
    ).from_source(method("VisitUnaryNode"), _UNPACKING),
    "QUANTIZE": unary(
        FLOAT_OR_8_BITS_ARITHMETIC,
        FLOAT_OR_8_BITS_ARITHMETIC,
        check(
            QUANTIZATION,
            "input scale / output scale from 1/256 to 128 for 8-bit types",
            _unusable_requantization,
            data=("scale to the output's", SMALLEST_CONVERSION, LARGEST_CONVERSION),
        ),
        check(
            TENSOR_TYPE,
            "a float input, or an INT8 or UINT8 input and an output of the same type, both with one usable scale",
            _unknown_conversion,
        ),
    ),
}

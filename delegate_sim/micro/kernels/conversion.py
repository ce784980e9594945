"""Operators that convert all elements to another type."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION
from ...rules.operands import INPUT, OUTPUT
from ...rules.vocabulary import check
from ..checks import FLOAT32, ONE_TO_ONE, quantized, takes
from ..kernel import MicroKernel, in_source
from ..kinds import TENSOR_TYPE
from ..quantization import scales

_CAST_TYPES = ("INT8", "INT16", "INT32", "UINT32", "FLOAT32", "BOOL")
_QUANTIZED_TO = {
    "FLOAT32": ("INT8", "INT16"),
    "INT32": ("INT8", "INT16"),
    "INT16": ("INT8", "INT16", "INT32"),
    "INT8": ("INT8", "UINT8", "INT16", "INT32"),
    "UINT8": ("INT8",),
}
"""The supported output types of QUANTIZE, by input type."""


def _several_scales(node: NodeView) -> str | None:
    count = len(scales(node.output(0)))
    return None if count == 1 else f"output with {count} scales"


def _unknown_pair(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if result in _QUANTIZED_TO.get(source, ()) else f"from {source} to {result}"


KERNELS = {
    "CAST": MicroKernel(
        in_source("cast.cc", "CastPrepare", ONE_TO_ONE),
        in_source("cast.cc", "CastEval", takes(INPUT, _CAST_TYPES), takes(OUTPUT, _CAST_TYPES)),
    ),
    "DEQUANTIZE": MicroKernel(
        in_source(
            "dequantize_common.cc",
            "DequantizePrepare",
            ONE_TO_ONE,
            takes(INPUT, ("INT8", "INT16", "UINT8")),
            takes(OUTPUT, FLOAT32),
        ),
        in_source("dequantize.cc", "DequantizeEval"),
    ),
    "QUANTIZE": MicroKernel(
        in_source(
            "quantize_common.cc",
            "PrepareQuantizeReference",
            ONE_TO_ONE,
            *quantized(OUTPUT),
            check(QUANTIZATION, "output with 1 scale", _several_scales, "quantize the output per tensor"),
            takes(INPUT, tuple(_QUANTIZED_TO)),
            takes(OUTPUT, ("INT8", "INT16", "INT32", "UINT8")),
        ),
        in_source(
            "quantize_common.cc",
            "EvalQuantizeReference",
            check(
                TENSOR_TYPE,
                "a supported pair of types, such as FLOAT32 to INT8 or INT16",
                _unknown_pair,
                "quantize to int8",
            ),
        ),
    ),
}

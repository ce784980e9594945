"""Parsers of operators that quantise, widen and unpack (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from ...gpu_compatibility.questions import runtime_input_count
from .model import BuildError
from .reader import BHWC, NodeReader

QUANTIZE_AND_DEQUANTIZE = "QUANTIZE_AND_DEQUANTIZE"
"""Rounds float values as the quantised tensor would, since all tensors are float here."""


def parse_quantize(reader: NodeReader) -> None:
    """``QuantizeOperationParser``."""
    operation = reader.add_one_to_one(QUANTIZE_AND_DEQUANTIZE)
    if not operation.output(0).is_quantized:
        raise BuildError("gpu-build-quantization", reader.view.output(0), found="without scale and zero point")


def parse_dequantize(reader: NodeReader) -> None:
    """``DequantizeOperationParser``."""
    if runtime_input_count(reader.view):
        reader.add_one_to_one(QUANTIZE_AND_DEQUANTIZE)
        return
    reader.read(0, BHWC)
    reader.add_outputs(reader.add("CONSTANT", reader.view.input(0)))


def parse_densify(reader: NodeReader) -> None:
    """``DensifyOperationParser``."""
    source = reader.view.input(0)
    if source.sparsity is None:
        raise BuildError("gpu-build-sparsity", source)
    reader.read(0, BHWC)
    reader.add_outputs(reader.add("DENSIFY"))

"""Tensors that the runtime does not load, since the file contradicts itself about them.

Source: ``InterpreterBuilder::ParseQuantization`` and ``ParseTensors`` (``core/interpreter_builder.cc``), ``BytesRequired``
(``util.cc``).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..model.model import Model, Tensor


class InvalidTensor(NamedTuple):
    """A tensor that is not loaded: why, and what the runtime prints."""

    subgraph: int
    tensor: int
    message: str
    lines: tuple[str, ...]


_WITHOUT_SIZE = frozenset({"STRING", "RESOURCE", "VARIANT"})
"""Types whose tensors have no size before they have a value."""


@functools.lru_cache(maxsize=2)
def invalid_tensors(model: Model) -> tuple[InvalidTensor, ...]:
    """Return the tensors that are not loaded, of the first subgraph that has any: the runtime reads it to its end."""
    for subgraph in model.subgraphs:
        negative = {shape for shape in {tensor.shape for tensor in subgraph.tensors} if shape and min(shape) < 0}
        suspects = [tensor for tensor in subgraph.tensors if tensor.quantization is not None or tensor.shape in negative]
        found = [invalid for tensor in suspects if (invalid := _invalid(subgraph.index, tensor)) is not None]
        if found:
            return tuple(found)
    return ()


def _invalid(subgraph: int, tensor: Tensor) -> InvalidTensor | None:
    messages: list[str] = []
    lines: list[str] = []
    if tensor.quantization is not None:
        wrong = _wrong_quantization(tensor)
        if wrong is not None:
            messages.append(wrong[0])
            lines += [wrong[1], f"Tensor {tensor.index} has invalid quantization parameters."]
    if tensor.shape and min(tensor.shape) < 0 and tensor.type not in _WITHOUT_SIZE and not _is_sparse_constant(tensor):
        messages.append(f"its shape is {list(tensor.shape)}")
        lines += [
            "tflite/util.cc BytesRequired number of elements overflowed.",
            f"Tensor {tensor.index} is invalidly specified in schema.",
        ]
    return InvalidTensor(subgraph, tensor.index, " and ".join(messages), tuple(lines)) if messages else None


def _is_sparse_constant(tensor: Tensor) -> bool:
    return tensor.data is not None and tensor.sparsity is not None


def _wrong_quantization(tensor: Tensor) -> tuple[str, str] | None:
    """Return what is wrong with scales and zero points, in words and as the runtime says it."""
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine or not len(quantization.scales):
        return None
    scales, zero_points, dimension = len(quantization.scales), len(quantization.zero_points), quantization.dimension
    if scales != zero_points:
        line = f"QuantizationParam has {zero_points} zero_point values and {scales} scale values. Must have same number."
        if not zero_points:
            line = "Quantization parameters has non-null scale but null zero_point."
        return f"it has {scales} scales and {zero_points} zero points", line
    rank = len(tensor.shape)
    if dimension < 0 or (rank and dimension >= rank):
        line = f"quantized_dimension must be in range [0, {rank}). Was {dimension}."
        return f"it is quantised along dimension {dimension} of {rank}", line
    if scales != 1 and rank and scales != tensor.shape[dimension]:
        size = tensor.shape[dimension]
        line = f"num_scales must be 1 for per-layer quantization, or {size} for per-axis quantization, but got {scales}."
        return f"it has {scales} scales along a dimension of size {size}", line
    return None

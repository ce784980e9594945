"""Tensors that the runtime fails to load because the model file contradicts itself.

Source: ``InterpreterBuilder::ParseQuantization``, ``ParseSparsity`` and ``ParseTensors`` (``core/interpreter_builder.cc``),
``SetTensorParametersReadOnly`` and ``SetTensorParametersReadWrite`` (``core/subgraph.cc``), ``BytesRequired`` (``util.cc``).

Before LiteRT 2.1.5, the runtime reads a negative size as an unsigned 64-bit number, and loads a tensor without elements. A tensor
of a 1-byte type that seems to have 2^64 bytes fails only when memory is allocated; it is treated as not loaded. This module omits
the checks of the dimensions of multi-axis quantization, and most checks of the storage of sparse constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..foundation.limits import element_count, fits_if_unsigned
from ..model import schema
from ..model.model import OPTIONAL_TENSOR, Model, Quantization, Tensor
from ..model.numbers import as_list
from ..refusal import Refusal
from ..releases.catalogue import Release, parse_release
from ..rules.kinds import TENSOR_NOT_LOADED

_WrongTensor: TypeAlias = tuple[str, tuple[str, ...]]
"""A problem with a tensor: a description, and the lines that the runtime logs."""

_MOST = 2**64 - 1
"""The largest number of bytes that the runtime can represent."""

_FEW = _MOST >> 8
"""A number of elements that fits into ``_MOST`` bytes whatever the type is."""

_EXTERNAL_BUFFERS = parse_release("litert-2.1.2")
"""The first release that supports buffers in separate files."""

_SIGNED_SIZES = parse_release("litert-2.1.5")
"""The first release that rejects every negative size."""

_MULTI_AXIS = parse_release("litert-2.2")
"""The first release that reads multi-axis quantization."""


_BLOCK_SHAPES = parse_release("litert-2.4")
"""The first release that reads the sizes of blocks along each dimension."""


def release_features(release: Release) -> tuple[bool, ...]:
    """Return whether a release has each feature that decides which tensors are not loaded."""
    return tuple([release.is_at_least(first) for first in (_EXTERNAL_BUFFERS, _SIGNED_SIZES, _MULTI_AXIS, _BLOCK_SHAPES)])


def invalid_tensors(model: Model, release: Release) -> tuple[Refusal, ...]:
    """Return the tensors that are not loaded. The runtime stops after the first subgraph with such tensors."""
    for subgraph in model.subgraphs:
        odd = {shape for shape in {tensor.shape for tensor in subgraph.tensors} if _may_overflow(shape)}
        suspects = [
            tensor
            for tensor in subgraph.tensors
            if (tensor.data is not None or tensor.quantization is not None or tensor.is_variable or tensor.sparsity is not None)
            or tensor.shape in odd
        ]
        count = len(subgraph.tensors)
        invalid = [
            TENSOR_NOT_LOADED.refusal(
                " and ".join([problem for problem, _ in wrong]),
                subgraph=subgraph.index,
                tensor=tensor.index,
                log_lines=tuple([line for _, lines in wrong for line in lines]),
            )
            for tensor in suspects
            if (wrong := tuple(_wrong(tensor, count, release, may_overflow=tensor.shape in odd)))
        ]
        if invalid:
            return tuple(invalid)
    return ()


def _may_overflow(shape: tuple[int, ...]) -> bool:
    return min(shape, default=0) < 0 or element_count([size for size in shape if size]) > _FEW


def _wrong(tensor: Tensor, tensors: int, release: Release, *, may_overflow: bool) -> Iterator[_WrongTensor]:
    if tensor.quantization is not None:
        wrong = (
            _wrong_quantization(tensor)
            or _wrong_multi_axis(tensor.quantization, tensors, release)
            or _wrong_block_shape(tensor.quantization, len(tensor.shape), release)
        )
        if wrong is not None:
            yield wrong[0], (wrong[1], f"Tensor {tensor.index} has invalid quantization parameters.")
    for dimension in () if tensor.sparsity is None else tensor.sparsity.incomplete[:1]:
        lines = (
            f"The {dimension}th sparse dimension has invalid parameters.",
            f"Tensor {tensor.index} has invalid sparsity parameters.",
        )
        yield f"its sparse dimension {dimension} has no segments or indices", lines
    is_external = tensor.external_buffer != 0 and release.is_at_least(_EXTERNAL_BUFFERS)
    if tensor.data is not None and (tensor.is_variable or is_external):
        buffer = "buffer or external buffer" if release.is_at_least(_EXTERNAL_BUFFERS) else "buffer"
        line = f"Tensor {tensor.index} is a variable tensor with {buffer}. It's not supported now."
        yield f"it has data and is {'a variable' if tensor.is_variable else 'in an external buffer'}", (line,)
    invalid = f"Tensor {tensor.index} is invalidly specified in schema."
    if tensor.type in schema.TYPES_WITHOUT_SIZE:
        if tensor.is_variable and tensor.data is None:
            yield f"it is a variable of type {tensor.type}", ("String variable tensor isn't supported.", invalid)
    elif not (tensor.data is not None and tensor.sparsity is not None):
        overflowing = _overflowing(tensor, release) if may_overflow else ""
        if overflowing:
            line = f"tflite/util.cc BytesRequired number of {overflowing} overflowed."
            yield f"its shape is {list(tensor.shape)}", (line, invalid)
        elif tensor.data is not None and not is_external and tensor.data[1] < (required := tensor.byte_size):
            # The runtime's line is left out, because it contains a line number of the runtime's source.
            yield f"it has {tensor.data[1]} bytes of data, but its shape and type need {required}", (invalid,)


def _overflowing(tensor: Tensor, release: Release) -> str:
    is_negative = min(tensor.shape, default=0) < 0
    if (is_negative and release.is_at_least(_SIGNED_SIZES)) or not fits_if_unsigned(tensor.shape):
        return "elements"
    bits = schema.BITS_PER_ELEMENT.get(tensor.type, 0)
    elements = element_count(tensor.shape)
    return "bytes" if elements * max(bits, 8) // 8 > _MOST or (is_negative and elements) else ""


def _wrong_multi_axis(quantization: Quantization, tensors: int, release: Release) -> tuple[str, str] | None:
    if quantization.kind != "multi-axis" or not release.is_at_least(_MULTI_AXIS):
        return None
    scales, zero_points, block_size = quantization.scales_tensor, quantization.zero_points_tensor, quantization.block_size
    name = "MultiAxisQuantization"
    if not 0 <= scales < tensors:
        line = f"{name} scales tensor index must be in range [0, {tensors}). Was {scales}."
        return f"its scales are in tensor {scales}, but there are {tensors} tensors", line
    if zero_points != OPTIONAL_TENSOR and not 0 <= zero_points < tensors:
        line = f"{name} zero_points tensor index must be in range [0, {tensors}), or -1 if optional. Was {zero_points}."
        return f"its zero points are in tensor {zero_points}, but there are {tensors} tensors", line
    if block_size < 0:
        return f"its blocks have size {block_size}", f"{name} block_size must be non-negative. Was {block_size}."
    return None


def _wrong_block_shape(quantization: Quantization, rank: int, release: Release) -> tuple[str, str] | None:
    sizes = quantization.block_shape
    if sizes is None or not release.is_at_least(_BLOCK_SHAPES):
        return None
    name = "BlockwiseQuantization block_shape"
    if len(sizes) != rank:
        line = f"{name} must have one entry per dimension. Expected {rank} entries, got {len(sizes)}."
        return f"its block_shape has {len(sizes)} sizes, but the tensor has rank {rank}", line
    for index, size in enumerate(as_list(sizes)):
        if size <= 0:
            return (
                f"its block_shape has size {size}",
                f"{name} entries must be positive. Value {size} at index {index} is invalid.",
            )
    return None


def _wrong_quantization(tensor: Tensor) -> tuple[str, str] | None:
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
        return f"it is quantized along dimension {dimension}, but has rank {rank}", line
    if scales != 1 and rank and scales != tensor.shape[dimension]:
        size = tensor.shape[dimension]
        line = f"num_scales must be 1 for per-layer quantization, or {size} for per-axis quantization, but got {scales}."
        return f"it has {scales} scales along a dimension of size {size}", line
    return None

"""Pooling, resizing, detection, Fourier transforms and custom operators."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from ...foundation.printable import counted
from ...model.model import Allocation
from ...model.precompiled import custom_options
from ..kernel import KernelNode, kernel
from ..operands import ensure_positive, output_size, padding_of, unchecked_output_size
from ..tensors import KernelTensor, PrepareError, first_unknown


@kernel("CUSTOM:AudioSpectrogram")
def prepare_audio_spectrogram(node: KernelNode) -> None:
    """``kernels/audio_spectrogram.cc: Prepare`` and ``kernels/internal/spectrogram.cc: Initialize``."""
    source, result = node.operands(1)
    node.ensure(source.rank == 2, f"the input has {counted(source.rank, 'dimension')}, not 2")
    node.ensure_type(result, "FLOAT32")
    node.ensure_type(source, "FLOAT32")
    options = custom_options(node.model, node.node)
    window, stride = options.integer("window_size") or 0, options.integer("stride") or 0
    node.ensure(window >= 2, f"the window has {counted(window, 'sample')}, fewer than 2")
    node.ensure(stride >= 1, f"the stride is {stride}, below 1")
    samples, channels = source.shape
    frames = (samples - window) // stride + 1 if samples >= window else 0
    transform_length = 1 << (window - 1).bit_length()
    node.resize(result, (channels, frames, transform_length // 2 + 1))


@kernel("CUSTOM:Mfcc")
def prepare_mfcc(node: KernelNode) -> None:
    """``kernels/mfcc.cc: Prepare``."""
    spectrogram, rate, result = node.operands(2)
    node.ensure(spectrogram.rank == 3, f"the spectrogram has {counted(spectrogram.rank, 'dimension')}, not 3")
    node.ensure(rate.element_count == 1, "the rate is not a single value")
    node.ensure_type(result, "FLOAT32")
    node.ensure_type(spectrogram, "FLOAT32")
    node.ensure_type(rate, "INT32")
    coefficients = custom_options(node.model, node.node).integer("dct_coefficient_count") or 0
    node.resize(result, (*spectrogram.shape[:2], coefficients))


@kernel("CUSTOM:aeq.hadamard_rotation")
def prepare_hadamard_rotation(node: KernelNode) -> None:
    """``kernels/hadamard_rotation.cc: Prepare``."""
    node.ensure_counts(1, 1)
    node.ensure_type(node.input(0), ("FLOAT32", "INT32"))


@kernel("CUSTOM:NumericVerify")
def prepare_numeric_verify(node: KernelNode) -> None:
    """``kernels/numeric_verify.cc: Prepare``."""
    quantized, reference, result = node.operands(2)
    node.ensure_type(quantized, ("UINT8", "INT8", "INT16", "FLOAT16"))
    node.ensure_type(reference, "FLOAT32")
    result.type = "FLOAT32"
    result.allocation = Allocation.VARIABLE
    node.resize(result, quantized.shape)


@kernel("CUSTOM:TFLite_Detection_PostProcess")
def prepare_detection_postprocess(node: KernelNode) -> None:
    """``kernels/detection_postprocess.cc: Prepare``."""
    node.ensure(node.input_count == 3, f"has {counted(node.input_count, 'input')}, not 3")
    for position, rank in enumerate((3, 3, 2)):
        operand = node.input(position)
        node.ensure(operand.rank == rank, f"tensor {operand.index} has {counted(operand.rank, 'dimension')}, not {rank}")
    node.ensure(node.output_count == 4, f"has {counted(node.output_count, 'output')}, not 4")
    options = custom_options(node.model, node.node)
    boxes = (options.integer("max_detections") or 0) * (options.integer("max_classes_per_detection") or 0)
    for position, shape in enumerate(((1, boxes, 4), (1, boxes), (1, boxes), (1,))):
        result = node.output(position)
        result.type = "FLOAT32"
        _resize_if_possible(node, result, shape)


def _resize_if_possible(node: KernelNode, tensor: KernelTensor, shape: tuple[int, ...]) -> None:
    with contextlib.suppress(PrepareError):
        node.resize(tensor, shape)


@kernel("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D", changed_in=("litert-2.2.0",))
def prepare_pool_2d(node: KernelNode) -> None:
    """``kernels/pooling.cc: GenericPrepare``.

    If the window is larger than the input, the result is empty. Releases before LiteRT 2.2 compute a negative size instead.
    """
    node.ensure_counts(1, 1)
    result, source = node.output(), node.input(0)
    node.ensure_rank(source, 4)
    node.ensure(source.type == result.type, "input and output have different types")
    options = node.options
    ensure_positive(node, (options.stride_h, options.stride_w), "a stride is not positive")
    batches, height, width, channels = source.shape
    padding = padding_of(node)
    count = output_size if node.since("litert-2.2.0") else unchecked_output_size
    output_width = count(padding, width, options.filter_width, options.stride_w)
    output_height = count(padding, height, options.filter_height, options.stride_h) if output_width is not None else None
    if node.op == "L2_POOL_2D":
        node.ensure(source.type not in ("UINT8", "INT8"), "L2 pooling does not support quantized types")
    node.resize(result, (batches, output_height or 0, output_width or 0, channels))


@kernel("RESIZE_BILINEAR", changed_in=("litert-2.2.0",))
def prepare_resize_bilinear(node: KernelNode) -> None:
    """``kernels/resize_bilinear.cc: Prepare``."""
    size = _resized_to(node)
    if size is None:
        return
    options = node.options
    has_both = options.half_pixel_centers and options.align_corners
    node.ensure(not has_both, "half-pixel centers cannot be combined with aligned corners")
    ensure_positive(node, size, "a size is not positive")
    _resize_image(node, size)


@kernel("RESIZE_NEAREST_NEIGHBOR")
def prepare_resize_nearest_neighbor(node: KernelNode) -> None:
    """``kernels/resize_nearest_neighbor.cc: Prepare``."""
    size = _resized_to(node)
    if size is not None:
        _resize_image(node, size)


def _resized_to(node: KernelNode) -> list[int] | None:
    source, size, result = node.operands(2)
    node.ensure_rank(source, 4)
    node.ensure_rank(size, 1)
    if node.op != "RESIZE_BILINEAR" or node.since("litert-2.2.0"):
        node.ensure_shape(size, (2,))
    node.ensure_type(size, "INT32")
    result.type = source.type
    if not size.is_constant_or_persistent:
        node.set_dynamic(result, size)
        return None
    return size.integers()[:2]


def _resize_image(node: KernelNode, size: Sequence[int]) -> None:
    batches, _, _, channels = node.input(0).shape
    node.resize(node.output(), (batches, size[0], size[1], channels))


_SCORE_THRESHOLD = 4


@kernel("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", changed_in=("litert-2.1.6",))
def prepare_non_max_suppression(node: KernelNode) -> None:
    """``kernels/non_max_suppression.cc: Prepare``. The number of operands selects the variant."""
    node.ensure(node.input_count in (5, 6), f"has {counted(node.input_count, 'input')}, not 5 or 6")
    boxes, scores, limit = node.input(0), node.input(1), node.input(2)
    node.ensure_type(boxes, "FLOAT32")
    node.ensure(boxes.rank == 2 and boxes.shape[1] == 4, "the boxes are not rows of four")
    node.ensure_type(scores, "FLOAT32")
    node.ensure(scores.shape == boxes.shape[:1], "the scores do not have one element for each box")
    _ensure_scalar(node, limit, "INT32")
    unknown = first_unknown(limit)
    count = 0 if unknown else limit.integers()[0]
    node.ensure(count >= 0, f"the maximum number of boxes is negative ({count})")
    for position in range(3, node.input_count):
        # Earlier releases check the type of the IoU threshold twice instead of the type of the score threshold.
        is_checked = position != _SCORE_THRESHOLD or node.since("litert-2.1.6")
        _ensure_scalar(node, node.input(position), "FLOAT32" if is_checked else node.input(position).type)
    is_soft = node.input_count == 6
    outputs = 3 if is_soft else 2
    node.ensure(node.output_count == outputs, f"has {counted(node.output_count, 'output')}, not {outputs}")
    result_types = ("INT32", "FLOAT32", "INT32") if is_soft else ("INT32", "INT32")
    for position, result_type in enumerate(result_types):
        node.output(position).type = result_type
    *selected, selected_count = (node.output(position) for position in range(len(result_types)))
    node.resize(selected_count, ())
    for result in selected:
        if unknown:
            node.set_dynamic(result, unknown)
        else:
            node.resize(result, (count,))


def _ensure_scalar(node: KernelNode, tensor: KernelTensor, scalar_type: str) -> None:
    node.ensure_type(tensor, scalar_type)
    node.ensure(tensor.rank == 0, f"tensor {tensor.index} is not a scalar")


_COMPLEX_PARTS = {"COMPLEX64": "FLOAT32", "COMPLEX128": "FLOAT64"}


@kernel("REAL", "IMAG", "COMPLEX_ABS")
def prepare_complex_part(node: KernelNode) -> None:
    """``kernels/complex_support.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure_type(source, _COMPLEX_PARTS)
    node.ensure_type(result, _COMPLEX_PARTS[source.type])
    node.resize(result, source.shape)


@kernel("RFFT2D")
def prepare_rfft2d(node: KernelNode) -> None:
    """``kernels/rfft2d.cc: Prepare``."""
    source, length, result = node.operands(2)
    node.ensure(source.rank >= 2, f"the input has {counted(source.rank, 'dimension')}, fewer than 2")
    node.ensure_type(source, "FLOAT32")
    node.ensure(length.shape == (2,), "the lengths are not a vector of two elements")
    node.ensure_type(length, "INT32")
    result.type = "COMPLEX64"
    if node.made_dynamic(result, length):
        return
    height, width = length.integers()[:2]
    for size in (height, width):
        node.ensure((size & 0xFFFFFFFF).bit_count() == 1, f"the length {size} is not a power of two")
    node.resize(result, (*source.shape[:-2], height, width // 2 + 1))

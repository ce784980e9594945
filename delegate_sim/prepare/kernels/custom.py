"""Prepare functions of the custom operators that the runtime itself implements."""

from __future__ import annotations

import contextlib

from ...foundation.printable import counted
from ...model.flexbuffer import custom_options
from ...model.model import Allocation
from ..kernel import KernelNode, KernelTensor, PrepareError, kernel
from ..operands import only_operand


@kernel("CUSTOM:AudioSpectrogram")
def prepare_audio_spectrogram(node: KernelNode) -> None:
    """``kernels/audio_spectrogram.cc: Prepare`` and ``kernels/internal/spectrogram.cc: Initialize``."""
    source, result = only_operand(node)
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
    node.ensure_counts(2, 1)
    spectrogram, rate, result = node.input(0), node.input(1), node.output()
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
    node.ensure_counts(2, 1)
    quantized, reference, result = node.input(0), node.input(1), node.output()
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

"""Prepare of transforms of signals, and of the comparison that a debugger of quantised models inserts."""

from __future__ import annotations

from ..model.flexbuffer import custom_options
from ..model.model import Allocation
from .kernel import KernelNode, kernel
from .operands import first_unknown


@kernel("RFFT2D")
def prepare_rfft2d(node: KernelNode) -> None:
    """``kernels/rfft2d.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, length, result = node.input(0), node.input(1), node.output()
    node.ensure(source.rank >= 2, f"the input has {source.rank} dimensions")
    node.ensure_type(source, "FLOAT32")
    node.ensure(length.shape == (2,), "the lengths are not a vector of two elements")
    node.ensure_type(length, "INT32")
    result.type = "COMPLEX64"
    if unknown := first_unknown(length):
        node.set_dynamic(result, unknown)
        return
    height, width = length.integers()[:2]
    for size in (height, width):
        node.ensure((size & 0xFFFFFFFF).bit_count() == 1, f"the length {size} is not a power of two")
    node.resize(result, (*source.shape[:-2], height, width // 2 + 1))


@kernel("CUSTOM:AudioSpectrogram")
def prepare_audio_spectrogram(node: KernelNode) -> None:
    """``kernels/audio_spectrogram.cc: Prepare`` and ``kernels/internal/spectrogram.cc: Initialize``."""
    node.ensure_counts(1, 1)
    source, result = node.input(0), node.output()
    node.ensure(source.rank == 2, f"the input has {source.rank} dimensions")
    node.ensure_type(result, "FLOAT32")
    node.ensure_type(source, "FLOAT32")
    options = custom_options(node.model, node.node)
    window, stride = options.integer("window_size") or 0, options.integer("stride") or 0
    node.ensure(window >= 2, f"the window has {window} samples")
    node.ensure(stride >= 1, f"the stride is {stride}")
    samples, channels = source.shape
    frames = (samples - window) // stride + 1 if samples >= window else 0
    transform_length = 1 << (window - 1).bit_length()
    node.resize(result, (channels, frames, transform_length // 2 + 1))


@kernel("CUSTOM:Mfcc")
def prepare_mfcc(node: KernelNode) -> None:
    """``kernels/mfcc.cc: Prepare``."""
    node.ensure_counts(2, 1)
    spectrogram, rate, result = node.input(0), node.input(1), node.output()
    node.ensure(spectrogram.rank == 3, f"the spectrogram has {spectrogram.rank} dimensions")
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

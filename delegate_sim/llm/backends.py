"""The engine's backends, and the backend constraints of a bundle's sections.

Source: google-ai-edge/LiteRT-LM, ``runtime/executor/executor_settings_base.cc`` (names) and ``runtime/engine/engine_settings.cc``
(constraints).

Source: google-ai-edge/LiteRT-LM, ``runtime/util/magic_number_configs_helper.cc`` (the class ``MagicNumberConfigsHelper``).
"""

from __future__ import annotations

from collections.abc import Mapping

CPU, GPU, NPU, GPU_ARTISAN = "CPU", "GPU", "NPU", "GPU_ARTISAN"
CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM = "CPU_ARTISAN", "GOOGLE_TENSOR_ARTISAN", "TENSOR_LLM"
BACKENDS = (CPU, GPU, NPU, GPU_ARTISAN, CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM)
"""All backends, in the order in which the engine lists them."""
JUDGED = (CPU, GPU, NPU, GPU_ARTISAN)
"""The backends that an application can request."""

DELEGATES: Mapping[str, str] = {"mldrift": "gpu", "xnnpack": "cpu"}
"""The engine's delegates, each with its backend."""

_CONSTRAINABLE = JUDGED
_ACTIVATION_TYPES = frozenset({"float32", "fp32", "f32", "float16", "fp16", "f16", "int16", "i16", "int8", "i8", "fp32_fp16"})


def parsed_backend(text: str) -> str | None:
    """Return the backend with this name, or None if there is no such backend. Case is ignored."""
    return text.upper() if text.upper() in BACKENDS else None


def is_allowed(backend: str, constraint: str | None) -> bool:
    """Return whether a constraint allows a backend.

    The constraint is a list of backends, separated by commas. Spaces are not removed, so ``cpu, gpu`` allows only the CPU. An
    empty constraint allows nothing.
    """
    if constraint is None:
        return True
    return backend in _CONSTRAINABLE and backend in [part.upper() for part in constraint.split(",")]


def is_activation_type(text: str) -> bool:
    """Return whether the engine supports an activation type."""
    return text.lower() in _ACTIVATION_TYPES


_LEAST = 10
_STEP = 256


def is_magic(size: int) -> bool:
    """Return whether a size is a magic number, which is a prime above 10."""
    # bounded: the square root of a 32-bit size
    return size > _LEAST and all(size % divisor for divisor in range(2, int(size**0.5) + 1))


def target_of(size: int, most: int) -> int:
    """Return the size that replaces ``size``, or ``size`` itself if it is not a magic number.

    If ``most``, the number of tokens, is smaller than the magic number, return ``most``. Otherwise, return the largest multiple
    of 256 below the magic number, or the largest power of two if there is no multiple.
    """
    if not is_magic(size):
        return size
    if 0 < most < size:
        return most
    return size // _STEP * _STEP if size > _STEP else 1 << (size.bit_length() - 1)

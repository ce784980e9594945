"""The engine's backends, and the backend constraints of a bundle's sections.

Source: google-ai-edge/LiteRT-LM, ``runtime/executor/executor_settings_base.cc`` (names) and ``runtime/engine/engine_settings.cc``
(constraints).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CPU, GPU, NPU, GPU_ARTISAN = "CPU", "GPU", "NPU", "GPU_ARTISAN"
CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM = "CPU_ARTISAN", "GOOGLE_TENSOR_ARTISAN", "TENSOR_LLM"
BACKENDS = (CPU, GPU, NPU, GPU_ARTISAN, CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM)
"""All backends, in the order in which the engine lists them."""
JUDGED = (CPU, GPU, NPU, GPU_ARTISAN)
"""The backends that an application can request."""

DELEGATES: Mapping[str, str] = MappingProxyType({"mldrift": "gpu", "xnnpack": "cpu"})
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

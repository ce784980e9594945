"""Remedies that vendors publish for selected nodes that the vendor's compiler cannot compile.

No compiler was run with these remedies.
"""

from __future__ import annotations

from ..compiler_plugin import PublishedRemedy

_GOOGLE_FAQ = "https://developers.google.com/edge/tensor-sdk/tensor-faqs"
_GOOGLE_FLAGS = "https://ai.google.dev/edge/tensor-sdk/compilation-flags"
_LITERT_FLAGS = "https://github.com/google-ai-edge/LiteRT/tree/main/litert/tools/flags/vendors"

GOOGLE = (
    PublishedRemedy(
        "google_tensor_truncation_type=half google_tensor_sharding_intensity=maximum",
        "the compiler crashes or ends with INTERNAL for a chip before Tensor_G5",
        _GOOGLE_FAQ,
    ),
    PublishedRemedy("google_tensor_int64_to_int32=true", "the model has 64-bit integers", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_large_model_support=true", "the model is larger than 2 GB", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_4bit_compilation=true", "convolutions have 4-bit weights", _GOOGLE_FLAGS),
)
SAMSUNG = (PublishedRemedy("samsung_large_model_support=true", "the model is large", _LITERT_FLAGS),)

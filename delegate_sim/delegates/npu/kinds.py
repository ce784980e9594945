"""The kinds of problem that the compiler plugins and LiteRT's loader report."""

from __future__ import annotations

from ...graph.graph import Graph
from ...refusal import Refusal, Stage
from ...rules.kinds import Kind, kinds_in
from ..base import PublishedRemedy

_RULES = kinds_in("delegates/npu", "rules")
OPERATOR = _RULES["unsupported-operator"]
COMPOSITE = _RULES["composite"]
TENSOR_TYPE = _RULES["tensor-type"]
QUANTIZATION = _RULES["quantization"]
CONSTANT = _RULES["constant-operand"]
ATTRIBUTE = _RULES["attribute-value"]
CPU_CALL = _RULES["cpu-call"]
OP_FILTER = _RULES["op-filter"]
KINDS = tuple(_RULES.values())


_LOADER = {
    name: kind.reworded(
        meaning=f"LiteRT loads the file with its own loader before it calls a compiler plugin. {kind.meaning} If the loader "
        "fails, no part of the model runs on the NPU."
    )
    for name, kind in kinds_in("delegates/npu", "loader", is_shared=True, stage=Stage.READING).items()
}
ELEMENT_TYPE = _LOADER["litert-element-type"]
TENSOR_RANK = _LOADER["litert-tensor-rank"]
CHANNELS = _LOADER["litert-channel-quantization"]
OPERATOR_CODE = _LOADER["litert-operator-code"]
VARIABLE = _LOADER["litert-variable-tensor"]
VARIANT = _LOADER["litert-variant-tensor"]
INTERMEDIATE = _LOADER["litert-intermediate-tensor"]
MUTATING = _LOADER["litert-mutating-input"]
MISSING_TENSOR = _LOADER["litert-missing-tensor"]
SIGNATURE = _LOADER["litert-signature"]
LOADER_KINDS = tuple(_LOADER.values())

_PLUGINS = kinds_in("delegates/npu", "plugins", is_shared=True, stage=Stage.SELECTING)
SOC = _PLUGINS["npu-soc-model"]
FILTER_FILE = _PLUGINS["npu-filter-file"]
INPUT_RANK = _PLUGINS["npu-input-rank"]
ISLANDS = _PLUGINS["npu-partition-limit"]


def plugin_refusal(kind: Kind, graph: Graph, line: str, tensor: int | None = None) -> Refusal:
    """Return the refusal of a subgraph by a plugin. The message is the plugin's log line."""
    return kind.refusal(line, subgraph=graph.index, tensor=tensor, log_lines=(line,))


_GOOGLE_FAQ = "https://developers.google.com/edge/tensor-sdk/tensor-faqs"
_GOOGLE_FLAGS = "https://ai.google.dev/edge/tensor-sdk/compilation-flags"
_LITERT_FLAGS = "https://github.com/google-ai-edge/LiteRT/tree/main/litert/tools/flags/vendors"

GOOGLE_REMEDIES = (
    PublishedRemedy(
        "google_tensor_truncation_type=half google_tensor_sharding_intensity=maximum",
        "the compiler crashes or ends with INTERNAL for a chip before Tensor_G5",
        _GOOGLE_FAQ,
    ),
    PublishedRemedy("google_tensor_int64_to_int32=true", "the model has 64-bit integers", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_large_model_support=true", "the model is larger than 2 GB", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_4bit_compilation=true", "convolutions have 4-bit weights", _GOOGLE_FLAGS),
)
"""Remedies that Google publishes for nodes that its compiler cannot compile. No compiler was run with these remedies."""
SAMSUNG_REMEDIES = (PublishedRemedy("samsung_large_model_support=true", "the model is large", _LITERT_FLAGS),)

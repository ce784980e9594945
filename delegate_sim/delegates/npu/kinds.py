"""The kinds of problem that the compiler plugins and LiteRT's loader report."""

from __future__ import annotations

from ...graph.graph import Graph
from ...refusal import Refusal, Stage
from ...rules import kinds
from ...rules.hints import by_reshape, in_code
from ...rules.kinds import Kind, Problem
from ..base import PublishedRemedy

OPERATOR = kinds.OPERATOR.reworded(
    title="operator that the plugin does not select",
    meaning="The compiler plugin never selects this operator, whatever types and attributes the node has. The GPU or the CPU "
    "runs the operator.",
)
COMPOSITE = Kind(
    "composite",
    Problem.OPERATOR,
    "composite that the plugin does not select",
    "The plugin selects composites with certain names as a whole. LiteRT replaces all other composites by the nodes of their "
    "bodies, and the plugin checks these nodes. A composite inside a body is not replaced, so it stays on the CPU.",
    "Export the model without this composite, or without composites inside its body.",
    "export without this composite, or without composites inside its body",
)
TENSOR_TYPE = kinds.TENSOR_TYPE.reworded(
    title="type that the plugin does not map",
    meaning="Every operand and result of a node must have a type that the vendor's compiler supports.",
)
QUANTIZATION = kinds.QUANTIZATION.reworded(
    title="unsupported quantization",
    meaning="Integers with 8, 4 or 2 bits must be quantized per tensor or per channel. Integers with 16 bits must be quantized "
    "per tensor. Therefore, the plugin refuses shapes and axes of these types if they are not quantized.",
    advice="Quantize the tensor, or store shapes, axes and indices as INT32.",
    hint="quantize the tensor, or store shapes, axes and indices as INT32",
)
CONSTANT = kinds.CONSTANT.reworded(
    meaning="The value of this operand must be stored in the model file, with at least one byte.",
)
ATTRIBUTE = kinds.ATTRIBUTE.reworded(
    meaning="The plugin selects the composite only if this attribute has the required value.",
)
CPU_CALL = Kind(
    "cpu-call",
    Problem.MODEL,
    "composite for the CPU",
    "The nodes are in a composite odml.cpu_call. LiteRT never passes this composite to an NPU.",
    "If the nodes may run on the NPU, export the model without the composite.",
    "export without odml.cpu_call if the nodes may run on the NPU",
)
OP_FILTER = Kind(
    "op-filter",
    Problem.TARGET_LEVEL,
    "node excluded by an op filter",
    "The plugin's op filters select nodes by the names of their results. They exclude this node from the NPU.",
    "Change the patterns of the op filters, or compile without op filters.",
    "change the op filters, or compile without them",
)
KINDS = (OPERATOR, COMPOSITE, TENSOR_TYPE, QUANTIZATION, CONSTANT, ATTRIBUTE, CPU_CALL, OP_FILTER)


def _loader_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(
        f"litert-{name}",
        problem,
        title,
        f"LiteRT loads the file with its own loader before it calls a compiler plugin. {meaning} If the loader fails, no part of "
        "the model runs on the NPU.",
        advice,
        hint,
        is_shared=True,
        stage=Stage.READING,
    )


ELEMENT_TYPE = _loader_kind(
    "element-type",
    Problem.TYPE,
    "type that LiteRT's loader does not support",
    "The loader fails if a tensor has this type.",
    "Convert without variables (RESOURCE) before LiteRT 2.1.5, and without lists of tensors (VARIANT) before LiteRT 2.4.",
    "convert without tensors of this type",
)
TENSOR_RANK = _loader_kind(
    "tensor-rank",
    Problem.RANK,
    "more dimensions than LiteRT's loader supports",
    "The loader fails if a tensor has more than 8 dimensions.",
    "Fold dimensions with a RESHAPE.",
    by_reshape("fold dimensions with RESHAPE"),
)
CHANNELS = _loader_kind(
    "channel-quantization",
    Problem.QUANTIZATION,
    "different numbers of scales and zero points",
    "The loader fails if a tensor quantized per channel does not have one zero point for each scale. Since LiteRT 2.4, it also "
    "fails if any other tensor has different numbers of scales and zero points.",
    "Write one zero point for each scale.",
    in_code("write one zero point for each scale"),
)
OPERATOR_CODE = _loader_kind(
    "operator-code",
    Problem.OPERATOR,
    "operator that LiteRT's loader does not know",
    "Since LiteRT 2.4, the loader fails if a builtin operator of the file has a code above 206 (STABLEHLO_COMPOSITE), even if "
    "the CPU kernels run this operator.",
    "Convert without this operator, or run the model with the Interpreter instead of CompiledModel.",
    "convert without this operator",
)
VARIABLE = _loader_kind(
    "variable-tensor",
    Problem.MODEL,
    "variable tensor",
    "The loader fails if a tensor, such as the state of an LSTM or SVDF, keeps its value between runs.",
    "Use a stateless recurrent cell, and make its state an input and an output of the model.",
    "make the state an input and an output of the model",
)
VARIANT = _loader_kind(
    "variant-tensor",
    Problem.TYPE,
    "tensor that describes variants",
    "The loader fails if a tensor has a description of variant tensors.",
    "Convert without lists of tensors.",
    "convert without lists of tensors",
)
INTERMEDIATE = _loader_kind(
    "intermediate-tensor",
    Problem.OPERANDS,
    "node with intermediate tensors",
    "The loader fails if a node, such as a quantized LSTM, has intermediate tensors.",
    "Unroll the LSTM, or keep it in float.",
    "unroll the LSTM, or keep it in float",
)
MUTATING = _loader_kind(
    "mutating-input",
    Problem.OPERANDS,
    "node that lists variable inputs",
    "The loader fails if a node has the list mutating_variable_inputs, even if the list is empty.",
    "Convert with a newer converter. Newer converters do not write this list.",
    "convert with a newer converter",
)
MISSING_TENSOR = _loader_kind(
    "missing-tensor",
    Problem.MODEL,
    "missing result, or missing input or output of a subgraph",
    "The loader fails if a result of a node, or an input or output of a subgraph, is missing. Only operands of nodes may be "
    "omitted.",
    "Repair the model file.",
    "repair the model file",
)
SIGNATURE = _loader_kind(
    "signature",
    Problem.MODEL,
    "signature that does not list the inputs or outputs of its subgraph",
    "The loader fails if a signature has more or fewer inputs or outputs than its subgraph, or names a tensor or subgraph that "
    "does not exist.",
    "Write the model again, so that each signature names every input and output of its subgraph.",
    "let the signature name every input and output of its subgraph",
)
LOADER_KINDS = (
    OPERATOR_CODE,
    ELEMENT_TYPE,
    TENSOR_RANK,
    CHANNELS,
    VARIABLE,
    VARIANT,
    INTERMEDIATE,
    MUTATING,
    MISSING_TENSOR,
    SIGNATURE,
)


def _plugin_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(f"npu-{name}", problem, title, meaning, advice, hint, is_shared=True, stage=Stage.SELECTING)


SOC = _plugin_kind(
    "soc-model",
    Problem.TARGET_LEVEL,
    "unknown SoC",
    "If the SoC is not in the plugin's list, the plugin fails before it checks any node.",
    "Choose a SoC that the plugin knows. The help of the option soc lists the known SoCs.",
    "choose a SoC that the plugin knows",
)
FILTER_FILE = _plugin_kind(
    "filter-file",
    Problem.TARGET_LEVEL,
    "file of op filters that cannot be read",
    "The plugin fails if the file of op filters cannot be opened, or is not an OpFilters message in text format.",
    "Repair the file of op filters, or compile without op filters.",
    "repair the file of op filters",
)
INPUT_RANK = _plugin_kind(
    "input-rank",
    Problem.RANK,
    "input with six dimensions or more",
    "The plugin fails for the whole model if an input of any subgraph has six or more dimensions. All tensors that are not "
    "inputs may have more dimensions.",
    "Fold dimensions of the input, and restore them with a RESHAPE inside the model.",
    "fold dimensions of the input, and restore them inside the model",
)
ISLANDS = _plugin_kind(
    "partition-limit",
    Problem.LIMIT,
    "more partitions than allowed",
    "If a subgraph has more partitions than max_partitions, compilation fails, and no part of the model runs on the NPU. A "
    "limit on the partitions of a delegate has another effect: the delegate keeps the largest partitions.",
    "Raise max_partitions, or merge partitions by removing nodes that split them.",
    "raise max_partitions, or merge partitions by removing nodes that split them",
)


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

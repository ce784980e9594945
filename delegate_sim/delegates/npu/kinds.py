"""The kinds of problem that the compiler plugins and LiteRT's loader report."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

OPERATOR = kinds.OPERATOR.reworded(
    title="operator that the plugin does not select",
    meaning="The compiler plugin never selects this operator, whatever its types and attributes. The operator is left to the GPU "
    "or the CPU.",
)
COMPOSITE = Kind(
    "composite",
    Problem.OPERATOR,
    "composite that the plugin does not select",
    "The plugin selects composites with certain names as a whole. Other composites are replaced by the nodes of their "
    "bodies, and these nodes are then checked one by one. A composite inside such a body is not replaced again, so it stays "
    "on the CPU.",
    "Export the model without this composite, or without composites inside its body.",
    "export without this composite, or without composites inside its body",
)
TENSOR_TYPE = kinds.TENSOR_TYPE.reworded(
    title="type that the plugin does not map",
    meaning="Every operand and result of a node must have a type that the vendor's compiler supports.",
)
QUANTIZATION = kinds.QUANTIZATION.reworded(
    title="integers without the quantization that the plugin needs",
    meaning="Small integers are supported only as quantized values: 8 and 4 bits per tensor or per channel, 16 bits per tensor. "
    "A node is therefore refused if its shape or axis is stored as such an integer without quantization.",
    advice="Quantize the tensor, or store shapes, axes and indices as INT32.",
    hint="quantize the tensor, or store shapes, axes and indices as INT32",
)
CONSTANT = kinds.CONSTANT.reworded(
    meaning="The value of this operand must be stored in the model file, with at least one byte.",
)
ATTRIBUTE = kinds.ATTRIBUTE.reworded(
    meaning="The plugin selects the composite only if this attribute has the value that is needed.",
)
CPU_CALL = Kind(
    "cpu-call",
    Problem.MODEL,
    "composite that asks for the CPU",
    "The author of the model put these nodes into a composite odml.cpu_call, and LiteRT never passes this composite to an NPU.",
    "Export the model without the composite if the nodes may run on the NPU.",
    "export without odml.cpu_call if the nodes may run on the NPU",
)
OP_FILTER = Kind(
    "op-filter",
    Problem.TARGET_LEVEL,
    "kept off the NPU by an op filter",
    "The names of the node's results match a pattern in the plugin's file of op filters, which keeps the node off the NPU.",
    "Change the patterns, or compile without the file.",
    "change the op filters, or compile without them",
)
KINDS = (OPERATOR, COMPOSITE, TENSOR_TYPE, QUANTIZATION, CONSTANT, ATTRIBUTE, CPU_CALL, OP_FILTER)


def _loader_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(
        f"litert-{name}",
        problem,
        title,
        f"Before LiteRT calls a compiler plugin, it loads the file into a graph of its own, and {meaning}. No part of the "
        "model then runs on the NPU.",
        advice,
        hint,
        is_shared=True,
    )


ELEMENT_TYPE = _loader_kind(
    "element-type",
    Problem.TYPE,
    "type that LiteRT's loader does not have",
    "a tensor of this type makes this step fail",
    "Convert without tensors of this type: usually lists of tensors (VARIANT), or variables (RESOURCE, before 2.1.5).",
    "convert without tensors of this type",
)
TENSOR_RANK = _loader_kind(
    "tensor-rank",
    Problem.RANK,
    "more dimensions than LiteRT's loader supports",
    "a tensor of more than 8 dimensions makes this step fail",
    "Fold dimensions with a RESHAPE.",
    "fold dimensions with RESHAPE",
)
CHANNELS = _loader_kind(
    "channel-quantization",
    Problem.QUANTIZATION,
    "scales and zero points that do not match",
    "a tensor quantized per channel needs as many zero points as scales",
    "Write one zero point for each scale.",
    "write one zero point for each scale",
)
VARIABLE = _loader_kind(
    "variable-tensor",
    Problem.MODEL,
    "variable tensor",
    "a tensor that keeps its value between runs, such as the state of an LSTM or SVDF, makes this step fail",
    "Use a stateless recurrent cell, and make its state an input and an output of the model.",
    "make the state an input and an output of the model",
)
VARIANT = _loader_kind(
    "variant-tensor",
    Problem.TYPE,
    "tensor that describes variants",
    "a tensor with a description of variant tensors makes this step fail",
    "Convert without lists of tensors.",
    "convert without lists of tensors",
)
INTERMEDIATE = _loader_kind(
    "intermediate-tensor",
    Problem.OPERANDS,
    "node with intermediate tensors",
    "a node with intermediate tensors, such as a quantized LSTM, makes this step fail",
    "Unroll the LSTM, or keep it in float.",
    "unroll the LSTM, or keep it in float",
)
MUTATING = _loader_kind(
    "mutating-input",
    Problem.OPERANDS,
    "node that lists variable inputs",
    "a node with a list of the variable inputs that it changes, even an empty one, makes this step fail",
    "Convert with a newer converter, which does not write this list.",
    "convert with a newer converter",
)
MISSING_TENSOR = _loader_kind(
    "missing-tensor",
    Problem.MODEL,
    "missing result, or missing input or output of a subgraph",
    "this step fails if a result of a node is missing, or an input or output of a subgraph (only operands of nodes may be "
    "left out)",
    "Repair the model file.",
    "repair the model file",
)
LOADER_KINDS = (ELEMENT_TYPE, TENSOR_RANK, CHANNELS, VARIABLE, VARIANT, INTERMEDIATE, MUTATING, MISSING_TENSOR)


def _plugin_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(f"npu-{name}", problem, title, meaning, advice, hint, is_shared=True)


SOC = _plugin_kind(
    "soc-model",
    Problem.TARGET_LEVEL,
    "SoC that the plugin does not know",
    "The plugin fails before it checks any node if the SoC is not in its list.",
    "Name a SoC that the plugin knows: its option soc lists them.",
    "name a SoC that the plugin knows",
)
FILTER_FILE = _plugin_kind(
    "filter-file",
    Problem.TARGET_LEVEL,
    "file of op filters that cannot be read",
    "The plugin fails if the file of op filters cannot be opened, or is not an OpFilters message in text format.",
    "Repair the file, or compile without it.",
    "repair the file of op filters",
)
INPUT_RANK = _plugin_kind(
    "input-rank",
    Problem.RANK,
    "input with six dimensions or more",
    "The plugin fails for the whole model if an input of any subgraph has six or more dimensions. Other tensors may have as "
    "many.",
    "Fold dimensions of the input, and unfold them with a RESHAPE inside the model.",
    "fold dimensions of the input, and unfold them inside the model",
)
ISLANDS = _plugin_kind(
    "partition-limit",
    Problem.LIMIT,
    "more partitions than allowed",
    "If a subgraph has more partitions than max_partitions, compilation fails, and no part of the model runs on the NPU. "
    "Delegates, in contrast, keep the largest partitions up to their limit.",
    "Raise max_partitions, or merge partitions by removing nodes that split them.",
    "raise max_partitions, or merge partitions by removing nodes that split them",
)

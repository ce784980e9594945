"""The kinds of problem that the compiler plugins and LiteRT's loader report."""

from __future__ import annotations

from ...rules import kinds
from ...rules.kinds import Kind, Problem

OPERATOR = kinds.OPERATOR.reworded(
    title="operator that the plugin does not select",
    meaning="The compiler plugin does not select this operator, with any types or attributes. It is left to the GPU or the CPU.",
)
COMPOSITE = Kind(
    "composite",
    Problem.OPERATOR,
    "composite that the plugin does not select",
    "The plugin takes composites of certain names as a whole. Others are replaced by the nodes of their bodies, one level deep, "
    "and these are then judged one by one: a composite inside such a body stays on the CPU.",
    "Export the model without this composite, or so that its body has no composite in it.",
    "export without this composite, or without composites inside its body",
)
TENSOR_TYPE = kinds.TENSOR_TYPE.reworded(
    title="type that the plugin does not map",
    meaning="Every operand and result of a node must have a type that the vendor's compiler has.",
)
QUANTIZATION = kinds.QUANTIZATION.reworded(
    title="integers without the quantization that the plugin needs",
    meaning="Small integers are taken only as quantized values: 8 and 4 bits per tensor or per channel, 16 bits per tensor. A "
    "shape or an axis stored as such an integer, without quantization, refuses its node.",
    advice="Quantize the tensor, or store shapes, axes and indices as INT32.",
    hint="quantize the tensor, or store shapes, axes and indices as INT32",
)
CONSTANT = kinds.CONSTANT.reworded(
    meaning="The value of this operand must be stored in the model file, with at least one byte.",
)
ATTRIBUTE = kinds.ATTRIBUTE.reworded(
    meaning="The plugin takes the composite only with this value among its attributes.",
)
CPU_CALL = Kind(
    "cpu-call",
    Problem.MODEL,
    "composite that asks for the CPU",
    "The author of the model put these nodes into a composite odml.cpu_call, which LiteRT never gives to an NPU.",
    "Export the model without the composite if the nodes may run on the NPU.",
    "export without odml.cpu_call if the nodes may run on the NPU",
)
OP_FILTER = Kind(
    "op-filter",
    Problem.TARGET_LEVEL,
    "kept off the NPU by an op filter",
    "The file of op filters that was given to the plugin keeps this node off the NPU, by the names of its results.",
    "Change the patterns, or compile without the file.",
    "change the op filters, or compile without them",
)
KINDS = (OPERATOR, COMPOSITE, TENSOR_TYPE, QUANTIZATION, CONSTANT, ATTRIBUTE, CPU_CALL, OP_FILTER)


def _loader_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(
        f"litert-{name}",
        problem,
        title,
        f"LiteRT reads the file into a graph of its own before any compiler plugin is asked, and {meaning}. Nothing of the model "
        "then runs on the NPU.",
        advice,
        hint,
        is_shared=True,
    )


ELEMENT_TYPE = _loader_kind(
    "element-type",
    Problem.TYPE,
    "type that LiteRT's loader does not have",
    "a tensor of this type ends the reading",
    "Convert without tensors of this type: lists of tensors (VARIANT) and variables (RESOURCE, before 2.1.5) are the commonest.",
    "convert without tensors of this type",
)
TENSOR_RANK = _loader_kind(
    "tensor-rank",
    Problem.RANK,
    "more dimensions than LiteRT's loader takes",
    "a tensor of more than 8 dimensions ends the reading",
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
    "a tensor that keeps its value between runs, as the state of an LSTM or SVDF does, ends the reading",
    "Make the state an input and an output of the model, as a stateless recurrent cell.",
    "make the state an input and an output of the model",
)
VARIANT = _loader_kind(
    "variant-tensor",
    Problem.TYPE,
    "tensor that describes variants",
    "a tensor with a description of variant tensors ends the reading",
    "Convert without lists of tensors.",
    "convert without lists of tensors",
)
INTERMEDIATE = _loader_kind(
    "intermediate-tensor",
    Problem.OPERANDS,
    "node with intermediate tensors",
    "a node with intermediate tensors, as integer LSTMs have, ends the reading",
    "Unroll the LSTM, or keep it in float.",
    "unroll the LSTM, or keep it in float",
)
MUTATING = _loader_kind(
    "mutating-input",
    Problem.OPERANDS,
    "node that lists variable inputs",
    "a node that says which of its variable inputs it changes, even if none, ends the reading",
    "Convert with a newer converter, which does not write this list.",
    "convert with a newer converter",
)
MISSING_TENSOR = _loader_kind(
    "missing-tensor",
    Problem.MODEL,
    "result or interface that is left out",
    "only operands of nodes may be left out: a result, or an input or output of a subgraph, ends the reading",
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
    "The plugin fails for a SoC that is not in its list, before it looks at any node.",
    "Name a SoC that the plugin knows: its option soc lists them.",
    "name a SoC that the plugin knows",
)
FILTER_FILE = _plugin_kind(
    "filter-file",
    Problem.TARGET_LEVEL,
    "file of op filters that cannot be read",
    "The plugin fails if the file of op filters cannot be opened, or is no OpFilters message in text format.",
    "Repair the file, or compile without it.",
    "repair the file of op filters",
)
INPUT_RANK = _plugin_kind(
    "input-rank",
    Problem.RANK,
    "input with six dimensions or more",
    "The plugin fails for the whole model if an input of any subgraph has six dimensions or more; tensors inside may have them.",
    "Fold dimensions of the input, and unfold them with a RESHAPE inside the model.",
    "fold dimensions of the input, and unfold them inside the model",
)
ISLANDS = _plugin_kind(
    "partition-limit",
    Problem.LIMIT,
    "more partitions than allowed",
    "With max_partitions set, LiteRT does not keep the largest partitions, as delegates do: a subgraph with more of them is an "
    "error, and nothing of the model runs on the NPU.",
    "Raise max_partitions, or merge partitions by removing nodes that split them.",
    "raise max_partitions, or merge partitions by removing nodes that split them",
)

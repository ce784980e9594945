"""Kinds of problem: the meaning of refusal codes, shared by all delegates.

A delegate has its own wording for a kind (``Kind.reworded``) only if the general wording does not fit the delegate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from ..foundation.columns import LIST, Column, Declared, positions
from ..model.model import Tensor
from ..refusal import Effect, Refusal, Stage
from .hints import by_reshape


class Problem(Enum):
    """The subject of a refusal. The diagnosis groups causes by subject."""

    DYNAMIC_SHAPE = "dynamic-shape"
    OPERATOR_VERSION = "operator-version"
    OPERATOR = "operator"
    TARGET_LEVEL = "target-level"
    DRIVER = "driver"
    RANK = "rank"
    TYPE = "type"
    QUANTIZATION = "quantization"
    CONSTANT = "constant"
    OPERANDS = "operands"
    SHAPE = "shape"
    ATTRIBUTE = "attribute"
    NEIGHBORS = "neighbours"
    LIMIT = "limit"
    MODEL = "model"
    RELEASE = "release"


class Explanation(NamedTuple):
    """The explanation of a code: its title, its meaning, and advice."""

    title: str
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Explanations(Declared):
    """Explanations by code."""

    document = "explanations"
    columns = (
        Column(
            "codes",
            LIST,
            source=lambda own: [(code, *own.known[code]) for code in sorted(own.known)],
            parts=positions("code", *Explanation._fields),
        ),
    )

    known: Mapping[str, Explanation]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem. Checks refer to a kind by its ``name``.

    A delegate's code for the kind is ``DELEGATE-name``, or ``DELEGATE-suffix`` if there is a ``suffix``. If ``is_shared`` is
    true, the code is ``name`` for every delegate. ``title``, ``meaning`` and ``advice`` explain the code. ``hint`` says
    briefly what to change. ``native`` is the delegate's own name for the kind, or "".
    """

    name: str
    problem: Problem
    title: str
    meaning: str
    advice: str
    hint: str
    suffix: str = ""
    native: str = ""
    is_shared: bool = False
    template: str = ""
    """The message of a refusal, with a placeholder for each value. Empty if each refusal has its own message."""
    stage: Stage = Stage.BUILDING
    """The stage that refuses with a kind of failure. Rules of delegates do not use it."""
    effect: Effect = Effect.UNDO

    @property
    def explanation(self) -> Explanation:
        """The explanation of the kind's code."""
        return Explanation(self.title, self.meaning, self.advice)

    def reworded(self, **changes: Any) -> Kind:
        """Return a copy of this kind with the texts of one delegate."""
        return replace(self, **changes)

    def refusal(self, message: str, **fields: Any) -> Refusal:
        """Return a refusal of this kind. ``fields`` are further fields of the refusal."""
        return Refusal(self.name, message, **{"hint": self.hint, "stage": self.stage, "effect": self.effect, **fields})

    def failure(self, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refusal:
        """Return a refusal with the template of this kind. ``values`` fill the placeholders of the template."""
        index = None
        if tensor is not None:
            index = tensor.index
            name = f"tensor {index} ({tensor.name})" if tensor.name else f"tensor {index}"
            values = {"tensor": name, "type": tensor.type, "shape": list(tensor.shape), **values}
        return self.refusal(self.template, node=node, tensor=index, values=values)

    def code(self, delegate: str) -> str:
        """Return the code of this kind in the refusals of a delegate."""
        return self.name if self.is_shared else f"{delegate}-{self.suffix or self.name}"


def shared_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str, **fields: Any) -> Kind:
    """Return a kind that has the same code for every delegate. ``fields`` are further fields of the kind."""
    return Kind(name, problem, title, meaning, advice, hint, is_shared=True, **fields)


OPERATOR = Kind(
    "unsupported-operator",
    Problem.OPERATOR,
    "operator that the delegate does not support",
    "The delegate has no implementation of this operator.",
    "Replace the operator in the model with supported operators. Or move it to the beginning or end of the model, where it does "
    "not split the graph.",
    "replace the operator, or move it to the beginning or end of the model",
)
VERSION = Kind(
    "operator-version",
    Problem.OPERATOR_VERSION,
    "operator version above the maximum",
    "The converter raises an operator's version when a node uses a newer feature of the operator. The delegate refuses "
    "versions above a fixed maximum, even if it could run the node.",
    "Find the feature that raised the version, and switch it off in the converter.",
    "convert so that the operator keeps an older version",
)
OPERAND_COUNT = Kind(
    "operand-count",
    Problem.OPERANDS,
    "number of operands and results",
    "The operator is supported only with certain numbers of operands and results.",
    "Give the node the operands that the delegate expects.",
    "give the node the operands that the delegate expects",
)
MALFORMED_OPERANDS = Kind(
    "malformed-operands",
    Problem.OPERANDS,
    "missing operand or result that the operator requires",
    "The node lacks an operand or a result that its operator requires. The delegate does not check for missing operands and "
    "would read other memory, so its behavior cannot be predicted.",
    "Convert the model again, or correct the program that wrote the file so that the node has all its operands.",
    "give the node the operands that its operator needs",
    is_shared=True,
)
OPTIONAL_OPERAND = Kind(
    "optional-operand",
    Problem.OPERANDS,
    "optional operand left out",
    "The delegate needs an operand that the operator itself leaves optional, such as a bias.",
    "Give the node the operand, for example a bias of zeros.",
    "convert with a bias (of zeros if necessary)",
)
CONSTANT = Kind(
    "constant-operand",
    Problem.CONSTANT,
    "operand must be constant",
    "The value of this operand must be stored in the model file. Values that the runtime computes while it prepares the "
    "graph do not count as constant.",
    "Fix the shapes of the model before converting it, so that the converter folds the operand into a constant.",
    "fix the shapes before converting, so that the converter folds this operand into a constant",
)
TENSOR_TYPE = Kind(
    "tensor-type",
    Problem.TYPE,
    "type of a tensor",
    "The operator does not support a tensor of this type.",
    "Convert the model so that the tensor has a supported type, or insert a CAST.",
    "convert so that the tensor has a supported type",
)
HYBRID = Kind(
    "hybrid",
    Problem.QUANTIZATION,
    "float activations with quantized weights",
    "The operator does not support operands of different types, such as float activations with integer weights.",
    "Quantize fully (int8 with a representative data set), or keep weights and activations in the same type.",
    "quantize fully, or keep all operands in the same type",
)
RANK = Kind(
    "rank",
    Problem.RANK,
    "number of dimensions",
    "The operator supports only tensors of certain ranks.",
    "Add or fold dimensions with a RESHAPE before and after the operator.",
    by_reshape("add or fold dimensions with RESHAPE"),
)
SHAPE = Kind(
    "shape",
    Problem.SHAPE,
    "size of a dimension",
    "The operator supports only certain shapes.",
    "Change the shape in the model.",
    "change the shape in the model",
)
BROADCAST = Kind(
    "broadcast",
    Problem.SHAPE,
    "broadcast of operands",
    "The operator does not support broadcasting operands of these shapes.",
    "Give both operands the same shape, with BROADCAST_TO or by repeating the smaller one.",
    "give both operands the same shape",
)
OPERAND_VALUE = Kind(
    "operand-value",
    Problem.ATTRIBUTE,
    "value of an operand",
    "The operator does not support this value of an operand.",
    "Change the value in the model.",
    "change the value in the model",
)
ATTRIBUTE = Kind(
    "attribute-value",
    Problem.ATTRIBUTE,
    "value of an option",
    "The operator does not support this setting.",
    "Change the setting in the model.",
    "change the setting in the model",
)
ACTIVATION = Kind(
    "activation",
    Problem.ATTRIBUTE,
    "fused activation",
    "The operator cannot apply this fused activation.",
    "Keep the activation as a separate operator.",
    "keep the activation as a separate operator",
)
QUANTIZATION = Kind(
    "quantization",
    Problem.QUANTIZATION,
    "quantization parameters",
    "The operator requires certain scales and zero points.",
    "Quantize with a representative data set, and with the required scales and zero points.",
    "quantize with the required scales and zero points",
)
NEIGHBOR = Kind(
    "neighbouring-node",
    Problem.NEIGHBORS,
    "dependence on neighboring nodes",
    "The delegate's decision about this node depends on the nodes that compute its operands or read its results.",
    "Look at the refusals of the neighboring nodes.",
    "look at the refusals of the neighboring nodes",
)

DYNAMIC_TENSORS = Kind(
    "dynamic-tensors",
    Problem.DYNAMIC_SHAPE,
    "dynamic-sized tensor in the graph",
    "CPU kernels compute the sizes of tensors before a delegate is applied. If the size of a tensor is known only at run time, "
    "the runtime applies only delegates that declare support for dynamic-sized tensors.",
    "Fix the shapes of the model before converting it, so that everything that determines shapes becomes constant. The "
    "report names the dynamic tensor, the node that computes it, and the operand to make constant, if there is one.",
    "fix the shapes of the model before converting it",
    is_shared=True,
    stage=Stage.ACCEPTING,
)
CPU_KERNEL_AFTER_REMAPPING = Kind(
    "cpu-kernel-after-remapping",
    Problem.QUANTIZATION,
    "CPU node with float16 constants",
    "The delegate lets nodes read FLOAT16 constants directly instead of through a DEQUANTIZE. Some of these nodes stay on the "
    "CPU, usually because of a limit on partitions. Their CPU kernels do not support FLOAT16, so the runtime undoes all "
    "delegation.",
    "Raise the limit on partitions so that these nodes are delegated too, or convert without float16 weights.",
    "raise the limit on partitions so that the node is delegated, or convert without float16 weights",
    is_shared=True,
    stage=Stage.PREPARING,
)
CYCLIC_GRAPH = Kind(
    "cyclic-graph",
    Problem.MODEL,
    "nodes that wait for each other's results",
    "Some nodes need their own results, directly or through other nodes. The graph therefore cannot be split into partitions "
    "that run one after the other, and the runtime does not apply the delegate.",
    "Repair the model file. Converters do not write such graphs.",
    "repair the model: no node may need its own result",
    is_shared=True,
    stage=Stage.ACCEPTING,
)
PARTITION_LIMIT = Kind(
    "partition-limit",
    Problem.LIMIT,
    "beyond the limit on partitions",
    "The delegate accepts the node, but takes only a limited number of partitions: the partitions with the most nodes. The "
    "node's partition is not among these partitions.",
    "Raise the limit if more delegate kernels are worth their overhead. Or remove the refused nodes that split the graph, so "
    "that partitions merge.",
    "raise the limit, or merge partitions by removing nodes that split them",
    is_shared=True,
)
PARTITION_MINIMUM = Kind(
    "partition-minimum",
    Problem.LIMIT,
    "too few nodes in the partition",
    "The delegate accepts the node, but leaves partitions with too few nodes to the CPU. Passing tensors to a small delegate "
    "kernel costs more than the kernel saves.",
    "Remove the refused nodes that split the graph, so that partitions merge, or lower the minimum.",
    "lower the minimum, or merge partitions by removing nodes that split them",
    is_shared=True,
)
FLOAT16_DEQUANTIZE = Kind(
    "float16-dequantize",
    Problem.NEIGHBORS,
    "DEQUANTIZE of float16 weights",
    "In a model with FLOAT16 weights, the nodes read the FLOAT16 constants directly. The DEQUANTIZE nodes that unpack these "
    "constants stay on the CPU. If the delegate accepts all other nodes, it takes the DEQUANTIZE nodes too.",
    "You need not change this node. Look at the refusals of the other nodes.",
    "fix the refusals of all other nodes; the delegate then takes this node too",
    is_shared=True,
)

OPERATOR_NOT_LOADED = Kind(
    "operator-not-loaded",
    Problem.RELEASE,
    "operator that the runtime does not load",
    "When the runtime loads a model, it looks up a CPU kernel for each operator and version that the file lists. If a kernel "
    "is missing, the model does not load, even if a delegate would take the node, and even if no node uses the operator.",
    "Use a release that loads the operator (see 'delegate-sim releases'), or convert so that the "
    "operator keeps an older version. If your application registers the operator itself, use --assume-ops-registered.",
    "use a newer release of the runtime, or convert so that the operator keeps an older version",
    is_shared=True,
    stage=Stage.LOADING,
)
TENSOR_TYPE_NOT_LOADED = Kind(
    "tensor-type-not-loaded",
    Problem.RELEASE,
    "tensor of a type that the runtime does not load",
    "The file has tensors of a type that is newer than the release. The model does not load, even if a delegate would take "
    "the nodes of these tensors.",
    "Use a release that loads the type (see 'delegate-sim releases'), or convert with another type.",
    "use a newer release of the runtime, or convert with another type for this tensor",
    is_shared=True,
    stage=Stage.LOADING,
)
MODEL_NOT_LOADED = Kind(
    "not-loaded",
    Problem.MODEL,
    "model of another version of the schema",
    "The runtime loads only models of version 3 of the schema. Files from before 2018 have version 0, 1 or 2.",
    "Convert the model again, with a converter that writes version 3.",
    "convert the model again: no release loads this version of the schema",
    is_shared=True,
    stage=Stage.LOADING,
)
TENSOR_NOT_LOADED = Kind(
    "tensor-not-loaded",
    Problem.MODEL,
    "tensor that the runtime does not load",
    "The file contradicts itself about a tensor. For example, the number of scales is wrong, a size is below 0, the data is "
    "shorter than the shape requires, or a variable has data. The release does not load the model, with or without a delegate.",
    "Correct the tensor in the program that writes the model. The refusal's message names the problem.",
    "correct the tensor: no release loads the model",
    is_shared=True,
    stage=Stage.LOADING,
)
NODE_NOT_LOADED = Kind(
    "node-not-loaded",
    Problem.MODEL,
    "node with parameters that the runtime does not load",
    "The node lacks parameters that its operator requires, or has parameters that the runtime does not know or cannot store. "
    "No release loads the model, with or without a delegate.",
    "Correct the parameters in the program that writes the model. The refusal's message names the parameters.",
    "correct the node's parameters: no release loads the model",
    is_shared=True,
    stage=Stage.LOADING,
)
CPU_KERNEL_NOT_PREPARED = Kind(
    "cpu-kernel-not-prepared",
    Problem.MODEL,
    "node that the CPU kernel cannot prepare",
    "While tensors are allocated, each CPU kernel checks the types, shapes and parameters of its node. The kernel of this "
    "node refuses the node. Most delegates are applied only after all CPU kernels are prepared, so these delegates never get "
    "the graph. A delegate that supports dynamic-sized tensors is applied before the CPU kernels are prepared. If such a "
    "delegate takes the node, the model runs.",
    "Correct the node. The refusal's message says what the kernel refuses.",
    "correct the node: it does not run on the CPU either",
    is_shared=True,
    stage=Stage.PREPARING,
)

OPERATOR_NOT_REGISTERED = Kind(
    "operator-not-registered",
    Problem.MODEL,
    "custom operator that is not registered",
    "The runtime itself has kernels for only five custom operators. The application must register all other custom operators "
    "and TensorFlow's own operators (Flex), or link a library that registers them. Without a kernel for the node, tensors "
    "cannot be allocated, and most delegates are never applied.",
    "Register the operator with the interpreter's resolver. For TensorFlow's operators, link the Flex delegate. Then "
    "analyze the model with --assume-ops-registered. Alternatively, convert the model without this operator.",
    "register the operator with the interpreter (for Flex operators, link the Flex delegate) and analyze with "
    "--assume-ops-registered; or convert without this operator",
    is_shared=True,
    stage=Stage.PREPARING,
)

NOT_ACCELERATED = Kind(
    "not-fully-accelerated",
    Problem.MODEL,
    "CPU node without the CPU as an accelerator",
    "The application did not name the CPU among the accelerators. The model fails if no accelerator takes a node.",
    "Add the CPU to the accelerators, or change the refused nodes.",
    "add the CPU to the accelerators, or change the refused nodes",
    is_shared=True,
    template="the CPU is not among the accelerators, and {problem}",
    effect=Effect.FAIL_LATER,
)

NOT_PREPARED_KINDS = (CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED)
"""The problems of nodes that the CPU kernels cannot prepare."""

NOT_LOADED_KINDS = (MODEL_NOT_LOADED, OPERATOR_NOT_LOADED, TENSOR_TYPE_NOT_LOADED, TENSOR_NOT_LOADED, NODE_NOT_LOADED)
"""The problems of models that the runtime cannot load."""

RUNTIME_KINDS = (
    MALFORMED_OPERANDS,
    DYNAMIC_TENSORS,
    CPU_KERNEL_AFTER_REMAPPING,
    CYCLIC_GRAPH,
    *NOT_LOADED_KINDS,
    *NOT_PREPARED_KINDS,
    NOT_ACCELERATED,
)
"""Problems of the runtime itself. They can occur with any delegate."""

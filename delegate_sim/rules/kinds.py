"""Kinds of problem: the meaning of refusal codes, shared by all delegates.

A delegate uses its own wording for a kind only if the problem really differs (``Kind.reworded``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple


class Problem(Enum):
    """The subject of a refusal. All delegates share these subjects, and the diagnosis groups causes by subject."""

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
class Kind:
    """A kind of problem.

    Checks refer to a kind by its ``name``. A delegate's code for the kind is ``DELEGATE-name``, or ``DELEGATE-suffix`` if there
    is a ``suffix``. If ``is_shared`` is true, the code is the kind's name, for every delegate. ``title``, ``meaning`` and
    ``advice`` explain the code, and ``hint`` says in a few words what to change. ``native`` is the delegate's own name for the
    kind, if any.
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

    @property
    def explanation(self) -> Explanation:
        """The explanation of the kind's code."""
        return Explanation(self.title, self.meaning, self.advice)

    def reworded(self, **changes: Any) -> Kind:
        """Return a copy of this kind in a delegate's own words. The name stays the same."""
        return replace(self, **changes)

    def code(self, delegate: str) -> str:
        """Return the code of this kind in a delegate's refusals."""
        return self.name if self.is_shared else f"{delegate}-{self.suffix or self.name}"


def shared_kind(name: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    """Return a kind whose code is its name, so that the code is the same for every delegate."""
    return Kind(name, problem, title, meaning, advice, hint, is_shared=True)


OPERATOR = Kind(
    "unsupported-operator",
    Problem.OPERATOR,
    "operator that the delegate does not have",
    "The delegate has no implementation of this operator.",
    "Replace the operator in the model with supported ones, or leave it to the CPU at the beginning or end of the model, where "
    "it does not split the graph.",
    "replace the operator, or move it to the beginning or end of the model",
)
VERSION = Kind(
    "operator-version",
    Problem.OPERATOR_VERSION,
    "operator version above the maximum",
    "The converter raises an operator's version when a node uses a newer feature of it. The delegate takes versions only up to a "
    "fixed maximum, whether or not it could run the node.",
    "Find the feature that raised the version and switch it off in the converter.",
    "convert so that the operator keeps an older version",
)
OPERAND_COUNT = Kind(
    "operand-count",
    Problem.OPERANDS,
    "number of operands and results",
    "The operator is taken only with certain numbers of operands and results.",
    "Give the node the operands that the delegate expects.",
    "give the node the operands that the delegate expects",
)
MALFORMED_OPERANDS = Kind(
    "malformed-operands",
    Problem.OPERANDS,
    "operand or result missing that the operator cannot do without",
    "The node has fewer operands or results than its operator needs, or leaves out one that is not optional. The "
    "delegate does not test this and would read other memory, so its behavior cannot be predicted.",
    "Convert the model again, or give the node its operands in the program that wrote the file.",
    "give the node the operands that its operator needs",
    is_shared=True,
)
OPTIONAL_OPERAND = Kind(
    "optional-operand",
    Problem.OPERANDS,
    "optional operand left out",
    "The delegate needs an operand that the operator itself leaves optional, such as a bias.",
    "Give the node the operand, for example a bias of zeros.",
    "convert with a bias, of zeros if need be",
)
CONSTANT = Kind(
    "constant-operand",
    Problem.CONSTANT,
    "operand must be constant",
    "The value of this operand must be stored in the model file. Values that the runtime computes while it prepares the graph "
    "do not count.",
    "Fix the shapes of the model before converting it, so that the converter folds the operand into a constant.",
    "fix the shapes before converting, so that the converter folds this operand into a constant",
)
TENSOR_TYPE = Kind(
    "tensor-type",
    Problem.TYPE,
    "type of a tensor",
    "The operator is not taken with a tensor of this type.",
    "Convert the model so that the tensor has a supported type, or insert a CAST.",
    "convert so that the tensor has a supported type",
)
HYBRID = Kind(
    "hybrid",
    Problem.QUANTIZATION,
    "float activations with quantized weights",
    "The operator is not taken with operands of different types, such as float activations with integer weights.",
    "Quantize fully (int8 with a representative data set), or keep weights and activations in one type.",
    "quantize fully, or keep all operands in one type",
)
RANK = Kind(
    "rank",
    Problem.RANK,
    "number of dimensions",
    "The operator is taken only with tensors of certain ranks.",
    "Add or fold dimensions with a RESHAPE around the operator.",
    "add or fold dimensions with RESHAPE",
)
SHAPE = Kind(
    "shape",
    Problem.SHAPE,
    "size of a dimension",
    "The operator is taken only with certain shapes.",
    "Change the shape in the model.",
    "change the shape in the model",
)
BROADCAST = Kind(
    "broadcast",
    Problem.SHAPE,
    "broadcast of operands",
    "The operator does not broadcast its operands against each other in this way.",
    "Give both operands the same shape, with BROADCAST_TO or by repeating the smaller one.",
    "give both operands the same shape",
)
OPERAND_VALUE = Kind(
    "operand-value",
    Problem.ATTRIBUTE,
    "value of an operand",
    "The operator is not taken with this value of an operand.",
    "Change the value in the model.",
    "change the value in the model",
)
ATTRIBUTE = Kind(
    "attribute-value",
    Problem.ATTRIBUTE,
    "value of an option",
    "The operator is not taken with this setting.",
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
    "The operator requires particular quantization parameters.",
    "Quantize with a representative data set, and with the parameters that are required.",
    "quantize with the parameters that are required",
)
NEIGHBOR = Kind(
    "neighbouring-node",
    Problem.NEIGHBORS,
    "depends on the nodes around it",
    "Whether the node is taken depends on the nodes that produce its operands or read its results.",
    "Look at the reasons of the nodes around it.",
    "look at the reasons of the nodes around it",
)

DYNAMIC_TENSORS = Kind(
    "dynamic-tensors",
    Problem.DYNAMIC_SHAPE,
    "dynamic-sized tensor in the graph",
    "Before a delegate is applied, the CPU kernels prepare the graph. If the size of a tensor is known only at run "
    "time, the runtime applies only delegates that declare support for such tensors.",
    "Fix the shapes of the model before converting it, so that everything that determines shapes becomes constant. The report "
    "names the tensor, the node that makes it dynamic and, if there is one, the operand that would have to be constant.",
    "fix the shapes of the model before converting it",
    is_shared=True,
)
CPU_KERNEL_AFTER_REMAPPING = Kind(
    "cpu-kernel-after-remapping",
    Problem.QUANTIZATION,
    "CPU node left with float16 constants",
    "The delegate lets nodes read float16 constants directly instead of through DEQUANTIZE, but then did not get all of these "
    "nodes, usually because of a limit on partitions. The CPU kernels of the remaining nodes do not take float16, so the "
    "runtime undoes all delegation.",
    "Raise the limit on partitions so that these nodes are delegated too, or convert without float16 weights.",
    "raise the limit on partitions so that the node is delegated, or convert without float16 weights",
    is_shared=True,
)
CYCLIC_GRAPH = Kind(
    "cyclic-graph",
    Problem.MODEL,
    "nodes that wait for each other",
    "Some nodes need their own results, directly or through others, so the graph cannot be split into partitions that run one "
    "after the other. The runtime does not apply the delegate.",
    "Repair the model file: no converter writes such graphs.",
    "repair the model: no node may need its own result",
    is_shared=True,
)
PARTITION_LIMIT = Kind(
    "partition-limit",
    Problem.LIMIT,
    "beyond the limit on partitions",
    "The delegate accepts the node, but takes only a limited number of partitions, those with the most nodes first, and the "
    "node's partition is not among them.",
    "Raise the limit if the overhead of more delegate kernels pays off, or remove the refused nodes that split the graph, so "
    "that partitions merge.",
    "raise the limit, or merge partitions by removing nodes that split them",
    is_shared=True,
)
PARTITION_MINIMUM = Kind(
    "partition-minimum",
    Problem.LIMIT,
    "below the minimum of nodes",
    "The delegate accepts the node, but leaves partitions with too few nodes to the CPU: handing tensors over would cost more "
    "than such a kernel saves.",
    "Remove the refused nodes that split the graph, so that partitions merge, or lower the minimum.",
    "lower the minimum, or merge partitions by removing nodes that split them",
    is_shared=True,
)
FLOAT16_DEQUANTIZE = Kind(
    "float16-dequantize",
    Problem.NEIGHBORS,
    "DEQUANTIZE of float16 weights",
    "In a model with float16 weights the nodes read the float16 constants directly. The DEQUANTIZE nodes that widen them stay "
    "on the CPU, unless every other node is accepted: then the delegate takes the whole graph.",
    "Nothing needs to be done about this node: look at the reasons of the other nodes.",
    "make every other node acceptable; this one is then taken with them",
    is_shared=True,
)

OPERATOR_NOT_LOADED = Kind(
    "operator-not-loaded",
    Problem.RELEASE,
    "operator that the runtime does not load",
    "Before anything else the runtime looks up each operator that the file lists, in its version, among its own "
    "kernels. If one is missing, the model does not load: whether a delegate would take the node does not "
    "matter, nor whether a node uses the operator at all.",
    "Use a release of the runtime that loads it (delegate-sim releases says which), or convert so that the operator keeps an "
    "older version. An application that registers the operator itself loads the model: say so with --assume-ops-registered.",
    "use a newer release of the runtime, or convert so that the operator keeps an older version",
    is_shared=True,
)
TENSOR_TYPE_NOT_LOADED = Kind(
    "tensor-type-not-loaded",
    Problem.RELEASE,
    "tensor of a type that the runtime does not load",
    "The file has tensors of a type that is newer than the release, so the model does not load: whether a delegate would take "
    "their nodes does not matter.",
    "Use a release of the runtime that loads the type (delegate-sim releases says which), or convert with another type.",
    "use a newer release of the runtime, or convert with another type for this tensor",
    is_shared=True,
)
TENSOR_NOT_LOADED = Kind(
    "tensor-not-loaded",
    Problem.MODEL,
    "tensor that the runtime does not load",
    "The file contradicts itself about a tensor: it has neither one scale nor one for each slice, a size below 0, more elements "
    "than can be counted, less data than its shape and type need, or data though it is a variable. The release does not load "
    "the model, whatever a delegate would take.",
    "Repair the tensor in the source of the model: the message says what is wrong with it.",
    "repair the tensor: no release loads the model",
    is_shared=True,
)
NODE_NOT_LOADED = Kind(
    "node-not-loaded",
    Problem.MODEL,
    "node whose parameters the runtime does not load",
    "The node lacks parameters that its operator requires, or has parameters that the runtime does not know or has no "
    "room for. No release loads the model, with any delegate.",
    "Give the node its parameters where the model is made: the message says which.",
    "give the node its parameters: no release loads the model",
    is_shared=True,
)
CPU_KERNEL_NOT_PREPARED = Kind(
    "cpu-kernel-not-prepared",
    Problem.MODEL,
    "node that the CPU kernel cannot prepare",
    "A CPU kernel checks its node's types, shapes and parameters while tensors are allocated, and refuses this one. Delegates "
    "that do not take dynamic-sized tensors are applied after all CPU kernels have been prepared, so they are never asked. Those "
    "that take them are asked first: the model runs if they take the node.",
    "Repair the node: the message says what its kernel refuses.",
    "repair the node: it does not run on the CPU either",
    is_shared=True,
)

OPERATOR_NOT_REGISTERED = Kind(
    "operator-not-registered",
    Problem.MODEL,
    "custom operator that nobody registers",
    "The runtime has kernels for five custom operators. All others, and those of TensorFlow itself (Flex), come from the "
    "application or from a library that it links; without one the node has no kernel, tensors cannot be allocated, and delegates "
    "that do not take dynamic-sized tensors are never asked.",
    "Register the operator with the interpreter's resolver, or link the Flex delegate for those of TensorFlow, and say so with "
    "--assume-ops-registered; or convert the model without it.",
    "register it with the interpreter (for Flex operators link the Flex delegate) and analyze with "
    "--assume-ops-registered; or convert without it",
    is_shared=True,
)

NOT_PREPARED_KINDS = (CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED)
"""The problems that keep the runtime from preparing a node for the CPU."""

NOT_LOADED_KINDS = (OPERATOR_NOT_LOADED, TENSOR_TYPE_NOT_LOADED, TENSOR_NOT_LOADED, NODE_NOT_LOADED)
"""The problems that keep the runtime from loading a model."""

RUNTIME_KINDS = (
    MALFORMED_OPERANDS,
    DYNAMIC_TENSORS,
    CPU_KERNEL_AFTER_REMAPPING,
    CYCLIC_GRAPH,
    *NOT_LOADED_KINDS,
    *NOT_PREPARED_KINDS,
)
"""Problems of the runtime itself, which can occur with any delegate."""

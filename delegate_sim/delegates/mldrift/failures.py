"""Failures of models whose nodes were accepted: problem codes and wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ...rules.kinds import Kind, Problem
from ..decision import Decision, FailureWording, KernelFailure, kernel_failure

LITERT_LOADER = Kind(
    "litert-loader",
    Problem.MODEL,
    "model that LiteRT's own loader refuses",
    "An application of LiteRT 2 loads a model with LiteRT's own reader before the interpreter sees it. It refuses what the "
    "interpreter of TFLite loads: variable tensors, as in stateful LSTM cells, operators with intermediate tensors, and types "
    "such as VARIANT. No accelerator is then asked.",
    "Convert without variables and resources: pass state in and out as tensors of the model.",
    "convert without variables and resources, and pass state as inputs and outputs",
    is_shared=True,
)
HINT_NOT_MET = Kind(
    "hint-not-met",
    Problem.MODEL,
    "hint that the delegate takes the whole model",
    "The application promised that one delegate takes every node of every subgraph. If a node is left over, the model fails.",
    "Leave the hint out (hint_fully_delegated), or change the nodes that are refused.",
    "leave the hint out, or change the nodes that are refused",
    is_shared=True,
)
NOT_ACCELERATED = Kind(
    "not-fully-accelerated",
    Problem.MODEL,
    "nodes left over without the CPU",
    "The application did not name the CPU among the accelerators, so that a node which no other takes fails the model.",
    "Name the CPU too (cpu_fallback), or change the nodes that are refused.",
    "name the CPU among the accelerators, or change the nodes that are refused",
    is_shared=True,
)
CONSTANT_READ = Kind(
    "mldrift-build-constant",
    Problem.CONSTANT,
    "constant where a value of the GPU is read",
    "ML Drift accepts the node, but reads this operand only from GPU memory while it builds its model. Constants are not there, "
    "and a check ends the process.",
    "Compute the operand at run time, or fold the node.",
    "compute the operand at run time, or fold the node",
    is_shared=True,
)
CONSTANT_TYPE = Kind(
    "mldrift-build-type",
    Problem.TYPE,
    "type that is not read while the model is built",
    "ML Drift accepts the node, but does not read values of this type while it builds its model. A check ends the process.",
    "Convert so that the tensor is float, or quantized with a scale.",
    "convert so that the tensor is float, or quantized with a scale",
    is_shared=True,
)
WEIGHTS = Kind(
    "mldrift-build-weights",
    Problem.CONSTANT,
    "weights that the model cannot be built with",
    "ML Drift accepts the node, but takes such weights, tables or values for granted to be constants of a certain form while it "
    "builds its model. The process ends.",
    "Make the operand a constant of the model, with one scale if it is quantized, and another than the input.",
    "make the operand a constant of the model with one scale",
    is_shared=True,
)
AXES = Kind(
    "mldrift-build-axis",
    Problem.CONSTANT,
    "axis that is not turned into one of the four",
    "ML Drift accepts the node, but takes the axis or the permutation as it is while it builds its model: CUMSUM counts the "
    "dimensions from the last of four, and TRANSPOSE counts from the first and knows no negative numbers. The process ends.",
    "Write axes as numbers from 0 on and, for CUMSUM, counted as the dimensions of a tensor of rank 4 are.",
    "write the axis as a number from 0 on",
    is_shared=True,
)
BATCH = Kind(
    "mldrift-build-batch",
    Problem.SHAPE,
    "batches that do not fit",
    "ML Drift accepts the node, but has no kernel for the batches that the first dimension of a tensor stands for: "
    "a constant that DEQUANTIZE widens is built without batches, the condition of SELECT has other batches than the result, a "
    "matrix product with quantized weights turns rows into batches, or PRELU has a slope for each element and several batches. "
    "The last three were seen with WebGPU.",
    "Give the tensor a first dimension of 1, with RESHAPE if need be; keep the dimensions of a matrix product's input.",
    "give the tensor a first dimension of 1",
    is_shared=True,
)
EMPTY = Kind(
    "mldrift-build-empty",
    Problem.SHAPE,
    "result without elements",
    "ML Drift accepts the node, but divides by the size of a dimension of its result while it makes shaders: 0 batches, rows or "
    "columns end the process (seen with WebGPU), no channels do not.",
    "Remove nodes whose tensors have no elements.",
    "remove nodes whose tensors have no elements",
    is_shared=True,
)
CHANNELS = Kind(
    "mldrift-build-channels",
    Problem.SHAPE,
    "channels that do not fill one vector",
    "ML Drift accepts the node, but searches for the largest elements in whole vectors of four channels: fewer divide by "
    "zero (seen with WebGPU). It says that other numbers that 4 does not divide are not supported, and goes on.",
    "Pad the last dimension to a multiple of 4.",
    "pad the last dimension to a multiple of 4",
    is_shared=True,
)
LOWERED = Kind(
    "mldrift-build-composite",
    Problem.OPERATOR,
    "composite that ends the process",
    "ML Drift accepts the composite, but the binaries of LiteRT for Linux on x86-64 end the process while they mark its "
    "decomposition as not needed. It is not known of other platforms.",
    "Run the model on another platform, or convert without the composite.",
    "run the model on another platform, or convert without the composite",
    is_shared=True,
)

SIZE = Kind(
    "mldrift-build-size",
    Problem.OPERATOR,
    "result whose size is not read",
    "ML Drift accepts TransformTensor and TransformTensorBilinear of MediaPipe, but takes 0 for the height and the width of "
    "their results while it builds its model (seen with WebGPU, with and without custom options). The process ends.",
    "Transform the tensor in the application, or run the model on another backend.",
    "transform the tensor in the application, or use another backend",
    is_shared=True,
)
WITHOUT_KERNEL = Kind(
    "mldrift-build-operator",
    Problem.OPERATOR,
    "operator without a kernel",
    "ML Drift accepts AlignmentPointsToTransformMatrix of MediaPipe, but has no kernel for it (seen with WebGPU).",
    "Compute the matrix in the application, or run the model on another backend.",
    "compute the matrix in the application, or use another backend",
    is_shared=True,
)


def _crash(message: str, kind: Kind) -> FailureWording:
    return FailureWording(message, kind, is_crash=True)


WORDINGS: Mapping[str, FailureWording] = MappingProxyType(
    {
        LITERT_LOADER.name: FailureWording("LiteRT does not load the model: {problem}", LITERT_LOADER),
        HINT_NOT_MET.name: FailureWording("the hint says that the delegate takes all nodes, and {problem}", HINT_NOT_MET),
        NOT_ACCELERATED.name: FailureWording(
            "the CPU is not among the accelerators, and {problem}: the model fails", NOT_ACCELERATED
        ),
        CONSTANT_READ.name: _crash("{tensor} is a constant, and is read as a value", CONSTANT_READ),
        CONSTANT_TYPE.name: _crash("{tensor} of type {type} is not read", CONSTANT_TYPE),
        WEIGHTS.name: _crash("the model cannot be built with {tensor} as it is", WEIGHTS),
        AXES.name: _crash("the axes in {tensor} are taken as they are", AXES),
        BATCH.name: FailureWording("{tensor} of shape {shape} has batches that the kernel does not fit", BATCH),
        EMPTY.name: _crash("{tensor} of shape {shape} has no batches, rows or columns", EMPTY),
        CHANNELS.name: _crash("{tensor} of shape {shape} has fewer than 4 channels", CHANNELS),
        LOWERED.name: _crash("the composite that gives {tensor} ends the process", LOWERED),
        SIZE.name: _crash("the height and the width of {tensor} are not read", SIZE),
        WITHOUT_KERNEL.name: FailureWording("there is no kernel for the operator that gives {tensor}", WITHOUT_KERNEL),
    }
)

_HINT_LINE = "Hint fully delegated to single delegate is set, but the graph is not fully delegated."


def _left_over(decision: Decision, left: Sequence[int]) -> str:
    if not left:
        return "its nodes make more than one kernel"
    first = f"node {left[0]} ({decision.graph.nodes[left[0]].op})"
    return f"{first} is left over" if len(left) == 1 else f"{len(left)} nodes are left over, the first is {first}"


def hint_not_met(decision: Decision, left: Sequence[int]) -> KernelFailure:
    """Return the failure of a subgraph whose nodes ``left`` stay on the CPU, although the hint promises a single GPU kernel."""
    node = left[0] if left else None
    return replace(kernel_failure(WORDINGS, HINT_NOT_MET.name, node, problem=_left_over(decision, left)), log_lines=(_HINT_LINE,))


def not_fully_accelerated(decision: Decision, left: Sequence[int]) -> KernelFailure:
    """Return the failure of a model whose nodes ``left`` stay on the CPU, although the options do not allow this."""
    failure = kernel_failure(WORDINGS, NOT_ACCELERATED.name, left[0], problem=_left_over(decision, left))
    return replace(failure, is_later=True)

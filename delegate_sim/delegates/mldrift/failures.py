"""Failures of models with only supported nodes: problem codes and wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...model.model import Node
from ...refusal import Effect, Phrase, Refusal, Stage, node_place
from ...rules.kinds import NOT_ACCELERATED, Kind, Problem
from ..decision import kinds_by_code

LITERT_LOADER = Kind(
    "litert-loader",
    Problem.MODEL,
    "model that LiteRT's own loader refuses",
    "LiteRT 2 loads a model with its own loader before the interpreter gets the model. This loader refuses variable tensors "
    "(as in stateful LSTM cells), operators with intermediate tensors and, in older releases, types such as VARIANT. TFLite's "
    "interpreter accepts all of these. If the loader refuses a model, no accelerator gets the model.",
    "Convert without variables and resources: pass state in and out as tensors of the model.",
    "convert without variables and resources, and pass state as inputs and outputs",
    is_shared=True,
    template="LiteRT does not load the model: {problem}",
    stage=Stage.LOADING,
)
HINT_NOT_MET = Kind(
    "hint-not-met",
    Problem.MODEL,
    "CPU node despite the hint of full delegation",
    "The application gave the hint that one delegate takes every node of every subgraph. If a node stays on the CPU, the "
    "model fails.",
    "Do not give the hint (hint_fully_delegated), or change the refused nodes.",
    "do not give the hint, or change the refused nodes",
    is_shared=True,
    template="the hint says that the GPU takes all nodes, but {problem}",
)
CONSTANT_READ = Kind(
    "mldrift-build-constant",
    Problem.CONSTANT,
    "constant in place of a GPU tensor",
    "ML Drift accepts the node, but later looks for this operand in GPU memory. GPU memory does not contain constants, so a "
    "check ends the process.",
    "Compute the operand at run time, or fold the node into a constant.",
    "compute the operand at run time, or fold the node into a constant",
    is_shared=True,
    template="{tensor} is a constant, but ML Drift looks for it in GPU memory",
    effect=Effect.CRASH,
)
CONSTANT_TYPE = Kind(
    "mldrift-build-type",
    Problem.TYPE,
    "constant of a type that ML Drift cannot read",
    "ML Drift accepts the node, but cannot read constants of this type while it builds its model. A check ends the process.",
    "Convert the model so that the tensor is float, or quantized with a scale.",
    "convert the model so that the tensor is float, or quantized with a scale",
    is_shared=True,
    template="{tensor} has type {type}, which ML Drift cannot read",
    effect=Effect.CRASH,
)
WEIGHTS = Kind(
    "mldrift-build-weights",
    Problem.CONSTANT,
    "unsupported weights",
    "ML Drift accepts the node without checking these weights, tables or values. Later, ML Drift requires constants of a "
    "certain form. If the operand has another form, the process ends.",
    "Store the operand in the model as a constant, with one scale if it is quantized. Do not use one tensor both as this "
    "operand and as the input.",
    "store the operand in the model as a constant with one scale",
    is_shared=True,
    template="ML Drift cannot build its model with {tensor}",
    effect=Effect.CRASH,
)
AXES = Kind(
    "mldrift-build-axis",
    Problem.CONSTANT,
    "unsupported axis or permutation",
    "ML Drift accepts the node, but does not convert the axis or the permutation to its own four dimensions. CUMSUM uses the "
    "axis as an index into four dimensions. TRANSPOSE does not handle negative numbers. The process ends.",
    "Give each axis as a number of 0 or more. For CUMSUM, count the axis as if the tensor had rank 4.",
    "give the axis as a number of 0 or more",
    is_shared=True,
    template="ML Drift does not convert the axes in {tensor} to its own dimensions",
    effect=Effect.CRASH,
)
BATCH = Kind(
    "mldrift-build-batch",
    Problem.SHAPE,
    "unsupported batch size",
    "ML Drift accepts the node, but has no kernel for these batch sizes. On every backend, there is no kernel for a DEQUANTIZE "
    "of a constant with batches, and for a matrix product that has quantized weights and turns rows into batches (seen with "
    "OpenCL and WebGPU). WebGPU lacks kernels for two further cases. The first case is a SELECT if the batch sizes of condition "
    "and result differ. The second case is a PRELU that has several batches, and one slope for each element.",
    "Give the tensor a first dimension of 1, with a RESHAPE if necessary. For a matrix product, keep the dimensions of the "
    "input.",
    "give the tensor a first dimension of 1",
    is_shared=True,
    template="{tensor} of shape {shape} has a batch size for which there is no kernel",
)
EMPTY = Kind(
    "mldrift-build-empty",
    Problem.SHAPE,
    "result without elements",
    "ML Drift accepts the node, but divides by the sizes of the result while it generates shaders. If the result has 0 "
    "batches, rows or columns, the process ends (seen with WebGPU). A result with 0 channels causes no failure.",
    "Remove nodes with tensors that have no elements.",
    "remove nodes with tensors that have no elements",
    is_shared=True,
    template="{tensor} of shape {shape} has no batches, rows or columns",
    effect=Effect.CRASH,
)
CHANNELS = Kind(
    "mldrift-build-channels",
    Problem.SHAPE,
    "fewer than four channels",
    "ML Drift accepts the node, but searches for the largest elements in vectors of four channels. With fewer than four "
    "channels, it divides by zero (seen with WebGPU). If a larger number of channels is not a multiple of 4, ML Drift only "
    "prints a message.",
    "Pad the last dimension to a multiple of 4.",
    "pad the last dimension to a multiple of 4",
    is_shared=True,
    template="{tensor} of shape {shape} has fewer than 4 channels",
    effect=Effect.CRASH,
)
LOWERED = Kind(
    "mldrift-build-composite",
    Problem.OPERATOR,
    "composite that ends the process",
    "ML Drift accepts the composite, but LiteRT's binaries for Linux on x86-64 end the process while they mark the "
    "composite's decomposition as unneeded. For other platforms, the result is unknown.",
    "Run the model on another platform, or convert without the composite.",
    "run the model on another platform, or convert without the composite",
    is_shared=True,
    template="the composite that computes {tensor} ends the process",
    effect=Effect.CRASH,
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
    template="ML Drift does not read the height and the width of {tensor}",
    effect=Effect.CRASH,
)
WITHOUT_KERNEL = Kind(
    "mldrift-build-operator",
    Problem.OPERATOR,
    "operator without a kernel",
    "ML Drift accepts AlignmentPointsToTransformMatrix of MediaPipe, but has no kernel for it (seen with WebGPU).",
    "Compute the matrix in the application, or run the model on another backend.",
    "compute the matrix in the application, or use another backend",
    is_shared=True,
    template="there is no kernel for the operator that computes {tensor}",
)

GROUPS = Kind(
    "mldrift-build-groups",
    Problem.SHAPE,
    "grouped convolution with more than 4 channels in a group",
    "ML Drift accepts a CONV_2D with constant weights and several groups, and splits it into one convolution for each group. It "
    "reserves memory for only 4 input channels of each group. With more input channels, it writes beyond this memory, and the "
    "process usually ends. If the input and output channels of each group are multiples of 4, nothing is split.",
    "Split the input into groups, use one CONV_2D for each group, and concatenate the results, as onnx2tf does.",
    "use SPLIT, one CONV_2D for each group, and CONCATENATION",
    is_shared=True,
    template="ML Drift splits the convolution that computes {tensor} into groups, and writes beyond the memory of their weights",
    effect=Effect.CRASH,
)
COPIED_INPUT = Kind(
    "mldrift-build-copy",
    Problem.NEIGHBORS,
    "input that a STRIDED_SLICE copies",
    "ML Drift accepts a STRIDED_SLICE of a whole input of the graph, but cannot remove it if a node reads both its result and "
    "this input.",
    "Remove the STRIDED_SLICE.",
    "remove the STRIDED_SLICE",
    is_shared=True,
    template="the STRIDED_SLICE copies the whole input {tensor}, and a node reads both of them",
)
INDICES = Kind(
    "mldrift-build-indices",
    Problem.SHAPE,
    "constant indices",
    "Before LiteRT 2.3, ML Drift accepts a GATHER with several constant indices, but cannot generate its kernel (seen with "
    "WebGPU and the wheels of LiteRT 2.1.3 to 2.2.0).",
    "Use LiteRT 2.3 or later, or compute the indices at run time.",
    "use LiteRT 2.3 or later",
    is_shared=True,
    template="{tensor} of shape {shape} has several constant indices, for which there is no kernel",
)
COLUMNS = Kind(
    "mldrift-build-columns",
    Problem.SHAPE,
    "matrix product with few rows",
    "Before LiteRT 2.1.5, ML Drift accepts a BATCH_MATMUL with adj_y, but has no kernel for at most 8 rows if the number of "
    "columns is not a multiple of 4 (seen with WebGPU and, in LiteRT issue 6518, with OpenCL).",
    "Use LiteRT 2.1.5 or later, or transpose the second operand with TRANSPOSE.",
    "use LiteRT 2.1.5 or later, or transpose the second operand with TRANSPOSE",
    is_shared=True,
    template="there is no kernel for a product with the transposed matrix {tensor} of shape {shape}",
)
BOUND_TYPE = Kind(
    "mldrift-build-bound-type",
    Problem.TYPE,
    "input or output of the model without a type of shaders",
    "Since LiteRT 2.4, CompiledModel gives inputs and outputs of the model their own memory before it applies ML Drift. ML Drift "
    "does not check the types of these tensors any more. It accepts the node, but cannot generate a shader that reads or writes "
    "numbers of this type (seen with WebGPU).",
    "Convert the model with inputs and outputs of type FLOAT32 or INT32.",
    "convert the model with inputs and outputs of type FLOAT32 or INT32",
    is_shared=True,
    template="{tensor} has type {type}, which shaders do not have",
)

FORMER = frozenset({INDICES.name, COLUMNS.name})
"""The codes of failures that only older releases have. They were measured with the wheels of these releases."""

KINDS = kinds_by_code(
    LITERT_LOADER,
    HINT_NOT_MET,
    CONSTANT_READ,
    CONSTANT_TYPE,
    WEIGHTS,
    AXES,
    BATCH,
    EMPTY,
    CHANNELS,
    LOWERED,
    SIZE,
    WITHOUT_KERNEL,
    GROUPS,
    COPIED_INPUT,
    BOUND_TYPE,
    INDICES,
    COLUMNS,
)
"""The kinds of failures, by code."""

_HINT_LINE = "Hint fully delegated to single delegate is set, but the graph is not fully delegated."


def _left_over(left: Sequence[Node]) -> str | Phrase:
    if not left:
        return "its nodes form more than one delegate kernel"
    if len(left) == 1:
        return node_place(left[0].index, left[0].op, "node {node} ({op}) stays on the CPU")
    template = f"{len(left):,} nodes stay on the CPU (the first is node {{node}} ({{op}}))"
    return node_place(left[0].index, left[0].op, template)


def hint_not_met(left: Sequence[Node]) -> Refusal:
    """Return the failure of a subgraph that does not become the single delegate kernel that the hint requires.

    ``left`` has the nodes that stay on the CPU.
    """
    node = left[0].index if left else None
    return replace(HINT_NOT_MET.failure(node=node, problem=_left_over(left)), log_lines=(_HINT_LINE,))


def not_fully_accelerated(left: Sequence[Node]) -> Refusal:
    """Return the failure of a model with CPU nodes if the CPU is not among the accelerators.

    ``left`` has the nodes that stay on the CPU.
    """
    return NOT_ACCELERATED.failure(node=left[0].index, problem=_left_over(left))

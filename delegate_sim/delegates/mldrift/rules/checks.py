"""Checks that several families of operators share.

Sources: ``TFLiteOperationParser::ValidateSupport`` and the functions ``PreCheck...``
(``ml_drift_delegate/tflite/operation_parser.cc`` and ``operation_parser.h``), and ``GetOpsToReplaceWithOptions`` and
``IsAllAllowedTensors`` (``ml_drift_delegate/tflite/model_builder.cc``).

ML Drift stops at the first failed check, so checks are listed in ML Drift's order. Each check has ML Drift's log message. A check
that differs between releases has a range of releases. If the position of a check changed, the check is listed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ....graph.graph import Graph, NodeView
from ....model.model import Allocation, Tensor
from ....model.numbers import StoredNumbers, as_list
from ....releases.catalogue import Release, parse_release
from ....rules import kinds
from ....rules.kinds import Kind
from ....rules.operands import counted, listed
from ....rules.rule import LITERT, Check, OpRule, Source
from ....rules.vocabulary import activation, check, check_for_target, operand_count
from ...gpu_compatibility.checks import (
    ACTIVATIONS,
    Found,
    asked,
    expected_constant_inputs,
    expected_outputs,
    expected_runtime_inputs,
    joined,
    newest_version,
    runtime_input_count,
)
from ..target import MlDriftTarget, as_measured, is_linear, name_of

SOURCE = Source(LITERT, "ml_drift_delegate/tflite/model_builder.cc", "NewOperationParser", "ModelBuilderOptions")
PARSER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.cc", "TFLiteOperationParser::ValidateSupport")
READER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.h", "PreCheckTensorToTensor")
COUNTS = Source(LITERT, "ml_drift_delegate/tflite/model_builder_helper.cc", "CheckInputsConstsOutputs")
COMPOSITE = Source(LITERT, "ml_drift_delegate/delegate/composite/custom_parsers.cc", "CustomOperationParserFactory::Create")

Checks = tuple[Check[Any], ...]

SINCE_2_1_5, SINCE_2_2, SINCE_2_3 = "litert-2.1.5", "litert-2.2.0", "litert-2.3.0"


@functools.cache
def before(release: str, *checks: Check[object]) -> Checks:
    """Limit checks to releases before ``release``. Omit a check if no release remains."""
    until = parse_release(release)
    counting = [check for check in checks if check.introduced is None or not check.introduced.is_at_least(until)]
    return tuple([check if _ends_by(check, until) else check.before_release(release) for check in counting])


@functools.cache
def since(release: str, *checks: Check[object]) -> Checks:
    """Limit checks to ``release`` and later releases. Omit a check if no release remains."""
    start = parse_release(release)
    counting = [check for check in checks if not _ends_by(check, start)]
    return tuple([check if _starts_at(check, start) else check.from_release(release) for check in counting])


def _ends_by(check: Check[object], release: Release) -> bool:
    return check.withdrawn is not None and release.is_at_least(check.withdrawn)


def _starts_at(check: Check[object], release: Release) -> bool:
    return check.introduced is not None and check.introduced.is_at_least(release)


def asked_for_target(kind: Kind, needed: str, finder: Callable[[NodeView, MlDriftTarget], Found | None]) -> Check[Any]:
    """Return a check that calls ``finder``.

    ``finder`` receives a node and the target, and returns the node's problem together with ML Drift's message.
    """

    def find(node: NodeView, target: MlDriftTarget) -> str | None:
        problem = finder(node, target)
        return None if problem is None else problem.found

    def say(node: NodeView, target: MlDriftTarget) -> str:
        problem = finder(node, target)
        return "" if problem is None else problem.said

    return replace(check_for_target(kind, needed, find), said=say)


@functools.cache
def version_up_to(limit: int, *, older: int | None = None) -> Checks:
    """Require a version of at most ``limit`` (``CheckMaxSupportedOpVersion``).

    If ``older`` is given, it is the limit before LiteRT 2.2.
    """
    if older is not None:
        return (*before(SINCE_2_2, *version_up_to(older)), *since(SINCE_2_2, *version_up_to(limit)))

    return (newest_version(limit).from_source(PARSER.with_symbol("CheckMaxSupportedOpVersion")),)


def _neither_one_nor_two(node: NodeView) -> str | None:
    count = runtime_input_count(node)
    return None if count in (1, 2) else counted(count, "runtime input")


ONE_OR_TWO_RUNTIME_INPUTS = check(kinds.OPERAND_COUNT, "1 or 2 runtime inputs", _neither_one_nor_two)


def inputs_at_least(fewest: int) -> Check[object]:
    """Require at least this many inputs, including omitted inputs."""

    def find(node: NodeView) -> Found | None:
        count = len(node.node.inputs)
        message = f"Invalid number of inputs: {count}, while expected at least {fewest}."
        return None if count >= fewest else Found(counted(count, "input"), message)

    return asked(kinds.OPERAND_COUNT, f"at least {counted(fewest, 'input')}", find).from_source(PARSER)


def inputs_at_most(most: int) -> Check[object]:
    """Require at most this many inputs, including omitted inputs."""

    def find(node: NodeView) -> Found | None:
        count = len(node.node.inputs)
        message = f"Invalid number of inputs: {count}, while expected at most {most}."
        return None if count <= most else Found(counted(count, "input"), message)

    return asked(kinds.OPERAND_COUNT, f"at most {counted(most, 'input')}", find).from_source(PARSER)


@functools.cache
def results(expected: int) -> Check[object]:
    """Require exactly this many outputs."""
    demand = operand_count(outputs=expected).saying(lambda node: expected_outputs(expected, len(node.node.outputs)))
    return demand.from_source(PARSER)


@functools.cache
def runtime_inputs(expected: int) -> Check[object]:
    """Require exactly this many inputs that are computed at run time."""

    def find(node: NodeView) -> Found | None:
        count = runtime_input_count(node)
        return None if count == expected else Found(counted(count, "runtime input"), expected_runtime_inputs(expected, count))

    return asked(kinds.OPERAND_COUNT, counted(expected, "runtime input"), find).from_source(PARSER)


def other_input_count(node: NodeView) -> int:
    """Return the number of constant or omitted inputs (``GetNumberOfConstInputsForNode``)."""
    return len(node.node.inputs) - runtime_input_count(node)


@functools.cache
def other_inputs(expected: int) -> Check[object]:
    """Require exactly this many constant or omitted inputs."""

    def find(node: NodeView) -> Found | None:
        count = other_input_count(node)
        return None if count == expected else Found(counted(count, "constant input"), expected_constant_inputs(expected, count))

    return asked(
        kinds.OPERAND_COUNT, f"{counted(expected, 'constant input')} (omitted operands count as constant)", find
    ).from_source(PARSER)


@functools.cache
def exact_inputs(runtime: int, others: int, outputs: int) -> Checks:
    """Require exact numbers of runtime inputs, of constant or omitted inputs, and of outputs (``CheckInputsConstsOutputs``)."""
    of_runtime = COUNTS.with_symbol("CheckInputsOutputs")
    return (
        other_inputs(others).from_source(COUNTS),
        runtime_inputs(runtime).from_source(of_runtime),
        results(outputs).from_source(of_runtime),
    )


def _unfused(node: NodeView) -> str:
    return f"Unsupported fused activation: {node.options.fused_activation_function}"


FUSABLE = activation(ACTIVATIONS).saying(_unfused).from_source(PARSER.with_symbol("PreCheckMaybeFuseActivationSkipSize"))
ONE_RESULT = (
    operand_count(outputs=1).saying("Number of outputs != 1").from_source(PARSER.with_symbol("PreCheckMaybeFuseActivation"))
)
FUSABLE_ELEMENTWISE = FUSABLE.from_source(PARSER.with_symbol("PreCheckMaybeFuseActivationForElementwiseNode"))
FUSED: Checks = (ONE_RESULT, FUSABLE)
"""Require that a fused activation is supported (``PreCheckMaybeFuseActivation``)."""

# Values and results

_QUANTIZED = ("INT8", "UINT8")
_MOST_OLD, _MOST = 4, 5
"""The highest rank that ML Drift can read: ``_MOST_OLD`` before LiteRT 2.2, and ``_MOST`` from LiteRT 2.2 on.

All tensors of a node must also respect the limit ``_MAX_RANK``.
"""


@functools.cache
def available(position: int) -> Check[object]:
    """Require that an operand is present (``PreGetInputTensor``)."""

    def find(node: NodeView) -> Found | None:
        is_given = position < len(node.node.inputs) and node.node.input(position) >= 0
        return None if is_given else Found(f"no input {position}", f"input #{position} tensor is not available")

    return asked(kinds.OPERAND_COUNT, f"input {position}", find).from_source(PARSER.with_symbol("PreGetInputTensor"))


@functools.cache
def named(position: int) -> Check[object]:
    """Require that an operand is present (``GetTensorId``). The message differs from the message of ``available``."""

    def find(node: NodeView) -> Found | None:
        if position >= len(node.node.inputs):
            return Found(f"no input {position}", f"Invalid input tensor index: {position}")
        index = node.node.input(position)
        return Found(f"no input {position}", f"Invalid Tensor index: {index}") if index < 0 else None

    return asked(kinds.OPERAND_COUNT, f"input {position}", find).from_source(PARSER.with_symbol("GetTensorId"))


TensorsOf = Callable[[NodeView], Sequence[Tensor]]


def _ranked(name: str, tensors_of: TensorsOf) -> Checks:
    def limited(limit: int) -> Check[object]:
        def find(node: NodeView) -> Found | None:
            tensor = next((candidate for candidate in tensors_of(node) if candidate.rank > limit), None)
            return None if tensor is None else Found(f"{name} of rank {tensor.rank}", bad_rank(node, tensor))

        demand = asked(kinds.RANK, f"{name} of rank at most {limit}", find)
        return demand.from_source(PARSER.with_symbol("CheckTensorShape"))

    return (*before(SINCE_2_2, limited(_MOST_OLD)), *since(SINCE_2_2, limited(_MOST)))


def bad_rank(node: NodeView, tensor: Tensor) -> str:
    """Return ML Drift's message about a tensor of an unsupported rank."""
    return f'Tensor "{name_of(node.graph, tensor)}" has bad input dims size: {tensor.rank}.'


def _scaled(name: str, tensors_of: TensorsOf) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for tensor in tensors_of(node):
            if tensor.type in _QUANTIZED and tensor.is_per_channel:
                return Found(f"{name} with one scale per channel", "Unsupported quantization scale size")
        return None

    hint = "quantize this tensor with one scale"
    demand = asked(kinds.QUANTIZATION, f"{name} with one scale, if quantized to 8 bits", find, hint)
    return demand.from_source(PARSER.with_symbol("PreCheckReadValueByTensorIdx"))


@functools.cache
def readable(position: int) -> Checks:
    """Require that an operand, constant or not, can be read as a value (``PreCheckReadValue``)."""
    return (named(position), *readable_tensor(f"input {position}", lambda node: (node.input(position),)))


def readable_tensor(name: str, tensors_of: TensorsOf) -> Checks:
    """Require that tensors can be read as values (``PreCheckReadValueByTensorIdx``)."""
    return (*_ranked(name, tensors_of), _scaled(name, tensors_of))


RESULTS: Checks = readable_tensor("output", lambda node: node.outputs)
"""Require that ML Drift can read all results (``PreCheckOutputs``)."""
RESULTS_FROM_2_1_5, RESULTS_BEFORE_2_1_5 = since(SINCE_2_1_5, *RESULTS), before(SINCE_2_1_5, *RESULTS)


def with_results(*checks: Check[Any]) -> Checks:
    """Return checks with ``RESULTS`` before them, or behind them in releases before LiteRT 2.1.5."""
    return (*RESULTS_FROM_2_1_5, *checks, *RESULTS_BEFORE_2_1_5)


READABLE_RESULT: Checks = readable_tensor("output 0", lambda node: (node.output(0),))
"""Require that ML Drift can read the first result (``PreCheckReadValueByTensorIdx``)."""
RANKED_RESULT: Checks = _ranked("output", lambda node: node.outputs[:1])
"""Require that the first result has a supported rank (``PreCheckTensorShape``)."""


@functools.cache
def ranked(position: int) -> Checks:
    """Require that an operand has a supported rank (``PreCheckTensorShape``)."""
    return _ranked(f"input {position}", lambda node: (node.input(position),))


@functools.cache
def one_scale(position: int) -> Check[object]:
    """Require a single scale if an operand is quantized to 8 bits (the end of ``PreCheckReadValueByTensorIdx``)."""
    return _scaled(f"input {position}", lambda node: (node.input(position),))


def _runtime_or_constant(positions: Sequence[int] | None, limit: int) -> Check[object]:
    def problem(node: NodeView, position: int) -> Found | None:
        tensor = node.input(position)
        if position >= len(node.node.inputs) or node.node.input(position) < 0:
            return Found(f"no input {position}", f"input #{position} tensor is not available")
        if tensor.rank <= limit and not (tensor.type in _QUANTIZED and tensor.is_per_channel):
            return None
        description = f"input {position} of type {tensor.type} and rank {tensor.rank}"
        if tensor.type not in ("FLOAT32", "BOOL", "INT32"):
            return Found(description, f"Unsupported tensor type in NewConstNode: {tensor.type}")
        return Found(description, bad_rank(node, tensor) if has_data(tensor) else "src has no data.")

    def find(node: NodeView) -> Found | None:
        problems = (problem(node, position) for position in (range(len(node.node.inputs)) if positions is None else positions))
        return next((description for description in problems if description is not None), None)

    name = "all inputs" if positions is None else f"input {listed(map(str, positions))}"
    needed = f"{name} of rank at most {limit}, with one scale if quantized to 8 bits"
    return asked(kinds.SHAPE, needed, find).from_source(PARSER.with_symbol("PreCheckRuntimeOrConstantInput"))


def _in_releases(positions: Sequence[int] | None) -> Checks:
    old, new = _runtime_or_constant(positions, _MOST_OLD), _runtime_or_constant(positions, _MOST)
    return (*before(SINCE_2_2, old), *since(SINCE_2_2, new))


def runtime_or_constant(position: int) -> Checks:
    """Require that an operand is a runtime value or a readable constant (``PreCheckRuntimeOrConstantInput``)."""
    return _in_releases((position,))


ALL_RUNTIME_OR_CONSTANT: Checks = _in_releases(None)
"""Require that every input is a runtime value or a readable constant (see ``runtime_or_constant``)."""


def positive_rank(name: str, tensors_of: TensorsOf) -> Check[object]:
    """Require tensors of rank 1 to 4 (``PreCheckTfLiteShape``)."""

    def find(node: NodeView) -> Found | None:
        tensor = next((tensor for tensor in tensors_of(node) if not 1 <= tensor.rank <= 4), None)
        return None if tensor is None else Found(f"{name} of rank {tensor.rank}", bad_rank(node, tensor))

    return asked(kinds.RANK, f"{name} of rank 1 to 4", find).from_source(PARSER.with_symbol("PreCheckTfLiteShape"))


# Constants


def has_data(tensor: Tensor) -> bool:
    """Return whether a tensor has a value when delegates are applied.

    Constants have a value, and so do tensors that the runtime computes in Prepare.
    """
    return tensor.is_constant or tensor.value is not None


def _byte_count(tensor: Tensor) -> int:
    if tensor.value is not None:
        return tensor.value.nbytes
    return tensor.data[1] if tensor.data is not None else 0


ShapeFinder = Callable[[tuple[int, ...]], str | None]
"""A function that returns ML Drift's message about an unsupported shape, or None if the shape is supported."""


def _scalar(shape: tuple[int, ...]) -> str | None:
    return None if all(size == 1 for size in shape) else f"{joined(shape)}  cannot be reduced to scalar."


def _linear(shape: tuple[int, ...]) -> str | None:
    return None if is_linear(shape) else "Isn't linear convertible."


def _hw(shape: tuple[int, ...]) -> str | None:
    return None if len(shape) == 2 else f"Expected a 2D tensor of shape HxW but got {joined(shape)}"


def _hwc(shape: tuple[int, ...]) -> str | None:
    if len(shape) == 3:
        return None
    if len(shape) == 4:
        return None if shape[0] == 1 else "Batch size is not equal to 1."
    return f"Expected a 3D tensor of shape HxWxC or a 4D tensor of shape 1xHxWxC but got {joined(shape)}"


def _ohwi(shape: tuple[int, ...]) -> str | None:
    return None if len(shape) == 4 else f"Expected a 4D tensor of shape OxHxWxI but got {joined(shape)}"


_SHAPES: dict[str, tuple[str, ShapeFinder, str]] = {
    "scalar": ("of one element", _scalar, "Scalar"),
    "linear": ("with size 1 in all dimensions except the last", _linear, "Linear"),
    "matrix": ("of rank 2", _hw, "HW"),
    "image": ("of rank 3, or of rank 4 with a batch of 1", _hwc, "HWC"),
    "filter": ("of rank 4", _ohwi, "OHWI"),
    "any": ("of any rank", lambda _: None, "BHWC"),
}


def shape_of_constant(position: int, shape: str) -> Check[object]:
    """Require that an operand has a certain shape, such as ``linear`` or ``matrix`` (``CheckAllDimensions``)."""
    words, problem, overload = _SHAPES[shape]

    def find(node: NodeView) -> Found | None:
        shape = node.input(position).shape
        message = problem(shape)
        return None if message is None else Found(f"input {position} of shape {list(shape)}", message)

    return asked(kinds.SHAPE, f"input {position} {words}", find).from_source(PARSER.with_symbol("CheckAllDimensions", overload))


def _stored(position: int) -> Checks:
    dense = check(
        kinds.CONSTANT,
        f"input {position} not sparse",
        lambda node: "a sparse tensor" if node.input(position).sparsity is not None else None,
        "convert without sparse tensors",
    ).saying("ML Drift doesn't support sparsity.")
    stored = check(
        kinds.CONSTANT,
        f"a constant input {position}",
        lambda node: None if has_data(node.input(position)) else f"input {position} is not constant",
    ).saying("src has no data.")
    return (named(position), dense.from_source(READER), stored.from_source(READER.with_symbol("PreCheckCopyData")))


_AS_FLOATS = ("FLOAT32", "FLOAT16", "INT4", "INT8", "UINT8", "INT32")


def float_constant(position: int, shape: str) -> Checks:
    """Require a constant that can be read as floats and has a certain shape, such as ``linear`` (``PreCheckReadTensor``)."""

    def find(node: NodeView) -> Found | None:
        type_name = node.input(position).type
        return (
            None
            if type_name in _AS_FLOATS
            else Found(f"input {position} is {type_name}", "Unsupported data type for float32 tensor")
        )

    typed = asked(kinds.TENSOR_TYPE, f"input {position} of type FLOAT32, FLOAT16 or INT32, or of a type with 4 or 8 bits", find)
    stored = (*_stored(position), typed.from_source(PARSER.with_symbol("PreCheckCopyData")))
    if shape == "any":
        return (*stored, *ranked(position))
    return (*stored, shape_of_constant(position, shape))


def integer_constant(position: int, shape: str) -> Checks:
    """Require a constant with 4 bytes per element and a certain shape, such as ``linear`` (``PreCheckReadTensor``)."""

    def find(node: NodeView) -> Found | None:
        tensor = node.input(position)
        size = _byte_count(tensor)
        description = f"input {position} is {tensor.type}"
        if size % 4:
            return Found(description, f"Input data size {size} is not aligned to expected type: 4")
        if size != 4 * tensor.element_count:
            return Found(description, "src has wrong size.")
        return None

    aligned = asked(kinds.TENSOR_TYPE, f"input {position} with 4 bytes for each element, such as INT32", find)
    return (*_stored(position), aligned.from_source(READER.with_symbol("PreCheckCopyData")), shape_of_constant(position, shape))


def integers(node: NodeView, position: int) -> list[int]:
    """Return a constant's bytes as 32-bit integers, or an empty list if the value is unknown."""
    value = node.value(node.input(position))
    return [] if value is None else as_list(StoredNumbers.read("<i4", value.tobytes()))


# Axes


def axes(name: str, tensor_of: Callable[[NodeView], Tensor], axes_of: Callable[[NodeView], Sequence[int]]) -> Check[object]:
    """Require that a tensor has rank 1 to 4, and that the axes exist in this tensor (``PreCheckAxisFromIndex``)."""

    def find(node: NodeView) -> Found | None:
        rank = tensor_of(node).rank
        for axis in axes_of(node):
            if not -rank <= axis < rank:
                return Found(f"axis {axis} in a tensor with {counted(rank, 'dimension')}", "Index for axis out of range")
            if not 1 <= rank <= 4:
                return Found(f"{name} of rank {rank}", "Unknown layout.")
        return None

    demand = asked(kinds.RANK, f"axes that exist in {name}, and {name} of rank 1 to 4", find)
    return demand.from_source(PARSER.with_symbol("PreCheckAxisFromIndex"))


INPUT_AXES: Check[object] = axes(
    "the input", lambda node: node.input(0), lambda node: integers(node, 1)[: node.input(1).element_count]
)
"""Require that the axes in operand 1 exist in operand 0."""

# Quantized weights

_WEIGHTS = "PreCheckReadQuantizedValueByTensorIdx"


def quantized_weights(position: int) -> Check[object]:
    """Require weights of 8, 4 or 2 bits and of shape [o, i] or [o, 1, 1, i] (``PreCheckReadQuantizedValueByTensorIdx``)."""

    def find(node: NodeView) -> Found | None:
        weights = node.input(position)
        at = weights.index
        if weights.quantization is None:
            return Found("weights without scales", f"{_WEIGHTS}: Empty quantization params: {at}")
        if weights.quantization.kind not in ("affine", "blockwise"):
            return Found(f"{weights.quantization.kind} weights", f"{_WEIGHTS}: Tensor is not quantized: {at}")
        if weights.type not in ("INT8", "INT4", "INT2"):
            return Found(f"{weights.type} weights", f"Expected Int8, Int4, or Int2 quantized tensor: {at}")
        if weights.rank not in (2, 4):
            return Found(f"weights of rank {weights.rank}", f"{_WEIGHTS}: Expected 2D or 4D quantized tensor: {at}")
        if weights.rank == 4 and weights.shape[1:3] != (1, 1):
            message = f"{_WEIGHTS}: Expected 4D quantized tensor with height of 1 and width of 1: {at}"
            return Found(f"weights of shape {list(weights.shape)}", message)
        return None

    needed = "quantized weights of type INT8, INT4 or INT2 and shape [o, i] or [o, 1, 1, i]"
    return asked(kinds.QUANTIZATION, needed, find).from_source(PARSER.with_symbol(_WEIGHTS))


# All tensors of a node

_ALL_TENSORS = SOURCE.with_symbol("IsAllAllowedTensors")
_MAX_RANK = 4

BOOL, INT32, BFLOAT16 = ("BOOL",), ("INT32",), ("BFLOAT16",)
SIGNED = ("INT8", "INT16", "INT32")
UNSIGNED = ("UINT8", "UINT16", "UINT32")
ANY_NUMBERS = (*SIGNED, *UNSIGNED, "BOOL", "BFLOAT16")
USUAL_INPUTS = ("FLOAT32", "FLOAT16", "BOOL", "INT2", "INT4", "INT8", "UINT8")
_USUAL_OUTPUTS = ("FLOAT32", "FLOAT16", "INT8", "UINT8")
_PACKED = ("INT2", "INT4")
"""Types of inputs that are supported from LiteRT 2.2 on."""


def _unique(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(types))


def _tensors(node: NodeView, is_output: bool) -> Iterator[tuple[int, Tensor]]:
    indices = node.node.outputs if is_output else node.node.inputs
    return ((position, node.tensor(index)) for position, index in enumerate(indices) if index >= 0)


BOUND_BUFFERS = parse_release("litert-2.4")
"""The first release in which CompiledModel gives inputs and outputs of the model their own memory before it applies ML Drift."""


def is_bound(graph: Graph, tensor: Tensor) -> bool:
    """Return whether a tensor is an input or an output of the model that has its own memory since ``BOUND_BUFFERS``."""
    is_outer = tensor.index in graph.input_indices or tensor.index in graph.output_indices
    return not graph.index and is_outer and tensor.allocation is Allocation.ARENA


def _has_other_type(node: NodeView, tensor: Tensor, types: Sequence[str], release: Release) -> bool:
    if tensor.allocation is not Allocation.ARENA or tensor.type in types:
        return False
    return not (release.is_at_least(BOUND_BUFFERS) and is_bound(node.graph, tensor))


_Since = tuple[str | None, tuple[str, ...]]
"""A release, and all types that are allowed from this release on. None stands for the oldest known release."""


@functools.cache
def _side(*allowed: _Since, is_output: bool) -> tuple[Check[Any], ...]:
    """Return checks of all inputs, or of all outputs if ``is_output``.

    Every tensor must have a supported rank. Tensors in the arena must also have one of the ``allowed`` types.

    Source: ``IsAllAllowedTensors``. This function checks one tensor after another.
    """
    side = "output" if is_output else "input"
    starts = [(None if release is None else parse_release(release), types) for release, types in reversed(allowed)]

    def types_in(release: Release) -> tuple[str, ...]:
        return next(types for start, types in starts if start is None or release.is_at_least(start))

    def find_rank(node: NodeView, target: MlDriftTarget) -> Found | None:
        types = types_in(target.release)
        for position, tensor in _tensors(node, is_output):
            if tensor.rank > _MAX_RANK:
                description = f"{side} {position} of rank {tensor.rank}"
                return Found(description, f"Tensor dimensions must be less than 5. {name_of(node.graph, tensor)}")
            if _has_other_type(node, tensor, types, target.release):
                return None
        return None

    def find_type(node: NodeView, target: MlDriftTarget) -> Found | None:
        types = types_in(target.release)
        for position, tensor in _tensors(node, is_output):
            if _has_other_type(node, tensor, types, target.release):
                message = f"Tensor type({tensor.type}) is not supported. {name_of(node.graph, tensor)}"
                return Found(f"{side} {position} of type {tensor.type}", message)
        return None

    def typed(position: int) -> Check[Any]:
        release, types = allowed[position]
        demand = asked_for_target(kinds.TENSOR_TYPE, f"{side}s of type {listed(types)}", find_type)
        demand = demand if release is None else demand.from_release(release)
        return demand if position + 1 == len(allowed) else demand.before_release(str(allowed[position + 1][0]))

    ranks = asked_for_target(kinds.RANK, f"{side}s of rank at most {_MAX_RANK}", find_rank)
    return tuple([demand.from_source(_ALL_TENSORS) for demand in (ranks, *map(typed, range(len(allowed))))])


def carrier_tensors(inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Checks:
    """Return checks of every tensor of a composite or custom operator. ``inputs`` and ``outputs`` are additional types."""
    return (
        *_side((None, _unique(USUAL_INPUTS + inputs)), is_output=False),
        *_side((None, _unique(_USUAL_OUTPUTS + outputs)), is_output=True),
    )


def tensors(*also: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Checks:
    """Return checks of every tensor of a builtin operator.

    ``inputs`` and ``outputs`` have additional types of inputs and of outputs. ``also`` has additional types of all tensors.
    """
    return only_tensors(USUAL_INPUTS + inputs + also, _USUAL_OUTPUTS + outputs + also)


def only_tensors(inputs: tuple[str, ...], outputs: tuple[str, ...], *newer: _Since) -> Checks:
    """Return checks that every tensor of a builtin operator has one of these types.

    Each item of ``newer`` is a release and all input types that are allowed from this release on.
    """
    inputs = _unique(inputs)
    older = tuple([name for name in inputs if name not in _PACKED])
    dated: tuple[_Since, ...] = ((None, inputs),) if older == inputs else ((None, older), (SINCE_2_2, inputs))
    return (*_side(*dated, *newer, is_output=False), *_side((None, _unique(outputs)), is_output=True))


USUAL_TENSORS: Checks = tensors()


def parsed_by(parser: str, *checks: Check[Any], all_tensors: Checks = USUAL_TENSORS) -> OpRule[Any]:
    """Return the rule of an operator. Checks without a source come from the ``IsSupported`` function of ``parser``.

    The checks in ``all_tensors`` come last, because ``GetOpsToReplaceWithOptions`` calls the parser first and then checks all
    tensors.
    """
    place = SOURCE.with_symbol(f"{parser}::IsSupported")
    own = [check if check.source else check.from_source(place) for check in as_measured(*checks)]
    return OpRule((*own, *all_tensors), source=(place,))

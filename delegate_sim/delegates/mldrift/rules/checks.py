"""Checks that several families of operators share.

Source: ``TFLiteOperationParser::ValidateSupport`` and the functions ``PreCheck...``
(``ml_drift_delegate/tflite/operation_parser.cc`` and ``operation_parser.h``).

ML Drift stops at the first failed check, so checks are listed in ML Drift's order. Each check has ML Drift's log message. A check
that differs between releases has a range of releases. If the position of a check changed, the check is listed twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.numbers import StoredNumbers, as_list
from ....releases.catalogue import parse_release
from ....rules import kinds
from ....rules.kinds import Kind
from ....rules.operands import Numbers, at_most, between, counted
from ....rules.rule import LITERT, Check, Source
from ....rules.vocabulary import activation, check, operand_count
from ...gpu_compatibility import is_linear
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
from ..target import name_of

SOURCE = Source(LITERT, "ml_drift_delegate/tflite/model_builder.cc", "NewOperationParser", "ModelBuilderOptions")
PARSER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.cc", "TFLiteOperationParser::ValidateSupport")
READER = Source(LITERT, "ml_drift_delegate/tflite/operation_parser.h", "PreCheckTensorToTensor")
COUNTS = Source(LITERT, "ml_drift_delegate/tflite/model_builder_helper.cc", "CheckInputsConstsOutputs")

Checks = tuple[Check[Any], ...]


@functools.cache
def before(release: str, *checks: Check[object]) -> Checks:
    """Limit checks to releases before ``release``. Omit a check if no release remains."""
    until = parse_release(release)
    counting = [check for check in checks if check.introduced is None or not check.introduced.is_at_least(until)]
    ended = [check.withdrawn is not None and until.is_at_least(check.withdrawn) for check in counting]
    return tuple([check if ends else check.before_release(release) for check, ends in zip(counting, ended, strict=True)])


@functools.cache
def since(release: str, *checks: Check[object]) -> Checks:
    """Limit checks to ``release`` and later releases. Omit a check if no release remains."""
    start = parse_release(release)
    counting = [check for check in checks if check.withdrawn is None or not start.is_at_least(check.withdrawn)]
    begun = [check.introduced is not None and check.introduced.is_at_least(start) for check in counting]
    return tuple([check if starts else check.from_release(release) for check, starts in zip(counting, begun, strict=True)])


def _asked(symbol: str, kind: Kind, needed: str, find: Callable[[NodeView], Found | None], hint: str = "") -> Check[object]:
    return asked(kind, needed, find, hint).from_source(PARSER.with_symbol(symbol))


@functools.cache
def version_up_to(limit: int, *, older: int | None = None) -> Checks:
    """Require a version of at most ``limit``, or at most ``older`` before LiteRT 2.2 (``CheckMaxSupportedOpVersion``)."""
    if older is not None:
        return (*before("litert-2.2.0", *version_up_to(older)), *since("litert-2.2.0", *version_up_to(limit)))
    return (newest_version(limit).from_source(PARSER.with_symbol("CheckMaxSupportedOpVersion")),)


def _neither_one_nor_two(node: NodeView) -> str | None:
    count = runtime_input_count(node)
    return None if count in (1, 2) else counted(count, "runtime input")


ONE_OR_TWO_RUNTIME_INPUTS = check(kinds.OPERAND_COUNT, "1 or 2 runtime inputs", _neither_one_nor_two)


def input_count(limit: int, *, is_most: bool = False) -> Check[object]:
    """Require at least, or with ``is_most`` at most, this many inputs, including omitted inputs."""
    words = "at most" if is_most else "at least"

    def find(node: NodeView) -> Found | None:
        count = len(node.node.inputs)
        message = f"Invalid number of inputs: {count}, while expected {words} {limit}."
        is_allowed = count <= limit if is_most else count >= limit
        return None if is_allowed else (counted(count, "input"), message)

    return asked(kinds.OPERAND_COUNT, f"{words} {counted(limit, 'input')}", find).from_source(PARSER)


@functools.cache
def results(expected: int) -> Check[object]:
    """Require exactly this many outputs."""
    demand = operand_count(outputs=expected).saying(lambda node: expected_outputs(expected, len(node.node.outputs)))
    return demand.from_source(PARSER)


def _exactly(
    expected: int, noun: str, note: str, count_of: Callable[[NodeView], int], says: Callable[[int, int], str]
) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        count = count_of(node)
        return None if count == expected else (counted(count, noun), says(expected, count))

    return asked(kinds.OPERAND_COUNT, f"{counted(expected, noun)}{note}", find).from_source(PARSER)


@functools.cache
def runtime_inputs(expected: int) -> Check[object]:
    """Require exactly this many inputs that are computed at run time."""
    return _exactly(expected, "runtime input", "", runtime_input_count, expected_runtime_inputs)


@functools.cache
def other_inputs(expected: int) -> Check[object]:
    """Require exactly this many constant or omitted inputs (``GetNumberOfConstInputsForNode``)."""
    note = " (omitted operands count as constant)"
    return _exactly(
        expected, "constant input", note, lambda node: len(node.node.inputs) - runtime_input_count(node), expected_constant_inputs
    )


@functools.cache
def exact_inputs(runtime: int, others: int, outputs: int) -> Checks:
    """Require exact numbers of runtime inputs, of constant or omitted inputs, and of outputs (``CheckInputsConstsOutputs``)."""
    of_runtime = COUNTS.with_symbol("CheckInputsOutputs")
    return (
        other_inputs(others).from_source(COUNTS),
        runtime_inputs(runtime).from_source(of_runtime),
        results(outputs).from_source(of_runtime),
    )


FUSABLE = (
    activation(ACTIVATIONS)
    .saying(lambda node: f"Unsupported fused activation: {node.options.fused_activation_function}")
    .from_source(PARSER.with_symbol("PreCheckMaybeFuseActivationSkipSize"))
)
ONE_RESULT = (
    operand_count(outputs=1).saying("Number of outputs != 1").from_source(PARSER.with_symbol("PreCheckMaybeFuseActivation"))
)
FUSABLE_ELEMENTWISE = FUSABLE.from_source(PARSER.with_symbol("PreCheckMaybeFuseActivationForElementwiseNode"))
FUSED: Checks = (ONE_RESULT, FUSABLE)
"""Require that a fused activation is supported (``PreCheckMaybeFuseActivation``)."""

_QUANTIZED = ("INT8", "UINT8")
_MOST_OLD, _MOST = 4, 5
"""The highest rank that ML Drift can read: ``_MOST_OLD`` before LiteRT 2.2, and ``_MOST`` from LiteRT 2.2 on."""


@functools.cache
def available(position: int) -> Check[object]:
    """Require that an operand is present (``PreGetInputTensor``)."""

    def find(node: NodeView) -> Found | None:
        is_given = position < len(node.node.inputs) and node.node.input(position) >= 0
        return None if is_given else (f"no input {position}", f"input #{position} tensor is not available")

    return _asked("PreGetInputTensor", kinds.OPERAND_COUNT, f"input {position}", find)


@functools.cache
def named(position: int) -> Check[object]:
    """Require that an operand is present (``GetTensorId``). The message differs from the message of ``available``."""

    def find(node: NodeView) -> Found | None:
        if position >= len(node.node.inputs):
            return f"no input {position}", f"Invalid input tensor index: {position}"
        index = node.node.input(position)
        return (f"no input {position}", f"Invalid Tensor index: {index}") if index < 0 else None

    return _asked("GetTensorId", kinds.OPERAND_COUNT, f"input {position}", find)


TensorsOf = Callable[[NodeView], Sequence[Tensor]]


def _with_ranks(symbol: str, name: str, tensors_of: TensorsOf, allowed: Numbers) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        tensor = next((tensor for tensor in tensors_of(node) if tensor.rank not in allowed), None)
        return None if tensor is None else (f"{name} of rank {tensor.rank}", bad_rank(node, tensor))

    return _asked(symbol, kinds.RANK, f"{name} of rank {allowed.words}", find)


def _ranked(name: str, tensors_of: TensorsOf) -> Checks:
    old, new = (_with_ranks("CheckTensorShape", name, tensors_of, at_most(limit)) for limit in (_MOST_OLD, _MOST))
    return (*before("litert-2.2.0", old), *since("litert-2.2.0", new))


def bad_rank(node: NodeView, tensor: Tensor) -> str:
    """Return ML Drift's message about a tensor of an unsupported rank."""
    return f'Tensor "{name_of(node.graph, tensor)}" has bad input dims size: {tensor.rank}.'


def _scaled(name: str, tensors_of: TensorsOf) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for tensor in tensors_of(node):
            if tensor.type in _QUANTIZED and tensor.is_per_channel:
                return f"{name} with one scale per channel", "Unsupported quantization scale size"
        return None

    hint = "quantize this tensor with one scale"
    return _asked(
        "PreCheckReadValueByTensorIdx", kinds.QUANTIZATION, f"{name} with one scale, if quantized to 8 bits", find, hint
    )


@functools.cache
def readable(position: int) -> Checks:
    """Require that an operand, constant or not, can be read as a value (``PreCheckReadValue``)."""
    return (named(position), *readable_tensor(f"input {position}", lambda node: (node.input(position),)))


def readable_tensor(name: str, tensors_of: TensorsOf) -> Checks:
    """Require that tensors can be read as values (``PreCheckReadValueByTensorIdx``)."""
    return (*_ranked(name, tensors_of), _scaled(name, tensors_of))


RESULTS: Checks = readable_tensor("output", lambda node: node.outputs)
"""Require that ML Drift can read all results (``PreCheckOutputs``)."""
RESULTS_FROM_2_1_5, RESULTS_BEFORE_2_1_5 = since("litert-2.1.5", *RESULTS), before("litert-2.1.5", *RESULTS)


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


def _runtime_or_constant(position: int | None, limit: int) -> Check[object]:
    def problem(node: NodeView, position: int) -> Found | None:
        tensor = node.input(position)
        if position >= len(node.node.inputs) or node.node.input(position) < 0:
            return f"no input {position}", f"input #{position} tensor is not available"
        if tensor.rank <= limit and not (tensor.type in _QUANTIZED and tensor.is_per_channel):
            return None
        description = f"input {position} of type {tensor.type} and rank {tensor.rank}"
        if tensor.type not in ("FLOAT32", "BOOL", "INT32"):
            return description, f"Unsupported tensor type in NewConstNode: {tensor.type}"
        return description, (bad_rank(node, tensor) if has_data(tensor) else "src has no data.")

    def find(node: NodeView) -> Found | None:
        positions = range(len(node.node.inputs)) if position is None else (position,)
        return next(filter(None, (problem(node, index) for index in positions)), None)

    name = "all inputs" if position is None else f"input {position}"
    needed = f"{name} of rank at most {limit}, with one scale if quantized to 8 bits"
    return _asked("PreCheckRuntimeOrConstantInput", kinds.SHAPE, needed, find)


@functools.cache
def runtime_or_constant(position: int | None = None) -> Checks:
    """Require that an operand, or every operand, is a runtime value or a constant (``PreCheckRuntimeOrConstantInput``)."""
    old, new = _runtime_or_constant(position, _MOST_OLD), _runtime_or_constant(position, _MOST)
    return (*before("litert-2.2.0", old), *since("litert-2.2.0", new))


def positive_rank(name: str, tensors_of: TensorsOf) -> Check[object]:
    """Require tensors of rank 1 to 4 (``PreCheckTfLiteShape``)."""
    return _with_ranks("PreCheckTfLiteShape", name, tensors_of, between(1, 4))


def has_data(tensor: Tensor) -> bool:
    """Return whether a tensor has a value when delegates are applied: it is constant, or the runtime computes it in Prepare."""
    return tensor.is_constant or tensor.value is not None


_SHAPES: Mapping[str, tuple[str, str, Callable[[tuple[int, ...]], bool], str]] = {
    "scalar": ("of one element", "Scalar", lambda shape: all(size == 1 for size in shape), "{}  cannot be reduced to scalar."),
    "linear": ("with size 1 in all dimensions except the last", "Linear", is_linear, "Isn't linear convertible."),
    "matrix": ("of rank 2", "HW", lambda shape: len(shape) == 2, "Expected a 2D tensor of shape HxW but got {}"),
    "image": (
        "of rank 3, or of rank 4 with a batch of 1",
        "HWC",
        lambda shape: len(shape) == 3 or (len(shape) == 4 and shape[0] == 1),
        "Expected a 3D tensor of shape HxWxC or a 4D tensor of shape 1xHxWxC but got {}",
    ),
    "filter": ("of rank 4", "OHWI", lambda shape: len(shape) == 4, "Expected a 4D tensor of shape OxHxWxI but got {}"),
}
"""Shapes of constants: words for users, a word from the function's parameters, the condition, and ML Drift's message."""


def shape_of_constant(position: int, name: str) -> Check[object]:
    """Require that an operand has a certain shape, such as ``linear`` or ``matrix`` (``CheckAllDimensions``)."""
    words, overload, fits, message = _SHAPES[name]

    def find(node: NodeView) -> Found | None:
        shape = node.input(position).shape
        if fits(shape):
            return None
        is_batch = name == "image" and len(shape) == 4
        says = "Batch size is not equal to 1." if is_batch else message.format(joined(shape))
        return f"input {position} of shape {list(shape)}", says

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


def float_constant(position: int, shape: str) -> Checks:
    """Require a constant that can be read as floats and has a certain shape, such as ``linear`` (``PreCheckReadTensor``)."""

    def find(node: NodeView) -> Found | None:
        name = node.input(position).type
        is_known = name in ("FLOAT32", "FLOAT16", "INT4", "INT8", "UINT8", "INT32")
        return None if is_known else (f"input {position} is {name}", "Unsupported data type for float32 tensor")

    needed = f"input {position} of type FLOAT32, FLOAT16 or INT32, or of a type with 4 or 8 bits"
    stored = (*_stored(position), _asked("PreCheckCopyData", kinds.TENSOR_TYPE, needed, find))
    return (*stored, *ranked(position)) if shape == "any" else (*stored, shape_of_constant(position, shape))


def integer_constant(position: int, shape: str) -> Checks:
    """Require a constant with 4 bytes per element and a certain shape, such as ``linear`` (``PreCheckReadTensor``)."""

    def find(node: NodeView) -> Found | None:
        tensor = node.input(position)
        size = tensor.data[1] if tensor.data is not None else 0
        size = size if tensor.value is None else tensor.value.nbytes
        description = f"input {position} is {tensor.type}"
        if size % 4:
            return description, f"Input data size {size} is not aligned to expected type: 4"
        if size != 4 * tensor.element_count:
            return description, "src has wrong size."
        return None

    aligned = asked(kinds.TENSOR_TYPE, f"input {position} with 4 bytes for each element, such as INT32", find)
    return (*_stored(position), aligned.from_source(READER.with_symbol("PreCheckCopyData")), shape_of_constant(position, shape))


def integers(node: NodeView, position: int) -> list[int]:
    """Return a constant's bytes as 32-bit integers, or an empty list if the value is unknown."""
    value = node.value(node.input(position))
    return [] if value is None else as_list(StoredNumbers.read("<i4", value.tobytes()))


def axes(name: str, tensor_of: Callable[[NodeView], Tensor], axes_of: Callable[[NodeView], Sequence[int]]) -> Check[object]:
    """Require that a tensor has rank 1 to 4, and that the axes exist in this tensor (``PreCheckAxisFromIndex``)."""

    def find(node: NodeView) -> Found | None:
        rank = tensor_of(node).rank
        for axis in axes_of(node):
            if not -rank <= axis < rank:
                return f"axis {axis} in a tensor with {counted(rank, 'dimension')}", "Index for axis out of range"
            if not 1 <= rank <= 4:
                return f"{name} of rank {rank}", "Unknown layout."
        return None

    return _asked("PreCheckAxisFromIndex", kinds.RANK, f"axes that exist in {name}, and {name} of rank 1 to 4", find)


INPUT_AXES: Check[object] = axes(
    "the input", lambda node: node.input(0), lambda node: integers(node, 1)[: node.input(1).element_count]
)
"""Require that the axes in operand 1 exist in operand 0."""

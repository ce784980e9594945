"""Checks of ``CheckGpuDelegateCompatibility`` that several operators share, their messages, and log lines about refused nodes.

ML Drift and the older GPU delegate print the same lines.

Source of the lines: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``), and
``GraphPartitionHelper::PrepareSupportedNodes`` (``delegates/utils.cc``). ML Drift has its own copies:
``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``), and ``GetSupportedNodes`` and
``GetOpsToReplace`` (``ml_drift_delegate/tflite/support/support.cc``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ...graph.graph import Graph, NodeView
from ...releases.catalogue import OLDEST, parse_release
from ...rules import kinds
from ...rules.kinds import Kind
from ...rules.operands import at_most, counted
from ...rules.rule import LITERT, Check, Source, Verdict
from ...rules.vocabulary import activation, check, version
from ..decision import FLOAT16_WIDENING

ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGMOID")
"""Fused activations that the GPU supports (``IsActivationSupported``). A model file cannot store SIGMOID."""

_RUNTIME_ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT", "SIGMOID")
"""The names of activations, in the order of the values of ``TfLiteFusedActivation``."""


def runtime_input_count(node: NodeView) -> int:
    """Return the number of operands that are present and not constant (``GetNumberOfRuntimeInputs``)."""
    return len([index for index in node.node.inputs if index >= 0 and not node.tensor(index).is_constant])


class PoolParameters(NamedTuple):
    """The fields of ``TfLitePoolParams`` that the rules use."""

    stride_width: int
    stride_height: int
    filter_width: int
    filter_height: int
    activation: str


def custom_pool_parameters(node: NodeView) -> PoolParameters | None:
    """Return the ``TfLitePoolParams`` of MediaPipe's custom operators, or None if there are no custom options."""
    words = _custom_words(node, 6)
    if words is None:
        return None
    _, stride_width, stride_height, filter_width, filter_height, activation = words
    is_known = 0 <= activation < len(_RUNTIME_ACTIVATIONS)
    name = _RUNTIME_ACTIVATIONS[activation] if is_known else f"activation {activation}"
    return PoolParameters(stride_width, stride_height, filter_width, filter_height, name)


def custom_strides(node: NodeView) -> tuple[int, int] | None:
    """Return the vertical and the horizontal stride of ``TfLiteTransposeConvParams``, or None without custom options."""
    words = _custom_words(node, 3)
    return None if words is None else (words[2], words[1])


def _custom_words(node: NodeView, count: int) -> tuple[int, ...] | None:
    if node.node.custom_options is None:
        return None
    offset, size = node.node.custom_options
    content = bytes(node.graph.model.content[offset : offset + min(size, 4 * count)]).ljust(4 * count, b"\0")
    return struct.unpack_from(f"<{count}i", content)


def is_full_lstm(node: NodeView) -> bool:
    """Return whether an LSTM has the full form (``kTfLiteLSTMFullKernel``)."""
    return node.op == "LSTM" and node.options.kernel_type != 1


OUTPUT_STATE, CELL_STATE = 18, 19
"""The positions of a full LSTM's states. The LSTM reads and writes the states."""

T = TypeVar("T")

COMPATIBILITY = Source(LITERT, "tflite/tools/versioning/gpu_compatibility.cc", "CheckGpuDelegateCompatibility", "OpSignature")

FLOAT = ("FLOAT32", "FLOAT16")
INT32 = ("INT32",)
TWO_OPERANDS = "2 runtime inputs, or 1 runtime and 1 constant input, and 1 output"


Found: TypeAlias = tuple[str, str]
"""The result of a failed check: a description of the actual value, and the runtime's log message."""


def asked(kind: Kind, needed: str, finder: Callable[[NodeView], Found | None], hint: str = "") -> Check[object]:
    """Return a check that calls ``finder``. ``finder`` returns a node's problem together with the runtime's message."""

    def find(node: NodeView) -> str | None:
        problem = finder(node)
        return None if problem is None else problem[0]

    def say(node: NodeView) -> str:
        problem = finder(node)
        return "" if problem is None else problem[1]

    return check(kind, needed, find, hint).saying(say)


def case(*checks: Check[T], source: Source = COMPATIBILITY) -> tuple[Check[T], ...]:
    """Return the checks of an operator. A check without a source gets ``source``."""
    return tuple([check if check.source else check.from_source(source) for check in checks])


def saying(message: str, checks: Iterable[Check[T]]) -> tuple[Check[T], ...]:
    """Return copies of the checks with ``message`` as the runtime's message."""
    return tuple([check.saying(message) for check in checks])


Saying = str | Callable[[NodeView], str]
"""A message of the runtime, or a function that returns it for a node."""


def saying_by_release(one: Check[Any], first: Saying, later: Mapping[str, Saying]) -> Check[Any]:
    """Return a copy of a check with the message ``first``, and from each release in ``later`` on with that release's message.

    ``later`` has the oldest release first. The target of the check must have a ``release``.
    """
    checks = [(OLDEST, one.saying(first)), *[(parse_release(name), one.saying(message)) for name, message in later.items()]]

    def say(node: NodeView, target: Any) -> str:
        said = [check.said for start, check in checks if start is OLDEST or target.release.is_at_least(start)][-1]
        assert said is not None
        return said(node, target)

    return replace(one, said=say)


def newest_version(limit: int) -> Check[object]:
    """Require an operator version of at most ``limit`` (``CheckMaxSupportedOpVersion``, in both delegates)."""
    return version(at_most(limit)).saying(lambda node: f"Max version supported: {limit}. Requested version {node.version}.")


def joined(shape: Iterable[int]) -> str:
    """Return a shape in the format of the runtime's messages."""
    return f"[{','.join(map(str, shape))}]"


def shapes(node: NodeView) -> str:
    """Return the shapes of a node's two operands as text."""
    return f"shapes {list(node.input(0).shape)} and {list(node.input(1).shape)}"


def constant_input_count(node: NodeView) -> int:
    """Return the number of operands that are stored in the model file."""
    return sum(1 for tensor in node.inputs if tensor.is_constant)


def expected_runtime_inputs(expected: int, count: int) -> str:
    """Return the runtime's message about a wrong number of runtime inputs."""
    return f"Expected {expected} runtime input tensor(s), but node has {count} runtime input(s)."


def expected_constant_inputs(expected: int, count: int) -> str:
    """Return the runtime's message about a wrong number of constant inputs."""
    return f"Expected {expected} const input tensor(s), but node has {count} const input(s)."


def expected_outputs(expected: int, count: int) -> str:
    """Return the runtime's message about a wrong number of outputs."""
    return f"Expected {expected} output tensor(s), but node has {count} output(s)."


def runtime_operands(runtime: int, outputs: int) -> Check[object]:
    """Require exact numbers of runtime operands and results (``CheckInputsOutputs``)."""
    needed = f"{counted(runtime, 'runtime input')} and {counted(outputs, 'output')}"
    demand = asked(kinds.OPERAND_COUNT, needed, lambda node: _other_runtime_operands(node, runtime, outputs))
    return demand.from_source(COMPATIBILITY.with_symbol("CheckInputsOutputs"))


def _other_runtime_operands(node: NodeView, runtime: int, outputs: int) -> Found | None:
    count, results = runtime_input_count(node), len(node.node.outputs)
    if count != runtime:
        return counted(count, "runtime input"), expected_runtime_inputs(runtime, count)
    return None if results == outputs else (counted(results, "output"), expected_outputs(outputs, results))


_CONSTANTS_TOO = COMPATIBILITY.with_symbol("CheckInputsConstsOutputs")


def operands(runtime: int, constant: int, outputs: int) -> Check[object]:
    """Require exact numbers of runtime operands, constants and results (``CheckInputsConstsOutputs``)."""

    def find(node: NodeView) -> Found | None:
        count = constant_input_count(node)
        if count != constant:
            return counted(count, "constant input"), expected_constant_inputs(constant, count)
        return _other_runtime_operands(node, runtime, outputs)

    parts = (counted(runtime, "runtime input"), counted(constant, "constant input"), counted(outputs, "output"))
    return asked(kinds.OPERAND_COUNT, f"{parts[0]}, {parts[1]} and {parts[2]}", find).from_source(_CONSTANTS_TOO)


def operand_pairs(pairs: tuple[tuple[int, int], ...], needed: str) -> Check[object]:
    """Require one output and one of several pairs: runtime operands and constants (``CheckInputsConstsOutputs``)."""

    def find(node: NodeView) -> str | None:
        runtime, constant, outputs = runtime_input_count(node), constant_input_count(node), len(node.node.outputs)
        if (runtime, constant) in pairs and outputs == 1:
            return None
        return f"{counted(runtime, 'runtime input')}, {counted(constant, 'constant input')} and {counted(outputs, 'output')}"

    demand = check(kinds.OPERAND_COUNT, needed, find).from_source(_CONSTANTS_TOO)
    return demand.saying("Op can only handle 1 or 2 operand(s).")


ONE_OR_TWO_OPERANDS = operand_pairs(((2, 0), (1, 1)), TWO_OPERANDS)
"""Require two runtime operands, or one runtime operand and one constant (``CheckInputsConstsOutputs``)."""


def operands_available(check_of_count: Check[T], position: int) -> Check[T]:
    """Return a check with the message that the operand at ``position`` is missing (``CheckTensorIsAvailable``)."""

    def say(node: NodeView) -> str:
        return f"Requested index goes beyond array size: {position} vs {len(node.node.inputs)}"

    return check_of_count.from_source(COMPATIBILITY.with_symbol("CheckTensorIsAvailable")).saying(say)


def convolution_operands() -> tuple[Check[object], Check[object]]:
    """Require an input, weights and one output, with at most two runtime inputs (``CheckConvolutionInputOutput``)."""
    return (
        _convolution_operands(0, "at most 2 runtime inputs").before_release("litert-2.1.6"),
        _convolution_operands(1, "1 or 2 runtime inputs").from_release("litert-2.1.6"),
    )


def _convolution_operands(fewest: int, needed: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        runtime, outputs, inputs = runtime_input_count(node), len(node.node.outputs), len(node.node.inputs)
        if not fewest <= runtime <= 2:
            message = f"Expected 1 or 2 input tensor(s), but node has {runtime} runtime inputs."
            return counted(runtime, "runtime input"), message
        if outputs != 1:
            return counted(outputs, "output"), f"Expected 1 output tensor(s), but node has {outputs} runtime outputs."
        if inputs < 2:
            return "no input 1", f"Requested index goes beyond array size: 1 vs {inputs}"
        return None

    demand = asked(kinds.OPERAND_COUNT, f"{needed}, weights and 1 output", find)
    return demand.from_source(COMPATIBILITY.with_symbol("CheckConvolutionInputOutput"))


Sizes = Callable[[NodeView], tuple[int, int]]


def strides(sizes: Sizes = lambda node: (node.options.stride_h, node.options.stride_w)) -> Check[object]:
    """Require strides of at least 1 (``CheckStrides``)."""
    return _at_least_1x1("strides", "stride", sizes, "CheckStrides")


def dilation() -> Check[object]:
    """Require dilations of at least 1 (``CheckDilation``)."""
    return _at_least_1x1(
        "dilation", "dilation", lambda node: (node.options.dilation_h_factor, node.options.dilation_w_factor), "CheckDilation"
    )


def window(sizes: Sizes = lambda node: (node.options.filter_height, node.options.filter_width)) -> Check[object]:
    """Require a window of at least 1x1 (``CheckKernels``)."""
    return _at_least_1x1("filter", "kernel", sizes, "CheckKernels")


def _at_least_1x1(name: str, own_name: str, sizes: Sizes, symbol: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        height, width = sizes(node)
        if height > 0 and width > 0:
            return None
        message = f"Incorrect {own_name} values: {own_name}_height = {height}, {own_name}_width = {width}"
        return f"{name} {height}x{width}", message

    return asked(kinds.ATTRIBUTE, f"{name} of at least 1x1", find).from_source(COMPATIBILITY.with_symbol(symbol))


KNOWN_ACTIVATION = (
    activation(ACTIVATIONS)
    .from_source(COMPATIBILITY.with_symbol("IsActivationSupported"))
    .saying("TfLiteFusedActivation.kTfLiteActSignBit")
)
"""Accept every fused activation except SIGN_BIT."""


def _axes(node: NodeView) -> Found | None:
    axes = node.input(1)
    if axes.is_constant and axes.type == "INT32":
        return None
    message = f"{node.op} is only supported with constant axes."
    if axes.is_constant:
        message = f"{node.op} supports int32 tensor for axes. But node has {axes.type}"
    return f"axes are {axes.type} and {'constant' if axes.is_constant else 'not constant'}", message


CONSTANT_INT32_AXES = asked(kinds.CONSTANT, "constant INT32 axes", _axes)
"""Require constant INT32 axes. The shader depends on their values."""

_KINDS = kinds.kinds_in("delegates/gpu_compatibility", "rules")
OPERAND_COUNT = _KINDS["operand-count"]

RANK = _KINDS["rank"]


_DELEGATE = 51
"""The builtin code of a delegate kernel."""
HEADING = "Following operations are not supported by GPU delegate:"
LAST_LINE = r"(No|\d+) operations will run on the GPU, and .* operations will run on the CPU\."


def refusal_lines(graph: Graph, verdicts: Mapping[int, Verdict], delegated: int) -> tuple[str, ...]:
    """Return the log lines about a subgraph: one line for each operator and reason, then the numbers of GPU and CPU nodes.

    ``verdicts`` are the verdicts that the delegate asked for. There are no lines if no node is refused, or all are replaced.
    """
    total = len(graph.execution_plan)
    reasons = {
        f"{_name(graph, index)}: {'' if verdict is FLOAT16_WIDENING else verdict.reasons[0].kind}"
        for index, verdict in verdicts.items()
        if not verdict.is_supported
    }
    if not reasons or delegated >= total:
        return ()
    in_order = sorted(reasons, key=lambda line: line.encode(errors="surrogateescape"))
    last = f"{delegated} operations will run on the GPU, and the remaining {total - delegated} operations will run on the CPU."
    if not delegated:
        last = f"No operations will run on the GPU, and all {total} operations will run on the CPU."
    return tuple("\n".join([HEADING, *in_order, last]).split("\n"))


def _name(graph: Graph, index: int) -> str:
    node = graph.nodes[index]
    if node.builtin_code == _DELEGATE:
        return f"DELEGATE {node.op}"
    return f"CUSTOM {node.op}" if node.is_custom else node.op

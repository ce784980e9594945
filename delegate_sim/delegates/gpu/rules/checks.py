"""What the GPU rules have of their own besides the shared vocabulary.

Source: the helpers of ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``), and ``IsAllAllowedTensors``
(``delegates/gpu/common/model_builder.cc``). The delegate stops at the first condition that a node does not meet, so the order of
a rule's checks decides which reason is given.
"""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....model.model import Allocation
from ....rules import kinds
from ....rules.numbers import Numbers, at_most, counted, listed
from ....rules.operands import Operand
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import activation, check, check_for_target, ranks_at_most, version
from ..questions import ACTIVATIONS, runtime_input_count
from ..target import GpuTarget

SOURCE = Source(LITERT, "tflite/delegates/gpu/common/model_builder.cc", "GetOpsToReplace")
_ALL_TENSORS = SOURCE.with_symbol("IsAllAllowedTensors")
_NEW_PARSER = SOURCE.with_symbol("NewOperationParser")
COMPATIBILITY = Source(LITERT, "tflite/tools/versioning/gpu_compatibility.cc", "CheckGpuDelegateCompatibility")


FLOAT = ("FLOAT32", "FLOAT16")
QUANT8 = ("INT8", "UINT8")
INT32 = ("INT32",)
BOOL = ("BOOL",)
MAX_RANK = 4
UP_TO_1, UP_TO_2, UP_TO_3, UP_TO_4 = at_most(1), at_most(2), at_most(3), at_most(4)
TWO_OPERANDS = "2 runtime inputs, or 1 runtime and 1 constant input, and 1 output"


def gpu_rule(
    parser: str,
    *checks: Check[GpuTarget],
    version_in: Numbers | None = None,
    cases: tuple[str, ...] = (COMPATIBILITY.symbol,),
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
) -> OpRule[GpuTarget]:
    """Return the rule of an operator: the version, its own checks, and those of all tensors.

    The class ``parser`` is asked first, and then the functions ``cases`` of ``gpu_compatibility.cc``, if any. Checks that name no
    place are those of the last one. Tensors may have the types ``inputs`` and ``outputs`` besides the usual ones.
    """
    asked = SOURCE.with_symbol(f"{parser}::IsSupported")
    sources = (asked, *[COMPATIBILITY.with_symbol(case) for case in cases])
    versions = () if version_in is None else (version(version_in).from_source(asked),)
    own = [each if each.source else each.from_source(sources[-1]) for each in checks]
    everywhere = (*_tensor_checks("input", inputs), *_tensor_checks("output", outputs))
    return OpRule((*versions, *own, *everywhere), source=sources)


def _tensor_checks(side: str, further_types: tuple[str, ...]) -> tuple[Check[object], Check[GpuTarget]]:
    """``IsAllAllowedTensors``; only the types of tensors in the arena are looked at."""
    is_output = side == "output"
    float_types = frozenset((*FLOAT, *further_types))
    all_types = float_types.union(QUANT8)

    def find(node: NodeView, target: GpuTarget) -> str | None:
        tensors = node.graph.tensors
        allowed = all_types if target.allow_quant_ops else float_types
        for position, index in enumerate(node.node.outputs if is_output else node.node.inputs):
            if index >= 0 and tensors[index].type not in allowed and tensors[index].allocation is Allocation.ARENA:
                return f"{side} {position} of type {tensors[index].type}"
        return None

    needed = f"{side}s of type {listed((*FLOAT, *further_types))}, or with allow_quant_ops {listed(QUANT8)}"
    return (
        ranks_at_most(MAX_RANK, results=is_output).from_source(_ALL_TENSORS),
        check_for_target(kinds.TENSOR_TYPE, needed, find).from_source(SOURCE),
    )


def _quant_ops_are_off(_: NodeView, target: GpuTarget) -> str | None:
    return None if target.allow_quant_ops else "allow_quant_ops is off"


ALLOW_QUANT_OPS = check_for_target(
    kinds.QUANTIZATION, "allow_quant_ops", _quant_ops_are_off, "set allow_quant_ops, or convert a float model"
).from_source(_NEW_PARSER)
"""Some operators have a parser only if quantised nodes are accepted."""


def single_reader(which: Operand) -> Check[object]:
    """``GetTensorInfo``: demand that one node writes a tensor, and that one reads it."""

    def find(node: NodeView) -> str | None:
        index = which.tensor(node).index
        producers, consumers = len(node.graph.writers.get(index, ())), len(node.graph.readers.get(index, ()))
        return None if producers == consumers == 1 else f"{counted(producers, 'producer')} and {counted(consumers, 'consumer')}"

    return check(kinds.NEIGHBOUR, f"1 producer and 1 consumer of the {which.name}", find)


def constant_input_count(node: NodeView) -> int:
    """Return how many operands are stored in the model file."""
    tensors = node.graph.tensors
    return sum(1 for index in node.node.inputs if index >= 0 and tensors[index].is_constant)


def runtime_operands(runtime: int, outputs: int) -> Check[object]:
    """``CheckInputsOutputs``: demand numbers of runtime operands and of results."""

    def find(node: NodeView) -> str | None:
        return _other_runtime_operands(node, runtime, outputs)

    needed = f"{counted(runtime, 'runtime input')} and {counted(outputs, 'output')}"
    return check(kinds.OPERAND_COUNT, needed, find).from_source(COMPATIBILITY.with_symbol("CheckInputsOutputs"))


def _other_runtime_operands(node: NodeView, runtime: int, outputs: int) -> str | None:
    found = runtime_input_count(node)
    if found != runtime:
        return counted(found, "runtime input")
    return None if len(node.node.outputs) == outputs else counted(len(node.node.outputs), "output")


_CONSTANTS_TOO = COMPATIBILITY.with_symbol("CheckInputsConstsOutputs")


def operands(runtime: int, constant: int, outputs: int) -> Check[object]:
    """``CheckInputsConstsOutputs``: demand numbers of runtime operands, of constants and of results."""

    def find(node: NodeView) -> str | None:
        found = constant_input_count(node)
        return counted(found, "constant input") if found != constant else _other_runtime_operands(node, runtime, outputs)

    parts = (counted(runtime, "runtime input"), counted(constant, "constant input"), counted(outputs, "output"))
    return check(kinds.OPERAND_COUNT, f"{parts[0]}, {parts[1]} and {parts[2]}", find).from_source(_CONSTANTS_TOO)


def one_or_two_operands() -> Check[object]:
    """``CheckInputsConstsOutputs``, asked for two runtime operands, and for one with a constant."""

    def find(node: NodeView) -> str | None:
        runtime, constant, outputs = runtime_input_count(node), constant_input_count(node), len(node.node.outputs)
        if (runtime, constant) in ((2, 0), (1, 1)) and outputs == 1:
            return None
        return f"{counted(runtime, 'runtime input')}, {counted(constant, 'constant input')} and {counted(outputs, 'output')}"

    return check(kinds.OPERAND_COUNT, TWO_OPERANDS, find).from_source(_CONSTANTS_TOO)


def convolution_operands() -> tuple[Check[object], Check[object]]:
    """``CheckConvolutionInputOutput``: weights may be constant or computed at run time."""
    return (
        _convolution_operands(0, "at most 2 runtime inputs").before_release("litert-2.1.6"),
        _convolution_operands(1, "1 or 2 runtime inputs").from_release("litert-2.1.6"),
    )


def _convolution_operands(fewest: int, needed: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        runtime = runtime_input_count(node)
        if not fewest <= runtime <= 2:
            return counted(runtime, "runtime input")
        if len(node.node.outputs) != 1:
            return counted(len(node.node.outputs), "output")
        return "no input 1" if len(node.node.inputs) < 2 else None

    found = check(kinds.OPERAND_COUNT, f"{needed}, weights and 1 output", find)
    return found.from_source(COMPATIBILITY.with_symbol("CheckConvolutionInputOutput"))


Sizes = Callable[[NodeView], tuple[int, int]]


def strides(sizes: Sizes = lambda node: (node.options.stride_h, node.options.stride_w)) -> Check[object]:
    """``CheckStrides``."""
    return _at_least_1x1("strides", sizes, "CheckStrides")


def dilation() -> Check[object]:
    """``CheckDilation``."""
    return _at_least_1x1(
        "dilation", lambda node: (node.options.dilation_h_factor, node.options.dilation_w_factor), "CheckDilation"
    )


def window(sizes: Sizes = lambda node: (node.options.filter_height, node.options.filter_width)) -> Check[object]:
    """``CheckKernels``."""
    return _at_least_1x1("filter", sizes, "CheckKernels")


def _at_least_1x1(name: str, sizes: Sizes, symbol: str) -> Check[object]:
    """Demand that height and width are at least 1."""

    def find(node: NodeView) -> str | None:
        height, width = sizes(node)
        return f"{name} {height}x{width}" if height <= 0 or width <= 0 else None

    return check(kinds.ATTRIBUTE, f"{name} of at least 1x1", find).from_source(COMPATIBILITY.with_symbol(symbol))


KNOWN_ACTIVATION = activation(ACTIVATIONS).from_source(COMPATIBILITY.with_symbol("IsActivationSupported"))
"""Any fused activation but SIGN_BIT."""


def _axes(node: NodeView) -> str | None:
    axes = node.input(1)
    if axes.is_constant and axes.type == "INT32":
        return None
    return f"axes are {axes.type} and {'constant' if axes.is_constant else 'not constant'}"


CONSTANT_INT32_AXES = check(kinds.CONSTANT, "constant INT32 axes", _axes)
"""Axes whose values the shader is made for."""

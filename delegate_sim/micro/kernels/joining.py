"""Operators that join or split tensors."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import OPERAND_COUNT, QUANTIZATION, RANK
from ...rules.operands import INPUT, OUTPUT, at_least, operand
from ...rules.vocabulary import check, operand_count, typed
from ..checks import FLOAT32_INT8_INT16_INT32, NO_ACTIVATION, SAME_TYPES, axis_in_range, fixed, scale, zero_point
from ..target import NO_PREPARE, TENSOR_TYPE, MicroKernel, in_source

_MOST_INPUTS = 10
_MOST_DIMENSIONS = 6


def _many_inputs(node: NodeView) -> str | None:
    count = len(node.node.inputs)
    return None if count <= _MOST_INPUTS else f"{count} inputs"


def _other_type(node: NodeView) -> str | None:
    first = node.input(0).type
    for position, tensor in enumerate(node.inputs):
        if tensor.type != first:
            return f"input 0 is {first} and input {position} is {tensor.type}"
    return None


def _large_rank(node: NodeView) -> str | None:
    for position, tensor in enumerate(node.inputs):
        if tensor.rank > _MOST_DIMENSIONS:
            return f"input {position} of rank {tensor.rank}"
    return None


def _other_parameters(node: NodeView) -> str | None:
    result = node.output(0)
    for position, tensor in enumerate(node.inputs):
        if node.input(0).type == "INT8":
            if scale(tensor) != scale(result):
                return f"input {position} with scale {scale(tensor):g} and output with scale {scale(result):g}"
            if zero_point(tensor) != zero_point(result):
                return f"input {position} with zero point {zero_point(tensor)} and output with zero point {zero_point(result)}"
        elif node.input(0).type == "INT16" and zero_point(tensor):
            return f"INT16 input {position} with zero point {zero_point(tensor)}"
    if node.input(0).type == "INT16" and zero_point(result):
        return f"INT16 output with zero point {zero_point(result)}"
    return None


_SPLIT_AXIS, _SPLIT_INPUT = operand(0, "axis"), operand(1, "input")
_SPLIT_V_AXIS = operand(2, "axis")

KERNELS = {
    "CONCATENATION": MicroKernel(
        in_source(
            "concatenation.cc",
            "ConcatenationPrepare",
            NO_ACTIVATION,
            typed(INPUT, (*FLOAT32_INT8_INT16_INT32, "INT64", "BOOL")),
            SAME_TYPES,
            check(
                OPERAND_COUNT,
                f"at most {_MOST_INPUTS} inputs",
                _many_inputs,
                "join the inputs in several steps, at most 10 at a time",
            ),
            check(TENSOR_TYPE, "inputs of the same type", _other_type),
            check(RANK, f"inputs of rank at most {_MOST_DIMENSIONS}", _large_rank),
            check(
                QUANTIZATION,
                "INT8 inputs with the scale and zero point of output; INT16 tensors with zero point 0",
                _other_parameters,
                "quantize all inputs with the parameters of the output",
            ),
        ),
        in_source("concatenation.cc", "ConcatenationEval"),
    ),
    "PACK": MicroKernel(NO_PREPARE, in_source("pack.cc", "PackEval", typed(OUTPUT, (*FLOAT32_INT8_INT16_INT32, "INT64")))),
    "SPLIT": MicroKernel(
        in_source("split.cc", "SplitPrepare", fixed(_SPLIT_AXIS)),
        in_source(
            "split.cc", "SplitEval", axis_in_range(_SPLIT_AXIS, _SPLIT_INPUT), typed(_SPLIT_INPUT, FLOAT32_INT8_INT16_INT32)
        ),
    ),
    "SPLIT_V": MicroKernel(
        in_source("split_v.cc", "SplitVPrepare", operand_count(3, at_least(1)), fixed(_SPLIT_V_AXIS)),
        in_source("split_v.cc", "SplitVEval", axis_in_range(_SPLIT_V_AXIS), typed(INPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "UNPACK": MicroKernel(
        NO_PREPARE, in_source("unpack.cc", "UnpackEval", typed(INPUT, FLOAT32_INT8_INT16_INT32)), may_lack_results=True
    ),
}

"""Reductions and cumulative sums along dimensions."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.number_sets import at_least
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.rule import Check
from ...rules.vocabulary import rank
from ..checks import (
    FLOAT32,
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    INT8,
    INT8_INT16,
    INT32,
    SAME_SHAPES,
    SAME_TYPES,
    TWO_TO_ONE,
    axis_in_range,
    of_type,
    one_element,
    same_parameters,
    takes,
)
from ..kernel import NO_PREPARE, MicroKernel, in_source

_AXIS = operand(1, "axis")
_COMMON = "reduce_common.cc"


def _iteration(node: NodeView) -> tuple[int, ...]:
    return 4 * node.input(0).rank, 4 * node.input(1).element_count


def _accumulation(node: NodeView) -> tuple[int, ...]:
    sums = (4 * node.output(0).element_count,) if node.input(0).type in INT8_INT16 else ()
    return sums + _iteration(node)


def _reduction(prepare: str, evaluate: str, *checks: Check[object], before: tuple[Check[object], ...] = ()) -> MicroKernel:
    return MicroKernel(
        in_source(_COMMON, prepare, *before, TWO_TO_ONE, takes(_AXIS, INT32)),
        in_source(_COMMON, evaluate, *checks),
        scratch=_accumulation if prepare == "PrepareMeanOrSumHelper" else _iteration,
    )


_REDUCED_AXIS = axis_in_range(_AXIS, skips_empty=True)
_FLOAT_AXIS = of_type(INPUT, FLOAT32, _REDUCED_AXIS)
_MIN_MAX = (
    SAME_TYPES,
    takes(INPUT, FLOAT32_INT8),
    *of_type(INPUT, INT8, *same_parameters(INPUT, OUTPUT)),
    _REDUCED_AXIS,
)


def _arg(symbol: str) -> MicroKernel:
    return MicroKernel(
        NO_PREPARE, in_source("arg_min_max.cc", symbol, takes(_AXIS, INT32), takes(OUTPUT, INT32), takes(INPUT, FLOAT32_INT8))
    )


KERNELS = {
    "ARG_MAX": _arg("ArgMaxEval"),
    "ARG_MIN": _arg("ArgMinEval"),
    "CUMSUM": MicroKernel(
        in_source(
            "cumsum.cc",
            "CalculateOpData",
            TWO_TO_ONE,
            takes(INPUT, FLOAT32_INT8),
            takes(_AXIS, INT32),
            one_element(_AXIS),
            rank(INPUT, at_least(1)),
            SAME_TYPES,
            SAME_SHAPES,
        ),
        in_source("cumsum.cc", "CumSumEval", axis_in_range(_AXIS)),
    ),
    "MEAN": _reduction("PrepareMeanOrSumHelper", "EvalMeanHelper", takes(INPUT, FLOAT32_INT8_INT16), *_FLOAT_AXIS),
    "REDUCE_ALL": _reduction("PrepareAllHelper", "EvalAllHelper", SAME_TYPES, _REDUCED_AXIS, before=(takes(INPUT, ("BOOL",)),)),
    "REDUCE_MAX": _reduction("PrepareMinMaxHelper", "EvalMinMaxHelper", *_MIN_MAX),
    "REDUCE_MIN": _reduction("PrepareMinMaxHelper", "EvalMinMaxHelper", *_MIN_MAX),
    "SUM": _reduction("PrepareMeanOrSumHelper", "EvalSumHelper", SAME_TYPES, takes(INPUT, FLOAT32_INT8_INT16), *_FLOAT_AXIS),
}

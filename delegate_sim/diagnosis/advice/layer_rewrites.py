"""Rewrites of layers, for operators that delegates often do not support.

``tools/upstream/rewrites.py`` converts each rewrite with TensorFlow. It checks that the converted model does not contain the
original operator. It also checks that the results are equal, unless the description calls the rewrite an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...foundation.converter_attributes import UNFOLDED
from ...graph.graph import NodeView
from ...rules.kinds import Problem
from ...rules.operands import operand
from ...rules.vocabulary import constant
from ...runtime.target import Target

_OF_OPERATORS = frozenset({Problem.OPERATOR, Problem.DRIVER})
"""Kinds of problem that disappear if the layer is built from other operators."""
_CONSTANT_WEIGHTS = constant(operand(1)).data
_MOST_AXES = 8
"""The number of axes that are read. TFLite reduces tensors of at most 8 dimensions."""
_FLOATS = frozenset({"FLOAT32", "FLOAT16"})


class Rewrite(NamedTuple):
    """Another way to write an operator. A rewrite has a description, and names the operators that it uses."""

    words: str
    operators: tuple[str, ...]
    types: frozenset[str] = _FLOATS
    """Accepted types of the first operand. Empty if all types are accepted.

    A quantized operand is treated as a float, because the source model computes in float.
    """
    setting: str = ""
    """The value of ``ConverterSetting`` that makes the converter do the rewrite. Empty if the source code must change."""
    weighted: str = ""
    """The operator that reads the second operand of the node as its weights. Empty if there is none."""
    fits: Callable[[NodeView], bool] = lambda _: True
    """Whether the rewrite may be possible for a node whose operands have accepted types."""


def _any_type(words: str, *operators: str) -> tuple[Rewrite, ...]:
    return (Rewrite(words, operators, frozenset()),)


def _may_keep_channels(mean: NodeView) -> bool:
    """Return whether a MEAN may reduce height and width only, and not the last axis."""
    axes = mean.value(mean.input(1))
    last = mean.input(0).rank - 1
    return axes is None or not {last, -1}.intersection(axes[:_MOST_AXES].tolist())


def _of_floats(words: str, *operators: str) -> tuple[Rewrite, ...]:
    return (Rewrite(words, operators),)


REWRITES: Mapping[str, tuple[Rewrite, ...]] = {
        "BATCH_MATMUL": (
            Rewrite(
                f"one FULLY_CONNECTED for each matrix (the converter writes this form with {UNFOLDED})",
                ("SPLIT", "RESHAPE", "TRANSPOSE", "FULLY_CONNECTED", "PACK"),
                setting="unfold-batch-matmul",
                weighted="FULLY_CONNECTED",
            ),
        ),
        "BROADCAST_TO": _any_type("MUL with ones of the result's shape", "MUL"),
        "CEIL": _of_floats("NEG, FLOOR and NEG", "NEG", "FLOOR"),
        "COS": _of_floats("SIN of x + pi / 2", "ADD", "SIN"),
        "CUMSUM": _of_floats("FULLY_CONNECTED with a triangular matrix of ones", "FULLY_CONNECTED"),
        "ELU": _of_floats("relu(x) - relu(1 - exp(x))", "EXP", "SUB", "RELU"),
        "EXPAND_DIMS": _any_type("RESHAPE", "RESHAPE"),
        "FLOOR_DIV": _of_floats("DIV and FLOOR", "DIV", "FLOOR"),
        "FLOOR_MOD": _of_floats("DIV, FLOOR, MUL and SUB", "DIV", "FLOOR", "MUL", "SUB"),
        "FULLY_CONNECTED": (
            Rewrite(
                "CONV_2D with 1x1 filters on [1, rows, 1, channels], with a RESHAPE before and after it",
                ("RESHAPE", "CONV_2D"),
                weighted="CONV_2D",
            ),
        ),
        "GATHER_ND": _any_type("RESHAPE to one dimension and GATHER, with indices into this dimension", "RESHAPE", "GATHER"),
        "GELU": (
            Rewrite(
                "0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x * x * x))), which differs by at most 0.0005, with x * x * x in "
                "place of pow(x, 3), because the converter turns pow(x, 3) into GELU again; or x * sigmoid(1.702 * x), which is "
                "only an approximation",
                ("MUL", "ADD", "TANH"),
            ),
            Rewrite("x * sigmoid(1.702 * x), which is only an approximation", ("MUL", "LOGISTIC")),
        ),
        "HARD_SWISH": _of_floats(
            "x * (relu(x + 3) - relu(x - 3)) / 6 (the converter turns relu6(x + 3) into HARD_SWISH again)", "ADD", "SUB", "MUL"
        ),
        "L2_NORMALIZATION": _of_floats("x / sqrt(sum(x * x) + epsilon)", "MUL", "SUM", "ADD", "RSQRT"),
        "LEAKY_RELU": _of_floats("relu(x) - slope * relu(-x)", "NEG", "RELU", "MUL", "SUB"),
        "LOG_SOFTMAX": _of_floats(
            "log(softmax(x) + 1e-7), because the converter turns log(softmax(x)) into LOG_SOFTMAX again; or SOFTMAX alone if "
            "only the order of the results matters",
            "SOFTMAX", "ADD", "LOG",
        ),
        "MEAN": (
            Rewrite(
                "AVERAGE_POOL_2D and RESHAPE, if the axes are height and width",
                ("AVERAGE_POOL_2D", "RESHAPE"),
                fits=_may_keep_channels,
            ),
        ),
        "MIRROR_PAD": _any_type("CONCATENATION with slices of the tensor's edges", "STRIDED_SLICE", "CONCATENATION"),
        "NEG": _of_floats("MUL by -1", "MUL"),
        "ONE_HOT": _any_type("GATHER from an identity matrix", "GATHER"),
        "PACK": _any_type("CONCATENATION and RESHAPE", "CONCATENATION", "RESHAPE"),
        "RELU_0_TO_1": _of_floats("relu6(6 x) / 6", "MUL"),
        "ROUND": _of_floats("FLOOR of x + 0.5, which rounds halves up", "ADD", "FLOOR"),
        "RSQRT": _of_floats("SQRT of 1 / x", "DIV", "SQRT"),
        "SELECT_V2": _of_floats("b + c * (a - b), with the condition c as numbers 0 and 1", "SUB", "CAST", "MUL", "ADD"),
        "SQUARE": _of_floats("MUL of the tensor with itself", "MUL"),
        "SQUARED_DIFFERENCE": _of_floats("SUB, and MUL of the difference with itself", "SUB", "MUL"),
        "SQUEEZE": _any_type("RESHAPE", "RESHAPE"),
        "SUM": _of_floats("MEAN and MUL by the number of elements", "MEAN", "MUL"),
        "TILE": _any_type("CONCATENATION of the tensor with itself", "CONCATENATION"),
        "UNPACK": _any_type("SPLIT and RESHAPE", "SPLIT", "RESHAPE"),
    }  # fmt: skip
"""Rewrites, keyed by operator. The advice suggests the first rewrite whose operators are all supported."""


def may_help(problem: Problem, target: Target) -> bool:
    """Return whether a kind of problem may disappear if a layer is built from other operators.

    A feature level belongs to a device, so users cannot raise it. Other options that select a target are choices of the user.
    """
    is_of_device = problem is Problem.TARGET_LEVEL and target.delegate.behind.level(target.options) is not None
    return is_of_device or problem in _OF_OPERATORS


def rewriting(view: NodeView, target: Target) -> Rewrite | None:
    """Return the first rewrite of a node whose operators the target supports, or None if there is no such rewrite."""
    known = () if view.node.is_custom else REWRITES.get(view.op, ())
    operand = view.input(0)
    for way in known:
        is_of_type = not way.types or operand.type in way.types or operand.scale > 0
        takes_all = all(target.delegate.supports_operator(op, target.options) for op in way.operators)
        if is_of_type and way.fits(view) and takes_all and not _lacks_weights(way, view, target):
            return way
    return None


def _lacks_weights(way: Rewrite, view: NodeView, target: Target) -> bool:
    """Return whether a new operator needs constant weights, but the node computes this operand."""
    if not way.weighted or view.input(1).is_constant:
        return False
    rule = target.delegate.rules_for(target.options).rule_of(way.weighted)
    return rule is not None and any(_CONSTANT_WEIGHTS in (check.data, *check.data) for check in rule.checks)

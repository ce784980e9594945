"""What kind of problem a refusal is, whatever the delegate, and the kind of change that solves it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple


class Problem(Enum):
    """A kind of problem."""

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
    NEIGHBOURS = "neighbours"
    LIMIT = "limit"
    MODEL = "model"


_SUFFIXES: Mapping[Problem, str] = {
    Problem.DYNAMIC_SHAPE: "dynamic-tensors dynamic-shape",
    Problem.OPERATOR_VERSION: "operator-version",
    Problem.OPERATOR: "operator unsupported-operator custom-operator unmapped-operator",
    Problem.TARGET_LEVEL: "feature-level coreml-version",
    Problem.DRIVER: "driver",
    Problem.RANK: "rank scalar-output scalar-operand build-rank kernel-rank",
    Problem.TYPE: """
        input-type output-type tensor-type scalar-type intermediate-type requantize-type build-constant-type kernel-datatype
        kernel-mixed-types
    """,
    Problem.QUANTIZATION: """
        hybrid per-channel restricted-scales quantization build-quantization build-unscaled-constant kernel-rescaling
        kernel-zero-point kernel-scale kernel-block-size all-or-nothing cpu-kernel-after-remapping lstm-intermediates
    """,
    Problem.CONSTANT: """
        constant-operand build-constant-operand build-runtime-operand dense-weights sparse-weights build-sparsity
        build-shared-constant build-variable
    """,
    Problem.OPERANDS: """
        operand-count missing-bias absent-operand optional-operand build-missing-operand build-operand-count
        build-output-count kernel-operands build-repeated-operand build-in-place build-lstm scalar-value
    """,
    Problem.SHAPE: """
        shape broadcast zero-size filter-area split-count split-size build-constant-shape build-shape build-axis build-slice
        build-identity axis empty-pool
    """,
    Problem.ATTRIBUTE: "activation attribute-value operand-value build-activation kernel-permutation",
    Problem.NEIGHBOURS: "neighbouring-node dequantize",
    Problem.LIMIT: "partition-limit partition-minimum node-range",
    Problem.MODEL: "cyclic-graph not-delegated",
}
_PROBLEMS = {suffix: problem for problem, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_PREFIXES = ("nnapi-", "gpu-", "vx-", "coreml-", "hexagon-", "xnnpack-", "float16-")


def problem_of(code: str) -> Problem:
    """Return what kind of problem the code of a refusal stands for; raises KeyError for a code that nobody has classed."""
    for prefix in _PREFIXES:
        if code.startswith(prefix):
            return _PROBLEMS[code.removeprefix(prefix)]
    return _PROBLEMS[code]


class Suggestion(NamedTuple):
    """A kind of change: its code, what it is in a few words, and how it is done."""

    code: str
    title: str
    change: str


_SUGGESTIONS = (
    Suggestion(
        "fix-shapes",
        "give every tensor a known size",
        "convert with fixed input shapes (in TensorFlow a concrete function whose TensorSpec has no None; in PyTorch an export "
        "without dynamic shapes), and compute shapes for RESHAPE, FILL, SLICE and others from constants, not from the SHAPE of "
        "a tensor",
    ),
    Suggestion(
        "change-converter-setting",
        "convert with another setting",
        "set the converter so that it does not write the feature that raises the version of the operator",
    ),
    Suggestion(
        "lower-version",
        "convert so that the operator keeps an older version",
        "nothing in the node needs the version that the file gives it: convert with the converter of the release that the "
        "delegate was written for",
    ),
    Suggestion(
        "replace-operator",
        "build the same from operators that the delegate has",
        "write the layer in the model's code from operators that the delegate takes, or move it to the beginning or end of the "
        "model, where it splits nothing",
    ),
    Suggestion(
        "raise-target-level",
        "aim at a newer system",
        "ask for the level that has the operation, if the devices have it, and leave the older ones to another delegate",
    ),
    Suggestion(
        "avoid-operation",
        "do without the operation that the driver rejects",
        "write the layer from other operators (MEAN over height and width as AVERAGE_POOL_2D, say), or choose another "
        "accelerator",
    ),
    Suggestion(
        "change-rank",
        "use fewer, or more, dimensions",
        "reshape around the layer in the model's code so that its tensors have a number of dimensions that the delegate takes",
    ),
    Suggestion(
        "change-type",
        "use a type that the delegate takes",
        "change the type in the model's code: int32 in place of int64 for indices, float32 in place of other floats, and casts "
        "outside of the part that is delegated",
    ),
    Suggestion(
        "change-quantization",
        "quantise otherwise",
        "convert in float, or with full integer quantisation and a representative dataset; per-tensor in place of per-channel "
        "weights where the delegate wants them",
    ),
    Suggestion(
        "change-constant",
        "make the operand constant, or computed",
        "give the layer weights, axes or sizes in the model's code instead of computing them, or the other way round, as the "
        "delegate demands",
    ),
    Suggestion(
        "complete-operands",
        "give the node the operands that the delegate wants",
        "write the layer with a bias (of zeros) and without optional inputs, as the delegate demands",
    ),
    Suggestion(
        "change-shape",
        "use other sizes",
        "change the sizes in the model's code: broadcast explicitly, pool in smaller windows, and leave out what has no elements",
    ),
    Suggestion(
        "change-attribute",
        "use an option of the operator that the delegate takes",
        "change padding, strides, activation or another attribute in the model's code",
    ),
    Suggestion(
        "raise-limit",
        "let the delegate take more partitions",
        "raise the option that limits them, if more kernels pay off, or remove what splits the graph",
    ),
)

SUGGESTIONS: Mapping[str, Suggestion] = MappingProxyType({suggestion.code: suggestion for suggestion in _SUGGESTIONS})
"""Every kind of change by its code."""

SUGGESTION_FOR: Mapping[Problem, str] = MappingProxyType(
    {
        Problem.DYNAMIC_SHAPE: "fix-shapes",
        Problem.OPERATOR_VERSION: "lower-version",
        Problem.OPERATOR: "replace-operator",
        Problem.TARGET_LEVEL: "raise-target-level",
        Problem.DRIVER: "avoid-operation",
        Problem.RANK: "change-rank",
        Problem.TYPE: "change-type",
        Problem.QUANTIZATION: "change-quantization",
        Problem.CONSTANT: "change-constant",
        Problem.OPERANDS: "complete-operands",
        Problem.SHAPE: "change-shape",
        Problem.ATTRIBUTE: "change-attribute",
        Problem.LIMIT: "raise-limit",
    }
)
"""The change for each kind of problem that has one. A version that a feature explains has ``change-converter-setting``."""

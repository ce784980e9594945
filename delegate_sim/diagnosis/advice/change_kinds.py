"""Map each kind of problem to the kind of change that solves the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ...rules.kinds import Problem


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A kind of change: its code, a short description, and instructions."""

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
        "choose converter settings that avoid the feature that raises the operator's version",
    ),
    Suggestion(
        "lower-version",
        "convert so that the operator keeps an older version",
        "the node does not need the version in the file: use the converter of the release that the delegate was written for",
    ),
    Suggestion(
        "raise-version",
        "convert so that the operator has a newer version",
        "the delegate needs a newer version of the operator than the file has: use a newer converter",
    ),
    Suggestion(
        "other-release",
        "use another release of the runtime",
        "use a release that loads the model (delegate-sim releases has all of them), or register the operator in the application "
        "(--assume-ops-registered)",
    ),
    Suggestion(
        "repair-node",
        "repair a node that the CPU refuses",
        "no runtime can prepare this node: fix in the source model what its kernel refuses, and convert again",
    ),
    Suggestion(
        "register-operator",
        "register the custom operators",
        "register them with the interpreter's resolver, or link the Flex delegate for those of TensorFlow, and analyze with "
        "--assume-ops-registered; or convert without them",
    ),
    Suggestion(
        "unroll-control-flow",
        "do without loops and branches",
        "unroll loops whose number of steps is known (unroll=True in Keras' recurrent layers), compute both branches and choose "
        "between them with tf.where, or run the parts as models of their own from the application; "
        "nodes in the body of a loop or branch are delegated separately",
    ),
    Suggestion(
        "analyse-source",
        "analyze the model before compilation",
        "the node runs on the accelerator that it was compiled for, and cannot be simulated: analyze the compiler's input model",
    ),
    Suggestion(
        "avoid-flex",
        "do without TensorFlow's own operators",
        "convert without tf.lite.OpsSet.SELECT_TF_OPS, which shows every layer that needs it. Write those layers with "
        "TensorFlow Lite operators, or do their work in the application. "
        "Otherwise the model needs the Flex delegate (--assume-ops-registered)",
    ),
    Suggestion(
        "leave-to-application",
        "do the work in the application",
        "export the model without the layer, and do its work in the application",
    ),
    Suggestion(
        "leave-on-cpu",
        "leave it on the CPU",
        "it is at the beginning or end of the model, where it splits nothing: leave it there, or do without it",
    ),
    Suggestion(
        "replace-operator",
        "use operators that the delegate has",
        "write the layer in the model's code from operators that the delegate takes, or move it to the beginning or end of the "
        "model, where it does not split the graph",
    ),
    Suggestion(
        "raise-target-level",
        "target another level",
        "target the level at which the delegate takes the operator, if the devices support it, and leave the others to another "
        "delegate",
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
        "change the type in the model's code: int32 instead of int64 for indices, float32 instead of other floats, and casts "
        "outside the part that is delegated",
    ),
    Suggestion(
        "change-quantization",
        "quantize differently",
        "convert in float, or with full integer quantization and a representative dataset; per-tensor instead of per-channel "
        "weights where the delegate requires them",
    ),
    Suggestion(
        "change-constant",
        "make the operand constant, or computed",
        "give the layer weights, axes or sizes in the model's code instead of computing them, or the other way round, as the "
        "delegate requires",
    ),
    Suggestion(
        "complete-operands",
        "give the node the operands that the delegate requires",
        "write the layer with a bias (of zeros) and without optional inputs, as the delegate requires",
    ),
    Suggestion(
        "change-shape",
        "use other sizes",
        "change the sizes in the model's code: broadcast explicitly, pool with smaller windows, and remove tensors without "
        "elements",
    ),
    Suggestion(
        "change-attribute",
        "use an option of the operator that the delegate takes",
        "change padding, strides, activation or another attribute in the model's code",
    ),
    Suggestion(
        "raise-limit",
        "let the delegate take more partitions",
        "raise the option that limits them, if more kernels pay off, or remove the nodes that split the graph",
    ),
)

SUGGESTIONS: Mapping[str, Suggestion] = MappingProxyType({suggestion.code: suggestion for suggestion in _SUGGESTIONS})
"""All kinds of change, by code."""

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
        Problem.NEIGHBORS: "replace-operator",
        Problem.MODEL: "repair-node",
        Problem.RELEASE: "other-release",
    }
)
"""The code of the change for each kind of problem.

If a feature raised an operator's version, the code ``change-converter-setting`` is used instead.
"""

OF_RUNTIME = "runtime"
"""The ``kind`` of a reason that applies to the whole graph rather than to one node."""

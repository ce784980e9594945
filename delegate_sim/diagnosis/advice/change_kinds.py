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
        "convert with fixed input shapes (in Keras, call the model on a keras.Input with batch_shape; in TensorFlow, use a "
        "concrete function whose tf.TensorSpec has no None; in PyTorch, export without dynamic shapes). Compute the shapes for "
        "RESHAPE, FILL, SLICE and similar operators from constants, not from the SHAPE of a tensor",
    ),
    Suggestion(
        "change-converter-setting",
        "convert with another setting",
        "choose converter settings that avoid the feature that raises the operator's version",
    ),
    Suggestion(
        "lower-version",
        "convert so that the operator keeps an older version",
        "the node does not need the version in the file, so use a converter as old as the delegate",
    ),
    Suggestion(
        "raise-version",
        "convert so that the operator has a newer version",
        "use a newer converter, because the delegate needs a newer operator version than the file has",
    ),
    Suggestion(
        "other-release",
        "use another release of the runtime",
        "use a release that loads the model (see 'delegate-sim releases'), or register the operator in the "
        "application (--assume-ops-registered)",
    ),
    Suggestion(
        "repair-node",
        "repair a node that the CPU refuses",
        "in the source model, fix what the CPU kernel refuses, and convert again, because the CPU cannot prepare this node",
    ),
    Suggestion(
        "keep-float32",
        "compute in FLOAT32",
        "no CPU kernel computes in FLOAT16, as in float16 files of onnx2tf 2: convert in float, or with only the weights in "
        "float16 (TensorFlow's converter, litert-quantizer). Some delegates of the CPU run the file as it is",
    ),
    Suggestion(
        "register-operator",
        "register the custom operators",
        "register the operators with the interpreter's resolver (for TensorFlow's operators, link the Flex delegate), and "
        "analyze with --assume-ops-registered; or convert without these operators",
    ),
    Suggestion(
        "unroll-control-flow",
        "avoid loops and branches",
        "unroll loops whose number of steps is known (unroll=True in Keras' recurrent layers), compute both branches and "
        "choose between them with tf.where, or let the application run the parts as separate models. Nodes in the body of a "
        "loop or branch are delegated separately",
    ),
    Suggestion(
        "analyse-source",
        "analyze the model before compilation",
        "analyze the compiler's input model, because a compiled node cannot be simulated",
    ),
    Suggestion(
        "compile-model",
        "compile the model for the accelerator",
        "quantize the model fully to int8, and compile it, because the delegate takes only compiled programs. The compiler is "
        "not simulated. Its table says which operators it leaves to the CPU; delegate-sim reconcile MODEL --log FILE reads the "
        "table",
    ),
    Suggestion(
        "avoid-flex",
        "avoid TensorFlow's own operators",
        "convert without tf.lite.OpsSet.SELECT_TF_OPS. The converter then names every layer that needs these operators. "
        "Write those layers with TensorFlow Lite operators, or do their work in the application. Otherwise, the model needs "
        "the Flex delegate (--assume-ops-registered)",
    ),
    Suggestion(
        "leave-to-application",
        "do the work in the application",
        "export the model without the layer, and do its work in the application",
    ),
    Suggestion(
        "leave-on-cpu",
        "leave the node on the CPU",
        "leave or remove the node, which is at the beginning or end of the model and does not split partitions",
    ),
    Suggestion(
        "replace-operator",
        "use operators that the delegate has",
        "in the model's code, write the layer with operators that the delegate supports, or move it to the beginning or end "
        "of the model, where it does not split the graph",
    ),
    Suggestion(
        "raise-target-level",
        "choose another feature level",
        "choose the feature level at which the delegate supports the operator, if your devices have this level; on all "
        "other devices, use another delegate",
    ),
    Suggestion(
        "set-option",
        "set an option of the delegate",
        "set the option where the application creates the delegate",
    ),
    Suggestion(
        "avoid-operation",
        "avoid the operation that the driver rejects",
        "write the layer with other operators (for example, a MEAN over height and width as AVERAGE_POOL_2D), or choose "
        "another accelerator",
    ),
    Suggestion(
        "change-rank",
        "use fewer, or more, dimensions",
        "in the model's code, reshape before and after the layer so that its tensors have a number of dimensions that the "
        "delegate supports",
    ),
    Suggestion(
        "change-type",
        "use a type that the delegate supports",
        "in the model's code, use int32 instead of int64 for indices, and float32 instead of other float types; keep casts "
        "outside the delegated part",
    ),
    Suggestion(
        "change-quantization",
        "quantize differently",
        "convert in float, or with full integer quantization and a representative dataset; quantize weights per tensor "
        "instead of per channel if the delegate requires it",
    ),
    Suggestion(
        "change-constant",
        "make the operand a constant, or compute it at run time",
        "in the model's code, use constants for weights, axes or sizes, or compute these values at run time, as the delegate "
        "requires",
    ),
    Suggestion(
        "complete-operands",
        "give the node the operands that the delegate requires",
        "add a bias of zeros to the layer, or remove optional inputs, as the delegate requires",
    ),
    Suggestion(
        "change-shape",
        "use other sizes",
        "in the model's code, broadcast explicitly, pool with smaller windows, or remove tensors without elements",
    ),
    Suggestion(
        "change-attribute",
        "use an operator option that the delegate supports",
        "in the model's code, change the padding, the strides, the activation or another attribute",
    ),
    Suggestion(
        "raise-limit",
        "let the delegate take more partitions",
        "if more kernels help, raise the option that limits the number of partitions; otherwise, remove the nodes that "
        "split the graph",
    ),
)

SUGGESTIONS: Mapping[str, Suggestion] = MappingProxyType({suggestion.code: suggestion for suggestion in _SUGGESTIONS})
"""All kinds of change, keyed by code."""

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
"""The code of the change, keyed by kind of problem.

If a feature raised an operator's version, the code is ``change-converter-setting`` instead.
"""

OF_RUNTIME = "runtime"
"""The ``kind`` of a reason that concerns the whole graph."""

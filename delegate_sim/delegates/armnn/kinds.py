"""Kinds of problem of Arm NN's delegate, and the upstream sources that rules name."""

from __future__ import annotations

from ...refusal import Effect, Stage
from ...rules import kinds
from ...rules.kinds import Kind, Problem
from ...rules.source import Repository, Source

ARMNN = Repository("ARM-software/armnn", "ef0f3e7ac2d49d5eb36adb45c12b3b64fb8dd46f")
CLASSIC = Source(ARMNN, "delegate/classic/src/armnn_delegate.cpp", "ArmnnSubgraph::VisitNode")
RELEASE = "23.08"
"""The release of Arm NN that is simulated, with Compute Library 24.11 as in Debian 13."""

READS_COMPUTED = Kind(
    "reads-computed-value",
    Problem.CONSTANT,
    "value that the delegate reads before it is computed",
    "The delegate reads the value of this operand while it checks the node, without asking whether the value is constant. If the "
    "value is computed at run time, there is nothing to read yet, and the process ends.",
    "Make the operand a constant. For example, slice with a constant begin, or fix the shapes before you convert the model.",
    "make the operand a constant, or keep the node away from the delegate",
)
NOT_BUILT = Kind(
    "armnn-network-not-built",
    Problem.MODEL,
    "nodes that the delegate takes, but cannot build",
    "The delegate takes nodes after a check of each layer. The checks of Optimize and LoadNetwork are stricter. If they fail, "
    "an exception leaves ModifyGraphWithDelegate: Python raises RuntimeError, and a C++ program without a handler ends. The "
    "runtime does not restore the plan.",
    "Change the named node, or choose other backends with the option backends.",
    "change the named node so that Arm NN can build it",
    template="{operator}: {found}; Arm NN needs {needed} to build the network",
    stage=Stage.BUILDING,
    effect=Effect.THROW,
)
ASSERTION = Kind(
    "armnn-assertion",
    Problem.MODEL,
    "nodes that the delegate takes, but whose network ends the process",
    "The delegate takes nodes after a check of each layer. While Arm NN then builds the network, an assertion fails, or it reads "
    "memory that it has not allocated, and the process ends. A build without assertions may go on.",
    "Change the named node, or choose other backends with the option backends.",
    "change the named node so that Arm NN can build it",
    template="{operator}: {found}; Arm NN asserts {needed} while it builds the network, and the process ends",
    stage=Stage.BUILDING,
    effect=Effect.ABORT,
)
FALLBACK_DISABLED = Kind(
    "armnn-fallback-disabled",
    Problem.MODEL,
    "refused nodes although the fallback is disabled",
    "The option disable-tflite-runtime-fallback makes the delegate throw an exception if it refuses any node.",
    "Leave out the option, or change the refused nodes.",
    "leave out disable-tflite-runtime-fallback, or change the refused nodes",
    template="the delegate refuses {refused} of {total} nodes, and disable-tflite-runtime-fallback forbids the CPU",
    stage=Stage.ACCEPTING,
    effect=Effect.THROW,
)
KINDS = (
    kinds.OPERATOR.reworded(meaning="The delegate has no layer for this operator, or none of the named backends has the layer."),
    kinds.OPERAND_COUNT,
    kinds.TENSOR_TYPE,
    kinds.HYBRID.reworded(
        meaning="The backend needs operands of equal types. Weights may differ only from 8-bit activations, so dynamic-range "
        "quantization is refused."
    ),
    kinds.RANK,
    kinds.SHAPE,
    kinds.BROADCAST,
    kinds.CONSTANT,
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION,
    READS_COMPUTED,
)
"""Every kind of problem in the rules, with the delegate's wording."""

"""The target of the rules, and the kinds of problem that they report.

Source: ``Delegate`` and its flags (``delegates/xnnpack/xnnpack_delegate.cc`` and ``.h``).
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules import kinds

FLAGS = MappingProxyType(
    {
        "qs8": 0x1,
        "qu8": 0x2,
        "force_fp16": 0x4,
        "dynamic_fully_connected": 0x8,
        "variable_operators": 0x10,
        "transient_indirection_buffer": 0x20,
        "enable_latest_operators": 0x40,
        "enable_subgraph_reshaping": 0x80,
        "slow_consistent_arithmetic": 0x200,
        "disable_subgraph_reshaping": 0x400,
        "disable_dynamically_quantized_ops": 0x800,
    }
)
"""The bits of ``TfLiteXNNPackDelegateOptions::flags``, by name without the prefix ``TFLITE_XNNPACK_DELEGATE_FLAG_``."""

QS8, QU8 = FLAGS["qs8"], FLAGS["qu8"]
DEFAULT_FLAGS = QS8 | QU8
"""The flags that the runtime sets by default."""

DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM = parse_release("litert-2.0.2")
"""The first release that accepts float CONV_2D and FULLY_CONNECTED with integer weights by default.

The flag disable_dynamically_quantized_ops makes the delegate refuse these nodes. In earlier releases, these nodes need the flag
enable_latest_operators, which the runtime sets.
"""


class XnnpackTarget(NamedTuple):
    """The delegate's flags, and the release of the runtime."""

    flags: int = DEFAULT_FLAGS
    release: Release = NEWEST

    def has(self, flag: str) -> bool:
        """Return whether a flag is set."""
        return bool(self.flags & FLAGS[flag])

    @property
    def dynamic_quantization(self) -> bool:
        """Whether float activations are quantized at run time if the weights are integers."""
        return _dynamic_quantization(self)


@functools.lru_cache
def _dynamic_quantization(target: XnnpackTarget) -> bool:
    if target.release.is_at_least(DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM):
        return not target.has("disable_dynamically_quantized_ops")
    return target.has("enable_latest_operators")


KINDS = (
    kinds.OPERATOR.reworded(
        title="operator that XNNPACK does not run",
        meaning="XNNPACK does not support this operator, so a CPU kernel of the runtime runs the node.",
        advice="You need not do anything, because XNNPACK and the kernels of the runtime both run on the CPU. A node that splits "
        "a partition costs a little time.",
        hint="leave the node to its CPU kernel",
    ),
    kinds.VERSION.reworded(
        title="operator version for sparse weights",
        meaning="A FULLY_CONNECTED of version 8 has sparse weights. The delegate leaves the node to the CPU kernel.",
        advice="Convert without sparse weights, or leave the node to the CPU kernel.",
        hint="convert without sparse weights",
    ),
    kinds.OPERAND_COUNT.reworded(
        meaning="The operator is supported only with certain numbers of operands and results. Omitted operands (-1) also count. "
        "A CONCATENATION may have two to five operands, and a SPLIT may have two to four results.",
        advice="Split the node into several smaller nodes.",
        hint="split the node into smaller nodes",
    ),
    kinds.OPTIONAL_OPERAND,
    kinds.CONSTANT.reworded(
        meaning="Weights, biases, axes and shapes must be constants in the model file, or the result of a DEQUANTIZE or DENSIFY "
        "of a constant. Values that the runtime computes in Prepare do not count as constants.",
        advice="Store the operand in the model as a constant, for example by fixing shapes before converting. If a "
        "FULLY_CONNECTED has runtime weights, set the flag dynamic_fully_connected.",
        hint="store the operand in the model as a constant",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="Most operators support FLOAT32 and FLOAT16. Many also support INT8 (with the flag qs8) and UINT8 (with the flag "
        "qu8). Nodes with other types, such as 16-bit activations, run on the CPU kernels.",
        advice="Convert with float or 8-bit activations, and with INT32 for axes and shapes. Keep the flags qs8 and qu8 on.",
        hint="convert with float or 8-bit tensors",
    ),
    kinds.HYBRID.reworded(
        title="operands of different types",
        meaning="The operands and the result must have the same type. Only CONV_2D, FULLY_CONNECTED, BATCH_MATMUL and "
        "TRANSPOSE_CONV accept weights of at most 8 bits with float activations. With the flag "
        "disable_dynamically_quantized_ops, CONV_2D and FULLY_CONNECTED do not accept such weights. The bias of float "
        "weights must have the type of the weights, or be FLOAT32.",
        advice="Quantize fully (int8 with a representative data set), or keep weights and biases in the type of the activations.",
    ),
    kinds.RANK.reworded(
        meaning="XNNPACK's tensors have at most six dimensions. Some operators require an exact number of dimensions.",
    ),
    kinds.SHAPE.reworded(
        meaning="The delegate uses the sizes in the model file. No dimension may be 0, and the sizes of the operands must match.",
        advice="Fix the shapes of the model before you convert it.",
        hint="fix the shapes of the model before converting",
    ),
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION.reworded(meaning="XNNPACK supports only RELU, RELU6 and RELU_N1_TO_1 as fused activations."),
    kinds.QUANTIZATION.reworded(
        meaning="8-bit activations need one scale for the tensor. Weights need one scale for the tensor, or one for each output "
        "channel. Scales must be positive, and zero points must be in range. The ratio of input and output scales is "
        "limited.",
        advice="With a representative data set, quantize activations per tensor, and weights per tensor or per output channel.",
        hint="quantize activations per tensor, with a representative data set",
    ),
    kinds.NEIGHBOR.reworded(
        meaning="A VAR_HANDLE is supported only if a node that reads or assigns its variable is supported. All of these nodes "
        "must use the same type and shape. A DEQUANTIZE or DENSIFY of a constant is supported unless a refused node reads "
        "its result.",
        advice="Look at the refusals of the nodes that read the result. For a variable, look at the refusals of all nodes that "
        "use the variable.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""

"""Failures to initialize the kernel of a partition.

Source: ``CoreMlDelegateKernel::BuildModel`` (``delegates/coreml/coreml_delegate_kernel.mm``), and the checks in
``RegisterInputs`` and ``RegisterOutputs`` of the layers (``delegates/coreml/builders``). Core ML is assumed to compile the model.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.kinds import kinds_in
from ...rules.operands import listed
from .. import decision

KINDS = kinds_in("delegates/coreml", "failures", is_shared=True)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)

MAX_RANK = 4

_BOUNDARY_RANK_IS_CHECKED = parse_release("litert-2.2.0")
"""The first release that limits boundary tensors to ``MAX_RANK`` dimensions."""

_ONE, _TWO, _TWO_OR_THREE = (1,), (2,), (2, 3)
_INPUT_COUNTS = {
    "ADD": _TWO,
    "MUL": _TWO,
    "AVERAGE_POOL_2D": _ONE,
    "MAX_POOL_2D": _ONE,
    "MEAN": _TWO,
    "CONV_2D": _TWO_OR_THREE,
    "DEPTHWISE_CONV_2D": _TWO_OR_THREE,
    "TRANSPOSE_CONV": (3,),
    "HARD_SWISH": _ONE,
    "LOGISTIC": _ONE,
    "RELU": _ONE,
    "RELU_N1_TO_1": _ONE,
    "RELU6": _ONE,
    "TANH": _ONE,
    "SOFTMAX": _ONE,
    "PAD": _TWO_OR_THREE,
    "PADV2": _TWO_OR_THREE,
    "MIRROR_PAD": _TWO_OR_THREE,
    "RESIZE_BILINEAR": _TWO,
}
_PADDING = ("PAD", "PADV2", "MIRROR_PAD")
_ANY_OUTPUT_COUNT = ("RESHAPE", "DEQUANTIZE")
_FIRST_OPERAND_ONLY = frozenset(_INPUT_COUNTS).union(("RESHAPE", "FULLY_CONNECTED")) - {"ADD", "MUL", "TRANSPOSE_CONV"}
"""Operators that become a layer with a single input, the first operand. All other operands become part of the layer."""


def build_partition(graph: Graph, subset: Subset, release: Release = NEWEST) -> Refusal | None:
    """Return the reason why the kernel of a partition cannot be initialized, or None if the kernel is initialized."""
    read: set[int] = set()
    without_bias = None
    for index in subset.nodes:
        node = graph.view(graph.nodes[index])
        failure = _miscounted(node)
        if failure is not None:
            return failure
        if _reads_value(node) and node.node.input(2) < 0:
            return kernel_failure("coreml-kernel-value", index, op=node.op)
        if without_bias is None and has_missing_bias(node):
            # What the memory holds is not known, so the failure is only predicted.
            without_bias = replace(kernel_failure("coreml-kernel-bias", index), is_predicted=True)
        read.update(layer_inputs(node))
    if not release.is_at_least(_BOUNDARY_RANK_IS_CHECKED):
        return without_bias
    boundary = (*subset.outputs, *(index for index in subset.inputs if index in read))
    for index in boundary:
        tensor = graph.tensors[index]
        if tensor.rank > MAX_RANK:
            return kernel_failure("coreml-kernel-rank", None, tensor, found=tensor.rank)
    return without_bias


def _miscounted(node: NodeView) -> Refusal | None:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    allowed = _INPUT_COUNTS.get(node.op)
    if allowed is not None and inputs not in allowed:
        return _count_failure(node, "inputs", inputs, allowed)
    if outputs != 1 and node.op not in _ANY_OUTPUT_COUNT:
        return _count_failure(node, "outputs", outputs, _ONE)
    return None


def _count_failure(node: NodeView, side: str, count: int, allowed: Iterable[int]) -> Refusal:
    needed = listed(map(str, allowed))
    return kernel_failure("coreml-kernel-operands", node.node.index, op=node.op, found=f"{count} {side}", needed=needed)


def layer_inputs(node: NodeView) -> Iterator[int]:
    """Yield the tensors that the Core ML layer of a node reads at run time."""
    inputs = node.node.inputs
    if node.op in _FIRST_OPERAND_ONLY:
        yield node.node.input(0)
    elif node.op == "TRANSPOSE_CONV":
        yield node.node.input(2)
    elif node.op == "CONCATENATION":
        yield from inputs
    elif node.op in ("ADD", "MUL"):
        scalar = next((position for position in (0, 1) if is_constant_number(node, position)), None)
        yield from inputs if scalar is None else (inputs[1 - scalar],)


def is_constant_number(node: NodeView, position: int) -> bool:
    """Return whether an operand is a constant with a single element."""
    tensor = node.input(position)
    return tensor.is_constant and tensor.element_count == 1


def has_computed_value(node: NodeView) -> bool:
    """Return whether a node pads with a value that is computed at run time. The kernel reads the value before it is computed."""
    return _reads_value(node) and node.node.input(2) >= 0 and not node.input(2).is_constant


def _reads_value(node: NodeView) -> bool:
    return node.op in _PADDING and len(node.node.inputs) > 2


def has_missing_bias(node: NodeView) -> bool:
    """Return whether a node is a FULLY_CONNECTED with an omitted bias."""
    inputs = node.node.inputs
    return node.op == "FULLY_CONNECTED" and len(inputs) > 2 and inputs[2] < 0

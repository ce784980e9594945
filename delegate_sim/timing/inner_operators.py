"""Match the operators inside of XNNPACK's kernels with nodes.

XNNPACK names its operators in ``src/operator-strings.c`` and ``xnn_operator_type_to_string``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..device.parse.operator_tables import Row
from ..hypothetical.hypothetical_changes import NodeKey
from .measured import InnerOperator
from .plan import Plan

_XNNPACK = "xnnpack"
_OPERATORS: Mapping[str, str] = {
    "Average Pooling": "AVERAGE_POOL_2D",
    "Batch Matrix Multiply": "BATCH_MATMUL",
    "Convolution": "CONV_2D",
    "Deconvolution": "TRANSPOSE_CONV",
    "Depth To Space": "DEPTH_TO_SPACE",
    "Dynamic Fully Connected": "FULLY_CONNECTED",
    "Fully Connected": "FULLY_CONNECTED",
    "Max Pooling": "MAX_POOL_2D",
    "PReLU": "PRELU",
    "Resize Bilinear": "RESIZE_BILINEAR",
    "Softmax": "SOFTMAX",
    "Space To Depth": "SPACE_TO_DEPTH",
    "Transpose": "TRANSPOSE",
}
"""Beginnings of XNNPACK's names that stand for one operator of TFLite."""
_DEPTHWISE = "DWConv"


def inner_operators(rows: Sequence[Row], plan: Plan) -> tuple[InnerOperator, ...]:
    """Return the operators inside of kernels. An operator has a node if there is one kernel, and the order tells the node.

    The profiler adds up the times of operators with the same name and number in different kernels. So with several kernels, no
    node is known.
    """
    kernels = [step for steps in plan.steps for step in steps if step.is_kernel and step.op == _XNNPACK]
    timed = [(row, row.time) for row in rows if row.time is not None]
    nodes: dict[int, NodeKey] = {}
    if len(kernels) == 1:
        (kernel,) = kernels
        graph = plan.graphs[kernel.subgraph]
        for op in dict.fromkeys(_OPERATORS.values()) | {"DEPTHWISE_CONV_2D": None}:
            numbers = [number for number, (row, _) in enumerate(timed) if _operator(row) == op]
            own = [node for node in kernel.nodes if graph.nodes[node].op == op]
            if len(own) == len(numbers):
                nodes |= {number: NodeKey(kernel.subgraph, node) for number, node in zip(numbers, own, strict=True)}
    return tuple([InnerOperator(_name(row), time.ms, nodes.get(number)) for number, (row, time) in enumerate(timed)])


def _name(row: Row) -> str:
    return row.outputs.removeprefix("Delegate/")


def _operator(row: Row) -> str:
    """Return the operator of TFLite that a row stands for; empty if there may be several."""
    kind = _name(row).partition(" (")[0]
    op = _OPERATORS.get(kind, "")
    return "DEPTHWISE_CONV_2D" if op == "CONV_2D" and _DEPTHWISE in row.outputs else op

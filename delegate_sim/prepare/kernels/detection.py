"""Prepare function of non-maximum suppression, which selects detected boxes."""

from __future__ import annotations

from ...foundation.printable import counted
from ..kernel import KernelNode, KernelTensor, kernel
from ..operands import first_unknown

_SCORE_THRESHOLD = 4


@kernel("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", changed_in=("litert-2.1.6",))
def prepare_non_max_suppression(node: KernelNode) -> None:
    """``kernels/non_max_suppression.cc: Prepare``. The number of operands selects the variant."""
    node.ensure(node.input_count in (5, 6), f"has {counted(node.input_count, 'input')}, not 5 or 6")
    boxes, scores, limit = node.input(0), node.input(1), node.input(2)
    node.ensure_type(boxes, "FLOAT32")
    node.ensure(boxes.rank == 2 and boxes.shape[1] == 4, "the boxes are not rows of four")
    node.ensure_type(scores, "FLOAT32")
    node.ensure(scores.shape == boxes.shape[:1], "the scores do not have one element for each box")
    _ensure_scalar(node, limit, "INT32")
    unknown = first_unknown(limit)
    count = 0 if unknown else limit.integers()[0]
    node.ensure(count >= 0, f"the maximum number of boxes is negative ({count})")
    for position in range(3, node.input_count):
        # Earlier releases check the type of the IoU threshold twice instead of the type of the score threshold.
        is_checked = position != _SCORE_THRESHOLD or node.since("litert-2.1.6")
        _ensure_scalar(node, node.input(position), "FLOAT32" if is_checked else node.input(position).type)
    is_soft = node.input_count == 6
    outputs = 3 if is_soft else 2
    node.ensure(node.output_count == outputs, f"has {counted(node.output_count, 'output')}, not {outputs}")
    result_types = ("INT32", "FLOAT32", "INT32") if is_soft else ("INT32", "INT32")
    for position, result_type in enumerate(result_types):
        node.output(position).type = result_type
    *selected, selected_count = (node.output(position) for position in range(len(result_types)))
    node.resize(selected_count, ())
    for result in selected:
        if unknown:
            node.set_dynamic(result, unknown)
        else:
            node.resize(result, (count,))


def _ensure_scalar(node: KernelNode, tensor: KernelTensor, scalar_type: str) -> None:
    node.ensure_type(tensor, scalar_type)
    node.ensure(tensor.rank == 0, f"tensor {tensor.index} is not a scalar")

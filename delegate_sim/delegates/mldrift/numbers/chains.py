"""Wrong numbers of elementwise nodes that ML Drift appends to the kernel of the node before them."""

from __future__ import annotations

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from .merging import changes_nothing, is_merged_after_weights
from .rule import Affected, GraphPart, number_rule

_UNARY = frozenset(
    {
        *("ABS", "CAST", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "NEG"),
        *("PRELU", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH"),
    }
)
_BINARY = frozenset({"ADD", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "MUL", "POW", "SQUARED_DIFFERENCE", "SUB"})

ELEMENTWISE = (*sorted(_UNARY), *sorted(_BINARY))
"""The operators of elementwise nodes."""


def runtime_operand(node: NodeView) -> Tensor | None:
    """Return the only operand of an elementwise node that is computed at run time, or None."""
    if node.op in _UNARY:
        return node.input(0)
    runtime = {tensor.index: tensor for tensor in node.inputs if not tensor.is_constant} if node.op in _BINARY else {}
    return next(iter(runtime.values())) if len(runtime) == 1 else None


def _first_appended(node: NodeView, part: GraphPart) -> int | None:
    """Return the elementwise node that is appended first to the kernel which computes an elementwise node.

    The kernel begins with a node of another kind, such as a convolution. None if it begins with an elementwise node or has a
    fused activation.
    """
    passed: list[int] = []
    first: int | None = None
    while node.node.index not in part.first_appended:
        passed.append(node.node.index)
        writer = _kernel_before(node, part)
        if writer is None:
            break
        if runtime_operand(writer) is None:
            first = node.node.index if fused_activation(writer) == "NONE" else None
            break
        node = writer
    first = part.first_appended.get(node.node.index, first)
    part.first_appended.update(dict.fromkeys(passed, first))
    return first


def _kernel_before(node: NodeView, part: GraphPart) -> NodeView | None:
    """Return the node that computes the operand of an elementwise node, without nodes that are removed or merged into weights.

    None if the operand has other readers, is an output or enters the part: the elementwise node then begins a kernel.
    """
    source, last = runtime_operand(node), node.node.index
    while source is not None and part.only_reader(source) is not None and not part.is_output(source):
        writer = part.writer(source)
        if writer is None or writer.node.index >= last:
            return None
        is_merged = writer.op in ("ADD", "MUL") and is_merged_after_weights(writer, part)
        if not is_merged and not _is_removed(writer):
            return writer
        source, last = (runtime_operand(writer) if is_merged else writer.input(0)), writer.node.index
    return None


def _is_removed(node: NodeView) -> bool:
    is_reshape = node.op == "RESHAPE" and node.input(0).shape == node.output(0).shape
    return is_reshape or (node.op in ("SLICE", "STRIDED_SLICE") and changes_nothing(node))


def _second_slope(node: NodeView, part: GraphPart) -> Affected | None:
    if not node.options.alpha or node.input(0).type != "FLOAT32":
        return None
    first = _first_appended(node, part)
    if first is None or part.graph.nodes[first].op != "PRELU":
        return None
    return Affected(node.output(0), {"first": first})


RULES = (number_rule("prelu-then-leaky-relu", ("LEAKY_RELU",), _second_slope),)

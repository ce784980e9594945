"""Arithmetic, activations, pooling and MEAN.

Source: ``IsNodeSupportedByDelegate`` (``coreml_delegate.mm``), ``IsBinaryOpSupported`` (``builders/util.cc``) and
``IsMeanOpSupported`` (``builders/pooling_layer_builder.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ..kernel import MAX_RANK, is_constant_number
from .checks import ATTRIBUTE, BROADCAST, NO_ACTIVATION, RANK, TENSOR_TYPE, check, coreml_rule, coreml_rules, present


def _second_operand_type(node: NodeView) -> str | None:
    second = node.input(1)
    if second.type == "FLOAT32" or (second.type == "FLOAT16" and second.is_constant):
        return None
    return f"input 1 is {second.type}, {'constant' if second.is_constant else 'not constant'}"


def _shape_4d(tensor: Tensor) -> tuple[int, ...]:
    return (1,) * (4 - tensor.rank) + tensor.shape


def _not_broadcast(node: NodeView) -> str | None:
    """``IsBroadcastable``.

    Before LiteRT 2.1.6 it reads past shapes of more than four dimensions. What comes of that is not known: it counts as not
    broadcast, too.
    """
    first, second = node.input(0), node.input(1)
    found = f"shapes {list(first.shape)} and {list(second.shape)}"
    if max(first.rank, second.rank) > MAX_RANK:
        return found
    batch, *area, channels = zip(_shape_4d(first), _shape_4d(second), strict=True)
    has_number = is_constant_number(node, 0) or is_constant_number(node, 1)
    first_area, second_area = zip(*area, strict=True)
    if batch[0] != batch[1] and not has_number:
        return found
    if first_area != second_area and (1, 1) not in (first_area, second_area):
        return found
    return found if channels[0] != channels[1] and 1 not in channels else None


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1.0 else f"beta {node.options.beta:g}"


def _axes_beyond_area(node: NodeView) -> str | None:
    """Upstream reads the axes whether or not they are constant; in a graph without dynamic tensors they are known."""
    axes = node.value(node.input(1))
    found = [] if axes is None else axes.tolist()
    return None if all((axis + 4) % 4 in (1, 2) for axis in found) else f"axes {found}"


RULES = {
    **coreml_rules(
        ("ADD", "MUL"),
        present(1, "second operand"),
        check(TENSOR_TYPE, "input 1 of type FLOAT32, or a FLOAT16 constant", _second_operand_type),
        check(BROADCAST, "shapes that Core ML broadcasts", _not_broadcast),
    ),
    **coreml_rules(("HARD_SWISH", "LOGISTIC", "RELU", "RELU_N1_TO_1", "RELU6", "TANH")),
    "SOFTMAX": coreml_rule(check(ATTRIBUTE, "beta 1", _beta, "scale the input with MUL in place of beta")),
    **coreml_rules(("AVERAGE_POOL_2D", "MAX_POOL_2D"), NO_ACTIVATION),
    "MEAN": coreml_rule(
        check(ATTRIBUTE, "keep_dims", lambda node: None if node.options.keep_dims else "keep_dims false", "set keep_dims"),
        check(RANK, "input of rank 4", lambda node: None if (rank := node.input(0).rank) == 4 else f"input of rank {rank}"),
        check(ATTRIBUTE, "axes 1 and 2", _axes_beyond_area, "average over height and width only"),
    ),
}

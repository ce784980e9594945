"""Reductions along axes (``VisitReduceNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import OPERAND_VALUE, SHAPE
from ....rules.number_sets import at_most
from ....rules.operands import OUTPUT, operand
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, rank, where
from ..node_visit import Visit
from ..scales import EIGHT_BIT_TYPES
from .checks import INPUT, MAX_RANK, counting_before, integers, operands, stored, xnnpack_rule
from .types import FLOAT32, FLOAT_OR_8_BITS_LAYERS, of_type, of_types
from .upstream import in_method, method

_AXES = operand(1, "axes")


def _no_axes(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    return "no axes" if axes is None or not len(axes) else None


def _axis_of_scalar(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    is_first = axes is not None and len(axes) == 1 and axes[0] == 0
    return "axis 0 of a scalar" if is_first and not node.input(0).shape else None


def _too_many_axes(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return f"{count} axes" if count > MAX_RANK else None


def _reduction(*checks: Check[Visit]) -> OpRule[Visit]:
    return xnnpack_rule(
        "VisitReduceNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        integers(_AXES, "INT32"),
        rank(_AXES, at_most(1)).from_source(method("CheckAxesTensorShape")),
        stored(_AXES),
        check(SHAPE, "at least 1 axis", _no_axes, "list the axes to reduce").from_release("litert-2.0.2"),
        check(SHAPE, "axes that the input has", _axis_of_scalar, "do not reduce a scalar").from_release("litert-2.1.5"),
        check(SHAPE, f"at most {MAX_RANK} axes", _too_many_axes, "name each axis once").from_release("litert-2.1.5"),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *checks,
    )


_SPATIAL_AXES = [1, 2]


def _beyond_image(node: NodeView) -> str | None:
    axes, source, output = node.value(node.input(1)), node.input(0), node.output(0)
    sorted_axes = [] if axes is None else sorted(as_list(axes))
    if sorted_axes == _SPATIAL_AXES and source.rank == 4 and output.rank == (4 if node.options.keep_dims else 2):
        return None
    return f"axes {sorted_axes} from shape {list(source.shape)} to shape {list(output.shape)}"


# The next three checks were measured; they are not in the source.
_OF_IMAGE = check(OPERAND_VALUE, "axes 1 and 2 of an input of rank 4", _beyond_image).before_release("litert-1.1.0")
_8_BITS_OF_IMAGE = where(lambda node: node.input(0).type in EIGHT_BIT_TYPES, "with an 8-bit input", _OF_IMAGE)
_FLOAT_ONLY = counting_before("litert-1.1.0", *in_method(FLOAT_OR_8_BITS_LAYERS.function, *of_type(INPUT, FLOAT32)))

_EXTREMUM = _reduction().from_release("litert-1.3.0")

RULES = {
    "MEAN": _reduction(*_8_BITS_OF_IMAGE),
    "REDUCE_MAX": _EXTREMUM,
    "REDUCE_MIN": _EXTREMUM,
    "SUM": _reduction(*_FLOAT_ONLY, _OF_IMAGE),
}

"""Joining and splitting (``VisitConcatenationNode`` and ``VisitSplitNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, QUANTIZATION, TENSOR_TYPE
from ....rules.number_sets import between, counted
from ....rules.operands import OUTPUT, operand
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target, operand_count
from ..node_visit import Visit
from ..scales import EIGHT_BIT_TYPES, has_one_scale, other_parameters, scales_of
from .checks import integers, operands, stored, xnnpack_rule
from .types import FLOAT_OR_8_BITS_ARITHMETIC, Types, of_types
from .upstream import in_method, method


def _each_of_types(side: str) -> tuple[Check[Visit], ...]:
    """Require that every tensor on one side is float, or 8-bit with one scale. ``side`` is input or output."""

    def of_these(types: Types) -> Check[Visit]:
        def find(node: NodeView, visit: Visit) -> str | None:
            tensor_types = (tensor.type for tensor in (node.inputs if side == "input" else node.outputs))
            return next((f"{side} of type {kind}" for kind in tensor_types if not types.accepts(kind, visit.target)), None)

        return check_for_target(TENSOR_TYPE, f"{side}s of type {types.words}", find)

    def find_scales(node: NodeView) -> str | None:
        for tensor in node.inputs if side == "input" else node.outputs:
            if tensor.type in EIGHT_BIT_TYPES and not has_one_scale(tensor):
                return f"{side} with {scales_of(tensor)}"
        return None

    of_scales = check(QUANTIZATION, f"a single scale for each 8-bit {side}", find_scales)
    return (*FLOAT_OR_8_BITS_ARITHMETIC.checks(of_these), *in_method(FLOAT_OR_8_BITS_ARITHMETIC.scales_function, of_scales))


def _new_dimension(node: NodeView) -> str | None:
    axis = node.options.axis
    return next((f"axis {axis} for an input of rank {tensor.rank}" for tensor in node.inputs if axis >= tensor.rank), None)


def _rescaled_inputs(node: NodeView) -> str | None:
    output = node.output(0)
    if output.type != "UINT8":
        return None
    return next((difference for tensor in node.inputs if (difference := other_parameters(tensor, output))), None)


_SPLIT_DIMENSION = operand(0, "dimension")


def _other_result_count(node: NodeView) -> str | None:
    splits, outputs = node.options.num_splits, len(node.node.outputs)
    return None if splits == outputs else f"num_splits {splits} and {counted(outputs, 'output')}"


RULES = {
    "CONCATENATION": xnnpack_rule(
        "VisitConcatenationNode",
        operands(between(2, 5)),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(ATTRIBUTE, "an axis that all inputs have", _new_dimension).from_release("litert-2.1.4"),
        check(QUANTIZATION, "inputs with the scale and zero point of the output, if the output is UINT8", _rescaled_inputs),
        *_each_of_types("input"),
    ),
    "SPLIT": xnnpack_rule(
        "VisitSplitNode",
        check(ATTRIBUTE, "num_splits equal to the number of outputs", _other_result_count),
        operand_count(2, between(2, 4)).from_source(method("CheckNumInputs", "expected_num_inputs")),
        integers(_SPLIT_DIMENSION, "INT32"),
        stored(_SPLIT_DIMENSION),
        *of_types(operand(1, "input"), FLOAT_OR_8_BITS_ARITHMETIC),
        *_each_of_types("output"),
    ),
}

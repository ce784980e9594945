"""The types and ranks of all tensors of a node, which are looked at after everything else.

Source: ``GetOpsToReplaceWithOptions`` and ``IsAllAllowedTensors`` (``ml_drift_delegate/tflite/model_builder.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Allocation, Tensor
from ....rules import kinds
from ....rules.numbers import listed
from ....rules.rule import OpRule, Rules
from ...gpu_compatibility.checks import Found, asked
from ..naming import name_of
from .checks import SINCE_2_2, SINCE_2_3, SOURCE, Checks, before, since

_ALL_TENSORS = SOURCE.with_symbol("IsAllAllowedTensors")
_MAX_RANK = 4

_INPUTS = ("FLOAT32", "FLOAT16", "BOOL", "INT2", "INT4", "INT8", "UINT8")
_OUTPUTS = ("FLOAT32", "FLOAT16", "INT8", "UINT8")
_SIGNED = ("INT8", "INT16", "INT32")
_PACKED = ("INT2", "INT4")
"""Types that are among those of inputs since LiteRT 2.2."""
_UNSIGNED = ("UINT8", "UINT16", "UINT32")
_ANY = (*_SIGNED, *_UNSIGNED, "BOOL", "BFLOAT16")
_LOGICAL_TYPES = ("BOOL", *_SIGNED)


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


_COMPARISONS = _named("""
    EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL
""")
_LOGICAL = _named("""
    LOGICAL_AND LOGICAL_OR LOGICAL_NOT BITWISE_XOR
""")
_INT32_INPUTS = _named("""
    EMBEDDING_LOOKUP ONE_HOT DYNAMIC_UPDATE_SLICE
""")
_BFLOAT16 = _named("""
    ABS ADD ATAN2 STABLEHLO_CBRT CEIL STABLEHLO_CLAMP CONV_2D COS DIV EXP FLOOR GATHER LOG LOGISTIC MAXIMUM MINIMUM MUL NEG
    POW ROUND RSQRT SIGN SIN SQRT SUB TANH
""")
_INTEGERS = _named("""
    ABS ADD ATAN2 COS DIV FLOOR_DIV FLOOR_MOD MAXIMUM MINIMUM MUL NEG REDUCE_MAX REDUCE_MIN REDUCE_PROD RIGHT_SHIFT SIGN SIN
    STABLEHLO_CLAMP SUB SUM STABLEHLO_REMAINDER TILE STABLEHLO_SHIFT_LEFT
""")
_MOVING = _named("""
    BITCAST CAST CONCATENATION DYNAMIC_UPDATE_SLICE GATHER PACK PAD PADV2 RESHAPE REVERSE_V2 SELECT SELECT_V2 SLICE
    STRIDED_SLICE TRANSPOSE STABLEHLO_BROADCAST_IN_DIM
""")
_ONLY: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ARG_MAX": (_INPUTS, ("INT32",)),
    "REDUCE_ALL": (("BOOL",), ("BOOL",)),
    "REDUCE_ANY": (("BOOL",), ("BOOL",)),
    **dict.fromkeys(_LOGICAL, (_LOGICAL_TYPES, _LOGICAL_TYPES)),
}
"""Operators whose types are not the usual ones and some more."""


def _types(op: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the types of inputs and outputs of an operator that tensors in the arena may have."""
    inputs, outputs = _ONLY.get(op, (_INPUTS, _OUTPUTS))
    if op in _INT32_INPUTS:
        inputs += ("INT32",)
    if op in _COMPARISONS:
        inputs, outputs = inputs + _SIGNED + _UNSIGNED, (*outputs, "BOOL")
    if op == "TOPK_V2":
        outputs += ("INT32",)
    for ops, types in ((_BFLOAT16, ("BFLOAT16",)), (_INTEGERS, _SIGNED), (_MOVING, _ANY)):
        if op in ops:
            inputs, outputs = inputs + types, outputs + types
    return _once(inputs), _once(outputs)


def _once(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(types))


def _tensors(node: NodeView, is_output: bool) -> Iterator[tuple[int, Tensor]]:
    indices = node.node.outputs if is_output else node.node.inputs
    return ((position, node.graph.tensors[index]) for position, index in enumerate(indices) if index >= 0)


@functools.cache
def _side(types: tuple[str, ...], *, is_output: bool) -> Checks:
    """``IsAllAllowedTensors``; tensor by tensor the rank is looked at first, then, of those in the arena, the type."""
    side, allowed = "output" if is_output else "input", frozenset(types)

    def has_other_type(tensor: Tensor) -> bool:
        return tensor.allocation is Allocation.ARENA and tensor.type not in allowed

    def find_rank(node: NodeView) -> Found | None:
        for position, tensor in _tensors(node, is_output):
            if tensor.rank > _MAX_RANK:
                found = f"{side} {position} of rank {tensor.rank}"
                return Found(found, f"Tensor dimensions must be less than 5. {name_of(node.graph, tensor)}")
            if has_other_type(tensor):
                return None
        return None

    def find_type(node: NodeView) -> Found | None:
        for position, tensor in _tensors(node, is_output):
            if has_other_type(tensor):
                said = f"Tensor type({tensor.type}) is not supported. {name_of(node.graph, tensor)}"
                return Found(f"{side} {position} of type {tensor.type}", said)
        return None

    ranks = asked(kinds.RANK, f"{side}s of rank at most {_MAX_RANK}", find_rank)
    return (
        ranks.from_source(_ALL_TENSORS),
        asked(kinds.TENSOR_TYPE, f"{side}s of type {listed(types)}", find_type).from_source(_ALL_TENSORS),
    )


def tensor_checks(inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> Checks:
    """Return the checks of an operator that takes the usual types and these."""
    return (*_side(_once(_INPUTS + inputs), is_output=False), *_side(_once(_OUTPUTS + outputs), is_output=True))


def _dated(older: Checks, newer: Checks, release: str) -> Checks:
    return (*before(release, *older), *since(release, *newer))


def _of_op(op: str) -> Checks:
    inputs, outputs = _types(op)
    on_inputs = _side(inputs, is_output=False)
    without_4_bits = tuple(name for name in inputs if name not in _PACKED)
    if op == "ARG_MAX":
        newer = _side((*inputs, "INT32"), is_output=False)
        on_inputs = _dated(_dated(_side(without_4_bits, is_output=False), on_inputs, SINCE_2_2), newer, SINCE_2_3)
    elif len(without_4_bits) < len(inputs):
        on_inputs = _dated(_side(without_4_bits, is_output=False), on_inputs, SINCE_2_2)
    return (*on_inputs, *_side(outputs, is_output=True))


def with_tensors(rules: Rules[object], further: Checks = ()) -> dict[str, OpRule[object]]:
    """Return rules with the checks of all tensors at their end: of the operator's own types, or those given."""
    return {op: replace(rule, checks=(*rule.checks, *(further or _of_op(op)))) for op, rule in rules.items()}

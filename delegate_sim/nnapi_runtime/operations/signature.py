"""Building blocks of the rules on operations.

In most operations, the type of one tensor, the deciding tensor, determines the types of all other operands.
``OperationRule.levels`` has the possible types of the deciding tensor, and the feature level of each type. ``inputs`` and
``outputs`` list the allowed forms of the operands. The functions in ``checks`` read further properties of the operands.

Upstream: common/types/src/OperationsValidationUtils.cpp; common/types/operations/src/*.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ...foundation.float32 import float32
from ..operands import NnOperand, OptionalInputs
from ..refusal import RULES, Call, OneOf, OperandPart, refuse
from ..types import AndroidRelease, OperandType, OperationType, Version, type_of

T = OperandType

QUANT8: frozenset[int] = frozenset({T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED})


@dataclass(frozen=True, slots=True)
class OperationView:
    """The operation that a rule checks, with its operands."""

    type: int
    inputs: Sequence[NnOperand]
    outputs: Sequence[NnOperand]
    android: AndroidRelease

    @property
    def name(self) -> str:
        """Name of the operation."""
        return OperationType(self.type).name

    def has_rule(self, code: str) -> bool:
        """Return whether the Android release has the rule with a code."""
        return RULES[code].since <= self.android

    def refuse(self, code: str, subject: object, found: object, needed: object) -> None:
        """Raise Refused if the Android release has the rule with a code."""
        if self.has_rule(code):
            refuse(code, Call.ADD_OPERATION, subject, found, needed)


Slot: TypeAlias = Callable[[int], Collection[int]]
"""A function that returns the allowed types of one operand for a type of the deciding tensor."""


def one_of(*types: int) -> Slot:
    """Return a slot that accepts these types for every type of the deciding tensor."""
    return lambda _: types


def by_type(types: Mapping[int, int], otherwise: int | None = None) -> Slot:
    """Return a slot that accepts one type for each type of the deciding tensor.

    For a type that is not in ``types``, the slot accepts ``otherwise``. If ``otherwise`` is None, the slot accepts the deciding
    tensor's own type.
    """
    return lambda decider: (types.get(decider, decider if otherwise is None else otherwise),)


SAME = by_type({})
INT32 = one_of(T.INT32)
BOOL = one_of(T.BOOL)
FLOAT32 = one_of(T.FLOAT32)
TENSOR_INT32 = one_of(T.TENSOR_INT32)
TENSOR_BOOL8 = one_of(T.TENSOR_BOOL8)
# A scalar that fits the deciding tensor: FLOAT16 for a FLOAT16 tensor, INT32 for an INT32 tensor, and FLOAT32 for other tensors.
SCALAR = by_type({T.TENSOR_FLOAT16: T.FLOAT16, T.TENSOR_INT32: T.INT32}, T.FLOAT32)
# The bias of a quantized operation is 32 bits wide.
BIAS = by_type(dict.fromkeys(QUANT8, T.TENSOR_INT32))
FILTER: Slot = lambda decider: (decider, T.TENSOR_QUANT8_SYMM_PER_CHANNEL) if decider in QUANT8 else (decider,)  # noqa: E731
# Coordinates are 16 bits wide if the scores are quantized.
BOXES = by_type(dict.fromkeys(QUANT8, T.TENSOR_QUANT16_ASYMM))


class Form(NamedTuple):
    """One allowed list of an operation's inputs or outputs: a slot for each operand, and the feature level of the list.

    If ``repeated`` is given, this slot applies to one or more operands between ``head`` and ``tail``.
    """

    head: tuple[Slot, ...]
    level: int = 1
    repeated: Slot | None = None
    tail: tuple[Slot, ...] = ()

    def slots(self, count: int) -> tuple[Slot, ...] | None:
        """Return the slots for ``count`` operands, or None if the form does not allow this number of operands."""
        spare = count - len(self.head) - len(self.tail)
        if self.repeated is None:
            return self.head if spare == 0 else None
        # bounded: the operands of an operation
        return (*self.head, *(self.repeated,) * spare, *self.tail) if spare >= 1 else None

    @property
    def number(self) -> str:
        """The allowed number of operands, as text for messages."""
        return str(len(self.head)) if self.repeated is None else f"{len(self.head) + len(self.tail) + 1} or more"


def form(*slots: Slot, level: int = 1) -> Form:
    """Return a form with these slots and a feature level."""
    return Form(slots, level)


OperationCheck: TypeAlias = Callable[[OperationView], int | None]
"""A check of an operation beyond the number and types of its operands.

It raises Refused, or returns the feature level that further properties of the operands need, or None.
"""


@dataclass(frozen=True, slots=True)
class OperationRule:
    """All checks that the runtime makes for one operation. ``decider`` is the place of the deciding tensor."""

    source: str
    levels: Mapping[int, int]
    inputs: tuple[Form, ...]
    outputs: tuple[Form, ...]
    decider: OperandPart
    checks: tuple[OperationCheck, ...]
    optional: tuple[OptionalInputs, ...]

    def needs(self, view: OperationView) -> Version:
        """Return the version that an operation itself needs, regardless of its operands.

        Raise Refused at the first broken rule.
        """
        sides = {"input": (view.inputs, self.inputs), "output": (view.outputs, self.outputs)}
        candidates = {side: _candidates(view, side, *given) for side, given in sides.items()}
        decider = sides[self.decider.side][0][self.decider.position].type
        if decider not in self.levels:
            view.refuse("operation-type", self.decider, type_of(decider), OneOf(map(type_of, self.levels)))
        level = self.levels[decider]
        for side, (operands, _) in sides.items():
            level = max(level, _match(view, side, operands, candidates[side], decider))
        return Version(max([level, *[check(view) or 1 for check in self.checks]]))


_Candidates: TypeAlias = list[tuple[tuple[Slot, ...], int]]


def _candidates(view: OperationView, side: str, operands: Sequence[NnOperand], forms: tuple[Form, ...]) -> _Candidates:
    candidates = [(slots, one.level) for one in forms if (slots := one.slots(len(operands))) is not None]
    if not candidates:
        numbers = " or ".join(dict.fromkeys(one.number for one in forms))
        view.refuse(f"operation-{side}-count", f"{side}s", len(operands), numbers)
    return candidates


def _match(view: OperationView, side: str, operands: Sequence[NnOperand], candidates: _Candidates, decider: int) -> int:
    """Return the feature level of the first candidate that allows the operands' types.

    If no candidate allows the types, raise Refused. The error then describes the candidate that allows the most operands,
    counted from the first operand.
    """
    furthest, needed = -1, OneOf()
    for slots, level in candidates:
        wrong = next((i for i, allowed in enumerate(slots) if operands[i].type not in allowed(decider)), None)
        if wrong is None:
            return level
        if wrong > furthest:
            furthest, needed = wrong, OneOf(sorted(map(type_of, slots[wrong](decider)), key=str))
    view.refuse(f"operation-{side}-type", OperandPart(side, furthest), type_of(operands[furthest].type), needed)
    return 0


_FIRST_INPUT = OperandPart("input", 0)


def operation(
    source: str,
    levels: Mapping[int, int],
    *inputs: Form,
    outputs: tuple[Form, ...] = (Form((SAME,)),),
    decider: OperandPart = _FIRST_INPUT,
    checks: tuple[OperationCheck, ...] = (),
    optional: tuple[OptionalInputs, ...] = (),
) -> OperationRule:
    """Return the rule for an operation whose inputs have one of these forms.

    ``source`` names the runtime's file and function. ``levels`` has the feature level of each type of the deciding tensor.
    """
    return OperationRule(source, levels, inputs, outputs, decider, checks, optional)


def levels(**by_type: int) -> dict[int, int]:
    """Return a table of feature levels by operand type. The keyword arguments are type names without the prefix ``TENSOR_``."""
    return {OperandType[f"TENSOR_{name}"]: level for name, level in by_type.items()}


# A number in a name is the level of the types. But FLOAT16 always needs level 3, and QUANT8_ASYMM_SIGNED needs level 4.
FLOAT_1 = levels(FLOAT32=1, FLOAT16=3)
FLOAT_2 = levels(FLOAT32=2, FLOAT16=3)
FLOAT_3 = levels(FLOAT32=3, FLOAT16=3)
FLOAT_4 = levels(FLOAT32=4, FLOAT16=4)
QUANT8_1 = levels(QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=4)
QUANT8_2 = levels(QUANT8_ASYMM=2, QUANT8_ASYMM_SIGNED=4)
QUANT8_3 = levels(QUANT8_ASYMM=3, QUANT8_ASYMM_SIGNED=4)
REAL_1 = {**FLOAT_1, **QUANT8_1}
REAL_2 = {**FLOAT_2, **QUANT8_2}
REAL_3 = {**FLOAT_3, **QUANT8_3}
BOOL_3 = levels(BOOL8=3)
NUMBER_3 = {**REAL_3, **levels(INT32=3)}
NUMBER_7 = dict.fromkeys(NUMBER_3, 7)


MAX_RANK = 4


def max_rank(view: OperationView, *inputs: int) -> None:
    """OperationCheck that the inputs at these positions, or the first input, have at most 4 dimensions."""
    for index in inputs or (0,):
        rank = view.inputs[index].rank
        if rank > MAX_RANK:
            view.refuse("operation-rank", OperandPart("input", index, "rank"), rank, f"at most {MAX_RANK}")


def equal_quantization(view: OperationView, *inputs: int) -> None:
    """OperationCheck that quantized inputs, or the first input, have the scale and the zero point of the first output."""
    output = view.outputs[0]
    for index in inputs or (0,):
        operand = view.inputs[index]
        if output.type in QUANT8 and (operand.scale, operand.zero_point) != (output.scale, output.zero_point):
            part, found = OperandPart("input", index, "scale and zero point"), f"{operand.scale}, {operand.zero_point}"
            needed = f"the scale and zero point of the output, {output.scale}, {output.zero_point}"
            view.refuse("operation-quantization-equal", part, found, needed)


def check_equal_rank(view: OperationView, code: str) -> None:
    """OperationCheck that the known ranks of input and output are equal."""
    rank, output_rank = view.inputs[0].rank, view.outputs[0].rank
    if rank and output_rank and rank != output_rank:
        view.refuse(code, OperandPart("output", 0, "rank"), output_rank, f"{rank}, the rank of the input")


def integers(count: int) -> tuple[Slot, ...]:
    """Return slots for ``count`` INT32 scalars."""
    return (INT32,) * count  # bounded: callers pass constants


def product_level(view: OperationView, scale: float) -> int:
    """Return the feature level that ``scale`` needs.

    Below level 3, ``scale`` must exceed the product of input and filter scale.
    """
    if view.inputs[0].type != T.TENSOR_QUANT8_ASYMM:
        return 1
    return 1 if scale > float32(view.inputs[0].scale * view.inputs[1].scale) else 3


def zero_point_level(view: OperationView) -> int:
    """Return the feature level that the input's zero point needs. Below level 3, the zero point must be 0."""
    return 3 if view.inputs[0].type == T.TENSOR_QUANT8_ASYMM and view.inputs[0].zero_point != 0 else 1

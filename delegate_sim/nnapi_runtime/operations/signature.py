"""Building blocks of the rules on operations.

In most operations, the type of one tensor, the deciding tensor, determines the types of all other operands.
``OperationRule.levels`` has the possible types of the deciding tensor, and the feature level of each type. ``inputs`` and
``outputs`` list the allowed forms of the operands. The functions in ``checks`` read further properties of the operands.

Upstream: common/types/src/OperationsValidationUtils.cpp; common/types/operations/src/*.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...foundation.float32 import float32
from ..operands import NnOperand, OptionalInputs
from ..refusal import RULES, Call, OneOf, OperandPart, refuse
from ..types import AndroidRelease, OperandType, OperationType, Version, type_of

T = OperandType

QUANT8: frozenset[int] = frozenset({T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED})


class OperationView(NamedTuple):
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


def by_type(types: Mapping[int, int], otherwise: int | None = None) -> Slot:
    """Return a slot that accepts one type for each type of the deciding tensor.

    For a type that is not in ``types``, the slot accepts ``otherwise``. If ``otherwise`` is None, the slot accepts the deciding
    tensor's own type.
    """
    return lambda decider: (types.get(decider, decider if otherwise is None else otherwise),)


_CAST = frozenset({T.TENSOR_FLOAT16, T.TENSOR_FLOAT32, T.TENSOR_INT32, T.TENSOR_QUANT8_ASYMM})
_SLOTS: Mapping[str, Slot] = {
    "SAME": by_type({}),
    # A scalar that fits the deciding tensor.
    "SCALAR": by_type({T.TENSOR_FLOAT16: T.FLOAT16, T.TENSOR_INT32: T.INT32}, T.FLOAT32),
    "PAD_VALUE": by_type({T.TENSOR_FLOAT16: T.FLOAT16, T.TENSOR_FLOAT32: T.FLOAT32}, T.INT32),
    "SIZE_OR_SCALE": lambda decider: (T.INT32, T.FLOAT16 if decider == T.TENSOR_FLOAT16 else T.FLOAT32),
    # The bias of a quantized operation is 32 bits wide.
    "BIAS": by_type(dict.fromkeys(QUANT8, T.TENSOR_INT32)),
    "FILTER": lambda decider: (decider, T.TENSOR_QUANT8_SYMM_PER_CHANNEL) if decider in QUANT8 else (decider,),
    "CAST": lambda decider: _CAST if decider in _CAST else (decider,),
    # Coordinates are 16 bits wide if the scores are quantized.
    "BOXES": by_type(dict.fromkeys(QUANT8, T.TENSOR_QUANT16_ASYMM)),
    "ANCHORS": by_type(dict.fromkeys(QUANT8, T.TENSOR_QUANT16_SYMM)),
    "DELTAS": lambda decider: QUANT8 if decider == T.TENSOR_QUANT16_ASYMM else (decider,),
}
"""The slots that depend on the type of the deciding tensor, by name."""


def _slot(word: str) -> Slot:
    types = () if word in _SLOTS else tuple([OperandType[name] for name in word.split("|")])
    return _SLOTS.get(word, lambda _: types)


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


def form(text: str) -> Form:
    """Parse a form, such as ``SAME INT32*3 BOOL @3``.

    Each word is a slot: a name in ``_SLOTS``, or operand types, separated by ``|``. ``*`` and a number repeat a slot. A slot
    with ``+`` applies to one or more operands. ``@`` and a number are the feature level, by default 1.
    """
    words, level, repeated = text.split(), 1, None
    parts: tuple[list[Slot], list[Slot]] = ([], [])
    if words[-1].startswith("@"):
        level = int(words.pop()[1:])
    for word in words:
        name, _, count = word.partition("*")
        if name.endswith("+"):
            repeated = _slot(name[:-1])
        else:
            parts[repeated is not None].extend([_slot(name)] * int(count or 1))  # bounded: the rows have constants
    return Form(tuple(parts[0]), level, repeated, tuple(parts[1]))


OperationCheck: TypeAlias = Callable[[OperationView], int | None]
"""A check of an operation beyond the number and types of its operands.

It raises Refused, or returns the feature level that further properties of the operands need, or None.
"""


class OperationRule(NamedTuple):
    """All checks that the runtime makes for some operations. ``decider`` is the place of the deciding tensor."""

    operations: tuple[OperationType, ...]
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


def operation(
    names: str,
    source: str,
    levels: str,
    *inputs: str,
    outputs: Sequence[str] = ("SAME",),
    decider: tuple[str, int] = ("input", 0),
    checks: tuple[OperationCheck, ...] = (),
    optional: tuple[OptionalInputs, ...] = (),
) -> OperationRule:
    """Return the rule for operations whose inputs have one of these forms.

    ``source`` names the runtime's file and function. ``levels`` has the types of the deciding tensor with their feature levels
    (``levels_of``).
    """
    codes = tuple([OperationType[name] for name in names.split()])
    given, results = tuple(map(form, inputs)), tuple(map(form, outputs))
    return OperationRule(codes, source, levels_of(levels), given, results, OperandPart(*decider), checks, optional)


_GROUPS = {
    "FLOAT": {"FLOAT32": 1, "FLOAT16": 3},
    "QUANT8": {"QUANT8_ASYMM": 1, "QUANT8_ASYMM_SIGNED": 4},
    "REAL": {"FLOAT32": 1, "FLOAT16": 3, "QUANT8_ASYMM": 1, "QUANT8_ASYMM_SIGNED": 4},
}
"""Types that occur together, each with the first feature level that has the type."""


def levels_of(text: str) -> Mapping[int, int]:
    """Parse types with their feature levels, such as ``FLOAT@1 INT32@4``.

    Types lack the prefix ``TENSOR_``. A type of a group has the level of the group, or the first level that has the type.
    """
    levels: dict[int, int] = {}
    for name, _, level in [word.partition("@") for word in text.split()]:
        levels |= {OperandType[f"TENSOR_{type}"]: max(int(level), first) for type, first in _GROUPS.get(name, {name: 1}).items()}
    return levels


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
            part, actual = OperandPart("input", index, "scale and zero point"), f"{operand.scale}, {operand.zero_point}"
            needed = f"the scale and zero point of the output, {output.scale}, {output.zero_point}"
            view.refuse("operation-quantization-equal", part, actual, needed)


def check_equal_rank(view: OperationView, code: str) -> None:
    """OperationCheck that the known ranks of input and output are equal."""
    rank, output_rank = view.inputs[0].rank, view.outputs[0].rank
    if rank and output_rank and rank != output_rank:
        view.refuse(code, OperandPart("output", 0, "rank"), output_rank, f"{rank}, the rank of the input")


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

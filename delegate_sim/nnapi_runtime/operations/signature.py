"""Building blocks of the rules on operations.

In most operations, the type of one tensor, the deciding tensor, determines the types of all other operands.
``OperationRule.levels`` has the possible types of the deciding tensor, and the feature level of each type. ``inputs`` and
``outputs`` list the allowed forms of the operands. Further checks are ``SignatureCheck`` objects. The functions in ``raises``
return the feature levels that further properties of the operands need.

Upstream: common/types/src/OperationsValidationUtils.cpp; common/types/operations/src/*.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...foundation.float32 import float32
from ..operands import NnOperand, OptionalInputs
from ..refusal import Call, OneOf, OperandPart, Rule, Violation, refuse, rule
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


@dataclass(frozen=True, slots=True)
class Slot:
    """The allowed types of one operand for each type of the deciding tensor."""

    allowed: Callable[[int], frozenset[int]]


def one_of(*types: int) -> Slot:
    """Return a slot that accepts these types for every type of the deciding tensor."""
    allowed = frozenset(types)
    return Slot(lambda _: allowed)


def by_type(types: Mapping[int, int], otherwise: int | None = None) -> Slot:
    """Return a slot that accepts one type for each type of the deciding tensor.

    For a type that is not in ``types``, the slot accepts ``otherwise``. If ``otherwise`` is None, the slot accepts the deciding
    tensor's own type.
    """
    return Slot(lambda decider: frozenset({types.get(decider, decider if otherwise is None else otherwise)}))


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
FILTER = Slot(lambda decider: frozenset({decider, T.TENSOR_QUANT8_SYMM_PER_CHANNEL} if decider in QUANT8 else {decider}))
# Coordinates are 16 bits wide if the scores are quantized.
BOXES = by_type(dict.fromkeys(QUANT8, T.TENSOR_QUANT16_ASYMM))


@dataclass(frozen=True, slots=True)
class Form:
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


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """A check of an operation beyond the number and types of its operands. ``find`` returns a violation or None."""

    rule: Rule
    find: Callable[[OperationView], Violation | None]


@dataclass(frozen=True, slots=True)
class Decider:
    """The position of the deciding tensor."""

    index: int = 0
    is_output: bool = False

    def operand(self, view: OperationView) -> NnOperand:
        """Return the deciding tensor of an operation."""
        return (view.outputs if self.is_output else view.inputs)[self.index]

    @property
    def subject(self) -> OperandPart:
        """The deciding tensor in messages."""
        return OperandPart("output" if self.is_output else "input", self.index)


INPUT_COUNT = rule("operation-input-count")
OUTPUT_COUNT = rule("operation-output-count")
DECIDING_TYPE = rule("operation-type")
INPUT_TYPE = rule("operation-input-type")
OUTPUT_TYPE = rule("operation-output-type")


@dataclass(frozen=True, slots=True)
class OperationRule:
    """All checks that the runtime makes for one operation."""

    source: str
    levels: Mapping[int, int]
    inputs: tuple[Form, ...]
    outputs: tuple[Form, ...] = (Form((SAME,)),)
    decider: Decider = Decider()
    checks: tuple[SignatureCheck, ...] = ()
    raises: tuple[Callable[[OperationView], int], ...] = ()
    optional: tuple[OptionalInputs, ...] = ()

    def needs(self, view: OperationView) -> Version:
        """Return the version that an operation itself needs, regardless of its operands.

        Raise Refused at the first broken rule.
        """
        inputs = _forms(self.inputs, view.inputs, INPUT_COUNT, "inputs")
        outputs = _forms(self.outputs, view.outputs, OUTPUT_COUNT, "outputs")
        decider = self.decider.operand(view).type
        if decider not in self.levels:
            _refuse(DECIDING_TYPE, self.decider.subject, type_of(decider), OneOf(map(type_of, self.levels)))
        level = max(
            self.levels[decider],
            _match(inputs, view.inputs, decider, INPUT_TYPE, "input"),
            _match(outputs, view.outputs, decider, OUTPUT_TYPE, "output"),
        )
        for check in self.checks:
            if check.rule.since <= view.android and (violation := check.find(view)) is not None:
                refuse(check.rule, Call.ADD_OPERATION, *violation)
        return Version(max([level, *(raised(view) for raised in self.raises)]))


_Candidate = tuple[tuple[Slot, ...], int]


def _refuse(rule: Rule, subject: object, found: object, needed: object) -> None:
    refuse(rule, Call.ADD_OPERATION, subject, found, needed)


def _forms(forms: tuple[Form, ...], operands: Sequence[NnOperand], rule: Rule, subject: str) -> list[_Candidate]:
    candidates = [(slots, one.level) for one in forms if (slots := one.slots(len(operands))) is not None]
    if not candidates:
        _refuse(rule, subject, len(operands), " or ".join(dict.fromkeys(one.number for one in forms)))
    return candidates


def _match(candidates: list[_Candidate], operands: Sequence[NnOperand], decider: int, rule: Rule, subject: str) -> int:
    """Return the feature level of the first candidate that allows the operands' types.

    If no candidate allows the types, raise Refused for ``rule``. The error then describes the candidate that allows the most
    operands, counted from the first operand.
    """
    furthest, needed = -1, OneOf()
    for slots, level in candidates:
        wrong = next((i for i, slot in enumerate(slots) if operands[i].type not in slot.allowed(decider)), None)
        if wrong is None:
            return level
        if wrong > furthest:
            furthest, needed = wrong, OneOf(sorted(map(type_of, slots[wrong].allowed(decider)), key=str))
    _refuse(rule, OperandPart(subject, furthest), type_of(operands[furthest].type), needed)
    return 0


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

RANK_LIMIT = rule("operation-rank")
QUANTIZATION_EQUAL = rule("operation-quantization-equal")

MAX_RANK = 4


def max_rank(*inputs: int) -> SignatureCheck:
    """Return a check that the inputs at these positions have at most 4 dimensions."""

    def find(view: OperationView) -> Violation | None:
        for index in inputs:
            rank = view.inputs[index].rank
            if rank > MAX_RANK:
                return OperandPart("input", index, "rank"), rank, f"at most {MAX_RANK}"
        return None

    return SignatureCheck(RANK_LIMIT, find)


def unequal_quantization(view: OperationView, index: int) -> Violation | None:
    """Return a violation if a quantized input differs from the first output in scale or zero point."""
    operand, output = view.inputs[index], view.outputs[0]
    if output.type not in {T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED}:
        return None
    if (operand.scale, operand.zero_point) == (output.scale, output.zero_point):
        return None
    return (
        OperandPart("input", index, "scale and zero point"),
        f"{operand.scale}, {operand.zero_point}",
        f"the scale and zero point of the output, {output.scale}, {output.zero_point}",
    )


EQUAL_QUANTIZATION = SignatureCheck(QUANTIZATION_EQUAL, lambda view: unequal_quantization(view, 0))


def unary(table: dict[int, int], source: str, *checks: SignatureCheck) -> OperationRule:
    """Return the rule for an operation with one input and an output of the same type.

    ``table`` has the feature level of each type. ``source`` names the runtime's function with the rule.
    """
    return OperationRule(source, table, (form(SAME),), checks=checks)


def binary(table: dict[int, int], source: str, output: Slot = SAME) -> OperationRule:
    """Return the rule for an operation with two inputs of the same type. By default, the output has this type too."""
    return OperationRule(source, table, (form(SAME, SAME),), (form(output),))


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


def unequal_rank(view: OperationView) -> Violation | None:
    """Return a violation if the known ranks of input and output differ."""
    rank, output_rank = view.inputs[0].rank, view.outputs[0].rank
    if rank and output_rank and rank != output_rank:
        return OperandPart("output", 0, "rank"), output_rank, f"{rank}, the rank of the input"
    return None


def zero_point_level(view: OperationView) -> int:
    """Return the feature level that the input's zero point needs. Below level 3, the zero point must be 0."""
    return 3 if view.inputs[0].type == T.TENSOR_QUANT8_ASYMM and view.inputs[0].zero_point != 0 else 1

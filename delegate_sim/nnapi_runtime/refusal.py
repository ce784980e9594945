"""Rules of the runtime with stable codes, and refusals of calls that break a rule."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, NoReturn

from ..errors import DelegateSimError
from ..refusal import Refusal, Refused, Stage
from .types import AndroidRelease, OperandType, ResultCode


class Call(str, Enum):
    """An NNAPI function that can reject a call."""

    ADD_OPERAND = "ANeuralNetworksModel_addOperand"
    SET_CHANNEL_QUANTIZATION = "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams"
    SET_VALUE = "ANeuralNetworksModel_setOperandValue"
    SET_VALUE_FROM_MEMORY = "ANeuralNetworksModel_setOperandValueFromMemory"
    SET_VALUE_FROM_MODEL = "ANeuralNetworksModel_setOperandValueFromModel"
    ADD_OPERATION = "ANeuralNetworksModel_addOperation"
    IDENTIFY = "ANeuralNetworksModel_identifyInputsAndOutputs"
    FINISH_MODEL = "ANeuralNetworksModel_finish"
    FINISH_COMPILATION = "ANeuralNetworksCompilation_finish"

    @property
    def short_name(self) -> str:
        """The name of the function without the common prefix."""
        return self.value.partition("_")[2]


class Rule(NamedTuple):
    """One check of the runtime."""

    code: str
    summary: str
    """A sentence that says what the check demands."""
    source: str
    """The upstream file and function."""
    since: int = AndroidRelease.ANDROID_10
    """The first simulated Android release with this check."""
    concern: str = ""
    """The property of operands that a rule on operations checks: "types", "rank", "shape", "scales" or "channels"."""


RULES: Mapping[str, Rule] = {
    code: Rule(code, **entry) for code, entry in json.loads(pkgutil.get_data(__package__, "rules.json") or b"").items()
}
"""All rules of the runtime by code. They are in ``rules.json``."""


class OperandPart(NamedTuple):
    """An operand of an operation, and the property of the operand that breaks a rule."""

    side: str
    """``input`` or ``output``."""
    position: int
    property: str = ""
    """The property, such as "rank"; "" if the type breaks the rule."""

    def __str__(self) -> str:
        place = f"{self.side} {self.position}"
        return f"{self.property} of {place}" if self.property else place


class ForType(NamedTuple):
    """A value that a rule needs because of the type of the operand."""

    value: str
    type: OperandType | int

    def __str__(self) -> str:
        return f"{self.value} for {self.type}"


class OneOf(tuple[OperandType | int, ...]):
    """The types that a rule allows."""

    __slots__ = ()

    def __str__(self) -> str:
        return " or ".join(map(str, self))


class ProcessAborted(DelegateSimError):
    """Raised if the runtime aborts the process because one of its own assertions fails."""


def refuse(
    code: str, call: Call, subject: object, found: object, needed: object, result: ResultCode = ResultCode.BAD_DATA
) -> NoReturn:
    """Raise Refused for a call that breaks the rule with a code."""
    message, values = "{operand}: found {found}, needed {needed}", {"operand": subject, "found": found, "needed": needed}
    stage = Stage.COMPILING if call is Call.FINISH_COMPILATION else Stage.VALIDATING
    raise Refused(Refusal(code, message, values=values, stage=stage, call=call.value, result=result))


def refusal_entry(refusal: Refusal) -> dict[str, object]:
    """Return a refusal by the runtime as plain data."""
    return {
        "code": refusal.code,
        "call": refusal.call,
        "result": int(refusal.result),
        "subject": str(refusal.operand),
        "found": str(refusal.found),
        "needed": str(refusal.needed),
        "source": RULES[refusal.code].source,
    }

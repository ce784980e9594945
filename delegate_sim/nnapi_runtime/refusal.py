"""Refusals of the runtime: rules with stable codes, and violations of rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from ..errors import DelegateSimError
from .types import AndroidRelease, ResultCode


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


class Concern(Enum):
    """The property of operands that a rule on operations checks."""

    TYPES = "types"
    RANK = "rank"
    SHAPE = "shape"
    SCALES = "scales"
    CHANNELS = "channels"


RULES: dict[str, Rule] = {}


class Rule:
    """One check of the runtime.

    ``source`` names the upstream file and function. ``since`` is the first simulated Android release with this check.
    """

    __slots__ = ("code", "concern", "since", "source", "summary")

    def __init__(
        self,
        code: str,
        summary: str,
        source: str,
        since: AndroidRelease = AndroidRelease.ANDROID_10,
        concern: Concern | None = None,
    ) -> None:
        if code in RULES:
            raise ValueError(f"the rule {code} is defined twice")
        self.code = code
        self.summary = summary
        self.source = source
        self.since = since
        self.concern = concern
        RULES[code] = self


@dataclass(frozen=True, slots=True)
class Violation:
    """The violation of a rule: the part of the model that breaks the rule, the value of this part, and the needed value."""

    subject: str
    found: str
    needed: str


@dataclass(frozen=True, slots=True)
class NnRefusal:
    """One refusal by the runtime: the call, and the first rule that the call breaks."""

    rule: Rule
    call: Call
    violation: Violation
    result: ResultCode = ResultCode.BAD_DATA

    @property
    def code(self) -> str:
        """The stable code of the broken rule."""
        return self.rule.code

    @property
    def text(self) -> str:
        """The refusal as one sentence."""
        return f"{self.violation.subject}: found {self.violation.found}, needed {self.violation.needed}"

    def to_dict(self) -> dict[str, object]:
        """Return the refusal as plain data."""
        return {
            "code": self.code,
            "call": self.call.value,
            "result": int(self.result),
            "subject": self.violation.subject,
            "found": self.violation.found,
            "needed": self.violation.needed,
            "source": self.rule.source,
        }


class NnRefused(DelegateSimError):
    """Raised if the runtime returns an error from a call. ``refusal`` has the call and the reason."""

    def __init__(self, refusal: NnRefusal) -> None:
        super().__init__(f"{refusal.call.value} refuses: {refusal.text}")
        self.refusal = refusal


class ProcessAborted(DelegateSimError):
    """Raised if the runtime aborts the process because one of its own assertions fails."""


def refuse(
    rule: Rule, call: Call, subject: str, found: object, needed: object, result: ResultCode = ResultCode.BAD_DATA
) -> NoReturn:
    """Raise NnRefused for a call."""
    raise NnRefused(NnRefusal(rule, call, Violation(subject, str(found), str(needed)), result))

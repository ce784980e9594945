"""The target, the kinds of problem and the checks of the Core ML rules (``delegates/coreml``).

The delegate gives no reasons, and stops at the first failed check. If an operand is missing, some functions of the delegate
return an error status. The delegate reads this status as "supported". All other functions crash, so their rules require the
operand with ``given``.
"""

from __future__ import annotations

from typing import NamedTuple

from ...graph.graph import fused_activation
from ...releases.catalogue import NEWEST, Release
from ...rules import kinds
from ...rules.operands import operand
from ...rules.rule import Check, OpRule
from ...rules.source import LITERT, Source
from ...rules.vocabulary import given, max_version, refused_if, typed

COREML_2 = 2
COREML_3 = 3


class CoreMlTarget(NamedTuple):
    """A target: the version of Core ML for the built models, and the release of the runtime."""

    coreml_version: int = COREML_3
    release: Release = NEWEST


SOURCE = Source(LITERT, "tflite/delegates/coreml/coreml_delegate.mm", "IsNodeSupportedByDelegate")
_VERSIONS = SOURCE.with_branch("registration->version > 1")
_DATA_TYPE = SOURCE.with_branch("->type != kTfLiteFloat32")

FLOAT_TYPES = ("FLOAT32", "FLOAT16")

NO_SIGN_BIT = refused_if(
    kinds.ACTIVATION,
    "a fused activation other than SIGN_BIT",
    lambda node: fused_activation(node) == "SIGN_BIT",
    "fused SIGN_BIT",
)


def coreml_rule(
    *checks: Check[CoreMlTarget], source: tuple[Source, ...] = (), version: int = 1, data: int = 0
) -> OpRule[CoreMlTarget]:
    """Return the rule of an operator.

    The rule first checks the version, then the type of the operand at position ``data``, then ``checks``. ``source`` lists the
    sources of ``checks``.
    """
    common = (
        max_version(version).from_source(_VERSIONS),
        given(operand(data)).from_source(_DATA_TYPE),
        typed(operand(data), ("FLOAT32",)).from_source(_DATA_TYPE),
    )
    return OpRule((*common, *checks), source=(*source, SOURCE))


def builder(file: str, symbol: str) -> Source:
    """Return a source location in ``delegates/coreml/builders``."""
    return Source(LITERT, f"tflite/delegates/coreml/builders/{file}", symbol)


_KINDS = kinds.kinds_in("delegates/coreml", "rules")
COREML_VERSION = _KINDS["coreml-version"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the delegate's wording."""

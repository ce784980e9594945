"""The rule of the Edge TPU's delegate: every node of the delegate's own custom operator is supported.

Source: ``PrepareImpl`` (``tflite/edgetpu_delegate_for_custom_op.cc``) of google-coral/libedgetpu.
"""

from __future__ import annotations

from ...model.precompiled import EDGE_TPU
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import OPERATOR
from ...rules.rule import OpRule
from ...rules.source import Repository, Source
from ..decision import ReleaseOnly

_LIBEDGETPU = Repository("google-coral/libedgetpu", "e35aed18fea2e2d25d98352e5a5bd357c170bd4d")
SOURCE = Source(_LIBEDGETPU, "tflite/edgetpu_delegate_for_custom_op.cc", "PrepareImpl")

COMPILER = "edgetpu_compiler"

NOT_COMPILED = OPERATOR.reworded(
    title="operator that was not compiled for the Edge TPU",
    meaning="The delegate takes only edgetpu-custom-op, a program that edgetpu_compiler made on a host. It leaves all other "
    "nodes to the CPU.",
    advice="Compile the source model with edgetpu_compiler. The compiler prints a table of the operators on the CPU. "
    "delegate-sim reconcile MODEL --log FILE compares this table with the nodes of the model.",
    hint=f"quantize the model fully to int8, and compile it with {COMPILER}",
)
_UNKNOWN = Unknown(f"{EDGE_TPU}, which {COMPILER} makes", NOT_COMPILED.hint, kind=NOT_COMPILED)

RULES: RuleBook[ReleaseOnly] = RuleBook(
    "edgetpu",
    families=(),
    kinds=(NOT_COMPILED,),
    source=SOURCE,
    unknown=_UNKNOWN,
    custom={EDGE_TPU: OpRule((), source=(SOURCE,))},
    reads_operands=False,
)

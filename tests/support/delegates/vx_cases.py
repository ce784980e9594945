"""Tables of cases for the rules of the VX delegates, and what the cases of several families are made of.

Each case is a node and the one code that it is refused with, None if it is taken. A case is of VeriSilicon's delegate unless
it names releases of NXP's variant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from delegate_sim.delegates.vx import layers
from delegate_sim.delegates.vx.checks import VxTarget
from delegate_sim.delegates.vx.delegate import NXP_RULES, RULES
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Tensor
from delegate_sim.rules.rule import Check
from tests.support.graphs import arena, constant, node_view, persistent, quantized

UPSTREAM, LF_6_6_3, LF_5_15_71 = "upstream", "lf-6.6.3", "lf-5.15.71"
BOOKS = {UPSTREAM: RULES, **NXP_RULES}
TARGET = VxTarget()

OPERATOR = "vx-unsupported-operator"
CUSTOM = "vx-custom-operator"
TYPE = "vx-tensor-type"
HYBRID = "vx-hybrid"
RANK = "vx-rank"
DYNAMIC = "vx-dynamic-shape"
SHAPE = "vx-shape"
CONSTANT = "vx-constant-operand"
OPTIONAL = "vx-optional-operand"
ATTRIBUTE = "vx-attribute-value"
QUANTIZATION = "vx-quantization"

FLOAT = arena("FLOAT32", 1, 4, 4, 2)
FLOAT_BATCH = arena("FLOAT32", 2, 4, 4, 2)
FLOAT_RANK_3 = arena("FLOAT32", 4, 4, 2)
FLOAT_RANK_7 = arena("FLOAT32", 1, 1, 1, 1, 4, 4, 2)
FLOAT_SCALAR = arena("FLOAT32")
FLOAT_EMPTY = arena("FLOAT32", 1, 0, 4, 2)
FLOAT16 = arena("FLOAT16", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)
INT8_UNSCALED = arena("INT8", 1, 4, 4, 2)
INT8 = quantized(INT8_UNSCALED, 0.5)
INT8_PER_CHANNEL = quantized(INT8_UNSCALED, *[0.5] * 2)
UINT8_UNSCALED = arena("UINT8", 1, 4, 4, 2)
UINT8 = quantized(UINT8_UNSCALED, 0.5, zero_point=128)
UINT8_PER_CHANNEL = quantized(UINT8_UNSCALED, *[0.5] * 2)
INT16_UNSCALED = arena("INT16", 1, 4, 4, 2)
INT16 = quantized(INT16_UNSCALED, 0.5)
INT32_UNSCALED = arena("INT32", 1, 4, 4, 2)
INT32 = quantized(INT32_UNSCALED, 0.5)
INT64 = arena("INT64", 1, 4, 4, 2)
STRING = arena("STRING", 1, 4, 4, 2)

AXIS = constant(1)
COMPUTED_AXIS = arena("INT32")
PERSISTENT_AXIS = persistent(1)
PAIR = constant([1, 2])
COMPUTED_PAIR = arena("INT32", 2)
PERSISTENT_PAIR = persistent([1, 2])

RELU, RELU_N1_TO_1 = 1, 2


class Case(NamedTuple):
    """A node, whose rules it is tried by, and the code expected of it."""

    op: str
    code: str | None
    book: str
    arguments: Mapping[str, Any]

    def node(self, **changes: Any) -> NodeView:
        """The node, with arguments of ``node_view`` that differ."""
        is_custom = self.op in layers.CUSTOM_RULES
        options = None if is_custom else self.arguments["options"]
        return node_view(self.op, **{**self.arguments, "options": options, **changes}, custom=is_custom)


def name_of(case: Case) -> str:
    """The name of a case among the tests."""
    node = case.node()
    shape = [f"{tensor.type}{list(tensor.shape)}" for tensor in (*node.inputs[:3], *node.outputs[:1])]
    return f"{case.op}-{case.code or 'taken'}-{case.book}-{' '.join(shape)}"


class VxTable:
    """For each of some operators a node that is taken, and variants of it."""

    def __init__(self, ops: Iterable[str]) -> None:
        self.ops = frozenset(ops)
        self.cases: list[Case] = []
        self._accepted: dict[str, Mapping[str, Any]] = {}

    def accepted(self, op: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor], **options: Any) -> None:
        """Add the node that other cases of this operator are variants of, which is taken."""
        self._accepted[op] = {"inputs": inputs, "outputs": outputs, "options": options}
        self.cases.append(Case(op, None, UPSTREAM, self._accepted[op]))

    def variant(
        self,
        op: str,
        code: str | None = None,
        *,
        inputs: Mapping[int, Tensor | None] | Sequence[Tensor | None] | None = None,
        outputs: Mapping[int, Tensor] | Sequence[Tensor] | None = None,
        books: Iterable[str] = (UPSTREAM,),
        **options: Any,
    ) -> None:
        """Add a variant of the taken node; operands are given as a new list, or by position."""
        known = self._accepted[op]
        arguments = {
            "inputs": _replaced(known["inputs"], inputs),
            "outputs": _replaced(known["outputs"], outputs),
            "options": {**known["options"], **options},
        }
        self.cases.extend(Case(op, code, book, arguments) for book in books)

    def without_options(self, op: str, code: str | None) -> None:
        """Add the taken node without an options table."""
        self.cases.append(Case(op, code, UPSTREAM, {**self._accepted[op], "options": None}))

    def needs_constant(self, op: str, position: int, computed: Tensor, known: Tensor) -> None:
        """Add variants whose operand is computed at run time, or while the graph is prepared, or left out."""
        for tensor in (computed, known, None):
            self.variant(op, CONSTANT, inputs={position: tensor})

    def assert_complete(self, never_met: Iterable[tuple[str, str]] = ()) -> None:
        """Every operator has cases, and every check of its own, in every book, is both met and not met by some.

        ``never_met`` are operators and needs of checks that nothing meets. What all operators are asked counts for ABS alone.
        """
        assert {case.op for case in self.cases} == self.ops
        refused, met = set(), set()
        for case in self.cases:
            for check in BOOKS[case.book].rules[case.op].checks:
                is_refused = check.finder(case.node(), TARGET) is not None
                (refused if is_refused else met).add((case.op, identity(check)))
                if is_refused:
                    break
        every = {
            (op, identity(check))
            for book in BOOKS.values()
            for op in self.ops & book.rules.keys()
            for check in book.rules[op].checks
            if op == "ABS" or identity(check) not in _SHARED
        }
        assert {(op, needed) for op, (_, needed, _) in every - refused} == set()
        assert {(op, needed) for op, (_, needed, _) in every - met} == set(never_met)


def identity(check: Check[Any]) -> tuple[str, str, Any]:
    """The key of a check in every book, wherever its source is upstream."""
    return check.kind.name, check.needed, check.finder


_SHARED = {identity(check) for check in RULES.rules["ABS"].checks}


def assert_verdict(case: Case) -> None:
    """The verdict is the one expected, whatever the version of the operator."""
    book = BOOKS[case.book]
    verdict = book.validate(case.node(), TARGET)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)
    for reason in verdict.reasons:
        assert reason.code == f"vx-{reason.kind}"
        assert reason.found
        assert reason.needed
        assert reason.hint
    assert book.validate(case.node(version=99), TARGET) == verdict


def _replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes

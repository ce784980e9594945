"""Tables of cases for the acceptance rules: nodes, and the failures that ``Validate`` records for each, in its order.

Every case is tried at every feature level, with and without an accelerator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import FEATURE_LEVELS, NnapiTarget
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Tensor
from tests.support.graphs import arena, constant, node_view, persistent, quantized

LEVEL_6, LEVEL_7 = 1000006, 1000007
TARGETS = [NnapiTarget(level, accelerator) for level in FEATURE_LEVELS for accelerator in (True, False)]


class Failure(NamedTuple):
    """One expected failure, for targets from one level on and below another."""

    code: str
    kind: str
    first: int = 0
    end: int = LEVEL_7 + 2
    accelerators: tuple[bool, ...] = (True, False)

    def since(self, level: int) -> Failure:
        return self._replace(first=level)

    def below(self, level: int) -> Failure:
        return self._replace(end=level)

    def with_accelerator(self, named: bool) -> Failure:
        return self._replace(accelerators=(named,))

    def counts_at(self, target: NnapiTarget) -> bool:
        return self.first <= target.level < self.end and target.has_accelerator in self.accelerators


VERSION = Failure("nnapi-operator-version", "kUnsupportedOperatorVersion")
LEVEL = Failure("nnapi-feature-level", "kUnsupportedAndroidVersion")
INPUT_TYPE = Failure("nnapi-input-type", "kUnsupportedInputType")
OUTPUT_TYPE = Failure("nnapi-output-type", "kUnsupportedOutputType")
RANK = Failure("nnapi-rank", "kUnsupportedOperandRank")
RANK_VALUE = Failure("nnapi-rank", "kUnsupportedOperandValue")
ACTIVATION = Failure("nnapi-activation", "kNoActivationExpected")
CONSTANT = Failure("nnapi-constant-operand", "kInputTensorShouldHaveConstantShape")
CONSTANT_TYPE = Failure("nnapi-constant-operand", "kUnsupportedInputType")
VALUE = Failure("nnapi-operand-value", "kUnsupportedOperandValue")
VALUE_TYPE = Failure("nnapi-operand-value", "kUnsupportedInputType")
COUNT = Failure("nnapi-operand-count", "kUnsupportedOperatorVariant")
HYBRID = Failure("nnapi-hybrid", "kUnsupportedHybridOperator")
SCALES = Failure("nnapi-restricted-scales", "kNotRestrictedScaleCompliant")
QUANTIZATION = Failure("nnapi-quantization", "kUnsupportedQuantizationParameters")
SCALAR_OUTPUT = Failure("nnapi-scalar-output", "kUnsupportedOutputType")
ZERO_SIZE = Failure("nnapi-zero-size", "kUnsupportedOperandValue")


class Case(NamedTuple):
    """A node and the failures expected of it."""

    op: str
    failures: tuple[Failure, ...]
    node: NodeView
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.op}-{'+'.join(failure.code for failure in self.failures) or 'accepted'}"


class RuleCases:
    """For each operator of a family a node that only the level may refuse, and variants of it."""

    def __init__(self) -> None:
        self.all: list[Case] = []
        self.of_operator: dict[str, Case] = {}
        """The node that the other cases of an operator are variants of."""

    def accepted(
        self, op: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor], *failures: Failure, version=1, **options
    ) -> None:
        """Add the node that other cases of this operator are variants of."""
        self._add(op, failures, {"inputs": inputs, "outputs": outputs, "version": version, "options": options})
        self.of_operator[op] = self.all[-1]

    def variant(self, op: str, *failures: Failure, inputs=None, outputs=None, version=None, **options) -> None:
        """Add a variant of the accepted node; operands are given as a new list, or by position."""
        arguments = dict(self.of_operator[op].arguments)
        arguments["inputs"] = replaced(arguments["inputs"], inputs)
        arguments["outputs"] = replaced(arguments["outputs"], outputs)
        arguments["version"] = version or arguments["version"]
        arguments["options"] = {**arguments["options"], **options}
        self._add(op, failures, arguments)

    def without_options(self, op: str, *failures: Failure) -> None:
        """Add the accepted node without an options table, whose fields the runtime leaves at 0."""
        self._add(op, failures, {**self.of_operator[op].arguments, "options": None})

    def _add(self, op: str, failures: tuple[Failure, ...], arguments: Mapping[str, Any]) -> None:
        self.all.append(Case(op, failures, node_view(op, **arguments), arguments))


def replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    """Return the operands with some replaced, given as a new list or by position."""
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes


def assert_failures(case: Case) -> None:
    """The rules record the failures of a case in order, for every target."""

    def expected(target: NnapiTarget) -> list[tuple[str, str]]:
        return [(failure.code, failure.kind) for failure in case.failures if failure.counts_at(target)]

    verdicts = {target: RULES.validate(case.node, target) for target in TARGETS}
    found = {target: [(reason.code, reason.kind) for reason in verdict.reasons] for target, verdict in verdicts.items()}
    assert found == {target: expected(target) for target in TARGETS}
    assert all(verdict.is_supported == (not verdict.reasons) for verdict in verdicts.values())


FLOAT = arena("FLOAT32", 1, 4, 4, 2)
FLOAT_RANK_2 = arena("FLOAT32", 4, 2)
FLOAT_RANK_3 = arena("FLOAT32", 4, 4, 2)
FLOAT_RANK_5 = arena("FLOAT32", 1, 1, 4, 4, 2)
FLOAT_SCALAR = arena("FLOAT32")
INT8 = quantized(arena("INT8", 1, 4, 4, 2), 0.5)
UINT8 = quantized(arena("UINT8", 1, 4, 4, 2), 0.5, zero_point=128)
INT16 = arena("INT16", 1, 4, 4, 2)
INT32 = arena("INT32", 1, 4, 4, 2)
INT64 = arena("INT64", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)

AXIS = constant(1)
AXIS_INT64 = constant(1, "INT64")
COMPUTED_AXIS = arena("INT32")
PERSISTENT_AXIS = persistent(1)
PAIR = constant([1, 2])
COMPUTED_PAIR = arena("INT32", 2)
PERSISTENT_PAIR = persistent([1, 2])

RELU = 1

FILTER = arena("FLOAT32", 2, 1, 1, 2)
INT8_FILTER = quantized(arena("INT8", 2, 1, 1, 2), 0.5)
UINT8_FILTER = quantized(arena("UINT8", 2, 1, 1, 2), 0.5)
BIAS = arena("FLOAT32", 2)
WIDE, NARROW = UINT8._replace(scale=0.26), UINT8._replace(scale=0.25)

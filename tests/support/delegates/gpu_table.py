"""Tables of cases for the rules of one family, and tensors for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from delegate_sim.delegates.gpu.delegate import RULES
from delegate_sim.delegates.gpu.rules import GpuTarget
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules.rule import Check
from fixtures.builder import ModelBuilder
from tests.support.delegates.cases import Case, CaseTable
from tests.support.graphs import arena, constant, quantized

QUANT = GpuTarget(allow_quant_ops=True, excluded_ops=frozenset())
FLOAT_ONLY = GpuTarget(allow_quant_ops=False, excluded_ops=frozenset())

OPERATOR = "gpu-unsupported-operator"
VERSION = "gpu-operator-version"
COUNT = "gpu-operand-count"
CONSTANT = "gpu-constant-operand"
TYPE = "gpu-tensor-type"
RANK = "gpu-rank"
SHAPE = "gpu-shape"
BROADCAST = "gpu-broadcast"
VALUE = "gpu-attribute-value"
ACTIVATION = "gpu-activation"
QUANTIZATION = "gpu-quantization"
NEIGHBOR = "gpu-neighbouring-node"

FLOAT = arena("FLOAT32", 1, 4, 4, 2)
HALF = arena("FLOAT16", 1, 4, 4, 2)
SCALAR = arena("FLOAT32")
MATRIX = arena("FLOAT32", 4, 2)
RANK_3 = arena("FLOAT32", 4, 4, 2)
RANK_5 = arena("FLOAT32", 1, 1, 4, 4, 2)
INT8 = quantized(arena("INT8", 1, 4, 4, 2), 0.5)
UINT8 = quantized(arena("UINT8", 1, 4, 4, 2), 0.5)
INT16 = arena("INT16", 1, 4, 4, 2)
INT32 = arena("INT32", 1, 4, 4, 2)
INT64 = arena("INT64", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)
WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT32")
BIAS = constant([0.0, 0.0], "FLOAT32")
FLOATS = constant([[[[1.0, 2.0]] * 4] * 4], "FLOAT32")
AXIS = constant([1])
SHAPE_OF_4 = constant([1, 4, 4, 2])

RELU, TANH, SIGN_BIT = 1, 4, 5


class GpuTable(CaseTable):
    """For each operator a node that is accepted, and variants of it."""

    def accepted_arguments(self, op: str) -> Mapping[str, Any]:
        """The parts of an operator's accepted node."""
        return {name: value for name, value in self._accepted[op].items() if name != "target"}


class FamilyCases(GpuTable):
    """Cases of the rules of one family, as they count in the newest release."""

    def __init__(self, family: ModuleType, *, are_custom: bool = False) -> None:
        super().__init__(QUANT)
        self.rules = family.CUSTOM_RULES if are_custom else family.RULES

    def assert_complete(self) -> None:
        """Every operator has cases, and every check of its own is both met and not met by some."""
        assert {case.op for case in self.cases} == set(self.rules)
        refused, met = set(), set()
        for case, target in itertools.product(self.cases, (QUANT, FLOAT_ONLY)):
            if target is QUANT or case.target is FLOAT_ONLY:
                for position, check in enumerate(newest_checks(case.op)):
                    problem = check.finder(case.node, target)
                    (met if problem is None else refused).add((case.op, position, check.needed))
                    if problem is not None:
                        break
        # The last four, on all tensors, are the same for every operator.
        own = {(op, position, check.needed) for op in self.rules for position, check in enumerate(newest_checks(op)[:-4])}
        assert own - refused == set()
        assert own - met == set()


def newest_checks(op: str) -> list[Check]:
    """Return the checks of an operator that count in the newest release."""
    return [check for check in RULES.rules[op].checks if check.counts_in(NEWEST)]


def assert_verdict(case: Case) -> None:
    """A node is refused with the code of its case, or accepted."""
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


class Chain:
    """A graph of several nodes, whose first node is looked at unless another index is given."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph()

    def tensor(self, kind: str, *shape: int, **arguments: Any) -> int:
        return self.subgraph.tensor("t", kind, shape, **arguments)

    def add(self, op: str, inputs: Sequence[int], outputs: Sequence[int], version: int = 1, **options: Any) -> Chain:
        self.subgraph.node(op, inputs, outputs, version, options or None)
        return self

    def case(self, table: GpuTable, op: str, code: str | None, index: int = 0, target: GpuTarget = QUANT) -> None:
        model = load(self.builder.bytes())
        graph = file_graph(model, model.subgraphs[0])
        table.cases.append(Case(op, code, graph.view(graph.nodes[index]), target))

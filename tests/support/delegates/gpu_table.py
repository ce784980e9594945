"""The table that the cases of all operators go into, and the tensors that they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from delegate_sim.delegates.gpu.target import GpuTarget
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
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
        """What the accepted node of an operator is made of."""
        return {name: value for name, value in self._accepted[op].items() if name != "target"}


TABLE = GpuTable(QUANT)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options


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

    def case(self, op: str, code: str | None, index: int = 0, target: GpuTarget = QUANT) -> None:
        model = load(self.builder.bytes())
        graph = file_graph(model, model.subgraphs[0])
        TABLE.cases.append(Case(op, code, graph.view(graph.nodes[index]), target))

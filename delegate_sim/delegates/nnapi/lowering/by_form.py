"""Check the NNAPI model of a partition without building the model. The lowering of each form of node is checked once.

What the lowering of a node adds depends on the form of the node, and on the NNAPI operands that the node's tensors already have.
A partition is built only if this is not enough to show that the delegate and the runtime accept the partition.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....graph.forms import FormTable, forms_of, node_forms
from ....graph.graph import Graph
from ....model.model import Node
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.model import check_level, combine, key_of
from ....nnapi_runtime.operands import Lifetime, NnOperand
from ....nnapi_runtime.types import Version
from ....refusal import Refusal, Refused
from .builder import PartitionBuilder, empty_pool
from .operators import Lowering, lower_node


@dataclass(frozen=True, slots=True, eq=False)
class OperandState:
    """The NNAPI operand of a tensor, and the results of its DEQUANTIZE operations, by type. States are compared by identity."""

    operand: NnOperand
    dequantized: tuple[tuple[str, NnOperand], ...]

    @property
    def is_computed(self) -> bool:
        """Whether an operation writes the operand, or the operand is an input of the model."""
        return self.operand.lifetime is Lifetime.TEMPORARY


class _AddedForNode(NamedTuple):
    """The additions of a node's lowering to an NNAPI model. Tensors are positions among the node's operands."""

    states: tuple[tuple[int, OperandState], ...]
    """The new states of tensors."""
    reads: tuple[int, ...]
    """The tensors that must be computed before the node."""
    writes: tuple[int, ...]
    """The tensors that the node's operations write."""
    version: Version | None
    """The version that the operations need; None if the runtime rejects one of them."""
    refused: tuple[Refusal, ...]
    """The calls that the runtime rejects, which add operations."""
    operations: tuple[str, ...]


class PartitionCheck:
    """The check of a graph's partitions for one runtime. ``make_model`` makes an empty NNAPI model."""

    def __init__(
        self,
        graph: Graph,
        target_feature_level: int,
        runtime_feature_level: int,
        make_model: Callable[[Callable[[Refusal], None]], ModelBuilder],
        allows_dynamic: bool,
    ) -> None:
        self._graph = graph
        self._forms = node_forms(graph)
        self.new_builder = functools.partial(
            PartitionBuilder, graph, target_feature_level, runtime_feature_level, make_model, allows_dynamic
        )
        self.target_feature_level = target_feature_level
        empty = make_model(lambda _: None)
        self._level = empty.feature_level
        key = forms_of(graph.shared, graph.model), target_feature_level, runtime_feature_level, allows_dynamic, empty.android
        self._added: FormTable[Hashable, _AddedForNode | None] = graph.shared.get(
            "lowered nodes", key, FormTable[Hashable, "_AddedForNode | None"]
        )
        self._states: FormTable[Hashable, OperandState] = graph.shared.get(
            "lowered operands", key, FormTable[Hashable, OperandState]
        )

    def operations(
        self,
        folding: PartitionBuilder,
        nodes: Iterable[tuple[Node, Lowering | None]],
        inputs: Sequence[int],
        outputs: Sequence[int],
        is_complete: bool,
        needs_pools: bool,
    ) -> tuple[Mapping[int, tuple[str, ...]], Version | None, tuple[Refusal, ...]] | None:
        """Return the NNAPI operations of each node, the version that the model needs, and the calls that the runtime rejects.

        ``folding`` is a new builder in which only the other nodes of the partition were folded.
        Return None if the model may have another problem. A partition that is not complete lacks nodes whose lowering is not
        known, so its model is not finished, and the version is None. It is also None after a rejected call. ``needs_pools`` says
        whether an empty memory pool is a problem.
        """
        tensors = self._graph.tensors
        assert folding.model is not None
        is_plain = not (folding.refused or folding.lines or folding.model.operations)
        if not is_plain or len(folding.model.operands) != folding.operand_count:
            return None
        states = self.states_of(folding)
        operations: dict[int, tuple[str, ...]] = {}
        parts: dict[int, _AddedForNode] = {}
        refused: list[Refusal] = []
        given = [index for index in inputs if not tensors[index].is_constant]
        computed = set(given)
        for node, lowering in nodes:
            if lowering is None or lowering.reads_graph:
                return None
            operands = node.inputs + node.outputs + node.intermediates
            key = (self._forms[node.index], *map(states.get, operands))
            added = self._added[key] if key in self._added else self._added.add(key, self._lowered(node, lowering, states))
            if added is None:
                return None
            if is_complete:
                if not computed.issuperset(map(operands.__getitem__, added.reads)):
                    return None
                for place in added.writes:
                    if operands[place] in computed:
                        return None
                    computed.add(operands[place])
            for place, state in added.states:
                states[operands[place]] = state
            parts[id(added)] = added
            if added.refused:
                refused += [replace(call, node=node.index) for call in added.refused]
            operations[node.index] = added.operations
        if refused or not is_complete:
            return operations, None, tuple(refused)
        given = [index for index in given if index in states]
        results = [index for index in outputs if index in states]
        is_accepted = (
            bool(given)
            and bool(results)
            and any(operations.values())
            and all(states[index].is_computed for index in (*given, *results))
            and set(given).isdisjoint(results)
            and all(index in computed for index, state in states.items() if state.is_computed)
            and not (needs_pools and empty_pool(tensors, given, outputs))
        )
        try:
            versions = [added.version for added in parts.values() if added.version is not None]
            version = combine([*versions, folding.model.version])
            check_level(version, self._level)
        except Refused:
            return None
        return (operations, version, ()) if is_accepted else None

    def states_of(self, builder: PartitionBuilder) -> dict[int, OperandState]:
        """Return the states of all mapped tensors."""
        assert builder.model is not None
        return {index: self._state(builder, builder.model, index) for index in builder.mapped}

    def _lowered(self, node: Node, lowering: Lowering, states: Mapping[int, OperandState]) -> _AddedForNode | None:
        """Lower one node in a model of its own. Return None if the lowering does more than add operands and operations."""
        builder = self.new_builder()
        model = builder.model
        assert model is not None
        builder.node = node.index
        operands = dict.fromkeys(node.inputs + node.outputs + node.intermediates)
        written = set[int]()
        for index in operands:
            if index in states:
                written.update(builder.adopt(index, states[index].operand, states[index].dequantized))
        start = builder.operand_count
        try:
            lower_node(builder, node, lowering)
            version = None if builder.refused else model.version
        except Refused:
            return None
        # A rejected operand is named, so such a call differs from node to node.
        names_operand = any(call.tensor is not None or not call.operation for call in builder.refused)
        more = names_operand, builder.lines, builder.state_tensors, builder.inputs, builder.outputs
        tensor_of = {operand: index for index, operand in builder.mapped.items()}
        sources = {source for source, _ in builder.dequantized}
        is_usual = len(model.operands) == builder.operand_count and operands.keys() >= builder.mapped.keys()
        if any(more) or not is_usual or not tensor_of.keys() >= sources:
            return None
        ready = {index for index, operand in enumerate(model.operands) if operand.lifetime is not Lifetime.TEMPORARY} | written
        reads, writes = set[int](), set[int]()
        for operation in model.operations:
            for operand in operation.inputs:
                if operand not in ready:
                    if operand not in tensor_of:
                        return None
                    reads.add(tensor_of[operand])
            if not ready.isdisjoint(operation.outputs) or len(set(operation.outputs)) < len(operation.outputs):
                return None
            ready.update(operation.outputs)
            writes.update([tensor_of[operand] for operand in operation.outputs if operand in tensor_of])
        if not all(index < start or index in ready or index in tensor_of for index, _ in enumerate(model.operands)):
            return None
        place_of = {index: place for place, index in reversed([*enumerate(node.inputs + node.outputs + node.intermediates)])}
        after = {index: self._state(builder, model, index) for index in operands if index in builder.mapped}
        return _AddedForNode(
            tuple([(place_of[index], state) for index, state in after.items() if state is not states.get(index)]),
            tuple([place_of[index] for index in reads]),
            tuple([place_of[index] for index in writes]),
            version,
            tuple(builder.refused),
            tuple(builder.operations.get(node.index, ())),
        )

    def _state(self, builder: PartitionBuilder, model: ModelBuilder, tensor: int) -> OperandState:
        own = builder.mapped[tensor]
        operand = model.operands[own]
        results = [
            (wanted, model.operands[builder.dequantized[own, wanted]]) for wanted in builder.dequantized_types.get(own, ())
        ]
        key = key_of(operand), operand.lifetime, *[(wanted, key_of(result)) for wanted, result in results]
        known = self._states.get(key)
        return self._states.add(key, OperandState(operand, tuple(results))) if known is None else known

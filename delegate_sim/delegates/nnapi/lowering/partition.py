"""The NNAPI model of one partition, which is built when the partition's kernel is initialized, or only checked.

What the lowering of a node adds depends on the form of the node, and on the NNAPI operands that the node's tensors already have.
The lowering of each form of node is therefore checked once. A partition is built only if this is not enough to show that the
delegate and the runtime accept the partition.

Source: ``NNAPIDelegateKernel::Init``, ``BuildGraph`` and ``AddOpsAndTensors`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....graph.forms import FormTable, forms_of, node_forms
from ....graph.graph import Graph
from ....graph.partition import Subset
from ....model.model import Node
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.model import NnOperation, check_level, combine
from ....nnapi_runtime.operands import Lifetime, NnOperand
from ....nnapi_runtime.types import Version
from ....refusal import Refusal, Refused
from ....releases.catalogue import NEWEST, Release, parse_release
from ..rules import find_operator
from .builder import ModelMaker, PartitionBuilder, empty_pool, kernel_error
from .operands import BOUNDARY, FINISH, refused_at
from .operator import NnapiOperator

EMPTY_POOLS_FAIL = parse_release("litert-1.3.0")
"""From this release on, a memory pool of 0 bytes is an error. Earlier releases skip empty pools."""


@dataclass(frozen=True, eq=False)
class LoweredPartition:
    """The NNAPI model of a partition, and the errors that occurred while the model was built.

    ``failure`` is the delegate's own failure, or None. ``calls`` are the calls that the runtime rejects. The build continues
    after a rejected call, so ``failure`` may occur after the first rejected call. After a failure, ``operations`` and ``model``
    are incomplete. ``model`` may also end with the node of the first rejected call. ``required`` is the NNAPI version that the
    model needs, or None if the model is not finished.
    """

    operations: Mapping[int, tuple[str, ...]]
    """The names of each node's NNAPI operations, in order."""
    build: Callable[[], PartitionBuilder]
    """Builds the NNAPI model, which few questions need."""
    failure: Refusal | None = None
    calls: tuple[Refusal, ...] = ()
    required: Version | None = None
    lines: tuple[str, ...] = ()
    """Lines that the delegate prints while it lowers the nodes, before the first rejected call."""

    @functools.cached_property
    def _builder(self) -> PartitionBuilder:
        return self.build()

    @property
    def model(self) -> ModelBuilder | None:
        """The NNAPI model; incomplete after a failure. None if no runtime is simulated."""
        return self._builder.model

    @property
    def tensors(self) -> Mapping[int, int]:
        """The NNAPI operand of each mapped tensor."""
        return self._builder.mapped

    @property
    def error_lines(self) -> tuple[str, ...]:
        """The lines that the delegate prints if the kernel cannot be initialized."""
        return (*self.lines, *self.calls[0].log_lines) if self.calls else self.lines

    @property
    def is_finished(self) -> bool:
        """Whether the runtime accepts the whole model."""
        return self.required is not None

    @property
    def has_failed(self) -> bool:
        """Whether the kernel of the partition cannot be initialized."""
        return self.failure is not None or bool(self.calls)


def node_of(operation: NnOperation) -> int:
    """Return the index of the TFLite node for which an NNAPI operation was created."""
    assert operation.tag is not None
    return operation.tag


def lower_partition(
    graph: Graph,
    nodes: Sequence[int],
    inputs: Iterable[int],
    outputs: Iterable[int],
    target_feature_level: int,
    runtime_feature_level: int,
    release: Release = NEWEST,
    make_model: ModelMaker | None = None,
    allows_dynamic: bool = False,
    is_relaxed: bool = False,
) -> LoweredPartition:
    """Build the NNAPI model of a partition (``NNAPIDelegateKernel::Init``).

    ``nodes`` are the indices of the partition's supported nodes in running order. ``inputs`` and ``outputs`` are the tensors
    that cross the partition's boundary. ``target_feature_level`` is the runtime's feature level or the target devices' feature
    level, whichever is lower. ``make_model`` creates an empty NNAPI model. If ``make_model`` is None, no NNAPI model is built.
    """
    partition = PartitionBuilder(graph, target_feature_level, runtime_feature_level, make_model, allows_dynamic)
    failure, required = None, None
    try:
        known = [index for index in nodes if index not in graph.assumed]
        _add_nodes(partition, [graph.nodes[index] for index in known])
        # A node that is assumed to be supported has unknown NNAPI operands.
        if len(known) == len(nodes):
            inputs, outputs = tuple(inputs), tuple(outputs)
            if partition.model is not None and not partition.refused:
                required = _finish(partition, partition.model, inputs, outputs, is_relaxed)
            if not partition.refused and release.is_at_least(EMPTY_POOLS_FAIL):
                _check_pools(partition, inputs, outputs)
    except Refused as error:
        failure = error.refusal
    operations = {index: tuple(partition.operations.get(index, ())) for index in nodes}
    return LoweredPartition(operations, lambda: partition, failure, tuple(partition.refused), required, tuple(partition.lines))


def checked_partition(
    check: PartitionCheck, graph: Graph, subset: Subset, release: Release, build: Callable[[Subset], LoweredPartition]
) -> LoweredPartition | None:
    """Return a partition whose only problems are NNAPI operations that the runtime rejects.

    Return None if the partition may have another problem, so that its model must be built. ``build`` builds the NNAPI model of a
    partition, or of the nodes up to the first rejected call.
    """
    known = [graph.nodes[index] for index in subset.nodes if index not in graph.assumed]
    folding = check.new_builder()
    try:
        remaining = _without_folded(folding, known)
    except Refused:
        return None
    if folding.densified or folding.widened:
        return None
    is_complete = len(known) == len(subset.nodes)
    accepted = check.operations(
        folding, remaining, subset.inputs, subset.outputs, is_complete, release.is_at_least(EMPTY_POOLS_FAIL)
    )
    if accepted is None:
        return None
    operations, required, refused = accepted
    nodes = subset.nodes[: subset.nodes.index(refused[0].node) + 1] if refused and refused[0].node is not None else subset.nodes
    named = {index: operations.get(index, ()) for index in subset.nodes}
    return LoweredPartition(named, lambda: build(subset._replace(nodes=nodes)).build(), calls=refused, required=required)


def _finish(
    partition: PartitionBuilder, model: ModelBuilder, inputs: Sequence[int], outputs: Sequence[int], is_relaxed: bool
) -> Version | None:
    """Identify the NNAPI model's inputs and outputs, and return the NNAPI version that the model needs (``BuildGraph``).

    If the runtime rejects the model, return None.
    """
    tensors, mapped = partition.graph.tensors, partition.mapped
    given = [mapped[index] for index in inputs if index in mapped and not tensors[index].is_constant]
    results = [mapped[index] for index in outputs if index in mapped]
    # The real delegate reserves space for every tensor, so even an empty list has a pointer.
    pointers = (bool(inputs), bool(outputs))
    site = BOUNDARY
    try:
        model.identify_inputs_and_outputs(given, [*results, *partition.state_outputs], pointers)
        model.relax_to_float16(is_relaxed)
        site = FINISH
        return model.check()
    except Refused as refused:
        partition.refused.append(refused_at(site, refused.refusal, None))
        return None


def _without_folded(partition: PartitionBuilder, nodes: Iterable[Node]) -> list[tuple[Node, NnapiOperator | None]]:
    """Fold nodes into the nodes that read their results. Return all other nodes with their operators."""
    remaining = []
    operators: dict[str, NnapiOperator | None] = {}
    for node in nodes:
        if node.op not in operators:
            operators[node.op] = find_operator(node.op)
        operator = operators[node.op]
        if operator is not None and operator.fold is not None:
            partition.node = node.index
            if operator.fold(partition, partition.graph.view(node)):
                continue
        remaining.append((node, operator))
    return remaining


def _add_nodes(partition: PartitionBuilder, nodes: Sequence[Node]) -> None:
    for node, operator in _without_folded(partition, nodes):
        partition.node = node.index
        if operator is None:
            raise kernel_error("nnapi-unmapped-operator", node.index, op=node.op)
        operator.lower(partition, node)
    if nodes:
        partition.node = nodes[-1].index


def _check_pools(partition: PartitionBuilder, inputs: Iterable[int], outputs: Iterable[int]) -> None:
    tensors = partition.graph.tensors
    sources = [index for index in inputs if index in partition.mapped and not tensors[index].is_constant]
    side = empty_pool(tensors, sources, [*outputs, *partition.state_tensors])
    if side is not None:
        raise kernel_error("nnapi-empty-pool", None, side=side)


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
        self, graph: Graph, target_feature_level: int, runtime_feature_level: int, make_model: ModelMaker, allows_dynamic: bool
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
        nodes: Iterable[tuple[Node, NnapiOperator | None]],
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
        for node, operator in nodes:
            if operator is None or operator.reads_graph:
                return None
            operands = node.inputs + node.outputs + node.intermediates
            key = (self._forms[node.index], *map(states.get, operands))
            added = self._added[key] if key in self._added else self._added.add(key, self._lowered(node, operator, states))
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

    def _lowered(self, node: Node, operator: NnapiOperator, states: Mapping[int, OperandState]) -> _AddedForNode | None:
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
            operator.lower(builder, node)
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
        key = operand.properties, *[(wanted, result.properties) for wanted, result in results]
        known = self._states.get(key)
        return self._states.add(key, OperandState(operand, tuple(results))) if known is None else known

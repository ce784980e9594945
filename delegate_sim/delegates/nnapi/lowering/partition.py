"""The NNAPI model of one partition, which is built when the partition's kernel is initialized.

Source: ``NNAPIDelegateKernel::Init``, ``BuildGraph`` and ``AddOpsAndTensors`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....graph.forms import node_forms
from ....graph.graph import Graph
from ....graph.partition import Subset
from ....model.model import Node
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.model import NnOperation
from ....nnapi_runtime.types import Version
from ....refusal import Refusal, Refused
from ....releases.catalogue import NEWEST, Release, parse_release
from ..rules import find_operator
from .builder import ModelMaker, PartitionBuilder, empty_pool, kernel_error
from .operands import BOUNDARY, FINISH, refused_at
from .operator import NnapiOperator

_MOST_NODES = 64
"""Largest number of nodes of a partition with a form. Larger partitions are rarely equal."""
EMPTY_POOLS_FAIL = parse_release("litert-1.3.0")
"""From this release on, a memory pool of 0 bytes is an error. Earlier releases skip empty pools."""


@dataclass(frozen=True, eq=False)
class LoweredPartition:
    """The NNAPI model of a partition, and the errors that occurred while the model was built.

    ``failure`` is the delegate's own failure, or None. ``calls`` are the calls that the runtime rejects. The build continues
    after a rejected call, so ``failure`` may occur after the first rejected call. After a failure, ``operations`` and ``model``
    are incomplete. ``required`` is the NNAPI version that the
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


def partition_form(graph: Graph, subset: Subset) -> Hashable:
    """Return a key that is equal for partitions of equal nodes that are connected in the same way.

    Return None for a large partition, and if the lowering of a node reads more than the node.
    """
    if len(subset.nodes) > _MOST_NODES:
        return None
    forms, places, key = node_forms(graph), dict[int, int](), list[Hashable]()
    for node in map(graph.nodes.__getitem__, subset.nodes):
        operator = find_operator(node.op)
        if operator is not None and operator.reads_graph:
            return None
        operands = [places.setdefault(index, len(places)) for index in node.inputs + node.outputs + node.intermediates]
        key.append((forms[node.index], node.index in graph.assumed, *operands))
    return *key, tuple(map(places.get, subset.inputs)), tuple(map(places.get, subset.outputs))


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

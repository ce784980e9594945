"""The partitions of one decision, each mapped once, and what the runtime behind the delegate makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...graph.graph import Graph
from ...graph.partition import Subset
from ...nnapi_runtime import Call, NnRefusal, OperationType, Violation
from ...nnapi_runtime.planning import NO_DEVICE
from ...releases.catalogue import Release
from ..base import KernelFailure, OptionValues
from . import calls
from .calls import RefusedCall
from .driver import DriverAnswers, node_of
from .mapping import MappedPartition, map_partition
from .options import asks_driver, mapping_level
from .runtime import ModelMaker, model_maker, runtime_failure, runtime_level, told


class Partitions:
    """Partitions of a graph, as the delegate builds them with some options."""

    def __init__(self, graph: Graph, options: OptionValues, release: Release, make_model: ModelMaker | None = None) -> None:
        self.graph = graph
        self.options = options
        self.release = release
        self._mapped: dict[tuple[int, ...], MappedPartition] = {}
        self._make_model = make_model or model_maker(options)

    def mapped(self, subset: Subset) -> MappedPartition:
        """Build the NNAPI model of a partition."""
        found = self._mapped.get(subset.nodes)
        if found is None:
            found = self._mapped[subset.nodes] = map_partition(
                self.graph,
                subset.nodes,
                subset.inputs,
                subset.outputs,
                target_feature_level=mapping_level(self.options),
                runtime_feature_level=runtime_level(self.options),
                release=self.release,
                make_model=self._make_model,
                allows_dynamic=self.options["allow_dynamic_dimensions"],
                is_relaxed=self.options["allow_fp16"],
            )
        return found

    def failure(self, subset: Subset, every: Callable[[], Iterable[Subset]]) -> KernelFailure | None:
        """Return why the kernel of a partition cannot be initialised.

        ``every`` returns all partitions, for what else is refused.
        """
        mapped = self.mapped(subset)
        if not mapped.calls:
            return mapped.failure
        subsets = list(every())
        behind = subsets[subsets.index(subset) + 1 :] if subset in subsets else []
        return runtime_failure(self.graph, mapped, [self.mapped(other) for other in behind], self.options)

    def compilation_failure(self, subset: Subset) -> KernelFailure | None:
        """Return why the kernel of a partition cannot be prepared: a chosen device must take every operation."""
        mapped = self.mapped(subset)
        if not mapped.is_finished or mapped.model is None or not asks_driver(self.options):
            return None
        answers = DriverAnswers(self.graph, self.options)
        if answers.takes_all(mapped):
            return None
        operation = next(one for one in mapped.model.operations if not answers.takes(node_of(one), mapped))
        name = OperationType(operation.type).name
        violation = Violation(f"operation {operation.index}", f"no device for {name}", "a device that takes it")
        refusal = NnRefusal(NO_DEVICE, Call.FINISH_COMPILATION, violation)
        return told(self.graph, RefusedCall(node_of(operation), refusal, calls.COMPILATION), mapped, self.options)

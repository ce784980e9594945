"""The NNAPI models of a graph's partitions, and the failures of these models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.rule import Verdict
from ..decision import Decision, Float16Remapping, take_supported
from ..options import OptionValues
from .android.driver_answers import DriverAnswers
from .android.runtime import ModelMaker, android_of, model_maker, runtime_level
from .lowering.by_form import PartitionCheck
from .lowering.node import COMPILATION, refused_at
from .lowering.partition import LoweredPartition, checked_partition, lower_partition
from .options import asks_driver, is_accelerator_specified, mapping_level, validation_level
from .rules import RULES
from .target import NnapiTarget, accepts_at_level

if TYPE_CHECKING:
    from ...nnapi_runtime.compilation import Compilation


class Partitions:
    """The partitions of a graph with certain options. Each NNAPI model is built when it is first needed."""

    def __init__(self, graph: Graph, options: OptionValues, release: Release, make_model: ModelMaker | None = None) -> None:
        self.graph = graph
        self.options = options
        self.release = release
        self._kept: dict[int, LoweredPartition] = {}
        levels = mapping_level(options), runtime_level(options), android_of(options)
        key = *levels, options["allow_dynamic_dimensions"], options["allow_fp16"], release, make_model
        self._lowered = graph.results.get("partitions", key, dict[tuple[Subset, frozenset[int]], LoweredPartition])
        """Lowered partitions, which all simulations share whose options make no difference to the NNAPI models.

        The key is a pair: the partition, and the nodes of the partition that are assumed to be supported.
        """
        self._make_model = make_model or model_maker(options)
        # A given function makes models with calls of their own.
        self._check = None
        if self._make_model is not None and make_model is None:
            self._check = PartitionCheck(graph, *levels[:2], self._make_model, options["allow_dynamic_dimensions"])
        self.answers = DriverAnswers(graph, options)
        self._compiled: dict[tuple[int, ...], Compilation | None] = {}

    def keep(self, subset: Subset) -> None:
        """Keep the kernel of a partition that the driver supports completely (``CacheDelegateKernel``)."""
        self._kept[subset.nodes[0]] = self.lowered(subset)

    def lowered(self, subset: Subset) -> LoweredPartition:
        """Return the NNAPI model of a partition. The model is built at the first call.

        A kept kernel is reused for every partition with the same first node (``MaybeGetCachedDelegateKernel``).
        """
        key = subset, self.graph.assumed.intersection(subset.nodes)
        lowered = self._kept.get(subset.nodes[0]) or self._lowered.get(key)
        if lowered is None:
            lowered = self._lowered[key] = self._checked(subset) or self.build(subset)
        return lowered

    def _checked(self, subset: Subset) -> LoweredPartition | None:
        if self._check is None:
            return None
        return checked_partition(self._check, self.graph, subset, self.release, self.build)

    def build(self, subset: Subset) -> LoweredPartition:
        """Build the NNAPI model of a partition, even if it was built before."""
        return lower_partition(
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

    def failure(self, subset: Subset, every: Callable[[], Iterable[Subset]]) -> Refusal | None:
        """Return the reason why the kernel of a partition cannot be initialized, or None if the initialization succeeds.

        The failure also lists the rejected calls of later partitions. ``every`` is a function that returns all partitions.
        """
        lowered = self.lowered(subset)
        if not lowered.calls:
            return lowered.failure
        subsets = list(every())
        behind = subsets[subsets.index(subset) + 1 :] if subset in subsets else []
        from .android.refusals import runtime_failure  # most runs have no rejected call

        return runtime_failure(self.graph, lowered, [self.lowered(other) for other in behind], self.options)

    def kernel_failure(self, every: Sequence[Subset], failed: Subset) -> Refusal | None:
        """Return the reason why the kernel of the partition ``failed`` cannot be initialized.

        The result has the log lines of all partitions without a kept kernel.

        TFLite initializes all kernels before it prepares the first kernel. Therefore, later partitions are built even if
        ``failed`` cannot be lowered. If Android's runtime rejects a call of a later partition, the result reports this call.
        """
        failure = self.failure(failed, lambda: every)
        if failure is None:
            return None
        if failure.below is None:
            behind = every[every.index(failed) + 1 :] if failed in every else ()
            refused = next((other for other in behind if self.lowered(other).calls), None)
            later = None if refused is None else self.failure(refused, lambda: every)
            if later is not None and later.below is not None:
                before = f"before this call, the delegate failed to build a partition: {failure.message}"
                failure = replace(later, further=(before, *later.further))
        made = [self.lowered(subset) for subset in every if subset.nodes[0] not in self._kept]
        return replace(failure, log_lines=tuple([line for lowered in made for line in lowered.error_lines]))

    def compiled(self, subset: Subset) -> Compilation | None:
        """Return the compiled model of a partition, or None if the runtime rejected the model."""
        lowered = self.lowered(subset)
        if not lowered.is_finished:
            return None
        if subset.nodes not in self._compiled:
            from .android.compilation import compile_partition  # importing the planner is slow, and few runs need it

            self._compiled[subset.nodes] = compile_partition(self.options, self.answers.rejections, lowered)
        return self._compiled[subset.nodes]

    def compilation_failure(self, subset: Subset) -> Refusal | None:
        """Return the reason why the kernel of a partition cannot be prepared, or None if no reason is known."""
        lowered = self.lowered(subset)
        if self.options["devices"] is None and (not asks_driver(self.options) or self.answers.takes_all(lowered)):
            return None
        compilation = self.compiled(subset)
        if compilation is None or not compilation.code or compilation.refusal is None:
            return None
        from .android.refusals import refused_call_failure

        call = refused_at(COMPILATION, compilation.refusal, subset.nodes[0])
        return refused_call_failure(self.graph, call, lowered, self.options)


def supported_nodes(graph: Graph, options: OptionValues, release: Release) -> tuple[Decision, bool]:
    """Return the decision about the nodes, and whether nodes read float16 weights without a DEQUANTIZE."""
    target = _target(options, release)
    remapping = Float16Remapping()
    widened = [node for node in map(graph.nodes.__getitem__, graph.execution_plan) if node.op == "DEQUANTIZE"]
    if not any(graph.view(node).is_constant_float16_dequantize for node in widened):
        return take_supported(graph, RULES, target), False
    supported, verdicts = _supported_with_float16(graph, target, remapping)
    graph = remapping.apply(graph, supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ()), bool(
        supported and remapping.nodes
    )


def supports_operator(op: str, options: OptionValues) -> bool:
    """Return whether the delegate takes some nodes of an operator at the feature level in the options."""
    rule = RULES.rule_of(op)
    return rule is not None and accepts_at_level(rule, _target(options, NEWEST))


def _target(options: OptionValues, release: Release) -> NnapiTarget:
    return NnapiTarget(validation_level(options), is_accelerator_specified(options), release)


def _supported_with_float16(
    graph: Graph, target: NnapiTarget, remapping: Float16Remapping
) -> tuple[tuple[int, ...], dict[int, Verdict]]:
    """Return the supported nodes and the verdicts on all nodes (``GetSupportedOpsWithFp16WeightRemapping``).

    If every unsupported node is a DEQUANTIZE of float16 weights, all nodes are treated as supported.
    """
    verdicts = remapping.verdicts(graph, RULES, target)
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    if len(supported) + len(remapping.nodes) == len(graph.execution_plan):
        return graph.execution_plan, verdicts
    return supported, verdicts

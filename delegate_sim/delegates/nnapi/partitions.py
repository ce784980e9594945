"""The NNAPI models of a graph's partitions, the failures of these models, and the nodes that the target devices support.

Source: ``GetOperationsSupportedByTargetNnApiDevices`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...nnapi_runtime.builder import ModelBuilder
from ...nnapi_runtime.types import Version
from ...nnapi_runtime.types import feature_level as level_of
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.rule import Reason
from ..decision import Decision, Float16Remapping, take_supported
from ..options import OptionValues
from .lowering.builder import ModelMaker
from .lowering.operands import COMPILATION, refused_at
from .lowering.partition import LoweredPartition, PartitionCheck, checked_partition, lower_partition, node_of
from .options import (
    android_of,
    asks_driver,
    chosen_devices,
    device_level,
    is_accelerator_specified,
    mapping_level,
    runtime_level,
    validation_level,
)
from .rules import RULES
from .target import (
    DRIVER,
    HIDDEN,
    NNAPI_1_2,
    REFERENCE_DEVICE,
    NnapiTarget,
    accepts_at_level,
    is_constant_densify,
    is_runtime_float16_dequantize,
    kernel_failure,
)

if TYPE_CHECKING:
    from ...nnapi_runtime.compilation import Compilation
    from ..driver import Driver
    from .device_profile import ProfiledDevice


def model_maker(options: OptionValues) -> ModelMaker | None:
    """Return a function that creates NNAPI model builders, or None if no runtime is simulated."""
    android, level = android_of(options), level_of(runtime_level(options))
    return None if android is None else lambda note: ModelBuilder(android, level, note)


class DriverAnswers:
    """The nodes that the target devices support.

    The result depends on the driver's rejections in the options, on the profile, and on the feature levels of the devices.
    """

    def __init__(self, graph: Graph, options: OptionValues) -> None:
        self._graph = graph
        self._options = options
        self._names = frozenset(options["driver_rejects"])
        self._driver: Driver | None = options["driver"]
        self._devices: tuple[ProfiledDevice, ...] | None = chosen_devices(options)
        self._version = Version(level_of(device_level(options)))
        self._not_taken: dict[int, frozenset[int]] = {}

    def rejected(self, node: int, lowered: LoweredPartition) -> tuple[str, ...]:
        """Return the NNAPI operations of a node that the driver rejects according to the options."""
        driver = self._driver
        if driver is None and not self._names:
            return ()
        view = self._graph.view(self._graph.nodes[node])
        return tuple(
            [
                operation
                for operation in lowered.operations.get(node, ())
                if operation in self._names or (driver is not None and driver.rejects(operation, view))
            ]
        )

    def rejects_some_of(self, partitions: Sequence[LoweredPartition]) -> bool:
        """Return whether the driver rejects an unknown operation of these partitions, according to the driver profile."""
        if self._driver is None or not self._driver.has_open_rejections:
            return False
        from ..driver import signature  # most runs have no profile

        return self._driver.rejects_some(
            {
                signature(operation, self._graph.view(self._graph.nodes[node]))
                for lowered in partitions
                for node, operations in lowered.operations.items()
                for operation in operations
            }
        )

    def supported(self, nodes: Sequence[int], lowered: LoweredPartition) -> tuple[int, ...]:
        """Return the nodes for which the devices support every NNAPI operation. ``nodes`` are the nodes of one partition.

        If the partition unpacks sparse weights, or converts float16 values at run time, one unsupported node excludes all nodes.
        """
        left_out = self._left_out(lowered)
        supported = tuple([node for node in nodes if node not in left_out and not self.rejected(node, lowered)])
        if len(supported) < len(nodes) or self.rejects_some_of([lowered]):
            return () if is_all_or_nothing(self._graph, nodes) else supported
        return supported

    def takes_all(self, lowered: LoweredPartition) -> bool:
        """Return whether the devices take every node of a partition."""
        return not self._left_out(lowered) and not any(self.rejected(node, lowered) for node in lowered.operations)

    def reason(self, node: int, lowered: LoweredPartition) -> Reason:
        """Return the reason why the devices do not take a node."""
        rejected = frozenset(self.rejected(node, lowered))
        if not rejected and node in self._left_out(lowered):
            if self._devices is None:
                hidden = f"an operation above feature level {self._version.level}"
                message = f"the NNAPI runtime does not pass {hidden} to the driver"
                return Reason(
                    HIDDEN.name, "driver", message, hidden, "operations that exist at the driver's feature level", HIDDEN.hint
                )
            rejected = frozenset(lowered.operations.get(node, ()))
        operations = ", ".join(sorted(rejected)) or "an operation of the same partition"
        needed = "operations that the driver accepts"
        return Reason(DRIVER.name, "driver", f"the driver rejects {operations}", operations, needed, DRIVER.hint)

    def _left_out(self, lowered: LoweredPartition) -> frozenset[int]:
        if self._devices is None and (lowered.required is None or lowered.required.fits(self._version)):
            return frozenset()
        if lowered.model is None or not lowered.is_finished:
            return frozenset()
        left_out = self._not_taken.get(id(lowered))
        if left_out is None:
            from .compilation import target_devices  # importing the planner is slow, and few runs need it

            model = lowered.model.finish()
            answers = [device.supported(model) for device in target_devices(self._options)]
            refused = [operation for index, operation in enumerate(model.operations) if not any(own[index] for own in answers)]
            left_out = self._not_taken[id(lowered)] = frozenset(map(node_of, refused))
        return left_out


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
            if self._check is not None:
                lowered = checked_partition(self._check, self.graph, subset, self.release, self.build)
            lowered = self._lowered[key] = lowered or self.build(subset)
        return lowered

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

    def failure(
        self, subset: Subset, every: Sequence[Subset], log_lines: Sequence[str], further: Sequence[str] = ()
    ) -> Refusal | None:
        """Return the reason why the kernel of a partition cannot be initialized, or None if the initialization succeeds.

        The failure has the log lines, and lists the rejected calls of later partitions in ``every`` after ``further``.
        """
        lowered = self.lowered(subset)
        if not lowered.calls:
            return None if lowered.failure is None else replace(lowered.failure, log_lines=tuple(log_lines))
        from .refusals import runtime_failure  # most runs have no rejected call

        later = [self.lowered(other) for other in _after(subset, every)]
        return runtime_failure(self.graph, lowered, later, self.options, further, log_lines)

    def kernel_failure(self, every: Sequence[Subset], failed: Subset) -> Refusal | None:
        """Return the reason why the kernel of the partition ``failed`` cannot be initialized.

        The result has the log lines of all partitions without a kept kernel.

        TFLite initializes all kernels before it prepares the first kernel. Therefore, later partitions are built even if
        ``failed`` cannot be lowered. If Android's runtime rejects a call of a later partition, the result reports this call.
        """
        subset, further = failed, []
        lowered = self.lowered(failed)
        if lowered.failure is not None and not lowered.calls:
            subset = next((other for other in _after(failed, every) if self.lowered(other).calls), failed)
            if subset != failed:
                further = [f"before this call, the delegate failed to build a partition: {lowered.failure.message}"]
        made = [self.lowered(other) for other in every if other.nodes[0] not in self._kept]
        return self.failure(subset, every, [line for partition in made for line in partition.error_lines], further)

    def compiled(self, subset: Subset) -> Compilation | None:
        """Return the compiled model of a partition, or None if the runtime rejected the model."""
        lowered = self.lowered(subset)
        if not lowered.is_finished:
            return None
        if subset.nodes not in self._compiled:
            from .compilation import compile_partition  # importing the planner is slow, and few runs need it

            rejected = {node: self.answers.rejected(node, lowered) for node in lowered.operations}
            self._compiled[subset.nodes] = compile_partition(self.options, rejected, lowered)
        return self._compiled[subset.nodes]

    def compilation_failure(self, subset: Subset) -> Refusal | None:
        """Return the reason why the kernel of a partition cannot be prepared, or None if no reason is known."""
        lowered = self.lowered(subset)
        if self.options["devices"] is None and (not asks_driver(self.options) or self.answers.takes_all(lowered)):
            return None
        compilation = self.compiled(subset)
        if compilation is None or not compilation.code or compilation.refusal is None:
            return None
        from .refusals import refused_call_failure

        call = refused_at(COMPILATION, compilation.refusal, None)
        return refused_call_failure(self.graph, call, subset.nodes[0], lowered, self.options)


def _after(subset: Subset, every: Sequence[Subset]) -> Sequence[Subset]:
    return every[every.index(subset) + 1 :] if subset in every else ()


def supported_nodes(graph: Graph, options: OptionValues, release: Release) -> tuple[Decision, bool]:
    """Return the decision about the nodes, and whether nodes read float16 weights without a DEQUANTIZE.

    If every unsupported node is a DEQUANTIZE of float16 weights, all nodes are treated as supported
    (``GetSupportedOpsWithFp16WeightRemapping``).
    """
    target = _target(options, release)
    remapping = Float16Remapping()
    widened = [node for node in map(graph.nodes.__getitem__, graph.execution_plan) if node.op == "DEQUANTIZE"]
    if not any(graph.view(node).is_constant_float16_dequantize for node in widened):
        return take_supported(graph, RULES, target), False
    verdicts = remapping.verdicts(graph, RULES, target)
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    if len(supported) + len(remapping.nodes) == len(graph.execution_plan):
        supported = graph.execution_plan
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


NO_DEVICE = Reason(
    DRIVER.name,
    "runtime",
    "the phone's profile has no NNAPI device except NNAPI's own CPU",
    "no NNAPI device except NNAPI's own CPU",
    "an accelerator",
    "list the phone's devices in the profile (--devices), choose another phone, or allow NNAPI's own CPU",
)


def lacks_device(options: OptionValues) -> bool:
    """Return whether the profile has no device that the delegate can use. Source: ``DoPrepare`` and ``GetTargetDevices``."""
    if runtime_level(options) < NNAPI_1_2 or options["accelerator_name"] == REFERENCE_DEVICE:
        return False
    return chosen_devices(options) == ()


def unknown_accelerator(options: OptionValues) -> Refusal | None:
    """Return a refusal if the options name an accelerator, but the profile does not have it."""
    name = options["accelerator_name"]
    if name is None:
        return None
    known = ", ".join([device.name for device in options["devices"].devices]) or "none"
    return kernel_failure("nnapi-accelerator-unknown", None, found=name, known=known)


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Return whether all of these nodes run on the CPU if the driver rejects a single operation."""
    views = [graph.view(graph.nodes[index]) for index in nodes]
    return any(is_constant_densify(view) or is_runtime_float16_dequantize(view) for view in views)

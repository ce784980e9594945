"""How the NNAPI delegate handles a subgraph (``StatefulNnApiDelegate::DoPrepare``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...options import Option, boolean, integer, names, text
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import FLOAT16_DEQUANTIZE, PARTITION_LIMIT
from ...rules.rule import Reason, Verdict
from ..base import Decision, Delegate, KernelFailure, Levels, LogTraits, OptionValues, kinds_by_code, take_supported
from ..driver import Driver, DriverInterface, DriverQuestion, DriverQuestions, driver
from ..float16 import Float16Remapping
from ..limits import largest_partitions, library_order_warning, order_depends_on_library, partition_limit
from . import failures
from .driver import is_all_or_nothing, nodes_supported_by_driver, rejected_operations
from .kinds import DRIVER, FEATURE_LEVEL, FLOAT16_ALL_OR_NOTHING
from .mapping import OPERATIONS, MappedPartition, map_partition
from .rules import RULES
from .target import FEATURE_LEVEL_5, FEATURE_LEVEL_8, FEATURE_LEVELS, LEVELS_BY_NAME, NNAPI_1_0, NNAPI_1_2, NnapiTarget

REFERENCE_DEVICE = "nnapi-reference"
"""The name of NNAPI's own CPU implementation."""


def feature_level(value: Any) -> int:
    """Parse a feature level: the number NNAPI gives it, its name, or an Android API level.

    From Android 12 (31) on NNAPI is updated apart from Android; an API level then stands for level 5, which all have.
    """
    level = LEVELS_BY_NAME.get(str(value).strip())
    if level is None:
        try:
            level = integer(value)
        except ValueError:
            level = 0
        if FEATURE_LEVEL_5 < level < 100:
            level = FEATURE_LEVEL_5
    if isinstance(value, bool) or level not in FEATURE_LEVELS:
        known = ", ".join(map(str, FEATURE_LEVELS))
        raise ValueError(f"takes one of {known}, {', '.join(LEVELS_BY_NAME)} or an Android API level from 27, not {value!r}")
    return level


def _optional_feature_level(value: Any) -> int | None:
    return None if value is None else feature_level(value)


OPTIONS = (
    Option(
        "feature_level",
        feature_level,
        FEATURE_LEVEL_8,
        "feature level of the NNAPI runtime: 27 to 31 or 1000006 to 1000008, NNAPI's version 1.0 to 1.3 or 5 to 8, or the level "
        "of Android's API",
        flag="feature-level",
    ),
    Option(
        "device_feature_level",
        _optional_feature_level,
        None,
        "feature level of the accelerator, if below the runtime's",
        flag="device-feature-level",
    ),
    Option(
        "accelerator_name",
        text,
        None,
        "the accelerator to use, by name; nnapi-reference is NNAPI's own CPU",
        flag="nnapi_accelerator_name",
        printed=("nnapi accelerator name",),
    ),
    Option(
        "disallow_nnapi_cpu",
        boolean,
        True,
        "leave NNAPI's own CPU implementation out",
        flag="disable_nnapi_cpu",
        printed=("disable nnapi cpu", "disallow nnapi cpu"),
    ),
    Option(
        "max_number_delegated_partitions",
        integer,
        3,
        "how many partitions to delegate at most, largest first; no limit at 0 and below",
        benchmark_default=0,
        has_benchmark_default=True,
        flag="max_delegated_partitions",
        printed=("max number of delegated partitions",),
    ),
    Option(
        "allow_dynamic_dimensions",
        boolean,
        False,
        "take graphs with dynamic dimensions, as they are in the file",
        flag="nnapi_allow_dynamic_dimensions",
        printed=("allow dynamic dimensions in nnapi",),
    ),
    Option(
        "allow_fp16",
        boolean,
        False,
        "compute float32 in float16; changes no verdict",
        flag="nnapi_allow_fp16",
        printed=("allow fp16 in nnapi",),
    ),
    Option("driver_rejects", names, (), "NNAPI operations that the accelerator's driver rejects", flag="driver-rejects"),
    Option(
        "driver",
        driver,
        None,
        "profile of the accelerator's driver, a file that 'delegate-sim reconcile --learn' writes",
        flag="driver",
        is_path=True,
    ),
)


def driver_questions(graph: Graph, options: OptionValues, release: Release = NEWEST) -> DriverQuestions | None:
    """Return what the driver is asked about a subgraph; None if it is not asked, or if a partition cannot be built."""
    decision, has_float16 = _preview(graph, options, release)
    if not decision.nodes or not _asks_driver(options):
        return None
    found = []
    for subset in decision.candidates:
        mapped = _map(decision.graph, subset, options, release)
        if mapped.failure is not None:
            return None
        whole = is_all_or_nothing(decision.graph, subset.nodes)
        found.append(DriverQuestion(decision.graph, subset.nodes, mapped.operations, whole))
    return DriverQuestions(tuple(found), has_float16)


class NnapiDelegate(Delegate):
    """The delegate as the runtime meets it (see ``delegates.base.Delegate``)."""

    name = "nnapi"
    kernel_name = "TfLiteNnapiDelegate"
    provider_name = "NNAPI"
    options = OPTIONS
    rules = RULES
    further_kinds = MappingProxyType(
        {**failures.KINDS, **kinds_by_code(DRIVER, FLOAT16_ALL_OR_NOTHING, PARTITION_LIMIT, FLOAT16_DEQUANTIZE)}
    )
    limit_option = "max_number_delegated_partitions"
    unlimited = 0
    levels = Levels("feature_level", FEATURE_LEVELS, MappingProxyType({"nnapi accelerators available": NNAPI_1_2}))
    driver = DriverInterface("driver", "accelerator_name", DRIVER.name, driver_questions, OPERATIONS)
    log = LogTraits(switch="use nnapi", prints_refusals=True, has_runtime_behind=True)
    known_since = "tf-2.10"
    is_unchanged_since = True

    def allows_dynamic_tensors(self, options: OptionValues) -> bool:
        """Only as an option, and only from NNAPI 1.1 on."""
        return bool(options["allow_dynamic_dimensions"]) and options["feature_level"] > NNAPI_1_0

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Validate every node, ask the driver, and keep the largest partitions."""
        decision, has_float16 = _preview(graph, options, release)
        if not decision.nodes:
            return decision
        if _asks_driver(options):
            decision = _ask_driver(decision, options, has_float16, release)
        return _limit(self, decision, options[self.limit_option])

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Build the NNAPI model of one partition, unless a kernel is found again that was built while the driver was asked.

        It is found by the first node of the partition alone (``MaybeGetCachedDelegateKernel``).
        """
        if isinstance(decision.findings, frozenset) and subset.nodes[0] in decision.findings:
            return None
        return _map(decision.graph, subset, options, release).failure

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Besides the limit: higher feature levels, of the runtime and the accelerator alike."""
        yield from super().remedies(code, options)
        if code == RULES.code_of(FEATURE_LEVEL):
            for level in FEATURE_LEVELS:
                if level > min(options["feature_level"], options["device_feature_level"] or level):
                    yield {"feature_level": level, "device_feature_level": None}


def _preview(graph: Graph, options: OptionValues, release: Release) -> tuple[Decision, bool]:
    """Return the nodes that the rules accept and their partitions, and whether float16 constants were put into nodes."""
    target = NnapiTarget(_validation_level(options), _is_accelerator_specified(options), release)
    remapping = Float16Remapping()
    if not any(graph.view(graph.nodes[index]).is_constant_float16_dequantize for index in graph.execution_plan):
        return take_supported(graph, RULES, target), False
    supported, verdicts = _supported_with_float16(graph, target, remapping)
    graph = remapping.apply(graph, supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ()), bool(
        supported and remapping.nodes
    )


def _asks_driver(options: OptionValues) -> bool:
    """Whether the driver is asked about operations: from NNAPI 1.2 on, where an accelerator is specified."""
    return _is_accelerator_specified(options) and options["feature_level"] >= NNAPI_1_2


def _supported_with_float16(
    graph: Graph, target: NnapiTarget, remapping: Float16Remapping
) -> tuple[tuple[int, ...], dict[int, Verdict]]:
    """``GetSupportedOpsWithFp16WeightRemapping``: all nodes if only the widening of weights is left over."""
    verdicts = remapping.verdicts(graph, lambda node: RULES.validate(node, target))
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    if len(supported) + len(remapping.nodes) == len(graph.execution_plan):
        return graph.execution_plan, verdicts
    return supported, verdicts


def _ask_driver(decision: Decision, options: OptionValues, has_float16: bool, release: Release) -> Decision:
    """``GetNodesSupportedByAccelerator``: build each partition and ask which of its nodes the driver takes."""
    names = frozenset(options["driver_rejects"])
    profile: Driver | None = options["driver"]
    taken: list[int] = []
    set_aside: dict[int, Reason] = {}
    first_nodes: set[int] = set()
    for subset in decision.candidates:
        mapped = _map(decision.graph, subset, options, release)
        if mapped.failure is not None:
            return dataclasses.replace(decision, nodes=(), failure=mapped.failure)
        supported = nodes_supported_by_driver(decision.graph, subset.nodes, mapped, names, profile)
        taken += supported
        if len(supported) == len(subset.nodes):
            first_nodes.add(subset.nodes[0])
        for node in set(subset.nodes).difference(supported):
            set_aside[node] = _driver_rejects(frozenset(rejected_operations(decision.graph, node, mapped, names, profile)))
    decision = dataclasses.replace(decision, findings=frozenset(first_nodes))
    if not set_aside:
        return decision
    if has_float16:
        # The remapping holds for all nodes or none: the delegate takes it back and delegates nothing.
        return dataclasses.replace(
            decision,
            nodes=(),
            preview=(),
            set_aside={node: set_aside.get(node, _NOTHING_WITH_FLOAT16) for node in decision.nodes},
        )
    preview = partition(decision.graph, taken) if taken else ()
    return dataclasses.replace(decision, nodes=tuple(taken), preview=preview, set_aside=set_aside)


def _limit(delegate: Delegate, decision: Decision, limit: int) -> Decision:
    """``LimitDelegatedPartitions``."""
    candidates = decision.candidates
    if limit <= 0 or len(candidates) <= limit:
        return decision
    kept = {node for subset in largest_partitions(candidates, limit) for node in subset.nodes}
    reason = partition_limit(delegate, len(candidates), limit)
    dropped = {node: reason for subset in candidates for node in subset.nodes if node not in kept}
    warnings = decision.warnings
    if order_depends_on_library(candidates, limit):
        warnings += (library_order_warning(decision.graph, limit),)
    return dataclasses.replace(
        decision,
        nodes=tuple(node for node in decision.nodes if node in kept),
        set_aside={**decision.set_aside, **dropped},
        warnings=warnings,
    )


def _map(graph: Graph, subset: Subset, options: OptionValues, release: Release) -> MappedPartition:
    return map_partition(
        graph,
        subset.nodes,
        subset.inputs,
        subset.outputs,
        target_feature_level=_mapping_level(options),
        runtime_feature_level=options["feature_level"],
        release=release,
    )


def _uses_target_devices(options: OptionValues) -> bool:
    """``ShouldUseTargetDevices``: a named accelerator, or from NNAPI 1.2 on all but NNAPI's CPU."""
    return options["accelerator_name"] is not None or (options["disallow_nnapi_cpu"] and options["feature_level"] >= NNAPI_1_2)


def _is_accelerator_specified(options: OptionValues) -> bool:
    return options["accelerator_name"] != REFERENCE_DEVICE and _uses_target_devices(options)


def _device_level(options: OptionValues) -> int:
    """``GetTargetFeatureLevel``: the runtime's level, or the devices' if that is lower."""
    level: int = options["feature_level"]
    device: int | None = options["device_feature_level"]
    if device is None or options["accelerator_name"] == REFERENCE_DEVICE:
        return level
    return min(level, device)


def _validation_level(options: OptionValues) -> int:
    """Without target devices, nodes are validated at Android's API level, which stays at 33 beyond NNAPI's level 5."""
    if options["feature_level"] >= NNAPI_1_2 and _uses_target_devices(options):
        return _device_level(options)
    return int(min(options["feature_level"], FEATURE_LEVEL_5))


def _mapping_level(options: OptionValues) -> int:
    if options["feature_level"] >= NNAPI_1_2 and _uses_target_devices(options):
        return _device_level(options)
    return int(options["feature_level"])


_NOTHING_WITH_FLOAT16 = Reason(
    FLOAT16_ALL_OR_NOTHING.name,
    FLOAT16_ALL_OR_NOTHING.name,
    "the driver rejects part of a model with float16 weights, so nothing is delegated",
    "a driver that rejects an operation",
    "a driver that takes all operations",
    FLOAT16_ALL_OR_NOTHING.hint,
)


def _driver_rejects(operations: frozenset[str]) -> Reason:
    found = ", ".join(sorted(operations)) or "an operation of the same partition"
    return Reason(DRIVER.name, "driver", f"the driver rejects {found}", found, "operations that the driver takes", DRIVER.hint)


DELEGATE = NnapiDelegate()

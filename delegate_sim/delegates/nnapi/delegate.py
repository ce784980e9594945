"""The NNAPI delegate (``StatefulNnApiDelegate::DoPrepare``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, parse_release
from ...releases.wording import RESTORED_LINE
from ...rules.kinds import FLOAT16_DEQUANTIZE, PARTITION_LIMIT
from ...rules.rule import Reason
from ..base import Delegate, largest_partitions, library_order_warning, order_depends_on_library, partition_limit
from ..decision import Decision, kinds_by_code
from ..options import OptionValues
from ..traits import Levels, LogTraits, PartitionLimits, Platform, ReleaseHistory, StageBehind
from .lowering.partition import EMPTY_POOLS_FAIL
from .options import (
    ANDROID_RELEASES,
    NO_RUNTIME,
    OPTIONS,
    OTHER_RUNTIMES,
    SIMULATED_RUNTIMES,
    asks_driver,
    highest_level_of,
    notes,
    runtime_level,
)
from .partitions import NO_DEVICE, Partitions, lacks_device, supported_nodes, supports_operator, unknown_accelerator
from .rules import RULES
from .target import (
    DRIVER,
    FAILURES,
    FEATURE_LEVEL,
    FEATURE_LEVELS,
    FLOAT16_ALL_OR_NOTHING,
    HIDDEN,
    NNAPI_1_0,
    NNAPI_1_2,
    PREFIX,
    level_in_words,
)

if TYPE_CHECKING:
    from ...rules.kinds import Kind
    from ..driver import DevicesInterface, DriverInterface, LoweredModel
    from ..traits import StageSplit


_FUSED_VERSION = 4
"""The version of TRANSPOSE_CONV with a fused activation."""
_FUSED_MAYBE_FROM, _FUSED_FROM = parse_release("tf-2.15"), parse_release("litert-1.1.0")
"""The first release that may accept this version, and the first that is known to accept it."""


class AndroidRuntime(StageBehind):
    """Android's NNAPI runtime, which compiles the delegate's NNAPI models for the devices of a phone."""

    platform = Platform("android", "nnapi_runtime", SIMULATED_RUNTIMES, NO_RUNTIME, OTHER_RUNTIMES)

    @property
    def driver(self) -> DriverInterface:
        """A description of the NNAPI driver."""
        from .driver_interface import DRIVER_INTERFACE  # only needed to explain a log

        return DRIVER_INTERFACE

    @property
    def devices(self) -> DevicesInterface:
        """A description of the devices among which NNAPI divides a model."""
        from .driver_interface import DEVICES_INTERFACE  # only needed to explain a log

        return DEVICES_INTERFACE

    def level(self, options: OptionValues) -> int | None:
        """Return the feature level of the simulated NNAPI runtime."""
        return runtime_level(options)

    def lower_level(self, options: OptionValues) -> int | None:
        """Return the feature level in the options if it is below the highest level of the Android release; otherwise None."""
        highest, level = highest_level_of(options["nnapi_runtime"]), runtime_level(options)
        return level if highest is not None and level < highest else None

    def notes(self, options: OptionValues) -> Iterator[str]:
        """Yield notes about parts of Android's runtime that are not simulated or not verified."""
        return notes(options)

    def refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the first failure to compile the NNAPI model of a delegated partition, or None if all models compile."""
        partitions = _partitions(decision)
        return next((failure for subset in _delegated(subsets) if (failure := partitions.compilation_failure(subset))), None)

    def split(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Iterator[StageSplit]:
        """For each delegated partition, yield the steps and the device of each step."""
        if options["devices"] is not None and isinstance(decision.findings, Partitions):
            from .compilation import split_of

            for subset in _delegated(subsets):
                compilation = decision.findings.compiled(subset)
                if compilation is not None and not compilation.code:
                    yield split_of(subset.nodes, compilation)

    def lowered(self, decision: Decision, options: OptionValues, release: Release = NEWEST) -> Iterator[LoweredModel]:
        """Yield the NNAPI models of the delegated partitions.

        If no node is delegated, yield the models of all candidate partitions instead.
        """
        from .driver_interface import lowered_models  # only needed to show the NNAPI models

        subsets = _delegated(decision.grouped()) if decision.nodes else decision.candidates
        return lowered_models(decision.graph, subsets, options, release)


class NnapiDelegate(Delegate):
    """The ``nnapi`` delegate (see ``delegates.base.Delegate``)."""

    name = "nnapi"
    kernel_name = "TfLiteNnapiDelegate"
    provider_name = "NNAPI"
    deprecated = "since Android 15"
    options = OPTIONS
    rules = RULES
    effort = 4
    semantics = 2
    limits = PartitionLimits("max_number_delegated_partitions", 0)
    levels = Levels(
        "feature_level", FEATURE_LEVELS, MappingProxyType({"nnapi accelerators available": NNAPI_1_2}), level_in_words
    )
    log = LogTraits(switch="use nnapi", prints_refusals=True, has_runtime_behind=True)
    history = ReleaseHistory("tf-2.10", is_unchanged_since=True, changed_in=(EMPTY_POOLS_FAIL, _FUSED_FROM))
    behind = AndroidRuntime()

    @property
    def further_kinds(self) -> Mapping[str, Kind]:
        """The kinds of problem for kernel failures, and for rejections by the runtime or the driver."""
        from . import refusals

        further = kinds_by_code(DRIVER, HIDDEN, FLOAT16_ALL_OR_NOTHING, PARTITION_LIMIT, FLOAT16_DEQUANTIZE)
        return MappingProxyType({**FAILURES, **refusals.KINDS, **further})

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return whether the options allow dynamic tensors and NNAPI is 1.1 or newer."""
        return bool(options["allow_dynamic_dimensions"]) and runtime_level(options) > NNAPI_1_0

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, ask the driver, and keep the largest partitions."""
        decision, has_float16 = supported_nodes(graph, options, release)
        if not decision.nodes:
            return decision
        partitions = Partitions(decision.graph, options, release)
        warnings = (*decision.warnings, *notes(options), *_unknown_versions(decision, release))
        decision = replace(decision, findings=partitions, warnings=warnings)
        if lacks_device(options):
            return _without_device(decision, options)
        if asks_driver(options):
            decision = _ask_driver(decision, partitions, has_float16)
        return _limit(self, decision, options[self.limits.option])

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why the NNAPI model of a partition cannot be built, or None if the build succeeds.

        If the model was already built to ask the driver, that model is used.
        """
        partitions = _partitions(decision)
        if not partitions.lowered(subset).has_failed:
            return None
        return partitions.kernel_failure(_delegated(decision.grouped()), subset)

    def effort_with(self, options: OptionValues) -> int:
        """Return the relative cost of one simulation. Each device is asked about each operation."""
        profile = options["devices"]
        return self.effort + (0 if profile is None else len(profile.devices) // _DEVICES_OF_A_SIMULATION)

    def supports_operator(self, op: str, options: OptionValues) -> bool:
        """Return whether the delegate takes some nodes of an operator at the feature level in the options."""
        return supports_operator(op, options)

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield options that may avoid a refusal.

        If a feature level is too low, the options include higher feature levels of the runtime and the accelerator.
        """
        yield from super().remedies(code, options)
        if code in _LEVEL_CODES:
            for level in FEATURE_LEVELS:
                if level > min(runtime_level(options), options["device_feature_level"] or level):
                    yield {"feature_level": level, "device_feature_level": None, **_runtime_for(level, options)}


def _ask_driver(decision: Decision, partitions: Partitions, has_float16: bool) -> Decision:
    """Remove the nodes that the driver does not take (``GetNodesSupportedByAccelerator``).

    For each partition, the NNAPI model is built, and the driver is asked about the operations of the model.
    """
    answers = partitions.answers
    taken: list[int] = []
    set_aside: dict[int, Reason] = {}
    lines: list[str] = []
    for subset in decision.candidates:
        lowered = partitions.lowered(subset)
        lines += lowered.error_lines
        if lowered.has_failed:
            failure = partitions.failure(subset, decision.candidates, [*lines, RESTORED_LINE])
            return replace(decision, nodes=(), failure=failure)
        supported = answers.supported(subset.nodes, lowered)
        taken += supported
        if len(supported) == len(subset.nodes):
            partitions.keep(subset)
        else:
            set_aside.update({node: answers.reason(node, lowered) for node in set(subset.nodes).difference(supported)})
    candidates = decision.candidates
    if has_float16 and not set_aside and answers.rejects_some_of([partitions.lowered(subset) for subset in candidates]):
        subset = candidates[0]
        set_aside = {node: answers.reason(node, partitions.lowered(subset)) for node in subset.nodes}
    if not set_aside:
        return decision
    if has_float16:
        # The replaced operands are only valid if all nodes are delegated, so the delegate reverts them and delegates nothing.
        return replace(
            decision,
            nodes=(),
            preview=(),
            set_aside={node: set_aside.get(node, _NOTHING_WITH_FLOAT16) for node in decision.nodes},
        )
    preview = partition(decision.graph, taken) if taken else ()
    return replace(decision, nodes=tuple(taken), preview=preview, set_aside=set_aside)


def _unknown_versions(decision: Decision, release: Release) -> Iterator[str]:
    """Yield a warning about nodes for which it is not known whether this release already accepts their version.

    The change (tensorflow/tensorflow#60770) was merged in 2023, after tf-2.14 and before litert-1.1.0.
    """
    nodes = [decision.graph.nodes[index] for index in decision.nodes]
    has_fused = any(node.op == "TRANSPOSE_CONV" and node.version == _FUSED_VERSION for node in nodes)
    if has_fused and release.is_at_least(_FUSED_MAYBE_FROM) and not release.is_at_least(_FUSED_FROM):
        yield (
            f"subgraph {decision.graph.index}: it was not checked whether this release accepts TRANSPOSE_CONV at version "
            f"{_FUSED_VERSION}; tf-2.14 refuses it, and {_FUSED_FROM} accepts it"
        )


def _without_device(decision: Decision, options: OptionValues) -> Decision:
    """Return a decision that delegates no node, because the profile has no device that the delegate can use.

    If the options name an accelerator, the decision has a failure. Otherwise, NNAPI's own CPU is the only device. The delegate
    does not use this CPU alone, so TFLite's CPU kernels run all nodes.
    """
    failure = unknown_accelerator(options)
    if failure is not None:
        return replace(decision, nodes=(), failure=failure)
    return replace(decision, nodes=(), preview=(), set_aside=dict.fromkeys(decision.nodes, NO_DEVICE))


def _delegated(subsets: Sequence[Subset]) -> list[Subset]:
    return [subset for subset in subsets if subset.is_delegated]


def _partitions(decision: Decision) -> Partitions:
    assert isinstance(decision.findings, Partitions)
    return decision.findings


def _limit(delegate: Delegate, decision: Decision, limit: int) -> Decision:
    candidates = decision.candidates
    if limit <= 0 or len(candidates) <= limit:
        return decision
    kept = {node for subset in largest_partitions(candidates, limit) for node in subset.nodes}
    reason = partition_limit(delegate, len(candidates), limit)
    dropped = {node: reason for subset in candidates for node in subset.nodes if node not in kept}
    warnings = decision.warnings
    if order_depends_on_library(candidates, limit):
        warnings += (library_order_warning(decision.graph, limit),)
    return replace(
        decision,
        nodes=tuple(node for node in decision.nodes if node in kept),
        set_aside={**decision.set_aside, **dropped},
        warnings=warnings,
    )


_NOTHING_WITH_FLOAT16 = Reason(
    FLOAT16_ALL_OR_NOTHING.name,
    FLOAT16_ALL_OR_NOTHING.name,
    "the driver rejects part of a model with float16 weights, so nothing is delegated",
    "a driver that rejects an operation",
    "a driver that accepts all operations",
    FLOAT16_ALL_OR_NOTHING.hint,
)

_DEVICES_OF_A_SIMULATION = 4
"""Number of devices whose answers take as long as a simulation of a delegate with an effort of 1."""

_LEVEL_CODES = frozenset(
    {RULES.code_of(FEATURE_LEVEL), HIDDEN.name, f"{PREFIX}model-feature-level", f"{PREFIX}operand-zero-point"}
)
"""Codes of problems that a higher feature level may avoid."""


def _runtime_for(level: int, options: OptionValues) -> dict[str, str]:
    """Return the option that selects a runtime with feature level ``level``.

    If the Android release already has this level, or if the options give no release, return an empty dictionary.
    """
    highest = highest_level_of(options["nnapi_runtime"])
    if highest is None or level <= highest:
        return {}
    return {"nnapi_runtime": next(name for name in ANDROID_RELEASES if level <= (highest_level_of(name) or 0))}


DELEGATE = NnapiDelegate()

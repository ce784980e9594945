"""The GPU delegate's handling of a subgraph (``DelegatePrepare``, ``delegates/gpu/delegate.cc``, and ``GetOpsToReplace``)."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset, partition
from ...model import schema
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import FLOAT16_DEQUANTIZE, PARTITION_LIMIT, QUANTIZATION, TENSOR_TYPE, Kind, kinds_in
from ...rules.rule import Reason, Verdict, family_rules
from ..base import Delegate, take_largest
from ..decision import Decision, Float16Remapping, kinds_by_code
from ..gpu_compatibility.checks import OPERAND_COUNT, RANK, refusal_lines
from ..options import Option, OptionValues, boolean, choice, integer, names
from ..traits import LogTraits, PartitionLimits, ReleaseHistory
from . import rules
from .build import build_partition
from .model import KINDS
from .rules import MODULES, NOT_SUPPORTED, SOURCE, GpuTarget, layers

OPS_WITHOUT_OPENCL = frozenset({"SPLIT", "SPLIT_V"})
"""Operators that stay on the CPU if OpenCL cannot be loaded (``OpenCLSupported``), because OpenGL has no shader for them."""

_NEEDED = "an operator that the GPU delegate has"
_LEFT_OUT = Unknown(
    "an operator that is not excluded",
    "make OpenCL available for SPLIT and SPLIT_V, and leave the operator out of excluded_ops",
    "is excluded, because it is in excluded_ops, or OpenCL cannot be loaded and OpenGL does not run it",
    said=NOT_SUPPORTED,
)


def _left_out(node: NodeView, target: GpuTarget) -> Reason | None:
    # The name CUSTOM in the options excludes all custom operators (``NewOperationParser``).
    name = "CUSTOM" if node.node.is_custom else node.op
    return RULES.unsupported(node, _LEFT_OUT) if name in target.excluded_ops else None


RULES: RuleBook[GpuTarget] = RuleBook(
    "gpu",
    families=family_rules(rules.__name__, MODULES),
    custom=layers.CUSTOM_RULES,
    kinds=tuple(kinds_in("delegates/gpu", "rules", (OPERAND_COUNT, RANK)).values()),
    source=SOURCE,
    unknown=Unknown(_NEEDED, said=NOT_SUPPORTED),
    unknown_custom=Unknown(_NEEDED, said="{op}"),
    excluded=_left_out,
    key=operator.attrgetter("release"),
    has_native_messages=True,
)

_OPENCL, _WITHOUT_OPENCL, _OPENGL_ONLY = BACKENDS = ("opencl", "opengl", "opengl-only")
_LAST_INDEX = (1 << 31) - 1


def operators(value: Any) -> tuple[str, ...]:
    """Parse names of builtin operators."""
    known = set(schema.enum_names("BuiltinOperator").values())
    op_names = tuple(name.upper() for name in names(value))
    for name in op_names:
        if name not in known:
            raise InvalidValueError("takes names of builtin operators", name)
    return op_names


OPTIONS = (
    Option(
        "allow_quant_ops",
        boolean,
        True,
        "take nodes that are quantized to 8 bits, and compute them in float (the experimental flag ENABLE_QUANT)",
        flag="gpu_experimental_enable_quant",
        printed=("enable running quant models in gpu",),
    ),
    Option(
        "max_delegated_partitions",
        integer,
        1,
        "the maximum number of partitions to delegate, largest first; 0 or less means 1",
        benchmark_default=0,
        has_benchmark_default=True,
        flag="max_delegated_partitions",
        printed=("max number of delegated partitions",),
    ),
    Option("excluded_ops", operators, (), "builtin operators to leave to the CPU", flag="excluded-ops"),
    Option(
        "first_delegate_node_index",
        integer,
        0,
        "index of the first node to delegate; only builds with TFLITE_DEBUG_DELEGATE use it",
        flag="first_delegate_node_index",
        printed=("index of the first node that could be delegated",),
    ),
    Option(
        "last_delegate_node_index",
        integer,
        _LAST_INDEX,
        "index of the last node to delegate; only builds with TFLITE_DEBUG_DELEGATE use it",
        flag="last_delegate_node_index",
        printed=("index of the last node that could be delegated",),
    ),
    Option(
        "backend",
        # benchmark_model's spellings are cl and gl.
        choice(*BACKENDS, needed="opencl, opengl or opengl-only", spellings={"cl": _OPENCL, "gl": _OPENGL_ONLY}),
        _OPENCL,
        "opencl; opengl, if OpenCL cannot be loaded; or opengl-only (benchmark_model's gl), if only OpenGL may be used although "
        "OpenCL can be loaded",
        flag="gpu_backend",
        printed=("gpu backend",),
        choices=BACKENDS,
    ),
)

_OF_QUANTIZED_NODES = frozenset({RULES.code_of(TENSOR_TYPE), RULES.code_of(QUANTIZATION)})
"""The codes of refusals that the option allow_quant_ops may remove (``IsAllAllowedTensors``)."""

NODE_RANGE = kinds_in("delegates/gpu", "range", is_shared=True)["gpu-node-range"]


class GpuDelegate(Delegate):
    """The ``gpu`` delegate (see ``delegates.base.Delegate``)."""

    name = "gpu"
    legend = "TFLite's GPU delegate"
    kernel_name = "TfLiteGpuDelegateV2"
    provider_name = "GPU"
    summary = (
        "TfLiteGpuDelegateV2, TFLite's GPU delegate. Applications add it to an interpreter; benchmark_model applies it with "
        "--use_gpu. For the GPU accelerator of LiteRT 2, use mldrift instead."
    )
    options = OPTIONS
    rules = RULES
    limits = PartitionLimits("max_delegated_partitions", 1_000_000, fallback=1)
    log = LogTraits(
        switch="use gpu",
        prints_kernels=True,
        options_by_interface=MappingProxyType({name: {"backend": name} for name in ("opencl", "opengl")}),
        tried_options=MappingProxyType({"allow_quant_ops": False}),
    )
    history = ReleaseHistory("tf-2.14")
    has_number_rules = True
    builds_by_node = True
    semantics = 4

    @functools.cached_property
    def further_kinds(self) -> Mapping[str, Kind]:
        """The kinds of failures and of wrong numbers, by code."""
        from .numbers import RULES as NUMBERS  # only explanations need all conditions

        numbers = {rule.code: rule.kind for rules in NUMBERS.values() for rule in rules}
        return MappingProxyType({**KINDS, **numbers, **kinds_by_code(NODE_RANGE, PARTITION_LIMIT, FLOAT16_DEQUANTIZE)})

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The kernel names of this delegate and of Apple's Metal delegate. Both delegates choose the same nodes."""
        return (self.kernel_name, "TfLiteMetalDelegate")

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Delegate all nodes if every node is supported, or else the largest partitions."""
        remapping = Float16Remapping()
        verdicts = remapping.verdicts(graph, RULES, _target(options, release))
        supported, set_aside = _within_range(verdicts, graph, options)
        decision = Decision(graph, verdicts, supported, partition(graph, supported) if supported else (), set_aside)
        decision = take_largest(self, decision, remapping, max(options["max_delegated_partitions"], 1))
        lines = refusal_lines(graph, _asked(verdicts, options), len(decision.nodes))
        return remapping.applied(replace(decision, log_lines=lines))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why the delegate's own model of a partition cannot be built, or None if the build succeeds.

        The simulated build follows the newest sources. It was not verified for older releases, so a failure in an older release
        is marked as a prediction.
        """
        key = options["allow_quant_ops"], release, options["backend"] != _OPENCL
        builds: dict[Subset, Refusal | None] = decision.graph.results.get("builds", key, dict)
        if subset not in builds:
            builds[subset] = build_partition(decision.graph, subset, *key)
        failure = builds[subset]
        if failure is None or release.is_at_least(NEWEST):
            return failure
        return replace(failure, is_predicted=True)

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield what one partition may compute wrongly, as read in the source."""
        from .numbers import number_risks  # only some results need the numbers

        return number_risks(graph, subset, options, release)

    def numbers_are_checked(self, release: Release) -> bool:
        """Return whether the source of a release was read for its numbers."""
        from .numbers import is_read

        return is_read(release)

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield options that avoid refusals with this code: without limits, or with quantized nodes."""
        yield from super().remedies(code, options)
        if code in _OF_QUANTIZED_NODES and not options["allow_quant_ops"]:
            yield {"allow_quant_ops": True}
        if code == NODE_RANGE.name:
            yield {"first_delegate_node_index": 0, "last_delegate_node_index": _LAST_INDEX}


def _target(options: OptionValues, release: Release) -> GpuTarget:
    excluded = frozenset(options["excluded_ops"])
    if options["backend"] == _WITHOUT_OPENCL:
        excluded |= OPS_WITHOUT_OPENCL
    return GpuTarget(options["allow_quant_ops"], excluded, release)


def _asked(verdicts: Mapping[int, Verdict], options: OptionValues) -> Mapping[int, Verdict]:
    # The delegate stops at the first supported node after the selected range.
    last = options["last_delegate_node_index"]
    return dict(itertools.takewhile(lambda item: item[0] <= last or not item[1].is_supported, verdicts.items()))


def _within_range(
    verdicts: Mapping[int, Verdict], graph: Graph, options: OptionValues
) -> tuple[tuple[int, ...], dict[int, Reason]]:
    first, last = options["first_delegate_node_index"], options["last_delegate_node_index"]
    supported = [index for index in graph.execution_plan if verdicts[index].is_supported]
    outside = [index for index in supported if not first <= index <= last]
    return tuple(index for index in supported if first <= index <= last), dict.fromkeys(outside, _outside_range(first, last))


def _outside_range(first: int, last: int) -> Reason:
    return Reason(
        NODE_RANGE.name,
        "node-range",
        f"is outside the selected range of nodes ({first} to {last})",
        "another index",
        f"an index from {first} to {last}",
        NODE_RANGE.hint,
    )


DELEGATE = GpuDelegate()

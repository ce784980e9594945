"""ML Drift's handling of a subgraph (``GetOpsToReplaceWithOptions``, ``ml_drift_delegate/tflite/model_builder.cc``).

ML Drift is the GPU accelerator of LiteRT 2. The older GPU delegate, TfLiteGpuDelegateV2, is the delegate ``gpu``.

Each failure while ML Drift builds its own model of the delegated nodes ends the process. Problems of single operators are defined
next to the operators' rules (see ``target.py``). Failures to compile a shader depend on the driver and are not simulated.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph, NodeView, index_in_graph
from ...graph.partition import Subset
from ...graph.unstable_sort import llvm_sorted
from ...model.model import Model, Tensor
from ...model.schema import FAMILY_OF
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, ReleaseNote
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import FLOAT16_DEQUANTIZE, PARTITION_LIMIT, Kind, kinds_in
from ...rules.rule import family_rules
from ..base import Delegate, take_largest
from ..decision import Decision, Float16Remapping, ReleaseOnly, kinds_by_code, take_accepted
from ..gpu_compatibility import axes_of
from ..gpu_compatibility.checks import HEADING, LAST_LINE, OPERAND_COUNT, RANK, refusal_lines
from ..npu.loader import loaded
from ..options import Option, OptionValues, boolean, choice, integer
from ..traits import Accelerator, AcceleratorTraits, LogTraits, ReleaseHistory
from . import rules
from .rules import BOUND_BUFFERS, MODULES, SOURCE, is_bound, stablehlo
from .rules.checks import integers
from .rules.composites import composite_name
from .target import (
    BOUND_TYPE,
    BUILDS_CHECKED,
    EMPTY,
    FORMER,
    KINDS,
    LITERT_LOADER,
    NEWEST_MEASURED,
    BuildProblems,
    FormerProblems,
    hint_not_met,
    not_fully_accelerated,
    release_notes,
    rules_of,
)

RULES: RuleBook[Any] = RuleBook(
    "mldrift",
    families=family_rules(rules.__name__, MODULES),
    custom=stablehlo.CUSTOM_RULES,
    kinds=tuple(kinds_in("delegates/mldrift", "rules", (OPERAND_COUNT, RANK)).values()),
    source=SOURCE,
    unknown=Unknown("an operator that ML Drift has", said="Operation is not supported."),
    unknown_custom=Unknown("a custom operator that ML Drift has", said="{op}"),
    key=operator.attrgetter("release"),
    has_native_messages=True,
)

_SPLIT_AXES = {"SPLIT": 0, "SPLIT_V": 2}
"""The position of the operand with the split axis. ML Drift has no kernel for a result that is empty along this axis."""
_CHANNELS_AXIS = 3


_SHADER_TYPES = frozenset({"FLOAT32", "FLOAT16", "BFLOAT16", "INT32", "UINT32", "INT16", "UINT16", "INT8", "UINT8", "BOOL"})
"""The types that shaders can read and write. They were measured with WebGPU and a development build of LiteRT 2.4."""


def build_failure(graph: Graph, subset: Subset, options: OptionValues, release: Release) -> Refusal | None:
    """Return the first failure to build the model of a partition, or None if no failure is known.

    Shaders are generated after all nodes are read.
    """
    forms = node_forms(graph)
    sound = graph.shared.get("mldrift builds", (options, release), FormTable[int, bool])
    for index in subset.nodes:
        if forms[index] in sound:
            continue
        node = graph.view(graph.nodes[index])
        for problem in _problems(node, options, release):
            return replace(problem, node=index)
        if not node.reads_graph:
            sound.add(forms[index], True)
    for index in subset.nodes if release.is_at_least(BOUND_BUFFERS) else ():
        for tensor in map(graph.tensor, (*graph.nodes[index].inputs, *graph.nodes[index].outputs)):
            if is_bound(graph, tensor) and tensor.type not in _SHADER_TYPES:
                return BOUND_TYPE.failure(tensor, index)
    return None


def _problems(node: NodeView, options: OptionValues, release: Release) -> Iterator[Refusal]:
    is_on_webgpu = options["backend"] == "webgpu"
    if node.node.is_custom:
        if is_on_webgpu:
            yield from _problems_of_operator(node, "WEBGPU_PROBLEMS")
        return
    if node.is_constant_float16_dequantize:
        return
    yield from _problems_of_operator(node, "BUILD_PROBLEMS")
    yield from _former_problems(node, release)
    if not options["constant_tensor_sharing"]:
        yield from _problems_of_operator(node, "UNSHARED_PROBLEMS")
    if is_on_webgpu:
        for tensor in node.outputs:
            if _is_divided_by(node, tensor):
                yield EMPTY.failure(tensor)
        yield from _problems_of_operator(node, "WEBGPU_PROBLEMS")


def _table(node: NodeView, name: str) -> Mapping[str, Any]:
    module = "stablehlo" if node.node.is_custom else MODULES[FAMILY_OF[node.op]]
    table: Mapping[str, Any] = getattr(import_module(f".rules.{module}", __package__), name, {})
    return table


def _former_problems(node: NodeView, release: Release) -> Iterator[Refusal]:
    problems: FormerProblems = _table(node, "FORMER_PROBLEMS")
    if node.op in problems:
        until, find = problems[node.op]
        yield from () if release.is_at_least(until) else find(node)


def _problems_of_operator(node: NodeView, table: str) -> Iterator[Refusal]:
    problems: BuildProblems = _table(node, table)
    if node.op in problems:
        yield from problems[node.op](node)


def _is_divided_by(node: NodeView, result: Tensor) -> bool:
    # ML Drift divides work sizes by the numbers of batches, rows and columns of a result, but not by the number of channels.
    if 0 not in result.shape:
        return False
    sizes = dict(zip(axes_of(result.rank), result.shape, strict=False))
    if node.op in _SPLIT_AXES:
        split = [axis % result.rank for axis in integers(node, _SPLIT_AXES[node.op])[:1]]
        sizes = {axis: size for position, (axis, size) in enumerate(sizes.items()) if position not in split}
    return any(size == 0 and axis != _CHANNELS_AXIS for axis, size in sizes.items())


_KERNELS = {
    "opencl": "LITERT_CL",
    "opengl": "LITERT_OPENGL",
    "vulkan": "LITERT_VULKAN",
    "metal": "LITERT_METAL",
    "webgpu": "LITERT_WEBGPU",
}
_STUBS = (
    "Convolution2DTransposeBias MaxPoolingWithArgmax2D MaxUnpooling2D moe Resampler "
    "custom_call.GroupNorm custom_call.LayerNorm custom_call.RmsNorm custom_call.PixelShuffle"
)
"""Custom operators that CompiledModel registers for the GPU, without CPU kernels (``litert/runtime/compiled_model.cc``)."""
_PRECISIONS = ("default", "fp16", "fp32")


OPTIONS = (
    Option(
        "backend",
        choice(*_KERNELS, needed=", ".join(_KERNELS), spellings={"cl": "opencl", "gl": "opengl"}),
        "opencl",
        "opencl, opengl, vulkan, metal or webgpu; all backends accept the same nodes",
        choices=tuple(_KERNELS),
    ),
    Option(
        "precision",
        choice(*_PRECISIONS, needed=", ".join(_PRECISIONS)),
        "default",
        "the precision of kernels: default, fp16 or fp32",
        changes_verdicts=False,
        choices=_PRECISIONS,
    ),
    Option(
        "max_delegated_partitions",
        integer,
        1,
        "always 1 (the partition with the most nodes), because LiteRT has no option for the number of partitions",
    ),
    Option(
        "hint_fully_delegated",
        boolean,
        False,
        "give LiteRT the hint that the GPU takes the whole model (hint_fully_delegated_to_single_delegate). With this hint, "
        "CPU kernels are not prepared, dynamic tensors are accepted, and the model fails if a subgraph does not become a "
        "single delegate kernel",
    ),
    Option(
        "skip_decompositions",
        boolean,
        False,
        "with hint_fully_delegated, ignore the decompositions of delegated composites, as LiteRT-LM's binaries do",
    ),
    Option(
        "cpu_fallback",
        boolean,
        True,
        "whether the CPU is among the accelerators; without the CPU, the model fails if the GPU does not take every node",
    ),
    Option(
        "build_kernels",
        boolean,
        False,
        "let the model fail if it is known that a kernel cannot be built; by default, only a warning is shown",
    ),
    Option(
        "constant_tensor_sharing",
        boolean,
        False,
        "let subgraphs share constants in GPU memory (EnableConstantTensorSharing), as LiteRT-LM does; kernels can then read "
        "weights with one scale for each block",
    ),
)

_NODES_TOLD = 10


class MlDriftAccelerator(Accelerator):
    """ML Drift as the GPU accelerator of CompiledModel."""

    registered_operators = frozenset(_STUBS.split())
    fails_with_model = True

    def load_refusal(self, model: Model, options: OptionValues, release: Release = NEWEST) -> Refusal | None:
        """Return the first refusal of LiteRT's own loader."""
        failure = loaded(model, release, frozenset()).failure
        if failure is None:
            return None
        subgraph = model.subgraphs[failure.subgraph]
        node = None if failure.node is None else index_in_graph(subgraph, subgraph.nodes[failure.node])
        refusal = LITERT_LOADER.failure(problem=failure.message)
        return replace(refusal, subgraph=subgraph.index, node=node, tensor=failure.tensor, log_lines=failure.log_lines)

    def graph_refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure of a subgraph with CPU nodes, or with several kernels, if the options require a single kernel."""
        delegated = set(decision.nodes)
        left = [decision.graph.nodes[index] for index in decision.graph.execution_plan if index not in delegated]
        if options["hint_fully_delegated"] and (left or len(subsets) > 1):
            return hint_not_met(left)
        if not options["cpu_fallback"] and left:
            return not_fully_accelerated(left)
        return None


class MlDriftDelegate(Delegate):
    """The ``mldrift`` delegate (see ``delegates.base.Delegate``)."""

    name = "mldrift"
    legend = "LiteRT 2's GPU accelerator"
    kernel_name = _KERNELS["opencl"]
    provider_name = "LiteRT GPU"
    title = "ML Drift"
    summary = (
        "ML Drift, the GPU delegate of LiteRT 2. CompiledModel and LiteRT.js apply ML Drift if the GPU is among the "
        "accelerators. ML Drift uses OpenCL, OpenGL, Vulkan, Metal or WebGPU. For TFLite's older GPU delegate, use gpu "
        "instead."
    )
    effort = 2
    semantics = 4
    has_number_rules = True
    builds_by_node = True
    options = OPTIONS
    rules = RULES
    accelerator = MlDriftAccelerator()
    live = AcceleratorTraits(
        "libLiteRtWebGpuAccelerator.so",
        MappingProxyType({"backend": "webgpu", "hint_fully_delegated": False}),
        HEADING,
        LAST_LINE,
        "Selected adapter",
    )
    log = LogTraits(
        is_in_benchmark_model=False,
        speaks_as="GPU",
        options_by_kernel=MappingProxyType({kernel: {"backend": name} for name, kernel in _KERNELS.items()}),
        hinted_options=MappingProxyType({"hint_fully_delegated": "true"}),
        options_by_interface=MappingProxyType({name: {"backend": name} for name in _KERNELS}),
    )
    history = ReleaseHistory("litert-2.1.3", starts_at_known=True)

    @functools.cached_property
    def further_kinds(self) -> Mapping[str, Kind]:
        """The kinds of failures and of wrong numbers, by code."""
        from .numbers import RULES as NUMBERS  # only explanations need all conditions

        numbers = [rule.kind for rule in NUMBERS]
        return MappingProxyType({**KINDS, **kinds_by_code(*numbers, PARTITION_LIMIT, FLOAT16_DEQUANTIZE)})

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names of all backends' kernels."""
        return tuple(_KERNELS.values())

    def release_notes(self, release: Release) -> Iterator[ReleaseNote]:
        """Yield a note if ``release`` was not measured. The note names the release that is simulated instead."""
        return release_notes(release)

    def unchecked_parts(self, release: Release) -> Iterator[str]:
        """Yield the parts of a release that were not checked. Kernels were not created with releases before 2.1.5."""
        yield from super().unchecked_parts(release)
        if not release.is_at_least(BUILDS_CHECKED):
            yield "whether kernels can be created"

    def kernel_name_for(self, options: OptionValues) -> str:
        """Return the kernel name of the selected backend."""
        return _KERNELS[options["backend"]]

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return whether ``hint_fully_delegated`` is set. If so, the delegate is applied before CPU kernels are prepared."""
        return bool(options["hint_fully_delegated"])

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Delegate all nodes if every node is supported, or else only the largest partition.

        If several partitions have the largest size, an unstable sort of LLVM's C++ library chooses one of them.
        """
        remapping = Float16Remapping()
        verdicts = remapping.verdicts(graph, RULES, ReleaseOnly(rules_of(release)))
        decision = take_largest(self, take_accepted(graph, verdicts), remapping, 1, sort=llvm_sorted)
        lines = refusal_lines(graph, verdicts, len(decision.nodes))
        # With the hint, LiteRT's binaries also require that decompositions are delegated completely.
        are_needed = options["hint_fully_delegated"] and not options["skip_decompositions"]
        skipped = frozenset() if are_needed else frozenset(_lowered(graph, decision.nodes))
        warnings = tuple(_kernel_warnings(graph, decision.nodes)) if options["backend"] == "opencl" else ()
        if options["max_delegated_partitions"] != 1 and graph.index == 0:
            warnings = (*warnings, "option max_delegated_partitions has no effect; ML Drift always takes 1 partition")
        return remapping.applied(replace(decision, log_lines=lines, skipped=skipped, warnings=warnings))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure to build ML Drift's own model of one partition, or None if no failure is known."""
        if options["hint_fully_delegated"] and len(decision.nodes) < len(decision.graph.execution_plan):
            return None  # The model already fails because the hint is not met.
        failure = build_failure(decision.graph, subset, options, release)
        if failure is None or options["build_kernels"]:
            return failure
        is_predicted = not release.is_at_least(NEWEST_MEASURED) and failure.code not in FORMER
        return replace(failure, effect=failure.effect.postponed(), is_predicted=is_predicted)

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield what one partition computes wrongly, as measured on a software device and read in ML Drift's source."""
        from .numbers import number_risks  # only some results need the numbers

        return number_risks(graph, subset, options, release)

    def numbers_are_checked(self, release: Release) -> bool:
        """Return whether the numbers of a release were measured."""
        from .numbers import is_checked

        return is_checked(release)


def _kernel_warnings(graph: Graph, nodes: Sequence[int]) -> Iterator[str]:
    views = [graph.view(graph.nodes[index]) for index in nodes]
    batched = [view for view in views if view.op == "DEPTH_TO_SPACE" and view.input(0).rank == 4 and view.input(0).shape[0] > 1]
    if batched:
        places = ", ".join([str(view.node.index) for view in batched[:_NODES_TOLD]])
        more = f" and {len(batched) - _NODES_TOLD:,} more" if len(batched) > _NODES_TOLD else ""
        yield (
            f"subgraph {graph.index}: DEPTH_TO_SPACE has a batch above 1 (nodes {places}{more}). On a device, the OpenCL kernel "
            "could not be built (https://github.com/google-ai-edge/LiteRT/issues/8459). Use a batch of 1"
        )


def _lowered(graph: Graph, nodes: Sequence[int]) -> Iterator[int]:
    composites = [graph.view(node) for node in [graph.nodes[index] for index in nodes] if node.op == "STABLEHLO_COMPOSITE"]
    for node in composites:
        if not node.node.is_custom and composite_name(node):
            yield node.options.decomposition_subgraph_index


DELEGATE = MlDriftDelegate()

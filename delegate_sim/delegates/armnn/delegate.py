"""Arm NN's delegate: its options, and its handling of a subgraph.

Source: ``Delegate`` (``delegate/classic/src/armnn_delegate.cpp``) and ``DelegateOptions.cpp`` (``delegate/common/src``) of
ARM-software/armnn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from ...foundation.limits import how_to_raise, raised
from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...model import schema
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ..base import Delegate
from ..decision import Decision, crash_while_checking, kinds_by_code, take_supported
from ..options import Option, OptionValues, boolean, text
from ..traits import LogTraits
from .builds import build_failure
from .demands import ASSERTION, FALLBACK_DISABLED, NOT_BUILT, READS_COMPUTED, RELEASE
from .rules import RULES
from .steps import BACKENDS, ArmnnTarget, VisitRule

GPU_ACC = "GpuAcc"
"""The backend for Mali GPUs. It is known, but not simulated."""
_DEFAULT = "CpuRef"
MOST_BACKENDS = 8
"""Largest number of backends. Each of them may be asked about each node."""


def backends(value: Any) -> tuple[str, ...]:
    """Parse the backends in order of preference. As in the delegate, spaces belong to the names."""
    listed = [name for name in value.split(",") if name] if isinstance(value, str) else list(value)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise InvalidValueError("takes a list of backends, such as CpuAcc,CpuRef", value)
    if len(listed) > raised(MOST_BACKENDS):
        raise InvalidValueError(f"takes at most {raised(MOST_BACKENDS):,} backends{how_to_raise()}", len(listed))
    return tuple(listed)


def _refused_backends(values: Mapping[str, Any]) -> str:
    if GPU_ACC in values["backends"]:
        return f"the backend {GPU_ACC} is not simulated; name only {' and '.join(BACKENDS)}"
    if BACKENDS.keys().isdisjoint(values["backends"]):
        return f"TfLiteArmnnDelegate: No known backend specified. Known backends are {', '.join((*BACKENDS, GPU_ACC))}"
    return ""


_FLAGS = ("gpu-kernel-profiling-enabled", "save-cached-network", "enable-fast-math", "debug-data", "memory-import")
_PROFILING_FLAGS = ("enable-external-profiling", "timeline-profiling", "file-only-external-profiling")
_FILES = ("gpu-mlgo-tuning-file", "gpu-tuning-file", "cached-network-filepath", "serialize-to-dot")
_UNREAD = {
    "dynamic-backends-path": "a folder with further backends",
    "logging-severity": "trace, debug, info, warning, error or fatal",
    "gpu-tuning-level": "0 to 3",
    "internal-profiling-detail": "1 or 2",
    "profiling-file-format": "binary",
    **dict.fromkeys((*_FLAGS, *_PROFILING_FLAGS), "true or false"),
    **dict.fromkeys(("gpu-enable-profiling", "enable-internal-profiling"), "0 or 1"),
    **dict.fromkeys(("number-of-threads", "counter-capture-period"), "a number"),
    **dict.fromkeys((*_FILES, "outgoing-capture-file", "incoming-capture-file"), "a file"),
}
"""The options that change no verdict."""
_BUILD_OPTIONS = ("reduce-fp32-to-fp16", "infer-output-shape", "allow-expanded-dims")
"""The options that change how Arm NN builds a network of the nodes that the delegate takes (``armnn::Optimize``)."""

OPTIONS = (
    Option(
        "backends",
        backends,
        (_DEFAULT,),
        f"backends in order of preference, separated by commas without spaces: {', '.join(BACKENDS)}; {GPU_ACC} is not simulated",
        conflict=_refused_backends,
    ),
    Option("disable-tflite-runtime-fallback", boolean, False, "true: the delegate fails if it refuses any node"),
    *[Option(name, boolean, False, "true: the build of the network is not checked") for name in _BUILD_OPTIONS],
    *[Option(name, text, None, takes, changes_verdicts=False) for name, takes in _UNREAD.items()],
)


class ArmnnDelegate(Delegate):
    """The ``armnn`` delegate (see ``delegates.base.Delegate``)."""

    name = "armnn"
    kernel_name = "TfLiteArmNnDelegate"
    provider_name = "EXTERNAL"
    title = "Arm NN's delegate"
    summary = f"Arm NN's delegate, release {RELEASE} with Compute Library 24.11, for Arm processors and Mali GPUs."
    options = OPTIONS
    rules = RULES
    computes_on_cpu = True
    effort = 2
    further_kinds = kinds_by_code(NOT_BUILT, ASSERTION, FALLBACK_DISABLED)
    log = LogTraits(
        switch="external delegate path",
        libraries=("armnndelegate",),
        prints_refusals=True,
        options_by_words={
            words: ("backends", backend)
            for backend, all_words in (
                ("CpuAcc", ("src/cpu/", "/NEON/")),
                (GPU_ACC, ("src/gpu/", "/CL/")),
                (_DEFAULT, ("Reference ",)),
            )
            for words in (*all_words, f"Added backend {backend}")
        },
    )

    def own_release(self, options: OptionValues) -> str:
        """Return the release of Arm NN."""
        return RELEASE

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        target = ArmnnTarget(tuple([name for name in options["backends"] if name in BACKENDS]), release)
        decision = take_supported(graph, RULES, target)
        created = () if graph.index else tuple(_creation_lines(options))
        crash = crash_while_checking(decision, RULES, READS_COMPUTED)
        if crash is not None:
            before = [index for index in graph.execution_plan if index != crash.node]
            before = before[: graph.execution_plan.index(crash.node or 0)]
            lines = (*created, *_node_lines(graph, before, target))
            return replace(decision, nodes=(), preview=(), failure=crash, log_lines=lines)
        refused = [index for index in graph.execution_plan if not decision.verdicts[index].is_supported]
        lines = (*created, *_node_lines(graph, graph.execution_plan, target), *_operator_lines(graph, refused))
        failure = None
        if refused and options["disable-tflite-runtime-fallback"]:
            failure = FALLBACK_DISABLED.failure(None, refused[0], refused=len(refused), total=len(graph.execution_plan))
        changed = [name for name in _BUILD_OPTIONS if options[name]]
        warnings = [f"with {', '.join(changed)}, the build of the network is not checked"] * bool(changed and not graph.index)
        return replace(decision, log_lines=lines, failure=failure, findings=target, warnings=(*decision.warnings, *warnings))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why Arm NN cannot load the network of a partition, or None if it loads or is not checked."""
        if any(options[name] for name in _BUILD_OPTIONS):
            return None
        target = cast(ArmnnTarget, decision.findings)
        builds: dict[Subset, Refusal | None] = decision.graph.results.get("networks", (target,), dict)
        if subset not in builds:
            builds[subset] = build_failure(decision.graph, subset, target)
        return builds[subset]


def _creation_lines(options: OptionValues) -> Iterator[str]:
    for name in options["backends"]:
        if name not in BACKENDS:
            yield f"INFO: TfLiteArmnnDelegate: Requested unknown backend {name}"
    yield "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate."


def _node_lines(graph: Graph, nodes: Any, target: ArmnnTarget) -> Iterator[str]:
    forms = node_forms(graph)
    of_accepted = graph.shared.get("armnn lines", (target,), FormTable[int, tuple[str, ...]])
    for index in nodes:
        lines = of_accepted.get(forms[index])
        if lines is None:
            node = graph.nodes[index]
            rule = RULES.rule_of(node.op, is_custom=node.is_custom)
            if not isinstance(rule, VisitRule):
                continue
            outcome = rule.visit.outcome(graph.view(node), target)
            lines = outcome.lines
            # Messages about refused nodes have the index of the node.
            if not outcome.found and not outcome.thrown:
                of_accepted.add(forms[index], lines)
        yield from lines


def _operator_lines(graph: Graph, refused: list[int]) -> Iterator[str]:
    names = schema.enum_names("BuiltinOperator")
    for code in sorted({graph.nodes[index].builtin_code for index in refused}):
        yield f"ERROR: Operator {names.get(code, '')} [{code}] is not supported by armnn_delegate."


DELEGATE = ArmnnDelegate()

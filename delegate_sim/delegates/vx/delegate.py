"""The TIM-VX delegate's handling of a subgraph (``PrepareDelegate``, ``delegate_main.cc`` of VeriSilicon/tflite-vx-delegate).

The delegate takes every supported node, also accepts graphs with dynamic tensors, and does not limit partitions. The delegate's
kernels never fail to initialize or prepare, because they build their network only when they are first invoked.

The warnings are about options without effect, and about failures after the delegate was applied. NXP's variant of the delegate
(nxp-imx/tflite-vx-delegate-imx) differs in its rules.

Source: ``Delegate::Create``, ``Delegate::Init`` and ``Delegate::Invoke`` (``delegate_main.cc`` of
VeriSilicon/tflite-vx-delegate), and ``CreateVxDelegateFromOptions`` (``vx_delegate_adaptor.cc``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import DynamicTensor, Graph
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook
from ..base import Delegate
from ..decision import Decision, take_supported
from ..options import Option, OptionValues, boolean, integer, text
from ..traits import LogTraits
from .checks import VxTarget
from .variants import NXP_RULES, RULES

NEVER_USED = ("allowed_builtin_code", "error_during_init", "error_during_prepare", "error_during_invoke")
"""Options that the delegate parses but never uses."""


def option_warnings(declared: Iterable[Option], options: OptionValues) -> Iterator[str]:
    """Yield warnings about changed options that have no effect."""
    changed = {option.name for option in declared if options[option.name] != option.default}
    for name in NEVER_USED:
        if name in changed:
            yield f"option {name} has no effect, because the delegate never uses it"
    if "device_id" in changed:
        yield "option device_id has no effect, except in builds of the delegate for several devices"
    if "cache_file_path" in changed and "allowed_cache_mode" not in changed:
        yield "option cache_file_path has no effect without allowed_cache_mode"
    if "allowed_cache_mode" in changed and "cache_file_path" not in changed:
        yield "option allowed_cache_mode has no effect without cache_file_path"


def cache_warnings(decision: Decision, options: OptionValues) -> Iterator[str]:
    """Yield a warning if a subgraph has several kernels, because only the first kernel can use the cache file."""
    kernels = len(decision.candidates)
    if decision.nodes and options["allowed_cache_mode"] and options["cache_file_path"] and kernels > 1:
        yield (
            f"subgraph {decision.graph.index}: {kernels} delegate kernels share one cache file, but the file contains only the "
            "network of the first kernel. All other kernels load this network too and give wrong results"
        )


def dynamic_warning(graph: Graph, dynamic: DynamicTensor, delegated: Collection[int | None]) -> str:
    """Return a warning about a dynamic shape. A kernel is built at the first Invoke, and never resizes its results.

    The delegate accepts dynamic tensors since commit d4beff6 of VeriSilicon/tflite-vx-delegate.
    """
    tensor = graph.tensors[dynamic.tensor]
    where = f"subgraph {graph.index}: the size of tensor {dynamic.tensor} ({tensor.name})"
    if dynamic.node is not None:
        where += f", computed by node {dynamic.node} ({graph.nodes[dynamic.node].op}),"
    if dynamic.node in delegated:
        meaning = (
            f"The kernel with node {dynamic.node} uses the size in the file, so all other sizes give wrong values. If the "
            "tensor is an output of the kernel, no memory is allocated for the tensor, and Invoke may crash"
        )
    else:
        meaning = "Kernels that read this tensor are built for its size at the first Invoke, so all other sizes give wrong values"
    accepts = "The delegate still accepts the graph, with the shapes in the file (versions from before June 2022 refuse it)"
    return f"{where} is known only at run time. {accepts}. {meaning}"


OPTIONS = (
    Option("allowed_builtin_code", integer, 0, "meant for the builtin code of the operators to delegate; has no effect"),
    Option("allowed_cache_mode", boolean, False, "keep the compiled network in a file", changes_verdicts=False),
    Option("cache_file_path", text, None, "the file for allowed_cache_mode", changes_verdicts=False),
    Option("device_id", integer, 0, "the NPU to use, in builds for several devices", changes_verdicts=False),
    Option("error_during_init", boolean, False, "meant to let the initialization of kernels fail; has no effect"),
    Option("error_during_prepare", boolean, False, "meant to let the preparation of kernels fail; has no effect"),
    Option("error_during_invoke", boolean, False, "meant to let the invocation of kernels fail; has no effect"),
)
"""The options that ``CreateVxDelegateFromOptions`` parses (``vx_delegate_adaptor.cc``)."""


class VxDelegate(Delegate):
    """VeriSilicon's delegate (see ``delegates.base.Delegate``)."""

    name = "vx"
    kernel_name = "Vx Delegate"
    provider_name = "EXTERNAL"
    title = "VX delegate"
    has_article = True
    options: tuple[Option, ...] = OPTIONS
    rules = RULES
    computes_integers = True
    compiles_at_invoke = True
    log = LogTraits(switch="external delegate path", libraries=("vx_delegate", "vx-delegate", "vxdelegate"))

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        decision = take_supported(graph, self.rules_for(options), VxTarget(release))
        warnings = tuple(cache_warnings(decision, options))
        if graph.index == 0:
            warnings = (*option_warnings(self.options, options), *warnings)
        return replace(decision, warnings=warnings)

    def run_warnings(self, decision: Decision, prepared: Callable[[], Graph]) -> Sequence[str]:
        """Return a warning about a tensor with a size that is known only at run time."""
        dynamic = prepared().dynamic if decision.nodes else None
        return () if dynamic is None else (dynamic_warning(decision.graph, dynamic, decision.nodes),)


NEWEST_RELEASE = next(iter(NXP_RULES))


def release(value: Any) -> str:
    """Parse a release of NXP's board support package, such as lf-5.15.71 or lf-5.15.71_2.2.0."""
    name = str(value).strip().partition("_")[0]
    if name not in NXP_RULES:
        raise InvalidValueError(f"takes {' or '.join(NXP_RULES)}", value)
    return name


class NxpVxDelegate(VxDelegate):
    """NXP's delegate (see ``delegates.base.Delegate``)."""

    name = "vx-nxp"
    title = "NXP's VX delegate"
    options = (
        *VxDelegate.options,
        Option(
            "release",
            release,
            NEWEST_RELEASE,
            f"release of NXP's board support package: {' or '.join(NXP_RULES)}",
            choices=tuple(NXP_RULES),
        ),
    )
    rules = NXP_RULES[NEWEST_RELEASE]
    rule_options = ("release",)
    log = LogTraits(tried_options=MappingProxyType({"release": tuple(NXP_RULES)[-1]}))
    """Without names, because both variants of the delegate print the same lines. These lines are attributed to VeriSilicon's
    delegate first.
    """

    def own_release(self, options: OptionValues) -> str:
        """Return the release of NXP's board support package."""
        return str(options["release"])

    @property
    def rule_books(self) -> tuple[RuleBook[VxTarget], ...]:
        """The rules of each release, newest first."""
        return tuple(NXP_RULES.values())

    def rules_for(self, options: OptionValues) -> RuleBook[VxTarget]:
        """Return the rules of the release that the options name."""
        return NXP_RULES[options["release"]]


DELEGATES = {delegate.name: delegate for delegate in (VxDelegate(), NxpVxDelegate())}

"""VeriSilicon's TIM-VX delegate and NXP's variant of it: their rule books, and their handling of a subgraph.

The delegate takes every supported node, also accepts graphs with dynamic tensors, and does not limit partitions. The delegate's
kernels never fail to initialize or prepare, because they build their network only when they are first invoked.

The warnings are about options without effect, and about failures after the delegate was applied. NXP's variant of the delegate
(nxp-imx/tflite-vx-delegate-imx) differs in its rules. A mapper checks and translates one operator. No mapper checks an operator's
version.

Source: ``PrepareDelegate``, ``Delegate::SupportedOp``, ``Delegate::Create``, ``Delegate::Init`` and ``Delegate::Invoke``
(``delegate_main.cc`` of VeriSilicon/tflite-vx-delegate), ``CreateVxDelegateFromOptions`` (``vx_delegate_adaptor.cc``), and the
two tables of mappers (``op_map.cc``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import DynamicTensor, Graph, NodeView
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import HYBRID, RANK, TENSOR_TYPE, by_reshape, in_code
from ...rules.rule import OpRule, Repository, Rules, Source, family_rules, modules_of_families, with_change
from ...rules.vocabulary import refused_if
from ..base import Delegate
from ..decision import Decision, take_supported
from ..options import Option, OptionValues, boolean, integer, text
from ..traits import LogTraits
from . import layers
from .checks import (
    CUSTOM_OPERATOR,
    EIGHT_BITS,
    KINDS,
    NXP_VX_5_15_71,
    NXP_VX_6_6_3,
    OUTPUT_WITH_DIMENSIONS,
    SOURCE,
    VxTarget,
    vx_rule,
)
from .layers import ARGUMENT_WITH_DIMENSIONS, NO_INT32_OUTPUT, NOT_BOTH_ADJOINT


def _is_8_bit_vector(node: NodeView) -> bool:
    source = node.input(0)
    return source.rank == 1 and source.type in EIGHT_BITS


_PACK = (
    refused_if(
        TENSOR_TYPE,
        "a first input that is not INT32",
        lambda node: node.input(0).type == "INT32",
        "an INT32 input",
        in_code("cast to float around the operator"),
    ),
    refused_if(
        RANK,
        "a first input that is not an 8-bit tensor of rank 1",
        _is_8_bit_vector,
        "an 8-bit input of rank 1",
        by_reshape("add a dimension with RESHAPE, and remove it afterwards"),
    ),
)


_NO_INT8_TIMES_FLOAT = refused_if(
    HYBRID,
    "inputs of any types except INT8 followed by FLOAT32",
    lambda node: node.input(0).type == "INT8" and node.input(1).type == "FLOAT32",
    "INT8 and FLOAT32 inputs",
    "quantize both, or neither",
)
_NO_INT8 = refused_if(
    TENSOR_TYPE,
    "inputs of any type except INT8",
    lambda node: "INT8" in (node.input(0).type, node.input(1).type),
    "an INT8 input",
    "quantize to UINT8, or keep the product in float",
)


_NO_INT32_IN_INT8 = refused_if(
    TENSOR_TYPE,
    "an output that is not INT32 if the input is INT8",
    lambda node: node.input(0).type == "INT8" and node.output(0).type == "INT32",
    "an INT8 input and an INT32 output",
    "keep the operator in float",
)


def _lf_6_6_3(upstream: RuleBook[VxTarget]) -> RuleBook[VxTarget]:
    """Return the rules of lf-6.6.3_1.0.0, derived from VeriSilicon's rules."""
    changes = {
        "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_INT8_TIMES_FLOAT, NOT_BOTH_ADJOINT),
        "PACK": vx_rule("PackMapper::IsOpSupported", *_PACK),
    }
    return _changed(upstream, NXP_VX_6_6_3, changes)


def _lf_5_15_71(newer: RuleBook[VxTarget]) -> RuleBook[VxTarget]:
    """Return the rules of lf-5.15.71_2.2.0, derived from the rules of lf-6.6.3_1.0.0.

    This release lacks BROADCAST_TO, which is the only operator that accepts INT64 operands in later releases.
    """
    argument = vx_rule("ArgOpMapper::IsOpSupported", _NO_INT32_IN_INT8, ARGUMENT_WITH_DIMENSIONS)
    changes = {
        "ARG_MAX": argument,
        "ARG_MIN": argument,
        "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_INT8, NOT_BOTH_ADJOINT),
        "RESHAPE": vx_rule("ReshapeMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    }
    missing = (
        "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "BROADCAST_TO", "CAST", "EMBEDDING_LOOKUP", "GELU",
        "HASHTABLE_LOOKUP", "MIRROR_PAD", "SCATTER_ND", "SHAPE", "SQUARED_DIFFERENCE", "UNIDIRECTIONAL_SEQUENCE_RNN",
    )  # fmt: skip
    arithmetic = "SimpleOpWithFusedActiovationMapper::IsOpSupported"
    mappers = {"ADD": arithmetic, "DIV": arithmetic, "MAXIMUM": "MaximumMapper", "MUL": arithmetic, "SUB": arithmetic}
    return _changed(newer, NXP_VX_5_15_71, changes, missing, mappers)


def _changed(
    book: RuleBook[VxTarget],
    repository: Repository,
    changes: Mapping[str, OpRule[VxTarget]],
    without: Collection[str] = (),
    mappers: Mapping[str, str] = MappingProxyType({}),
) -> RuleBook[VxTarget]:
    """Return the rules for another repository of the delegate.

    ``changes`` has the rules that are replaced. ``without`` has the operators that are dropped. ``mappers`` has the other
    repository's name of a mapper, keyed by operator, if the name differs from the name in ``book``.
    """

    def adapted(rules: Rules[VxTarget]) -> Rules[VxTarget]:
        return {
            op: _placed(changes.get(op, rule), repository, mappers.get(op, "")) for op, rule in rules.items() if op not in without
        }

    return replace(
        book,
        families=tuple(with_change(rules, adapted) for rules in book.families),
        custom=adapted(book.custom),
        source=replace(book.source, repository=repository),
    )


def _placed(rule: OpRule[VxTarget], repository: Repository, mapper: str) -> OpRule[VxTarget]:
    def placed(source: Source) -> Source:
        return replace(source, repository=repository)

    own, *common = map(placed, rule.source)
    checks = tuple(check if check.source is None else check.from_source(placed(check.source)) for check in rule.checks)
    return replace(rule, checks=checks, source=(own.with_symbol(mapper) if mapper else own, *common))


_WITHOUT_MAPPER = "(in the delegate's log: op {builtin_code}) has no mapper"

RULES: RuleBook[VxTarget] = RuleBook(
    "vx",
    families=family_rules(
        __package__,
        modules_of_families(
            arithmetic="activation arithmetic conversion",
            layers="convolution pooling resizing matrix recurrent reduction reshaping slicing joining padding gathering filling",
        ),
    ),
    custom=layers.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the delegate maps", problem=_WITHOUT_MAPPER),
    unknown_custom=Unknown(
        f"the custom operator {layers.COMPILED_NETWORK}, or a builtin operator", problem=_WITHOUT_MAPPER, kind=CUSTOM_OPERATOR
    ),
)
"""The rules of VeriSilicon's delegate."""

_IN_LF_6_6_3 = _lf_6_6_3(RULES)
NXP_RULES: Mapping[str, RuleBook[VxTarget]] = {"lf-6.6.3": _IN_LF_6_6_3, "lf-5.15.71": _lf_5_15_71(_IN_LF_6_6_3)}
"""The rules of NXP's variant by release, newest first."""

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
    compiled_on_device = "when the model is first invoked"
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
    has_article = False
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

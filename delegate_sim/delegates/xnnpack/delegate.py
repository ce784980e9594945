"""The XNNPACK delegate's handling of a subgraph.

Source: ``DelegatePrepare`` and ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).

Sources: ``xnn_operator_type_to_string`` (``include/xnnpack/operator-type-defs.inc``) and ``xnn_get_runtime_profiling_info``
(``src/runtime.c``) of google/XNNPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.calls import partition_in_calls
from ...graph.forms import FormTable, node_forms
from ...graph.graph import Graph
from ...graph.partition import Subset, partition
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import TENSOR_TYPE
from ...rules.rule import Verdict
from ..base import Delegate
from ..decision import Decision
from ..options import Option, OptionValues, boolean, integer
from ..traits import LogTraits, ReleaseHistory, RuntimeTraits
from .experts import is_mixture, printed_lines
from .kernel_creation import build_partition
from .numbers import NUMBER_KINDS, are_measured, number_risks
from .rules import RULES
from .shapes import misfit
from .target import (
    DEFAULT_FLAGS,
    DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM,
    DYNAMIC_TENSORS_FROM,
    FAILURES,
    FLAGS,
    UNPACKING,
    VALUES,
    Visit,
    XnnpackTarget,
)

_OPERATORS: Mapping[str, str] = {
    "Average Pooling": "AVERAGE_POOL_2D",
    "Batch Matrix Multiply": "BATCH_MATMUL",
    "Convolution": "CONV_2D",
    "Deconvolution": "TRANSPOSE_CONV",
    "Depth To Space": "DEPTH_TO_SPACE",
    "Dynamic Fully Connected": "FULLY_CONNECTED",
    "Fully Connected": "FULLY_CONNECTED",
    "Max Pooling": "MAX_POOL_2D",
    "PReLU": "PRELU",
    "Resize Bilinear": "RESIZE_BILINEAR",
    "Softmax": "SOFTMAX",
    "Space To Depth": "SPACE_TO_DEPTH",
    "Transpose": "TRANSPOSE",
}
_DEPTHWISE_KERNEL = "DWConv"


def _bits(value: Any) -> int:
    if isinstance(value, str) and value.strip().lower().startswith("0x"):
        try:
            value = int(value, 16)
        except ValueError:
            raise InvalidValueError("takes a whole number", value) from None
    bits = integer(value)
    if bits < 0:
        raise InvalidValueError("takes a bitmask of known flags", bits)
    return bits


_FLAG_HELP = {
    "qs8": "accept nodes with signed 8-bit quantization",
    "qu8": "accept nodes with unsigned 8-bit quantization",
    "force_fp16": "compute float32 in float16",
    "dynamic_fully_connected": "accept FULLY_CONNECTED with float32 weights that are computed at run time",
    "variable_operators": "accept operators on variables; has no effect from litert-1.3.0 on, because these operators are then "
    "always accepted",
    "transient_indirection_buffer": "save memory by preparing indirection buffers at each run",
    "enable_latest_operators": (
        "accept operators that are not yet accepted by default; always set before litert-2.0.2, and without effect from "
        "litert-2.0.2 on"
    ),
    "enable_subgraph_reshaping": "accept graphs with dynamic tensors; has no effect, because tf-2.17 and later always do",
    "slow_consistent_arithmetic": "compute the same results on all processors",
    "disable_subgraph_reshaping": ("refuse graphs with dynamic tensors, and use the shapes that the CPU kernels computed"),
    "disable_dynamically_quantized_ops": (
        "refuse CONV_2D and FULLY_CONNECTED with float activations and integer weights; has an effect only from litert-2.0.2 on"
    ),
}
_SILENT_FLAGS = ("force_fp16", "transient_indirection_buffer", "slow_consistent_arithmetic")
_BENCHMARK_FLAGS = {"force_fp16": "xnnpack_force_fp16"}

OPTIONS = (
    Option(
        "flags",
        _bits,
        DEFAULT_FLAGS,
        "all flags as a bitmask; the default is the runtime's default: qs8 and qu8",
        flag="xnnpack-flags",
    ),
    *(
        Option(
            name,
            lambda value: None if value is None else boolean(value),
            None,
            f"{_FLAG_HELP[name]} (default: the value of bit {bit:#x} in flags)",
            flag=_BENCHMARK_FLAGS.get(name, name.replace("_", "-")),
            printed=(_BENCHMARK_FLAGS[name],) if name in _BENCHMARK_FLAGS else (),
            changes_verdicts=name not in _SILENT_FLAGS,
        )
        for name, bit in FLAGS.items()
    ),
)

_MANY_MIXTURES = (
    "the model has many mixtures of experts; some log lines about these nodes, and some changes of the node order, are not shown"
)


class XnnpackDelegate(Delegate):
    """The ``xnnpack`` delegate (see ``delegates.base.Delegate``)."""

    name = "xnnpack"
    kernel_name = "TfLiteXNNPackDelegate"
    provider_name = "XNNPACK"
    semantics = 3
    options = OPTIONS
    rules = RULES
    further_kinds = MappingProxyType({**FAILURES, **NUMBER_KINDS})
    computes_on_cpu = True
    has_number_rules = True
    is_applied_by_default = True
    live = RuntimeTraits()
    log = LogTraits(switch="use xnnpack", tried_options=MappingProxyType({"qs8": False, "qu8": False}))
    history = ReleaseHistory("litert-1.0.1")

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return whether the delegate accepts dynamic tensors.

        The flag disable_subgraph_reshaping makes the delegate refuse dynamic tensors. So do all old releases; a flag of some of
        them that accepts dynamic tensors is not simulated.
        """
        return release.is_at_least(DYNAMIC_TENSORS_FROM) and not _flags(options) & FLAGS["disable_subgraph_reshaping"]

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Visit every node, and delegate the supported nodes. The decision contains the visit for kernel creation."""
        visit = Visit(XnnpackTarget(_flags(options, release), release))
        verdicts = _verdicts(graph, visit)
        supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
        mixtures = [index for index in graph.execution_plan if is_mixture(graph.nodes[index], release)]
        if mixtures:
            return self._decide_in_calls(graph, visit, verdicts, supported, mixtures)
        preview = partition(graph, supported) if supported else ()
        created = (
            subset
            for subset in preview
            if subset.is_delegated and graph.assumed.isdisjoint(subset.nodes) and build_partition(graph, subset, visit) is None
        )
        return Decision(graph, verdicts, supported, preview, initialized=frozenset(created), findings=visit)

    def _decide_in_calls(
        self, graph: Graph, visit: Visit, verdicts: Mapping[int, Verdict], supported: tuple[int, ...], mixtures: Sequence[int]
    ) -> Decision:
        lines = tuple([line for index in mixtures for line in printed_lines(verdicts[index])])
        accepted = [index for index in sorted(mixtures) if verdicts[index].is_supported]
        others = set(supported).difference(accepted)
        subsets = partition_in_calls(graph, [*([others] if others else []), *([index] for index in accepted)], self.kernel_name)
        return Decision(
            graph,
            verdicts,
            supported,
            subsets.subsets,
            warnings=() if subsets.is_exact else (_MANY_MIXTURES,),
            log_lines=lines,
            findings=visit,
            subsets=subsets.subsets,
            calls=subsets.calls,
        )

    def profiled_operator(self, name: str) -> str:
        """Return the operator of a name in XNNPACK's profiler, or an empty string if no single operator has this name."""
        op = _OPERATORS.get(name.partition(" (")[0], "")
        return "DEPTHWISE_CONV_2D" if op == "CONV_2D" and _DEPTHWISE_KERNEL in name else op

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure to create the kernel of a partition, or None if the kernel can be created.

        The kernel of a mixture of experts never fails.
        """
        if is_mixture(decision.graph.nodes[subset.nodes[0]], release):
            return None
        return build_partition(decision.graph, subset, cast(Visit, decision.findings))

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield options that avoid refusals with this code: those that accept 8-bit nodes."""
        yield from super().remedies(code, options)
        if code == RULES.code_of(TENSOR_TYPE):
            yield from ({name: True} for name in ("qs8", "qu8") if not _flags(options) & FLAGS[name])

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield the nodes of a partition that XNNPACK computes wrongly."""
        return number_risks(graph, subset, XnnpackTarget(_flags(options, release), release))

    def numbers_are_checked(self, release: Release) -> bool:
        """Return whether the numbers of a release were measured."""
        return are_measured(release)

    def shape_failure(
        self, decision: Decision, subset: Subset, prepared: Callable[[], Graph], release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure of the first node whose window, new shape or second operand does not fit its input, or None."""
        return misfit(subset.nodes, prepared, release)


def _flags(options: OptionValues, release: Release = NEWEST) -> int:
    flags: int = options["flags"]
    if not release.is_at_least(DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM):
        flags |= FLAGS["enable_latest_operators"]
    for name, bit in FLAGS.items():
        if options[name] is not None:
            flags = flags | bit if options[name] else flags & ~bit
    return flags


def _verdicts(graph: Graph, visit: Visit) -> Mapping[int, Verdict]:
    unpacking, variables = visit.unpacking, visit.variables
    verdicts: dict[int, Verdict] = {}
    forms = node_forms(graph)
    by_form = graph.shared.get("verdicts", (RULES, visit.target), FormTable[int, Verdict])
    for index in graph.execution_plan:
        node = graph.nodes[index]
        if node.op == "VAR_HANDLE" and not node.is_custom:
            variables.define(graph.view(node))
        elif node.op not in UNPACKING or not unpacking.notice(graph.view(node)):
            if visit.reads_only(node) and index not in graph.assumed:
                known = by_form.get(forms[index])
                verdict = known or RULES.validate_once(graph.view(node), visit, forms[index], by_form)
            else:
                verdict = RULES.validate(graph.view(node), visit)
            verdicts[index] = verdict
            if is_mixture(node, visit.release):
                continue
            if not verdict.is_supported:
                unpacking.drop_producers_of(node)
            elif node.op in VALUES:
                variables.bind(graph.view(node))
    for index in graph.execution_plan:
        if index not in verdicts:
            verdicts[index] = RULES.validate(graph.view(graph.nodes[index]), visit)
    return verdicts


DELEGATE = XnnpackDelegate()

"""The Ethos-U delegate: its rules, and its handling of a subgraph.

Source: ``IsNodeSupportedByEthosU`` (``ethosu_supported_ops.cc`` of nxp-imx/tflite-ethosu-delegate-imx), with its table of
constraints. The delegate stops at the first failed check. No check looks at an operator's version.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from ...graph.graph import Graph
from ...graph.partition import Subset
from ...model.ethosu_programs import accelerator_of
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import kinds_in
from ...rules.rule import family_rules, modules_of_families
from .. import decision
from ..base import Delegate
from ..decision import Decision, ReleaseOnly, chance_warnings, crash_while_checking, summary_line, take_supported
from ..options import Option, OptionValues, boolean, integer, text, wide_integer
from ..traits import LogTraits
from . import arithmetic
from .arithmetic import COMPILED_NETWORK
from .checks import KINDS, READS_COMPUTED_VALUE, SOURCE

RULES: RuleBook[ReleaseOnly] = RuleBook(
    "ethosu-imx93",
    families=family_rules(
        __package__,
        modules_of_families(
            arithmetic="activation arithmetic conversion matrix recurrent",
            shapes="reduction reshaping slicing joining padding",
            windows="convolution pooling resizing",
        ),
    ),
    custom=arithmetic.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE.with_symbol("IsNodeSupportedByEthosU"),
    unknown=Unknown("an operator in the delegate's table"),
    unknown_custom=Unknown(f"the custom operator {arithmetic.COMPILED_NETWORK}, or an operator in the delegate's table"),
)


MIXED = "ethosu-imx93-mixed-partition"
NO_OFFSETS = "ethosu-imx93-no-memory-offsets"
OTHER_NPU = "ethosu-imx93-other-npu"
NPU = "ethos-u65-256"
"""The NPU of the i.MX93."""

FAILURES = kinds_in("delegates/ethosu", "failures", is_shared=True)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, FAILURES)

_NAME = "EthosuDelegate"
_OFFSETS = "OfflineMemoryAllocation"
_LEFT_BY_VELA = ("SHAPE", "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
"""Operators that NXP's Vela (3.10, lf-6.6.3) left to the CPU in trials, although the delegate took them."""

OPTIONS = (
    Option("device_name", text, "/dev/ethosu0", "device file of the NPU", changes_verdicts=False),
    Option("cache_file_path", text, None, "folder in which compiled partitions are kept", changes_verdicts=False),
    Option("timeout", wide_integer, 60000000000, "time limit of an inference in nanoseconds", changes_verdicts=False),
    Option("enable_cycle_counter", boolean, False, "count cycles", changes_verdicts=False),
    Option("enable_profiling", boolean, False, "measure each layer", changes_verdicts=False),
    Option("profiling_buffer_size", integer, 2048, "number of records that enable_profiling keeps", changes_verdicts=False),
    *(
        Option(f"pmu_event{number}", integer, 0, f"event of the NPU's counter {number}", changes_verdicts=False)
        for number in range(4)
    ),
)
"""The options that ``CreateEthosuDelegateFromOptions`` parses (``external_delegate_adaptor.cc``)."""


_RELEASE = "lf-6.6.3"


class EthosuDelegate(Delegate):
    """NXP's delegate for the i.MX93 (see ``delegates.base.Delegate``)."""

    name = "ethosu-imx93"
    kernel_name = _NAME
    provider_name = "EXTERNAL"
    title = "Ethos-U delegate"
    has_article = True
    summary = f"NXP's external delegate for the Ethos-U65 of the i.MX93. The rules are the rules of {_RELEASE}."
    options = OPTIONS
    rules = RULES
    computes_integers = True
    compiled_on_device = "when the delegate is applied"  # EthosuDelegateKernel::Init calls Vela (ethosu_delegate.cc)
    semantics = 2
    further_kinds = FAILURES
    counts_cpu_partitions = False
    log = LogTraits(switch="external delegate path", libraries=("ethosu_delegate",))

    def own_release(self, options: OptionValues) -> str:
        """Return the release of NXP's board support package."""
        return _RELEASE

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        decision = take_supported(graph, RULES, ReleaseOnly(release))
        failure = crash_while_checking(decision, RULES, READS_COMPUTED_VALUE)
        if failure is not None:
            return replace(decision, nodes=(), preview=(), failure=failure)
        return replace(
            decision,
            log_lines=(summary_line(_NAME, decision),),
            warnings=(*chance_warnings(decision, RULES), *_vela_warnings(decision)),
        )

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why a partition's kernel fails, or None if no failure is known."""
        graph = decision.graph
        compiled = [index for index in subset.nodes if _is_compiled(graph, index)]
        if not compiled:
            return None
        if len(compiled) < len(subset.nodes):
            others = len(subset.nodes) - len(compiled)
            return replace(
                kernel_failure(MIXED, compiled[0], compiled=len(compiled), others=others),
                log_lines=("Unsupported vela compiled model.", "Delegate kernel was not initialized"),
            )
        if _OFFSETS not in graph.model.metadata:
            return kernel_failure(NO_OFFSETS, compiled[0], metadata=_OFFSETS)
        for index in compiled:
            accelerator = accelerator_of(graph.model, graph.tensors, graph.nodes[index])
            if accelerator not in ("", NPU):
                return kernel_failure(OTHER_NPU, index, accelerator=accelerator, npu=NPU)
        return None


def _is_compiled(graph: Graph, index: int) -> bool:
    node = graph.nodes[index]
    return node.is_custom and node.custom_code == COMPILED_NETWORK


def _vela_warnings(decision: Decision) -> list[str]:
    graph = decision.graph
    nodes = [index for index in decision.nodes if graph.nodes[index].op in _LEFT_BY_VELA]
    if not nodes:
        return []
    ops = " and ".join(sorted({graph.nodes[index].op for index in nodes}))
    return [
        f"subgraph {graph.index}: the delegate takes {len(nodes)} {ops} (first: node {nodes[0]}). NXP's Vela (3.10, lf-6.6.3) "
        "left these operators to the CPU in all trials, so the partition's kernel will probably fail"
    ]


DELEGATE = EthosuDelegate()

"""Google Tensor's compiler plugin (``litert/vendors/google_tensor``). It accepts nearly all operators."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ....graph.graph import Graph
from ....model.model import Node
from ....refusal import Refusal
from ....releases.catalogue import NEWEST, Release, parse_release
from ....rules.rule import Verdict
from ...decision import kinds_by_code
from ...options import Option, OptionValues
from ...traits import PluginTraits
from ..composites import COMPOSITE, composite_name, present
from ..kinds import FILTER_FILE, GOOGLE_REMEDIES, ISLANDS, LOADER_KINDS, OP_FILTER, SOC, plugin_refusal
from ..loader import file_facts
from ..op_filters import UNPARSABLE, UNREADABLE, FilterFile, OpFilters, filter_file, is_content, parsed
from ..plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from ..rules import BOOKS, NpuTarget
from ..soc_names import SOCS

_SOCS = tuple(SOCS["google"])
_UNSUPPORTED = ("Tensor_G3", "Tensor_G4")
"""The SoCs that the plugin knows, but that Google's SDK does not support (LiteRT#8943)."""
_SDK = "https://ai.google.dev/edge/litert/next/tensor-sdk"
_OLD_NAMES = {"g3": "Tensor_G3", "g4": "Tensor_G4", "g5": "Tensor_G5"}
_DEFAULT_SOC = "Tensor_G3"
_OLD_NAME_LINE = "g3/g4/g5 is deprecated. Please use Tensor_G3/G4/G5 instead."
_COMPOSITE_LINE = "unsupported composite op: "
_FILTERS_SINCE = parse_release("litert-2.1.5")
_COMPOSITES_SINCE = parse_release("litert-2.1.5")
_TWICE_SINCE = parse_release("litert-2.3.0")
"""The first release in which the plugin logs the first unselected composite of each subgraph twice."""
_SUMMARY_SINCE = parse_release("litert-2.4")
"""From this release on, the plugin logs a table of unselected nodes, and each unselected composite once."""
_MOST_REASONS = 5
"""The number of rows in the table of unselected nodes."""
_STABLEHLO = "STABLEHLO_"
_OTHER_NAMES = {"PADV2": "pad_v2", "RFFT2D": "rfft_2d"}
"""The plugin's names of operators that are not the schema's name in lower case."""


@functools.lru_cache(maxsize=8)
def _filters(file: FilterFile) -> OpFilters:
    return OpFilters(fault=UNREADABLE) if file.content is None else parsed(file.content)


class GooglePlugin(NpuPlugin):
    """Google's plugin (see ``NpuPlugin``)."""

    name = "npu-google"
    vendor = "google"
    log = log_traits("google")
    rules = BOOKS["google"]
    live = PluginTraits(
        "Google",
        "google_tensor",
        (("ai_edge_litert_sdk_google_tensor", "data"),),
        "liblitert_plugin_compiler.so of Google's Tensor SDK: pip install ai-edge-litert-sdk-google-tensor, or LD_LIBRARY_PATH",
        MappingProxyType({"op_filters": "google_tensor_op_filters_proto"}),
        opened=("liblitert_plugin_compiler.so",),
    )
    remedies_if_not_compiled = GOOGLE_REMEDIES
    socs = _SOCS
    options = (
        soc_option("Tensor_G5", _SOCS, f"{_DEFAULT_SOC} if empty; changes no verdict"),
        *COMMON_OPTIONS,
        Option(
            "op_filters",
            filter_file,
            None,
            "a file of op filters, or its text, in the format of google_tensor_op_filters_proto (from litert-2.1.5 on)",
            is_path=True,
            is_content=is_content,
        ),
    )
    further_kinds = MappingProxyType(kinds_by_code(*LOADER_KINDS, SOC, FILTER_FILE, ISLANDS))

    def first_lines(self, options: OptionValues) -> tuple[str, ...]:
        """Return a line if the SoC has an old name."""
        return (_OLD_NAME_LINE,) if (options["soc"] or _DEFAULT_SOC) in _OLD_NAMES else ()

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield a warning if the plugin knows the SoC, but Google does not support it."""
        if (soc := _soc(options)) in _UNSUPPORTED:
            yield f"the plugin accepts {soc}, but Google supports only Tensor_G5 and later chips ({_SDK})"

    def fault(self, graph: Graph, options: OptionValues, release: Release) -> Refusal | None:
        """Return a failure if the plugin does not know the SoC, or if the op filters cannot be read."""
        soc = _soc(options)
        if soc not in _SOCS:
            return plugin_refusal(SOC, graph, f"Invalid soc model for device type: {soc}")
        fault = _filters_of(options).fault if release.is_at_least(_FILTERS_SINCE) else ""
        if not fault:
            return None
        place = options["op_filters"].path or "the given text"
        action = "parse OpFilters proto text from" if fault == UNPARSABLE else "open OpFilters file"
        return plugin_refusal(FILTER_FILE, graph, f"Failed to {action}: {place}")

    def target(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> NpuTarget:
        """Return the target of the rules, with the op filters."""
        return NpuTarget(release, file_facts(graph.model), _filters_of(options))

    def lines(self, graph: Graph, verdicts: Mapping[int, Verdict], target: NpuTarget) -> Iterator[str]:
        """Yield the log lines of all nodes, and in newer releases a table of the unselected nodes.

        LiteRT 2.3 prints the line about the first unselected composite twice. The first copy comes before all other lines.
        """
        lines = list(super().lines(graph, verdicts, target))
        if target.release.is_at_least(_TWICE_SINCE) and not target.release.is_at_least(_SUMMARY_SINCE):
            yield from [line for line in lines if line.startswith(_COMPOSITE_LINE)][:1]
        yield from lines
        if target.release.is_at_least(_SUMMARY_SINCE):
            yield from _summary(graph, verdicts)

    def lines_of(self, graph: Graph, index: int, verdict: Verdict, target: NpuTarget) -> Iterator[str]:
        """Yield the log lines about an unselected composite, or about a node that the op filters match."""
        node = graph.nodes[index]
        if node.op == COMPOSITE and not node.is_custom:
            name = composite_name(graph.model, node)
            if not verdict.is_supported and name is not None and target.release.is_at_least(_COMPOSITES_SINCE):
                yield f"{_COMPOSITE_LINE}{name}"
        elif (
            target.filters is not None
            and target.filters.patterns
            and target.release.is_at_least(_FILTERS_SINCE)
            and _is_filtered(verdict)
        ):
            yield from target.filters.match([graph.tensors[tensor].name for tensor in present(node.outputs)]).lines


def _summary(graph: Graph, verdicts: Mapping[int, Verdict]) -> Iterator[str]:
    refused = [(position, graph.nodes[index]) for position, index in enumerate(verdicts) if not verdicts[index].is_supported]
    total = len(verdicts)
    yield f"Partitioning summary: {total - len(refused)} ops on NPU, {len(refused)} ops offloaded to CPU (Total: {total})."
    if not refused:
        return
    yield "CPU-offloaded operations:"
    yield f"  Op Index | {'Op Code':<22} | Reason"
    yield f"  {'-' * 9}+{'-' * 24}+{'-' * 67}"
    for position, node in refused[:_MOST_REASONS]:
        is_composite = node.op == COMPOSITE and not node.is_custom
        reason = "Composite operation is not supported." if is_composite else "Op is not supported on the Google Tensor NPU."
        yield f"  {position:<8} | {_operator_name(node):<22} | {reason}"
    omitted = len(refused) - _MOST_REASONS
    if omitted > 0:
        variable = "LITERT_MAX_LOGGED_OFFLOAD_REASONS"
        yield f"  ... {omitted} additional unsupported op diagnostics omitted (set {variable}=-1 to log all)."


def _operator_name(node: Node) -> str:
    if node.is_custom:
        return "tfl.custom_op"
    if node.op.startswith(_STABLEHLO):
        return f"shlo.{node.op.removeprefix(_STABLEHLO).lower()}"
    return f"tfl.{_OTHER_NAMES.get(node.op) or node.op.lower()}"


def _is_filtered(verdict: Verdict) -> bool:
    code = BOOKS["google"].code_of(OP_FILTER)
    return verdict.is_supported or any(reason.code == code for reason in verdict.reasons)


def _soc(options: OptionValues) -> str:
    soc = options["soc"] or _DEFAULT_SOC
    return _OLD_NAMES.get(soc, soc)


def _filters_of(options: OptionValues) -> OpFilters:
    file: FilterFile | None = options["op_filters"]
    return OpFilters() if file is None else _filters(file)


DELEGATE = GooglePlugin()

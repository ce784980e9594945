"""The vendors' compiler plugins (``litert/vendors``).

Google Tensor's plugin accepts nearly all operators. Intel's compiles with OpenVINO. MediaTek's has a mode that asks the vendor's
compiler, which is not simulated. Samsung's selects every node, even one that its compiler cannot compile. Qualcomm's asks a
closed-source library about every node, so this plugin can only be run live.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ...graph.graph import Graph
from ...model.model import Node
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.rule import Verdict
from ..base import Delegate
from ..decision import kinds_by_code
from ..devices import SOCS
from ..options import Option, OptionValues
from ..traits import PluginTraits, ReleaseHistory
from . import loader
from .composites import COMPOSITE, composite_name, layout, present
from .op_filters import UNPARSABLE, UNREADABLE, FilterFile, OpFilters, filter_file, is_content, parsed
from .plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from .rules import BOOKS, NpuTarget, mapped_types

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
    remedies_if_not_compiled = loader.GOOGLE_REMEDIES
    socs = tuple(SOCS["google"])
    options = (
        soc_option("Tensor_G5", socs, f"{_DEFAULT_SOC} if empty; changes no verdict"),
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
    further_kinds = MappingProxyType(kinds_by_code(*loader.LOADER_KINDS, loader.SOC, loader.FILTER_FILE, loader.ISLANDS))

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
        if soc not in self.socs:
            return loader.plugin_refusal(loader.SOC, graph, f"Invalid soc model for device type: {soc}")
        fault = _filters_of(options).fault if release.is_at_least(_FILTERS_SINCE) else ""
        if not fault:
            return None
        place = options["op_filters"].path or "the given text"
        action = "parse OpFilters proto text from" if fault == UNPARSABLE else "open OpFilters file"
        return loader.plugin_refusal(loader.FILTER_FILE, graph, f"Failed to {action}: {place}")

    def target(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> NpuTarget:
        """Return the target of the rules, with the op filters."""
        return NpuTarget(release, loader.file_facts(graph.model), _filters_of(options))

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
    code = BOOKS["google"].code_of(loader.OP_FILTER)
    return verdict.is_supported or any(reason.code == code for reason in verdict.reasons)


def _soc(options: OptionValues) -> str:
    soc = options["soc"] or _DEFAULT_SOC
    return _OLD_NAMES.get(soc, soc)


def _filters_of(options: OptionValues) -> OpFilters:
    file: FilterFile | None = options["op_filters"]
    return OpFilters() if file is None else _filters(file)


_REFUSED_DIMENSIONS = 6
_COUNT_LINE = "TOPK_V2 with non-constant K is not supported on NPU; leaving op on CPU."
_COUNT_SINCE = parse_release("litert-2.2.0")


class IntelPlugin(NpuPlugin):
    """Intel's plugin (see ``NpuPlugin``)."""

    name = "npu-intel"
    vendor = "intel"
    log = log_traits("intel")
    rules = BOOKS["intel"]
    live = PluginTraits(
        "IntelOpenVINO",
        "intel_openvino",
        (("openvino", "libs"),),
        "the release of OpenVINO that the plugin is linked to: pip install openvino",
        numbered_library=r"libopenvino\.so\.(\d\d)(\d)(\d)",
        numbered_needs="OpenVINO 20{0}.{1}.{2}, which the plugin is linked to: pip install openvino==20{0}.{1}.{2}",
        opened=("libopenvino_intel_npu_compiler_loader.so", "libopenvino_intel_npu_compiler.so"),
        compiler_needs="OpenVINO looks for it only beside libopenvino.so. The package openvino does not have it: pip install "
        "ai-edge-litert-sdk-intel, then python -c 'import ai_edge_litert_sdk_intel'",
        compiled_line="Model export done",
    )
    socs = tuple(SOCS["intel"])
    options = (soc_option("PTL", socs, "has no effect before the compiler runs"), *COMMON_OPTIONS)
    further_kinds = MappingProxyType(kinds_by_code(*loader.LOADER_KINDS, loader.INPUT_RANK, loader.ISLANDS))
    history = ReleaseHistory("litert-2.1.5", starts_at_known=True)

    def fault(self, graph: Graph, options: OptionValues, release: Release) -> Refusal | None:
        """Return a failure if an input of the subgraph has six dimensions or more."""
        for position, index in enumerate(graph.inputs):
            rank = len(layout(graph.tensors[index]))
            if rank >= _REFUSED_DIMENSIONS:
                line = (
                    f"Model not supported: subgraph input {position} has {rank} dimensions (>= {_REFUSED_DIMENSIONS}), skipping "
                    "partitioning."
                )
                return loader.plugin_refusal(loader.INPUT_RANK, graph, line, index)
        return None

    def lines_of(self, graph: Graph, index: int, verdict: Verdict, target: NpuTarget) -> Iterator[str]:
        """Yield the log lines about an unselected node. The lines contain the number of the node's operator."""
        if verdict.is_supported:
            return
        node = graph.nodes[index]
        if node.op == "TOPK_V2" and not node.is_custom and target.release.is_at_least(_COUNT_SINCE):
            yield _COUNT_LINE
        yield f"op type {node.builtin_code} is not supported"


_CAST = "INT64"
"""The type of the constants that the plugin casts to INT32, with a warning."""
CLOSED_SINCE = "8.2.24"
"""The first version of the Neuron runtime in which the plugin asks the vendor's compiler. The compiler's rules are unknown."""


class MediatekPlugin(NpuPlugin):
    """MediaTek's plugin (see ``NpuPlugin``)."""

    name = "npu-mediatek"
    vendor = "mediatek"
    log = log_traits("mediatek")
    rules = BOOKS["mediatek"]
    live = PluginTraits(
        "MediaTek",
        "mediatek",
        (("ai_edge_litert_sdk_mediatek", "data/v8_0_10/host/lib"),),
        "libneuron_adapter.so of MediaTek's NeuroPilot SDK: pip install ai-edge-litert-sdk-mediatek, or LD_LIBRARY_PATH",
        closed_line="Use Get supported operations for partition.",
        opened=("libneuron_adapter.so",),
        relative_library="external/neuro_pilot/v8_latest/host/lib/libneuron_adapter.so",
    )
    socs = tuple(SOCS["mediatek"])
    options = (soc_option("mt6991", socs, "may be empty; changes no verdict"), *COMMON_OPTIONS)
    further_kinds = MappingProxyType(kinds_by_code(*loader.LOADER_KINDS, loader.SOC, loader.ISLANDS))

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield a warning that names the simulated mode of the plugin."""
        yield (
            "this result is for a Neuron runtime before "
            f"{CLOSED_SINCE}, or for mediatek_use_get_supported_operations=false; otherwise, MediaTek's closed-source "
            "compiler decides about each node"
        )

    def fault(self, graph: Graph, options: OptionValues, release: Release) -> Refusal | None:
        """Return a failure if the plugin does not know the SoC."""
        soc = options["soc"]
        if not soc or soc in self.socs:
            return None
        return loader.plugin_refusal(loader.SOC, graph, f"Unexpected SoC model: {soc}")

    def lines_of(self, graph: Graph, index: int, verdict: Verdict, target: NpuTarget) -> Iterator[str]:
        """Yield log lines about constants that the plugin casts, and about the first unsupported type, if any."""
        node = graph.nodes[index]
        if verdict.is_supported and not any(graph.tensors[tensor].type == _CAST for tensor in present(node.inputs)):
            return
        rule = self.rules.rule_of(node.op, is_custom=node.is_custom)
        if rule is None or (rule.introduced is not None and not target.release.is_at_least(rule.introduced)):
            return
        for fault in mapped_types(graph.view(node), target):
            yield fault.error_line if isinstance(fault, Refusal) else fault


class SamsungPlugin(NpuPlugin):
    """Samsung's plugin (see ``NpuPlugin``)."""

    name = "npu-samsung"
    vendor = "samsung"
    log = log_traits("samsung")
    rules = BOOKS["samsung"]
    live = PluginTraits(
        "Samsung",
        "samsung",
        (("ai_edge_litert_sdk_samsung", "data/lib/x86_64-linux"),),
        "libgraph_wrapper.so of Samsung's Exynos AI LiteCore (pip install ai-edge-litert-sdk-samsung, or LD_LIBRARY_PATH), and a "
        "working build of the plugin, because the plugin in ai-edge-litert 2.3.0 cannot be loaded",
        opened=("libgraph_wrapper.so", "libgraphgen_api.so"),
        variable=("EXYNOS_AI_LITECORE_ROOT", "lib/x86_64-linux"),
        compiled_line="Compile output: ",
    )
    remedies_if_not_compiled = loader.SAMSUNG_REMEDIES
    socs = tuple(SOCS["samsung"])
    options = (soc_option("E9965", socs, "has no effect before the compiler runs"), *COMMON_OPTIONS)
    history = ReleaseHistory("litert-2.1.5", starts_at_known=True)

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield a warning that nothing runs on the NPU if one node cannot be compiled."""
        yield (
            "the plugin selects every node, but nothing runs on the NPU if the compiler cannot compile one of the nodes. Only "
            "a run of the compiler shows which nodes it can compile"
        )


_SHOWN = 6


class QualcommPlugin(Delegate):
    """The data for running Qualcomm's plugin live. The plugin's decisions cannot be simulated."""

    name = "npu-qualcomm"
    kernel_name = "DISPATCH_OP"
    provider_name = "NPU"
    title = "plugin npu-qualcomm"
    has_article = True
    is_plugin = True
    is_live_only = True
    live = PluginTraits(
        "Qualcomm",
        "qualcomm",
        (("ai_edge_litert_sdk_qualcomm", "data/lib/x86_64-linux-clang"), ("onnxruntime_qnn", "")),
        "Qualcomm's libraries: pip install onnxruntime-qnn for ai-edge-litert 2.2; for 2.3, also libQnnLpai.so of QAIRT: "
        "pip install ai-edge-litert-sdk-qualcomm, or set LD_LIBRARY_PATH",
        opened=("libQnnSystem.so", "libQnnHtp.so", "libQnnIr.so", "libQnnSaver.so"),
        compiled_line="Graph composed",
        is_closed=True,
    )
    options = (
        soc_option("SM8750", tuple(SOCS["qualcomm"])[:_SHOWN], f"LiteRT lists {len(SOCS['qualcomm'])} SoCs"),
        *COMMON_OPTIONS,
    )


DELEGATES: Mapping[str, Delegate] = {
    plugin.name: plugin for plugin in (GooglePlugin(), IntelPlugin(), MediatekPlugin(), SamsungPlugin(), QualcommPlugin())
}
"""The plugins by name."""

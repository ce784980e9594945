"""MediaTek's compiler plugin (``litert/vendors/mediatek``). The mode that asks the vendor's compiler is not simulated."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from ....graph.graph import Graph
from ....refusal import Refusal
from ....releases.catalogue import Release
from ....rules.rule import Verdict
from ...decision import kinds_by_code
from ...options import OptionValues
from ...traits import PluginTraits
from ..composites import present
from ..kinds import ISLANDS, LOADER_KINDS, SOC, plugin_refusal
from ..plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from ..rules import BOOKS, NpuTarget, mapped_types
from ..soc_names import SOCS

_SOCS = tuple(SOCS["mediatek"])
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
    socs = _SOCS
    options = (soc_option("mt6991", _SOCS, "may be empty; changes no verdict"), *COMMON_OPTIONS)
    further_kinds = MappingProxyType(kinds_by_code(*LOADER_KINDS, SOC, ISLANDS))

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
        if not soc or soc in _SOCS:
            return None
        return plugin_refusal(SOC, graph, f"Unexpected SoC model: {soc}")

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


DELEGATE = MediatekPlugin()

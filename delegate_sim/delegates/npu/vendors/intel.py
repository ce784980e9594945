"""Intel's compiler plugin (``litert/vendors/intel_openvino``). It compiles with OpenVINO."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from ....graph.graph import Graph
from ....refusal import Refusal
from ....releases.catalogue import Release, parse_release
from ....rules.rule import Verdict
from ...decision import kinds_by_code
from ...options import OptionValues
from ...traits import PluginTraits, ReleaseHistory
from ..composites import layout
from ..kinds import INPUT_RANK, ISLANDS, LOADER_KINDS, plugin_refusal
from ..plugin import COMMON_OPTIONS, NpuPlugin, log_traits, soc_option
from ..rules import BOOKS, NpuTarget
from ..soc_names import SOCS

_SOCS = tuple(SOCS["intel"])
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
    socs = _SOCS
    options = (soc_option("PTL", _SOCS, "has no effect before the compiler runs"), *COMMON_OPTIONS)
    further_kinds = MappingProxyType(kinds_by_code(*LOADER_KINDS, INPUT_RANK, ISLANDS))
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
                return plugin_refusal(INPUT_RANK, graph, line, index)
        return None

    def lines_of(self, graph: Graph, index: int, verdict: Verdict, target: NpuTarget) -> Iterator[str]:
        """Yield the log lines about an unselected node. The lines contain the number of the node's operator."""
        if verdict.is_supported:
            return
        node = graph.nodes[index]
        if node.op == "TOPK_V2" and not node.is_custom and target.release.is_at_least(_COUNT_SINCE):
            yield _COUNT_LINE
        yield f"op type {node.builtin_code} is not supported"


DELEGATE = IntelPlugin()

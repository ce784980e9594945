"""An extension of Google's Model Explorer that colors each operator by its placement.

``model-explorer model.tflite --extensions=delegate_sim_cli.model_explorer`` adds the extension to the list of adapters. The
environment variable DELEGATE_SIM_DELEGATE names the delegate. If the variable is not set, the default delegate is used. The
extension requires the package ai-edge-model-explorer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs
from model_explorer.builtin_tflite_flatbuffer_adapter import BuiltinTfliteFlatbufferAdapter

import delegate_sim
from delegate_sim.export.model_explorer import layer_name, node_data
from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.placement import node_reasons
from delegate_sim.runtime.interpreter import Run, SubgraphRun

_VARIABLE = "DELEGATE_SIM_DELEGATE"


class DelegateSimAdapter(Adapter):  # type: ignore[misc]  # the package has no types
    """An adapter that adds the placement of operators to the graphs of Model Explorer's built-in adapter."""

    metadata = AdapterMetadata(
        id="delegate_sim",
        name="delegate-sim (TFLite)",
        description="Color each operator by its placement, and show the reasons for operators on the CPU.",
        source_repo="",
        fileExts=["tflite"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """Return the graphs of a model, with colored operators."""
        graphs = BuiltinTfliteFlatbufferAdapter().convert(model_path, settings)
        (run,) = delegate_sim.analyze(model_path, os.environ.get(_VARIABLE) or None, defaults="benchmark").runs
        layers = node_data(run)
        subgraphs = dict(zip(layers, run.subgraphs, strict=False))
        for graph in [graph for collection in graphs["graphCollections"] for graph in collection.graphs]:
            if graph["id"] in subgraphs:
                _color(graph, run, subgraphs[graph["id"]], layers[graph["id"]]["results"])
        return graphs


def _color(graph: dict[str, Any], run: Run, subgraph: SubgraphRun, results: Mapping[str, Any]) -> None:
    for node in graph["nodes"]:
        if node["id"] not in results:
            continue
        index = int(node["id"])
        node["style"] = {"backgroundColor": results[node["id"]]["bgColor"]}
        attributes = node.setdefault("attrs", [])
        attributes.append({"key": layer_name(run), "value": results[node["id"]]["value"]})
        if index not in subgraph.delegated:
            reasons = "; ".join([reason.message for reason in node_reasons(subgraph, index, run.refusal)])
            attributes.append({"key": "why not", "value": printable(reasons)})

"""An extension of Google's Model Explorer that opens a model with each operator coloured by where it runs.

``model-explorer model.tflite --extensions=delegate_sim_cli.model_explorer`` offers it among the adapters. The environment
variable DELEGATE_SIM_DELEGATE names the delegate, by default the usual one. It needs the package ai-edge-model-explorer.
"""

from __future__ import annotations

import os
from typing import Any

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs
from model_explorer.builtin_tflite_flatbuffer_adapter import BuiltinTfliteFlatbufferAdapter
from model_explorer.graph_builder import GraphNodeStyle, KeyValue

import delegate_sim
from delegate_sim.export.model_explorer import COLOURS, layer_name, node_data
from delegate_sim.results.report import node_reasons
from delegate_sim.results.strip import DELEGATED, node_state

_VARIABLE = "DELEGATE_SIM_DELEGATE"


class DelegateSimAdapter(Adapter):  # type: ignore[misc]  # the package has no types
    """Model Explorer's own reading of a model, with where the operators run."""

    metadata = AdapterMetadata(
        id="delegate_sim",
        name="delegate-sim (TFLite)",
        description="Colours each operator by where it runs, and says why it stays on the CPU.",
        source_repo="",
        fileExts=["tflite"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """Return the graphs of a model, coloured."""
        graphs = BuiltinTfliteFlatbufferAdapter().convert(model_path, settings)
        (run,) = delegate_sim.analyze(model_path, os.environ.get(_VARIABLE) or None, defaults="benchmark").runs
        layers = node_data(run)
        subgraphs = dict(zip(layers, run.subgraphs, strict=False))
        for graph in [graph for collection in graphs["graphCollections"] for graph in collection.graphs]:
            subgraph = subgraphs.get(graph.id)
            results = layers[graph.id]["results"] if subgraph is not None else {}
            for node in graph.nodes:
                if subgraph is None or node.id not in results:
                    continue
                index = int(node.id)
                node.style = GraphNodeStyle(backgroundColor=COLOURS[node_state(subgraph, index)])
                node.attrs.append(KeyValue(key=layer_name(run), value=results[node.id]["value"]))
                if node_state(subgraph, index) != DELEGATED:
                    reasons = "; ".join([reason.message for reason in node_reasons(subgraph, index, run.refusal)])
                    node.attrs.append(KeyValue(key="why not", value=reasons))
        return graphs

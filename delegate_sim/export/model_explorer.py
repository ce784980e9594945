"""Node data for Google's Model Explorer, which color each operator by where it runs.

Source: ``GraphNodeData`` and ``NodeDataResult`` of the package ai-edge-model-explorer (``node_data_builder.py``). A graph is
known by the name of its subgraph, an operator by its index there.
"""

from __future__ import annotations

from typing import Any

from ..foundation.printable import printable
from ..results.report.placement import code_of, node_reasons
from ..results.report.plan_strip import DELEGATED, LEFT, REFUSED, node_state
from ..runtime.interpreter import Run, SubgraphRun

COLORS = {DELEGATED: "#9fd8cd", REFUSED: "#f3b08c", LEFT: "#ecd27e"}
"""The background of a node by its state; text on it is black."""
_TEXT = "#000000"


def layer_name(run: Run) -> str:
    """Return what the layer of a run is called."""
    return f"{run.delegate.name} on {run.release}"


def node_data(run: Run) -> dict[str, Any]:
    """Return the layer of a run: for each subgraph, by its name, where every operator runs and why not on the delegate.

    Values are the delegate's name, or the code of the refusal, which Model Explorer counts and lists as the legend.
    """
    return {_graph_id(subgraph): _layer(run, subgraph) for subgraph in run.subgraphs}


def node_label(run: Run, subgraph: SubgraphRun, index: int) -> str:
    """Return what the layer says of a node."""
    if index in subgraph.delegated:
        return run.delegate.name
    return f"CPU: {code_of(node_reasons(subgraph, index, run.refusal))}"


def _layer(run: Run, subgraph: SubgraphRun) -> dict[str, Any]:
    results = {
        str(index): {
            "value": node_label(run, subgraph, index),
            "bgColor": COLORS[node_state(subgraph, index)],
            "textColor": _TEXT,
        }
        for index in subgraph.graph.execution_plan
    }
    # Sums of values that are no numbers say nothing.
    hidden = {"hideInAggregatedStatsTable": True, "hideInChildrenStatsTable": True}
    return {"name": layer_name(run), "results": results, "showExpandedSummaryOnGroupNode": True, **hidden}


def _graph_id(run: SubgraphRun) -> str:
    return printable(run.graph.name)

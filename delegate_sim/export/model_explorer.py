"""Node data for Google's Model Explorer. The color of an operator shows whether it is delegated, refused, or left on the CPU.

Source: ``GraphNodeData`` and ``NodeDataResult`` of the package ai-edge-model-explorer (``node_data_builder.py``). Model Explorer
identifies a graph by the name of the subgraph, and an operator by its index in the subgraph.
"""

from __future__ import annotations

from typing import Any

from ..foundation.printable import printable
from ..results.report.display import DELEGATED, LEFT, REFUSED, node_state
from ..results.report.outcome_words import words_of
from ..results.report.placement import code_of, node_reasons
from ..runtime.interpreter import Run, SubgraphRun

COLORS = {DELEGATED: "#9fd8cd", REFUSED: "#f3b08c", LEFT: "#ecd27e"}
"""Background color of a node, by the node's state. The text is black."""
_TEXT = "#000000"


def layer_name(run: Run) -> str:
    """Return the name of the Model Explorer layer for a run."""
    return f"{run.delegate.name} on {run.release}"


def node_data(run: Run) -> dict[str, Any]:
    """Return the Model Explorer layer for a run.

    The layer gives the label and color of every operator, grouped by the name of the subgraph. Model Explorer counts the labels
    and shows them as a legend.
    """
    return {printable(subgraph.graph.name): _layer(run, subgraph) for subgraph in run.subgraphs}


def node_label(run: Run, subgraph: SubgraphRun, index: int) -> str:
    """Return the label of a node: the name of the delegate that runs the node, or the code of the refusal."""
    if index in subgraph.delegated:
        return run.delegate.name
    return f"{words_of(run.delegate.name).other_place}: {code_of(node_reasons(subgraph, index, run.refusal))}"


def _layer(run: Run, subgraph: SubgraphRun) -> dict[str, Any]:
    results = {
        str(index): {
            "value": node_label(run, subgraph, index),
            "bgColor": COLORS[node_state(subgraph, index)],
            "textColor": _TEXT,
        }
        for index in subgraph.graph.execution_plan
    }
    # The values are not numbers, so sums of them would be meaningless.
    hidden = {"hideInAggregatedStatsTable": True, "hideInChildrenStatsTable": True}
    return {"name": layer_name(run), "results": results, "showExpandedSummaryOnGroupNode": True, **hidden}

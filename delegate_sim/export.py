"""Export runs for other programs: as a graph, as Model Explorer's node data, and as the models that a delegate builds.

The packages networkx (DOT, JSON) and pydot (DOT) write graphs. The extra ``export`` installs both packages.
"""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from xml.sax.saxutils import escape

from .delegates.driver import LoweredModel
from .errors import LimitError, MissingPackageError
from .foundation.columns import LIST, OBJECT, Column, Declared
from .foundation.limits import how_to_raise, raised
from .foundation.printable import install_command, printable, shortened
from .graph.graph import Graph
from .model.model import Model, Tensor
from .results.report.display import DELEGATED, LEFT, REFUSED, node_state
from .results.report.outcome_words import words_of
from .results.report.placement import code_of, node_reasons
from .results.report.tables import run_columns
from .runtime.interpreter import Run, SubgraphRun, simulate
from .runtime.target import Target

COLORS = {DELEGATED: "#9fd8cd", REFUSED: "#f3b08c", LEFT: "#ecd27e"}
"""The background color of a node, by the node's state. The text is black."""
_TEXT = "#000000"
_UNKNOWN = "not known: several subgraphs have this name"
_LONGEST = 200
_MOST_LINKS = 200_000
"""Largest number of tensors that nodes read from other nodes. The packages make several objects for each."""


def networkx_graph(run: Run) -> Any:
    """Return a ``networkx.DiGraph`` of the nodes in all execution plans.

    Nodes are called ``SUBGRAPH:NODE``. Each edge goes from a node that writes tensors to a node that reads these tensors. The
    edge has the names and the total bytes of the tensors. Raises MissingPackageError if networkx is missing.
    """
    graph = _package("networkx").DiGraph(**_attributes(run))
    _check_links(run)
    graph.add_nodes_from(_nodes(run))
    graph.add_edges_from(_edges(run))
    return graph


def as_graphml(run: Run) -> str:
    """Return the graph of ``networkx_graph`` as GraphML."""
    _check_links(run)
    return "".join(_graphml(run))


def _graphml(run: Run) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    of_node, of_edge = next((own for _, own in _nodes(run)), {}), next((own for _, _, own in _edges(run)), {})
    for kind, attributes in (("graph", _attributes(run)), ("node", of_node), ("edge", of_edge)):
        for name, value in attributes.items():
            of = "long" if isinstance(value, int) else "string"
            yield f'<key id="{kind}-{name}" for="{kind}" attr.name="{name}" attr.type="{of}"/>\n'
    yield f'<graph edgedefault="directed">{_data("graph", _attributes(run))}\n'
    for key, attributes in _nodes(run):
        yield f'<node id="{key}">{_data("node", attributes)}</node>\n'
    for writer, reader, attributes in _edges(run):
        yield f'<edge source="{writer}" target="{reader}">{_data("edge", attributes)}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _data(kind: str, attributes: Mapping[str, Any]) -> str:
    return "".join([f'<data key="{kind}-{name}">{escape(str(value))}</data>' for name, value in attributes.items()])


def as_node_link(run: Run) -> str:
    """Return the graph as networkx's node-link JSON. Raises MissingPackageError if networkx is missing."""
    return json.dumps(_package("networkx").node_link_data(networkx_graph(run), edges="links"), indent=1) + "\n"


def as_dot(run: Run) -> str:
    """Return the graph in Graphviz's DOT language, with a cluster for every partition.

    Netron ignores node definitions in clusters. Nodes are therefore defined outside the clusters, and the clusters only list the
    names of nodes. Each node name begins with the partition, because Netron then shows the partition in place of the operator
    type (``dot.js`` of lutzroeder/netron 9.3). Raises MissingPackageError if networkx or pydot is missing.
    """
    pydot = _package("pydot")
    graph = networkx_graph(run)
    drawn = pydot.Dot("run", graph_type="digraph", rankdir="TB")
    names = {key: _quoted(_dot_name(data)) for key, data in graph.nodes(data=True)}
    clusters: dict[tuple[int, int], Any] = {}
    for key, data in graph.nodes(data=True):
        attributes = {of: _quoted(str(data[of])) for of in ("label", "version", "runs_on", "partition", "codes")}
        attributes.update(tensor=_quoted(data["name"]), fillcolor=_quoted(data["color"]))
        drawn.add_node(pydot.Node(names[key], shape="box", style="filled", **attributes))
        place = (data["subgraph"], data["partition"])
        if place not in clusters:
            where = run.delegate.name if data["state"] == DELEGATED else words_of(run.delegate.name).other_place
            title = f"partition {place[1]}, {where}" if place[1] >= 0 else where
            clusters[place] = pydot.Cluster(f"{place[0]}_{place[1] + 1}", label=_quoted(title))
            drawn.add_subgraph(clusters[place])
        clusters[place].add_node(pydot.Node(names[key]))
    for source, target, data in graph.edges(data=True):
        drawn.add_edge(pydot.Edge(names[source], names[target], label=_quoted(f"{data['bytes']:,} bytes")))
    written: str = drawn.to_string()
    return written


def _dot_name(data: Mapping[str, Any]) -> str:
    partition = f"_partition{data['partition']}" if data["partition"] >= 0 else ""
    where = data["runs_on"].replace("-", "_")
    return f"Subgraph{data['subgraph']}{partition}_{where}/{data['op']} (op#{data['node']})"


FORMATS: Mapping[str, Callable[[Run], str]] = {"dot": as_dot, "graphml": as_graphml, "json": as_node_link}
"""Functions that write the graph, keyed by the name of the format."""


def _attributes(run: Run) -> dict[str, Any]:
    return {"delegate": run.delegate.name, "runtime": str(run.release), "outcome": run.outcome}


def _check_links(run: Run) -> None:
    count, most = sum([len(subgraph.graph.links) for subgraph in run.subgraphs]), raised(_MOST_LINKS)
    if count > most:
        raise LimitError(f"{count:,} uses of tensors are more than the limit of {most:,} for a graph{how_to_raise()}")


def _nodes(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    for subgraph in run.subgraphs:
        view = subgraph.graph
        partition_of = {node: number for number, subset in enumerate(subgraph.subsets) for node in subset.nodes}
        for index in view.execution_plan:
            node, state = view.nodes[index], node_state(subgraph, index)
            output = next((view.tensors[tensor].name for tensor in node.outputs if tensor >= 0), "")
            codes = [reason.code for reason in node_reasons(subgraph, index, run.refusal)] if state != DELEGATED else []
            yield (
                _key(view.index, index),
                {
                    "label": f"{index} {_text(node.op)}",
                    "op": _text(node.op),
                    "version": node.version,
                    "name": _text(output),
                    "subgraph": view.index,
                    "node": index,
                    "state": state,
                    "runs_on": run.delegate.name if state == DELEGATED else words_of(run.delegate.name).other_place.lower(),
                    "partition": partition_of.get(index, -1),
                    "codes": ", ".join(codes),
                    "color": COLORS[state],
                },
            )


def _edges(run: Run) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for view in [subgraph.graph for subgraph in run.subgraphs]:
        tensors: dict[tuple[int, int], list[Tensor]] = {}
        for writer, reader, tensor in view.links:
            tensors.setdefault((writer, reader), []).append(view.tensors[tensor])
        for (writer, reader), own in tensors.items():
            names = ", ".join(filter(None, [_text(tensor.name) for tensor in own]))
            size = sum([tensor.byte_size for tensor in own])
            yield _key(view.index, writer), _key(view.index, reader), {"bytes": size, "tensors": names}


def _key(subgraph: int, node: int) -> str:
    return f"{subgraph}:{node}"


def _text(text: str) -> str:
    return shortened(printable(text[: _LONGEST + 1]), _LONGEST)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError(
            f"this format needs the package {name}, which is not installed: {install_command('export')}"
        ) from error


@dataclass(frozen=True, slots=True)
class Lowered(Declared):
    """The models that a delegate builds from the partitions of a model."""

    document = "lowered"
    columns = (Column("model", OBJECT), *run_columns("delegate", "runtime", "options"), Column("models", LIST))

    model: Model
    target: Target
    models: tuple[LoweredModel, ...]


def lowered(model: Model, graphs: Sequence[Graph], target: Target) -> Lowered:
    """Apply a delegate to a model, and return the models that the delegate builds for its backend."""
    run = simulate(model, target)
    decisions = [run.subgraphs[graph.index].decision for graph in graphs]
    built = [
        built
        for decision in decisions
        if decision is not None and decision.findings is not None
        for built in target.delegate.behind.lowered(decision, target.options, target.release)
    ]
    return Lowered(model, target, tuple(built))


def layer_name(run: Run) -> str:
    """Return the name of the Model Explorer layer for a run."""
    return f"{run.delegate.name} on {run.release}"


def node_data(run: Run) -> dict[str, Any]:
    """Return the Model Explorer layer for a run: the label and color of every operator, by the name of the subgraph.

    Model Explorer identifies an operator by its index in the subgraph (``GraphNodeData`` and ``NodeDataResult`` of the package
    ai-edge-model-explorer, ``node_data_builder.py``). It counts the labels and shows them as a legend. Subgraphs of one name
    share a group, in which nodes with different labels have no label.
    """
    layers: dict[str, dict[str, Any]] = {}
    for subgraph in run.subgraphs:
        layer = _layer(run, subgraph)
        results = layers.setdefault(printable(subgraph.graph.name), layer)["results"]
        for index, result in layer["results"].items():
            if results.setdefault(index, result) != result:
                results[index] = {"value": _UNKNOWN, "textColor": _TEXT}
    return layers


def nodes_of_graphs(run: Run) -> dict[str, SubgraphRun]:
    """Return the subgraphs of a run by name, without those that share a name."""
    names = Counter(printable(subgraph.graph.name) for subgraph in run.subgraphs)
    named = [(printable(subgraph.graph.name), subgraph) for subgraph in run.subgraphs]
    return {name: subgraph for name, subgraph in named if names[name] == 1}


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

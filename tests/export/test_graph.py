"""The graph of a run for other programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import export
from delegate_sim.errors import LimitError, MissingPackageError
from delegate_sim.export import FORMATS, as_dot, as_graphml, as_node_link, networkx_graph
from fixtures.builder import ModelBuilder
from tests.support.hostile_names import hostile_model
from tests.support.models import MIXED, chain_model

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


@pytest.fixture
def networkx():
    return pytest.importorskip("networkx", reason="the package networkx (the extra [export]) is not installed")


@pytest.fixture
def pydot():
    return pytest.importorskip("pydot", reason="the package pydot (the extra [export]) is not installed")


def run_of(model):
    return delegate_sim.analyze(model, "nnapi", defaults="api").runs[0]


@pytest.fixture
def mixed():
    return run_of(chain_model(MIXED).bytes())


@pytest.mark.usefixtures("networkx")
def test_nodes_say_where_they_run_and_edges_what_they_carry(mixed):
    graph = networkx_graph(mixed)
    assert {node: (data["runs_on"], data["partition"]) for node, data in graph.nodes(data=True)} == {
        "0:0": ("nnapi", 0),
        "0:1": ("cpu", 1),
        "0:2": ("cpu", 1),
        "0:3": ("nnapi", 2),
    }
    assert graph.edges["0:0", "0:1"] == {"bytes": 16, "tensors": "t0"}
    assert graph.nodes["0:1"]["codes"] == "nnapi-operator"


@pytest.mark.parametrize("name", ["transformer_block", "several_subgraphs", "control_flow"])
def test_graphml_and_json_are_read_again_as_the_same_graph(networkx, name):
    run = run_of(MODELS / f"{name}.tflite")
    graph = networkx_graph(run)
    read = networkx.read_graphml(io.BytesIO(as_graphml(run).encode()))
    assert dict(read.nodes(data=True)) == dict(graph.nodes(data=True))
    assert {edge[:2]: edge[2] for edge in read.edges(data=True)} == {edge[:2]: edge[2] for edge in graph.edges(data=True)}
    assert {name: read.graph[name] for name in graph.graph} == graph.graph
    again = networkx.node_link_graph(json.loads(as_node_link(run)), edges="links")
    assert list(again.edges(data=True)) == list(graph.edges(data=True))


def test_partitions_are_clusters_in_dot(networkx, pydot, mixed):
    (read,) = pydot.graph_from_dot_data(as_dot(mixed))
    clusters = {each.get_label().strip('"'): len(each.get_nodes()) for each in read.get_subgraphs()}
    assert clusters == {"partition 0, nnapi": 1, "partition 1, CPU": 2, "partition 2, nnapi": 1}
    assert len(read.get_edges()) == 3


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_hostile_model_stays_within_its_quotes(networkx, pydot, form):
    written = FORMATS[form](run_of(hostile_model().bytes()))
    assert "\u202e" not in written
    assert "\x1b" not in written
    if form == "dot":
        (read,) = pydot.graph_from_dot_data(written)
        assert sum(len(each.get_nodes()) for each in read.get_subgraphs()) == 10
    elif form == "graphml":
        assert len(networkx.read_graphml(io.BytesIO(written.encode()))) == 10


@pytest.mark.parametrize("form", ["dot", "json"])
def test_without_the_packages_one_line_says_what_to_install(monkeypatch, mixed, form):
    def refuse(name, *arguments):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[export\]'") as caught:
        FORMATS[form](mixed)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("networkx")
def test_a_graph_of_too_many_edges_is_refused(mixed, monkeypatch):
    monkeypatch.setattr(export, "_MOST_LINKS", 3)
    assert len(networkx_graph(mixed).edges) == 3
    monkeypatch.setattr(export, "_MOST_LINKS", 2)
    with pytest.raises(LimitError, match="3 uses of tensors are more than the limit of 2 for a graph"):
        networkx_graph(mixed)


@pytest.mark.usefixtures("networkx")
def test_an_edge_has_all_tensors_between_two_nodes():
    builder = ModelBuilder()
    main = builder.subgraph()
    source = main.input("x", "FLOAT32", (4,))
    halves = [main.tensor(f"half{number}", "FLOAT32", (2,)) for number in range(2)]
    main.node("SPLIT", [main.tensor("axis", "INT32", (), [0]), source], halves, options={"num_splits": 2})
    result = main.tensor("y", "FLOAT32", (2,))
    main.node("ADD", halves, [result], options={})
    main.outputs(result)
    assert networkx_graph(run_of(builder.bytes())).edges["0:0", "0:1"] == {"bytes": 16, "tensors": "half0, half1"}

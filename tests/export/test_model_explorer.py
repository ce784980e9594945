"""Node data for Model Explorer."""

from __future__ import annotations

import dataclasses
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.export import COLORS, node_data, nodes_of_graphs
from fixtures.builder import ModelBuilder
from tests.support.hostile_names import NAMES, hostile_model
from tests.support.models import MIXED, chain_model

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


def run_of(model, delegate="nnapi"):
    return delegate_sim.analyze(model, delegate, defaults="api").runs[0]


def test_each_operator_has_the_delegate_or_the_code_of_its_refusal():
    (layer,) = node_data(run_of(chain_model(MIXED).bytes())).values()
    assert {key: result["value"] for key, result in layer["results"].items()} == {
        "0": "nnapi",
        "1": "CPU: nnapi-operator",
        "2": "CPU: nnapi-operator-version",
        "3": "nnapi",
    }
    assert {result["bgColor"] for result in layer["results"].values()} <= set(COLORS.values())
    assert layer["name"] == "nnapi on litert-2.3"


def test_graphs_are_known_by_the_names_of_subgraphs():
    model = delegate_sim.load(MODELS / "several_subgraphs.tflite")
    assert list(node_data(run_of(model))) == [subgraph.name for subgraph in model.subgraphs]


def test_subgraphs_of_one_name_do_not_take_the_results_of_each_other():
    builder = ModelBuilder()
    for op, count in (("ERF", 1), ("ABS", 1), ("ABS", 3)):
        graph = builder.subgraph("same" if op != "ERF" else "main")
        given = graph.input("x", "FLOAT32", [1, 8])
        for number in range(count):
            result = graph.tensor("y", "FLOAT32", [1, 8])
            graph.node("ABS" if number != 1 else "CUSTOM", [given], [result], custom=None if number != 1 else "mine")
        graph.outputs(result)
    two = builder.subgraph("same")
    two.node("CUSTOM", [two.input("x", "FLOAT32", [1, 8])], [two.tensor("y", "FLOAT32", [1, 8])], custom="mine")
    run = run_of(builder.bytes())
    layers = node_data(run)
    assert list(layers) == ["main", "same"]
    own = {key: result["value"] for key, result in layers["same"]["results"].items()}
    assert own["0"] == "not known: several subgraphs have this name"
    assert "bgColor" not in layers["same"]["results"]["0"]
    assert own["1"] == "CPU: no-nested-delegation" or own["1"].startswith("CPU: ")
    assert list(nodes_of_graphs(run)) == ["main"]


def test_names_of_a_hostile_model_are_printable():
    assert all(name.isprintable() for name in node_data(run_of(hostile_model().bytes())))
    assert len(NAMES) == len(next(iter(node_data(run_of(hostile_model().bytes())).values()))["results"])


class TestAgainstModelExplorer:
    """Held against the package itself."""

    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("model_explorer", reason="the package ai-edge-model-explorer is not installed")

    def test_its_own_classes_take_every_field(self):
        from model_explorer.node_data_builder import GraphNodeData, ModelNodeData, NodeDataResult

        data = node_data(run_of(MODELS / "mobilenet_block.tflite"))
        graphs = {
            name: GraphNodeData(**{**layer, "results": {key: NodeDataResult(**each) for key, each in layer["results"].items()}})
            for name, layer in data.items()
        }
        assert dataclasses.asdict(ModelNodeData(graphs))["graphsData"]["main"]["results"] == data["main"]["results"]

    @pytest.mark.parametrize("name", ["mobilenet_block", "several_subgraphs", "control_flow"])
    def test_graphs_and_keys_are_those_of_its_own_reader(self, name):
        from model_explorer.builtin_tflite_flatbuffer_adapter import BuiltinTfliteFlatbufferAdapter

        path = MODELS / f"{name}.tflite"
        (collection,) = BuiltinTfliteFlatbufferAdapter().convert(str(path), {})["graphCollections"]
        graphs = {graph["id"]: graph for graph in collection.graphs}
        model = delegate_sim.load(path)
        for subgraph, (graph, layer) in zip(model.subgraphs, node_data(run_of(model)).items(), strict=True):
            labels = {node["id"]: node["label"] for node in graphs[graph]["nodes"]}
            for key in layer["results"]:
                assert labels[key].upper() == subgraph.nodes[int(key)].op

    def test_the_extension_colors_what_it_opens(self):
        from delegate_sim_cli.model_explorer.main import DelegateSimAdapter

        (collection,) = DelegateSimAdapter().convert(str(MODELS / "mobilenet_block.tflite"), {})["graphCollections"]
        styles = [node["style"]["backgroundColor"] for node in collection.graphs[0]["nodes"] if node.get("style")]
        assert len(styles) == 15
        assert set(styles) <= set(COLORS.values())
        refused = [each for node in collection.graphs[0]["nodes"] for each in node["attrs"] if each["key"] == "why not"]
        assert len(refused) == 3


class TestInItsPage:
    """Its own server, which reads the model and the layer, and its own page in a browser."""

    @pytest.fixture
    def address(self, tmp_path):
        pytest.importorskip("model_explorer", reason="the package ai-edge-model-explorer is not installed")
        path = MODELS / "mobilenet_block.tflite"
        overlay = tmp_path / "overlay.json"
        overlay.write_text(json.dumps(node_data(run_of(path))), encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = [f"--node_data_paths={overlay}", "--extensions=delegate_sim_cli.model_explorer", "--host=127.0.0.1"]
        command = [sys.executable, "-m", "model_explorer", str(path), *options, f"--port={port}", "--no_open_in_browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            lines, found = [], None
            for line in server.stdout:
                lines.append(line)
                found = re.search(r"http://\S+", line)
                if found:
                    break
            assert found, lines
            assert any("delegate-sim" in line for line in lines), lines
            yield found[0]
        finally:
            server.kill()
            server.wait()
            server.stdout.close()

    def test_it_shows_the_layer_and_its_values(self, chromium_page, address):
        chromium_page.goto(address)
        # The layer that was given on the command line, by its name, and a row of it.
        chromium_page.get_by_text("CPU: nnapi-output-type", exact=True).wait_for(timeout=60_000)
        shown = chromium_page.inner_text("body")
        assert "nnapi on litert-2.3" in shown
        rows = re.findall(r"^\d+\t(.+)\t(.+)$", shown, re.MULTILINE)
        layer = node_data(run_of(MODELS / "mobilenet_block.tflite"))["main"]["results"]
        assert [value for _, value in rows if value != "-"] == [layer[str(node)]["value"] for node in range(15)]
        assert rows[-2] == ("arg_max", "CPU: nnapi-output-type")

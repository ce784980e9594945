"""The graph of a run in Netron, which reads the language of Graphviz."""

from __future__ import annotations

from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.export import as_dot, networkx_graph

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"
LOCAL = "http://127.0.0.1"


@pytest.fixture
def served(tmp_path):
    """Return what serves a text to Netron's page."""
    netron = pytest.importorskip("netron", reason="the package netron is not installed")
    pytest.importorskip("pydot", reason="the package pydot (the extra [export]) is not installed")
    addresses = []

    def serve(text):
        path = tmp_path / "graph.dot"
        path.write_text(text, encoding="utf-8")
        addresses.append(netron.start(str(path), address=("127.0.0.1", 0), browse=False))
        host, port = addresses[-1]
        return f"http://{host}:{port}"

    yield serve
    for address in addresses:
        netron.stop(address)


def test_every_node_is_shown_by_its_operator_and_named_by_its_partition(served, chromium_page):
    run = delegate_sim.analyze(MODELS / "mobilenet_block.tflite", "nnapi", defaults="api").runs[0]
    # Netron asks other hosts, which a test does not.
    chromium_page.route("**/*", lambda route: route.continue_() if route.request.url.startswith(LOCAL) else route.abort())
    chromium_page.goto(served(as_dot(run)))
    chromium_page.get_by_text("Accept", exact=True).click()
    chromium_page.get_by_text("ARG_MAX", exact=True).click()
    shown = chromium_page.text_content("#target")
    for _, data in networkx_graph(run).nodes(data=True):
        place = f"Subgraph0_partition{data['partition']}_{data['runs_on']}"
        assert f"{data['op']}{place}/{data['op']} (op#{data['node']})" in shown
    # The last node is chosen: its properties have the reason.
    chromium_page.get_by_text("nnapi-output-type").wait_for()

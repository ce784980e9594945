"""Positions of nodes and partitions."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.page import layout
from delegate_sim.page.layout import NODE_HEIGHT, NODE_WIDTH, SMALL_HEIGHT, SMALL_WIDTH, draw, node_edges
from fixtures.builder import ModelBuilder
from tests.support.models import MIXED, chain_model

MODELS = ("mobilenet_block", "transformer_block", "many_partitions", "pooling", "several_subgraphs", "control_flow")


def runs(name):
    return delegate_sim.analyze(f"fixtures/models/{name}.tflite", "nnapi", defaults="api").runs[0].subgraphs


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def place_of(drawing, node):
    size = (SMALL_WIDTH, SMALL_HEIGHT) if node in drawing.small else (NODE_WIDTH, NODE_HEIGHT)
    return (*drawing.nodes[node], *size)


class TestDrawing:
    @pytest.mark.parametrize("name", MODELS)
    def test_every_node_lies_in_the_box_of_its_partition_and_nothing_overlaps(self, name):
        for run in runs(name):
            found = draw(run)
            assert set(found.nodes) == set(run.graph.execution_plan)
            parts = [subset.nodes for subset in run.subsets] or [run.graph.execution_plan]
            assert len(found.boxes) == len(parts)
            for box, nodes in zip(found.boxes, parts, strict=True):
                for node in nodes:
                    x, y, width, height = place_of(found, node)
                    assert box.x <= x <= box.x + box.width - width
                    assert box.y <= y <= box.y + box.height - height
            for number, box in enumerate(found.boxes):
                assert not any(overlap(box, other) for other in found.boxes[:number])
            places = [place_of(found, node) for node in found.nodes]
            for number, place in enumerate(places):
                assert not any(overlap(place, other) for other in places[:number])
            assert sorted(number for row in found.rows for number in row) == list(range(len(parts)))

    def test_a_chain_runs_from_top_to_bottom(self):
        run = delegate_sim.analyze(chain_model(["ADD"] * 4).bytes(), "nnapi", defaults="api").runs[0].subgraphs[0]
        assert node_edges(run.graph) == [(0, 1), (1, 2), (2, 3)]
        heights = [draw(run).nodes[node][1] for node in range(4)]
        assert heights == sorted(heights)

    def test_partitions_of_a_chain_are_drawn_in_running_order(self):
        run = delegate_sim.analyze(chain_model(MIXED).bytes(), "nnapi", defaults="api").runs[0].subgraphs[0]
        found = draw(run)
        assert found.rows == ((0,), (1,), (2,))
        corners = [(box.x, box.y) for box in found.boxes]
        assert corners == sorted(corners)

    def test_nodes_that_read_only_constants_are_small_and_above_their_reader(self):
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        given, result = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
        widened = []
        for number in range(5):
            half = graph.tensor(f"half{number}", "FLOAT16", [4], data=bytes(8))
            widened.append(graph.tensor(f"whole{number}", "FLOAT32", [4]))
            graph.node("DEQUANTIZE", [half], [widened[-1]])
        graph.node("ADD_N", [given, *widened], [result])
        graph.outputs(result)
        run = delegate_sim.analyze(builder.bytes(), "nnapi", defaults="api").runs[0].subgraphs[0]
        found = draw(run)
        assert found.small == {0, 1, 2, 3, 4}
        reader = found.nodes[5]
        assert [found.nodes[node][1] < reader[1] for node in range(5)] == [True, True, True, False, False]

    def test_a_path_of_thousands_of_nodes_does_not_end_the_process(self):
        run = delegate_sim.analyze(chain_model(["ROUND"] * 20_000).bytes(), "nnapi", defaults="api").runs[0].subgraphs[0]
        found = draw(run)
        (box,) = found.boxes
        assert 1 < box.width / box.height < 4

    @pytest.mark.parametrize("limit", ["_MOST_ROUTED", "_MOST_ROUTED_ON_A_PAGE"])
    def test_a_graph_of_many_long_edges_is_placed_more_simply(self, limit, monkeypatch):
        monkeypatch.setattr(layout, limit, 0)
        for name in MODELS:
            self.test_every_node_lies_in_the_box_of_its_partition_and_nothing_overlaps(name)


def test_the_drawings_of_a_page_share_a_limit(monkeypatch):
    monkeypatch.setattr(layout, "_MOST_ROUTED", 5)
    monkeypatch.setattr(layout, "_MOST_ROUTED_ON_A_PAGE", 9)
    limit = layout.PageLayouts()
    assert [limit.takes(length) for length in (6, 5, 5, 4, 1)] == [False, True, False, True, False]

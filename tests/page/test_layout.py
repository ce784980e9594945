"""Positions of nodes and partitions."""

from __future__ import annotations

import sys
import threading

import pytest

import delegate_sim
from delegate_sim.page import content, graph_tables, layout
from delegate_sim.page.content import PageView
from delegate_sim.page.layout import NODE_HEIGHT, NODE_WIDTH, SMALL_HEIGHT, SMALL_WIDTH, draw, node_edges, with_deep_stack
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


@pytest.fixture
def _no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "fast_sugiyama", None)


@pytest.fixture
def _library():
    pytest.importorskip("fast_sugiyama", reason="the package that places nodes (the extra [report]) is not installed")


class TestDrawing:
    @pytest.fixture(autouse=True, params=["library", "no library"])
    def _either(self, request):
        request.getfixturevalue("_library" if request.param == "library" else "_no_library")

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
        found = with_deep_stack(lambda: draw(run))
        (box,) = found.boxes
        assert 1 < box.width / box.height < 4

    @pytest.mark.parametrize("most", [0, 10**9])
    def test_a_graph_of_many_long_edges_is_placed_more_simply(self, monkeypatch, most):
        monkeypatch.setattr(layout, "_MOST_OPTIMIZED", 0)
        monkeypatch.setattr(layout, "_MOST_ROUTED", most)
        for name in MODELS:
            self.test_every_node_lies_in_the_box_of_its_partition_and_nothing_overlaps(name)


class TestLibrary:
    @pytest.fixture(autouse=True)
    def _installed(self, _library):
        pass

    @pytest.mark.parametrize(("width", "ranking", "transpose"), [(5_000, None, None), (5_001, "up", False)])
    def test_thousands_of_nodes_side_by_side_are_placed_more_simply(self, monkeypatch, width, ranking, transpose):
        import fast_sugiyama

        place, options = fast_sugiyama.from_edges, []
        monkeypatch.setattr(
            fast_sugiyama, "from_edges", lambda edges, **keywords: options.append(keywords) or place(edges, **keywords)
        )
        readers = range(1, width + 1)
        (positions,) = layout._layouts([(0, reader) for reader in readers])
        assert sorted(node for node, _ in positions) == [0, *readers]
        assert [(given["ranking_type"], given["transpose"]) for given in options] == [(ranking, transpose)]

    def test_thousands_of_unconnected_pairs_take_little_memory(self):
        """In one call, the library takes 2 GiB for 3,000 pairs."""
        resource = pytest.importorskip("resource", reason="the system does not tell the memory of a process")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pieces = list(layout._layouts([(2 * pair, 2 * pair + 1) for pair in range(3000)]))
        assert sorted(node for piece in pieces for node, _ in piece) == list(range(6000))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10

    def test_all_drawings_of_a_page_share_one_thread(self, monkeypatch):
        threads = set()
        monkeypatch.setattr(graph_tables, "draw", lambda run: threads.add(threading.get_ident()) or draw(run))
        report = delegate_sim.analyze("fixtures/models/several_subgraphs.tflite", "nnapi", defaults="api")
        content.page_content([PageView(report.model, report.runs[0])])
        assert len(threads) == 1
        assert threading.get_ident() not in threads


@pytest.mark.usefixtures("_no_library")
def test_without_the_library_everything_is_drawn_in_the_same_thread():
    assert with_deep_stack(threading.get_ident) == threading.get_ident()


@pytest.mark.usefixtures("_library")
def test_an_error_in_the_thread_is_the_callers():
    def fail():
        raise RuntimeError("from the library")

    with pytest.raises(RuntimeError, match="from the library"):
        with_deep_stack(fail)


@pytest.mark.usefixtures("_library")
def test_a_stack_that_does_not_fit_into_memory_is_a_memory_error(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(MemoryError, match="can't start"):
        with_deep_stack(lambda: None)

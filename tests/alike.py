"""Models in which many nodes are alike, for tests that sharing what is found out about one of them changes nothing."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis.strategies as st

from fixtures.builder import ModelBuilder, SubgraphBuilder

SHARED = Path(__file__).resolve().parents[2] / "shared"
FIXTURES = sorted((Path(__file__).resolve().parents[1] / "fixtures" / "models").glob("*.tflite"))
CORPORA = ("fuzz", "keras", "onnx", "real", "torch")


def sample(corpus: str, count: int, seed: int = 21) -> list[bytes] | None:
    """Return some models of a corpus, the same ones each time; None where it is missing."""
    path = SHARED / "corpus" / f"{corpus}.zip"
    if not path.exists():
        return None
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".tflite") and not name.startswith("broken/"))
        return [archive.read(name) for name in random.Random(seed).sample(names, min(count, len(names)))]


_Maker = Callable[[SubgraphBuilder, Callable[[], int], int, int], int]


def _elementwise(op: str) -> _Maker:
    def add(graph: SubgraphBuilder, take: Callable[[], int], number: int, choice: int) -> int:
        options = {"fused_activation_function": choice % 2} if op in ("ADD", "MUL") else None
        count = 2 if op in ("ADD", "MUL", "MAXIMUM") else 1
        result = graph.tensor(f"t{number}", "FLOAT32", [(), (2, 4), (1, 4)][choice % 3])
        graph.node(op, [take() for _ in range(count)], [result], 1 + choice % 2, options)
        return result

    return add


def _reshape(graph: SubgraphBuilder, take: Callable[[], int], number: int, choice: int) -> int:
    data = [None, [4, 2], [-1], [8], [3, 3]][choice % 5]
    shape = graph.tensor(f"shape{number}", "INT32", [2 if data is None else len(data)], data=data)
    result = graph.tensor(f"t{number}", "FLOAT32", (2, 4))
    graph.node("RESHAPE", [take(), shape], [result], 1, {})
    return result


def _shape(graph: SubgraphBuilder, take: Callable[[], int], number: int, choice: int) -> int:
    shape, result = graph.tensor(f"s{number}", "INT32", (2,)), graph.tensor(f"t{number}", "FLOAT32", (2, 4))
    source = take()
    graph.node("SHAPE", [source], [shape], 1, {})
    graph.node("RESHAPE", [take() if choice % 2 else source, shape], [result], 1, {})
    return result


def _concatenation(graph: SubgraphBuilder, take: Callable[[], int], number: int, choice: int) -> int:
    result = graph.tensor(f"t{number}", "FLOAT32", (2, 8))
    graph.node("CONCATENATION", [take(), take()], [result], 1, {"axis": choice % 2})
    return result


def _dense(graph: SubgraphBuilder, take: Callable[[], int], number: int, choice: int) -> int:
    """Fully connected, of float or quantised weights that are large."""
    kind = ("FLOAT32", "INT8")[choice % 2]
    scales = {"scale": 0.5} if kind == "INT8" else {}
    weights = graph.tensor(f"w{number}", kind, (20, 4), data=[number % 7] * 80, **scales)
    result = graph.tensor(f"t{number}", "FLOAT32", (2, 20))
    graph.node("FULLY_CONNECTED", [take(), weights, -1], [result], 1 + choice % 3, {})
    return result


_MAKERS: Sequence[_Maker] = (
    *map(_elementwise, ("ADD", "MUL", "MAXIMUM", "RELU", "TANH", "CEIL", "ROUND")),
    _reshape,
    _shape,
    _concatenation,
    _dense,
)


@st.composite
def models(draw: st.DrawFn) -> bytes:
    """Draw a model of a few kinds of nodes that come again and again, some of which no kernel can prepare."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    sources = [graph.input("x", "FLOAT32", (2, 4)), graph.tensor("c", "FLOAT32", (2, 4), data=[1.0] * 8)]
    kinds = draw(st.lists(st.tuples(st.sampled_from(_MAKERS), st.integers(0, 5)), min_size=1, max_size=4))
    steps = draw(st.lists(st.tuples(st.sampled_from(kinds), st.lists(st.integers(0, 3), min_size=4, max_size=4)), max_size=14))
    for number, ((maker, choice), places) in enumerate(steps):
        waiting = list(places)
        sources.append(maker(graph, lambda: sources[-1 - waiting.pop() % len(sources)], number, choice))  # noqa: B023
    graph.outputs(sources[-1])
    return builder.bytes()

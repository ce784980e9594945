"""Check how well a driver profile learned from one log reproduces what the device did.

``python -m tools.driver_profiles`` makes pairs of a model and a hidden driver, writes the log, learns from it, and applies
the delegate with the learned profile. It prints in how many pairs the partition lines are the device's, and what the others are.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import delegate_sim
from delegate_sim.delegates.nnapi.driver_interface import driver_questions
from delegate_sim.device.compare.driver_profile import LearningError, learn, profile_text
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import read_log
from delegate_sim.model.model import Model
from fixtures.builder import ModelBuilder, SubgraphBuilder
from fixtures.device_logs import FORMS, Device, HiddenDriver, HiddenRule, write_log
from fixtures.image_models import image_model

PAIRS = 200
SEED = 7
WANTED = 0.95
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "models"
REPRODUCED = "reproduced"

_LEVELS = (1000008, 1000008, 1000008, 1000008, 1000007, 31, 30, 29)
_SHAPES = ((1, 8, 8, 4), (1, 4, 4, 8), (1, 16, 16, 4), (1, 8, 8, 8))


class Pair(NamedTuple):
    """A model and a device that ran it."""

    name: str
    model: Model
    device: Device
    form: str


def pairs(count: int, seed: int = SEED) -> Iterator[Pair]:
    """Return so many pairs, always the same for a seed; every driver rejects at least one node."""
    source = random.Random(seed)
    fixtures = [(path.stem, delegate_sim.load(path)) for path in sorted(FIXTURES.glob("*.tflite"))]
    made = 0
    while made < count:
        name, model = _model(source, fixtures)
        options: dict[str, Any] = {"feature_level": source.choice(_LEVELS)}
        if source.random() < 0.25:
            options["max_number_delegated_partitions"] = source.randint(1, 4)
        driver = _driver(source, model, options)
        if driver is None:
            continue
        device, form = Device(driver, options), source.choice(FORMS)
        if not _fails_to_compile(device, model):
            made += 1
            yield Pair(f"{made} {name}", model, device, form)


def _fails_to_compile(device: Device, model: Model) -> bool:
    """Whether the driver rejects in the end what it took when it was asked, which its log cannot teach."""
    refusal = device.run(model).refusal
    return refusal is not None and refusal.below is not None


def outcome(pair: Pair) -> str:
    """Learn from the log of a pair and return ``REPRODUCED``, or in a few words why the lines are not the device's."""
    device = pair.device
    log = read_log(write_log(pair.model, device, pair.form))
    known = {"feature_level": device.options["feature_level"]}
    reconciliation = reconcile(pair.model, log, setting_of(log, options=known))
    try:
        learning = learn(reconciliation, "device.txt")
    except LearningError as error:
        return f"not learned, {reconciliation.status}: {error}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "driver.toml"
        path.write_text(profile_text(learning.profile), encoding="utf-8")
        options = {**device.options, "driver": path}
        report = delegate_sim.analyze(pair.model, "nnapi", options, runtime=device.runtime, defaults="benchmark")
    if report.runs[0].log_lines == device.run(pair.model).log_lines:
        return REPRODUCED
    open_notes = [note for note in learning.notes if note.startswith("the driver rejects at least one")]
    return "taken all or none, and several operations may be the rejected one" if open_notes else "another line"


def _model(source: random.Random, fixtures: list[tuple[str, Model]]) -> tuple[str, Model]:
    kind = source.random()
    if kind < 0.35:
        return source.choice(fixtures)
    if kind < 0.5:
        nodes = source.randint(10, 80)
        return f"image model of {nodes} nodes", delegate_sim.load(image_model(nodes).bytes())
    nodes = source.randint(6, 50)
    return f"network of {nodes} layers", delegate_sim.load(network(source, nodes).bytes())


def _driver(source: random.Random, model: Model, options: dict[str, Any]) -> HiddenDriver | None:
    """Return a driver with one to three rules about operations that the model needs; None if it is asked about none."""
    run = Device(None, options).run(model)
    views = []
    for subgraph in run.subgraphs:
        questions = driver_questions(subgraph.graph, run.options, run.release) if subgraph.decision is not None else None
        for partition in questions.partitions if questions else ():
            for node, operations in partition.operations.items():
                views += [(operation, partition.graph.view(partition.graph.nodes[node])) for operation in operations]
    if not views or run.outcome != "delegated":
        return None
    rules = []
    for _ in range(source.randint(1, 3)):
        operation, view = source.choice(views)
        first = view.input(0)
        match source.randrange(5):
            case 0:
                rules.append(HiddenRule(operation))
            case 1:
                rules.append(HiddenRule(operation, first.type))
            case 2:
                rules.append(HiddenRule(operation, first.type, first.rank))
            case 3:
                rules.append(HiddenRule(operation, largest=max(max(first.shape, default=1) - 1, 0)))
            case _:
                rules.append(HiddenRule(operation, first.type, shape=first.shape))
    return HiddenDriver(*rules)


def network(source: random.Random, nodes: int) -> ModelBuilder:
    """Return a network of layers on images of several sizes, with branches and now and then an operator that NNAPI lacks."""
    builder = ModelBuilder(description="generated")
    graph = builder.subgraph("main")
    layers = _Layers(source, graph)
    while layers.count < nodes:
        layers.add()
    graph.outputs(*layers.ends())
    return builder


class _Layers:
    """Appends layers to a graph, each fed by a tensor made before."""

    def __init__(self, source: random.Random, graph: SubgraphBuilder) -> None:
        self.source = source
        self.graph = graph
        self.count = 0
        self.tensors: list[tuple[int, tuple[int, ...]]] = [
            (graph.input(f"input{number}", "FLOAT32", shape), shape) for number, shape in enumerate(_SHAPES)
        ]
        self.read: set[int] = set()

    def add(self) -> None:
        index, shape = self.source.choice(self.tensors[-4:])
        step = self.source.choice(
            (self._unary, self._unary, self._binary, self._binary, self._convolution, self._pool, self._resize)
        )
        self.read.add(index)
        step(index, shape)

    def ends(self) -> list[int]:
        """Return the tensors that nothing reads."""
        return [index for index, _ in self.tensors if index not in self.read]

    def _node(self, op: str, inputs: list[int], shape: tuple[int, ...], options: dict[str, Any] | None = None) -> None:
        result = self.graph.tensor(f"t{self.count}", "FLOAT32", shape)
        self.graph.node(op, inputs, [result], options=options)
        self.tensors.append((result, shape))
        self.count += 1

    def _constant(self, shape: tuple[int, ...], kind: str = "FLOAT32", value: list[int] | None = None) -> int:
        size = 1
        for length in shape:
            size *= length
        return self.graph.tensor(f"c{self.count}", kind, shape, data=value if value is not None else [1] * size)

    def _unary(self, index: int, shape: tuple[int, ...]) -> None:
        op = self.source.choice(("RELU", "TANH", "LOGISTIC", "FLOOR", "SOFTMAX", "HARD_SWISH", "ABS", "CEIL", "ROUND"))
        self._node(op, [index], shape, {"beta": 1.0} if op == "SOFTMAX" else None)

    def _binary(self, index: int, shape: tuple[int, ...]) -> None:
        op = self.source.choice(("ADD", "SUB", "MUL", "MAXIMUM", "SQUARED_DIFFERENCE"))
        others = [tensor for tensor, other in self.tensors if other == shape]
        other = self.source.choice([*others, self._constant(shape)])
        self.read.add(other)
        self._node(op, [index, other], shape, None if op in ("MAXIMUM", "SQUARED_DIFFERENCE") else {})

    def _convolution(self, index: int, shape: tuple[int, ...]) -> None:
        channels = self.source.choice((4, 8))
        size = self.source.choice((1, 3))
        weights = self._constant((channels, size, size, shape[3]))
        bias = self._constant((channels,))
        self._node("CONV_2D", [index, weights, bias], (*shape[:3], channels), {"stride_w": 1, "stride_h": 1})

    def _pool(self, index: int, shape: tuple[int, ...]) -> None:
        op = self.source.choice(("MAX_POOL_2D", "AVERAGE_POOL_2D"))
        window = {"stride_w": 1, "stride_h": 1, "filter_width": 2, "filter_height": 2}
        self._node(op, [index], shape, window)

    def _resize(self, index: int, shape: tuple[int, ...]) -> None:
        op = self.source.choice(("RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"))
        height = self.source.choice((4, 8, 16))
        size = self._constant((2,), "INT32", [height, height])
        self._node(op, [index, size], (shape[0], height, height, shape[3]), {})


def main() -> int:
    """Print the share of pairs whose lines are reproduced, and what becomes of the others; 1 if the share is too low."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    outcomes: dict[str, list[str]] = {}
    for pair in pairs(arguments.pairs, arguments.seed):
        outcomes.setdefault(outcome(pair), []).append(pair.name)
    counts = Counter({kind: len(names) for kind, names in outcomes.items()})
    share = counts[REPRODUCED] / arguments.pairs
    print(f"{counts[REPRODUCED]} of {arguments.pairs} pairs reproduced ({100 * share:.1f} %; wanted {100 * WANTED:g} %)")
    for kind, count in counts.most_common():
        if kind != REPRODUCED:
            print(f"{count}: {kind} [{'; '.join(outcomes[kind])}]")
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

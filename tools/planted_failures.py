"""Reduce generated networks with one planted failure: ``python -m tools.planted_failures COUNT [--kind KIND]``.

Each network has 50 to 300 nodes. A program refuses one node or a pair of nodes, or the real runtime refuses a node. For each
network, this program prints the number of nodes before and after, the runs and the seconds. A network is solved if at most
``MOST_NODES`` nodes are left, the message is the same, and the file has none of the original's weights and names.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from delegate_sim.errors import DelegateSimError
from delegate_sim.model.model import Model, Subgraph
from delegate_sim.model.reader import load
from delegate_sim.reduction.failures import FailureTest, LiveTest, NumbersTest, ProgramTest
from delegate_sim.reduction.reduce import Reduction, reduce_model
from fixtures.builder import ModelBuilder, SubgraphBuilder

MOST_NODES = 3
_SIZE, _CHANNELS = 8, 6
_SHAPE = (1, _SIZE, _SIZE, _CHANNELS)
_STRIDES = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}


class Network:
    """A random network with nodes that keep the shape of an image, and the place of one planted failure."""

    def __init__(self, seed: int, kind: str) -> None:
        self._random, self._numbers = random.Random(seed), np.random.default_rng(seed)
        self.builder = ModelBuilder(f"network {seed}")
        self._graph: SubgraphBuilder = self.builder.subgraph("private_graph")
        image = self._graph.input("private_image", "FLOAT32", _SHAPE)
        self._results = [image]
        self._nodes, self._tensors = 0, 0
        count = self._random.randrange(50, 300)
        planted = self._random.randrange(count)
        has_planted = False
        while self._nodes < count:
            if not has_planted and self._nodes >= planted:
                PLANTS[kind](self)
                has_planted = True
            self._random.choice((self._conv, self._simple, self._residual, self._scaled, self._half, self._transposed))()
        self._graph.outputs(self._results[-1])
        self.builder.signature("private_key", self._graph, {"private_in": image}, {"private_out": self._results[-1]})
        self.builder.metadata("private_metadata", b"private labels")

    @property
    def last(self) -> int:
        """The last result."""
        return self._results[-1]

    def tensor(self, shape: tuple[int, ...] = _SHAPE) -> int:
        """Add a result."""
        self._tensors += 1
        return self._graph.tensor(f"private/layer_{self._tensors}", "FLOAT32", shape)

    def constant(self, kind: str, values: object) -> int:
        """Add a constant."""
        array = np.asarray(values, {"FLOAT32": "<f4", "FLOAT16": "<f2", "INT32": "<i4"}[kind])
        self._tensors += 1
        return self._graph.tensor(f"private/weights_{self._tensors}", kind, array.shape, array)

    def normal(self, *shape: int) -> object:
        """Return random elements."""
        return self._numbers.standard_normal(shape) / 8

    def node(
        self, op: str, inputs: list[int], options: Mapping[str, object] | None = None, shape: tuple[int, ...] = _SHAPE
    ) -> int:
        """Add a node and return its result."""
        result = self.tensor(shape)
        self._graph.node(op, inputs, [result], options=options)
        self._nodes += 1
        if shape == _SHAPE:
            self._results.append(result)
        return result

    def conv(self, *, has_bias: bool = True, stride: int = 1) -> int:
        """Add a convolution."""
        weights = self.constant("FLOAT32", self.normal(_CHANNELS, 3, 3, _CHANNELS))
        bias = [self.constant("FLOAT32", self.normal(_CHANNELS))] if has_bias else []
        size = -(-_SIZE // stride)
        options = {**_STRIDES, "stride_w": stride, "stride_h": stride}
        return self.node("CONV_2D", [self.last, weights, *bias], options, (1, size, size, _CHANNELS))

    def _conv(self) -> None:
        self.conv()

    def _simple(self) -> None:
        op = self._random.choice(("RELU", "RELU6", "LOGISTIC", "TANH", "ABS"))
        self.node(op, [self.last])

    def _residual(self) -> None:
        self.node("ADD", [self.last, self._random.choice(self._results)], {})

    def _scaled(self) -> None:
        self.node("MUL", [self.last, self.constant("FLOAT32", self.normal(_CHANNELS))], {})

    def _half(self) -> None:
        weights = self.constant("FLOAT16", self.normal(_CHANNELS, 1, 1, _CHANNELS))
        wide = self.node("DEQUANTIZE", [weights], {}, (_CHANNELS, 1, 1, _CHANNELS))
        self.node("CONV_2D", [self.last, wide, self.constant("FLOAT32", self.normal(_CHANNELS))], _STRIDES)

    def _transposed(self) -> None:
        order = self.constant("INT32", [0, 2, 1, 3])
        self.node("TRANSPOSE", [self.last, order], {})


def _prelu_pair(network: Network) -> None:
    network.conv()
    network.node("PRELU", [network.last, network.constant("FLOAT32", network.normal(1, 1, _CHANNELS))])
    network.node("LEAKY_RELU", [network.last], {"alpha": 0.3})


def _in_five_dimensions(network: Network) -> None:
    shape = (1, 1, _SIZE, _SIZE, _CHANNELS)
    wide = network.node("RESHAPE", [network.last, network.constant("INT32", shape)], {"new_shape": shape}, shape)
    square = network.node("SQUARE", [wide], {}, shape)
    network.node("RESHAPE", [square, network.constant("INT32", _SHAPE)], {"new_shape": _SHAPE})


def _strided(network: Network) -> None:
    small = network.conv(stride=3)
    size = network.constant("INT32", [_SIZE, _SIZE])
    network.node("RESIZE_NEAREST_NEIGHBOR", [small, size], {})


PLANTS: Mapping[str, Callable[[Network], object]] = {
    "operator": lambda network: network.node("ELU", [network.last]),
    "option": _strided,
    "shape": _in_five_dimensions,
    "pair": _prelu_pair,
    "xnnpack": lambda network: network.conv(has_bias=False),
    "mldrift": lambda network: network.conv(has_bias=False),
    "numbers": _prelu_pair,
}
"""The nodes that are planted for each kind of failure."""


def failure_test(kind: str) -> FailureTest:
    """Return the program or the delegate that fails."""
    if kind in ("xnnpack", "mldrift"):
        return LiveTest(kind, {})
    if kind == "numbers":
        return NumbersTest("mldrift")
    return ProgramTest(f"{sys.executable} {Path(__file__).resolve().with_name('refusing_program.py')} {{model}}")


def is_solved(model: Model, result: Reduction) -> bool:
    """Return whether a reduced model is small, and has none of the original's weights and names."""
    content = bytes(result.content)
    weights = [model.content[start : start + 16] for graph in model.subgraphs for start, size in _floats(graph) if size >= 16]
    is_small = result.nodes <= MOST_NODES and not result.empty_model_fails
    return is_small and b"private" not in content and not any(bytes(own) in content for own in weights)


def _floats(graph: Subgraph) -> list[tuple[int, int]]:
    return [tensor.data for tensor in graph.tensors if tensor.data is not None and tensor.type.startswith("FLOAT")]


def main() -> int:
    """Reduce the networks, and return 1 if one of them is not solved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=40)
    parser.add_argument("--kind", choices=tuple(PLANTS))
    options = parser.parse_args()
    solved, kinds = 0, [options.kind] if options.kind else list(PLANTS)
    for seed in range(options.count):
        kind = kinds[seed % len(kinds)]
        model, start, cpu = load(Network(seed, kind).builder.bytes()), time.monotonic(), _cpu()
        try:
            result = reduce_model(model, failure_test(kind))
        except DelegateSimError as error:
            print(f"{seed} {kind}: {error}")
            continue
        is_right = is_solved(model, result)
        solved += is_right
        times = f"{time.monotonic() - start:.0f} s, {_cpu() - cpu:.0f} s of CPU"
        print(
            f"{seed} {kind}: {result.original_nodes} -> {result.nodes} nodes ({', '.join(result.operators)}), "
            f"{result.runs} runs, {times}, kept {[kept.content for kept in result.kept]}, "
            f"{'solved' if is_right else 'NOT SOLVED'}: {result.message}",
            flush=True,
        )
    print(f"{solved} of {options.count} solved")
    return int(solved < options.count)


def _cpu() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit(main())

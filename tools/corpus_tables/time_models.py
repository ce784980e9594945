"""Own models for the proof of the bounds: XNNPACK takes every second layer, and a fix makes XNNPACK take the others too.

The kernels of these models have a single operator, so that the delegate's rate for this operator is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fixtures.builder import ModelBuilder, SubgraphBuilder

_RELU = 1


@dataclass(frozen=True)
class Tower:
    """A model of layers that follow each other. XNNPACK rejects every second layer.

    A rejected layer has INT8 weights and FLOAT32 activations (``is_hybrid``), or INT16 weights that a DEQUANTIZE converts.
    """

    name: str
    op: str
    layers: int
    size: int
    """Height and width of the input, or the number of rows."""
    channels: int
    window: int = 1
    is_hybrid: bool = False
    halves_every: int = 0
    """After so many layers, height and width are halved and channels are doubled; 0 for never."""

    def content(self) -> bytes:
        """Return the file."""
        builder = ModelBuilder(self.name)
        graph = builder.subgraph()
        random = np.random.default_rng(0)
        size, channels = self.size, self.channels
        last = graph.input("x", "FLOAT32", self._shape(size, channels))
        for number in range(self.layers):
            halves = bool(self.halves_every) and number % self.halves_every == self.halves_every - 1
            depth, factor = channels, 2 if halves else 1
            size, channels = size // factor, channels * factor
            shape = {
                "CONV_2D": [channels, self.window, self.window, depth],
                "DEPTHWISE_CONV_2D": [1, self.window, self.window, channels],
                "FULLY_CONNECTED": [channels, depth],
            }[self.op]
            weights = (self._rejected if number % 2 else self._float)(graph, number, shape, random)
            bias = graph.tensor(f"b{number}", "FLOAT32", [channels], [0.01] * channels)
            output = graph.tensor(f"y{number}", "FLOAT32", self._shape(size, channels))
            options = {"fused_activation_function": _RELU}
            if self.op != "FULLY_CONNECTED":
                options |= {"stride_w": factor, "stride_h": factor}
            if self.op == "DEPTHWISE_CONV_2D":
                options["depth_multiplier"] = factor
            graph.node(self.op, [last, weights, bias], [output], options=options)
            last = output
        graph.outputs(last)
        return bytes(builder.bytes())

    def _shape(self, size: int, channels: int) -> list[int]:
        return [size, channels] if self.op == "FULLY_CONNECTED" else [1, size, size, channels]

    def _float(self, graph: SubgraphBuilder, number: int, shape: Sequence[int], random: np.random.Generator) -> int:
        fan_in = np.prod(shape[1:3]) if self.op == "DEPTHWISE_CONV_2D" else np.prod(shape[1:])
        values = random.standard_normal(shape) * (2 / fan_in) ** 0.5
        return graph.tensor(f"w{number}", "FLOAT32", shape, values.astype(np.float32))

    def _rejected(self, graph: SubgraphBuilder, number: int, shape: Sequence[int], random: np.random.Generator) -> int:
        if self.is_hybrid:
            axis = 3 if self.op == "DEPTHWISE_CONV_2D" else 0
            values = random.integers(-127, 128, shape, np.int8)
            return graph.tensor(f"w{number}", "INT8", shape, values, scale=[0.004] * shape[axis], axis=axis)
        values = random.integers(-999, 1000, shape, np.int16)
        stored = graph.tensor(f"v{number}", "INT16", shape, values, scale=0.0001)
        weights = graph.tensor(f"w{number}", "FLOAT32", shape)
        graph.node("DEQUANTIZE", [stored], [weights])
        return weights


TOWERS = (
    Tower("depthwise 3x3, half of it hybrid", "DEPTHWISE_CONV_2D", 12, 56, 96, 3, is_hybrid=True),
    Tower("depthwise 5x5, half of it hybrid", "DEPTHWISE_CONV_2D", 8, 28, 192, 5, is_hybrid=True),
    Tower("depthwise pyramid, half of it hybrid", "DEPTHWISE_CONV_2D", 12, 112, 32, 3, is_hybrid=True, halves_every=3),
    Tower("depthwise 3x3, half of it with INT16 weights", "DEPTHWISE_CONV_2D", 12, 56, 96, 3),
    Tower("convolutions 3x3, half of them with INT16 weights", "CONV_2D", 8, 28, 64, 3),
    Tower("convolutions 1x1, half of them with INT16 weights", "CONV_2D", 8, 56, 96),
    Tower("pyramid of convolutions, half of them with INT16 weights", "CONV_2D", 8, 56, 32, 3, halves_every=3),
    Tower("layers, half of them with INT16 weights", "FULLY_CONNECTED", 8, 64, 512),
)


def own_models() -> Iterator[tuple[str, bytes]]:
    """Yield the own models with their names."""
    for tower in TOWERS:
        yield f"own: {tower.name}", tower.content()

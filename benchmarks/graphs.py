"""Graphs like those of image models, of any number of nodes."""

from __future__ import annotations

import math

from fixtures.builder import ZEROS, ModelBuilder, SubgraphBuilder

_IMAGE = (1, 2, 2, 4)
_CHANNELS = _IMAGE[-1]
_FLAT = (1, math.prod(_IMAGE))
_RELU6 = 3
_WINDOW = {"stride_w": 1, "stride_h": 1, "fused_activation_function": _RELU6}


def image_model(node_count: int) -> ModelBuilder:
    """Return a model with so many nodes: inverted residual blocks, dense layers, and now and then an operator refused."""
    builder = ModelBuilder(description=f"generated: {node_count} nodes")
    blocks = _Blocks(builder.subgraph("main"))
    number = 0
    while blocks.node_count < node_count:
        blocks.inverted_residual()
        if number % 4 == 3:
            blocks.dense()
        if number % 10 == 9:
            blocks.refused()
        number += 1
    blocks.graph.outputs(blocks.last)
    return builder


class _Blocks:
    """Appends blocks of nodes to a graph, each fed by the one before."""

    def __init__(self, graph: SubgraphBuilder) -> None:
        self.graph = graph
        self.node_count = 0
        self.last = graph.input("input", "FLOAT32", _IMAGE)

    def inverted_residual(self) -> None:
        """Expand, filter and project, and add the input."""
        source = self.last
        self._convolution("CONV_2D", (_CHANNELS, 1, 1, _CHANNELS), {})
        self._convolution("DEPTHWISE_CONV_2D", (1, 3, 3, _CHANNELS), {"depth_multiplier": 1})
        self._convolution("CONV_2D", (_CHANNELS, 1, 1, _CHANNELS), {})
        self._node("ADD", (source, self.last), _IMAGE, {})
        self._node("RELU", (self.last,), _IMAGE)

    def dense(self) -> None:
        """Flatten, multiply with a matrix, and give the image its shape back."""
        self._reshape(_FLAT)
        weights = self._constant("weights", "FLOAT32", (_FLAT[1], _FLAT[1]))
        bias = self._constant("bias", "FLOAT32", _FLAT[1:])
        self._node("FULLY_CONNECTED", (self.last, weights, bias), _FLAT, {})
        self._reshape(_IMAGE)

    def refused(self) -> None:
        """An operator that delegates refuse."""
        self._node("CEIL", (self.last,), _IMAGE)

    def _convolution(self, op: str, weights_shape: tuple[int, ...], options: dict[str, int]) -> None:
        weights = self._constant("weights", "FLOAT32", weights_shape)
        bias = self._constant("bias", "FLOAT32", (_CHANNELS,))
        self._node(op, (self.last, weights, bias), _IMAGE, {**_WINDOW, **options})

    def _reshape(self, shape: tuple[int, ...]) -> None:
        constant = self.graph.tensor(self._name("shape"), "INT32", (len(shape),), data=shape)
        self._node("RESHAPE", (self.last, constant), shape, {"new_shape": shape})

    def _constant(self, name: str, type_name: str, shape: tuple[int, ...]) -> int:
        return self.graph.tensor(self._name(name), type_name, shape, data=ZEROS)

    def _node(self, op: str, inputs: tuple[int, ...], shape: tuple[int, ...], options: dict[str, object] | None = None) -> None:
        result = self.graph.tensor(self._name("output"), "FLOAT32", shape)
        self.graph.node(op, inputs, (result,), options=options)
        self.last = result
        self.node_count += 1

    def _name(self, part: str) -> str:
        return f"model/block{self.node_count}/{part}"

"""Random graphs under construction: tensors and nodes that hypothesis chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from fixtures.builder import ModelBuilder, SubgraphBuilder

_SCALES = (0.5, 0.25, 1 / 128, 1 / 256, 1.0)
"""Near enough to each other for nodes with weights: the runtime may crash where XNNPACK cannot requantize their results."""
_ZERO_POINTS = {"INT8": (0, 3, -128), "UINT8": (128, 0, 5), "INT16": (0,)}
_INPUT_TYPES = ("FLOAT32", "FLOAT32", "FLOAT32", "INT8", "INT8", "UINT8", "FLOAT16", "INT32")
_MOST_ELEMENTS = 2000
_MOST_DIMENSIONS = 6


class SketchTensor(NamedTuple):
    """A tensor that nodes may read."""

    index: int
    type: str
    shape: tuple[int, ...]
    quantization: dict[str, Any]


class Sketch:
    """A graph under construction, whose choices hypothesis makes."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._builder = ModelBuilder()
        self._graph = self._builder.subgraph()
        self._tensors: list[SketchTensor] = []
        self._read: set[int] = set()

    def subgraph(self, name: str) -> SubgraphBuilder:
        """Add a further subgraph, which nodes may call."""
        return self._builder.subgraph(name)

    def number(self, lowest: int, highest: int) -> int:
        return int(self._draw(st.integers(lowest, highest)))

    def choice(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.number(1, one_in) == one_in

    def quantization(self, type: str) -> dict[str, Any]:
        if type not in _ZERO_POINTS:
            return {}
        return {"scale": self.choice(_SCALES), "zero_point": self.choice(_ZERO_POINTS[type])}

    def input(self) -> None:
        rank = self.choice((4, 4, 4, 2, 3, 1, 5))
        shape = (*(self.choice((1, 2, 4, 5)) for _ in range(rank - 1)), self.choice((1, 2, 4, 8)))
        type = self.choice(_INPUT_TYPES)
        quantization = self.quantization(type)
        index = self._graph.input(f"input_{len(self._tensors)}", type, shape, **quantization)
        self._tensors.append(SketchTensor(index, type, shape, quantization))

    def input_of(self, type: str, shape: Sequence[int], **quantization: Any) -> SketchTensor:
        index = self._graph.input(f"input_{len(self._tensors)}", type, shape, **quantization)
        self._tensors.append(SketchTensor(index, type, tuple(shape), quantization))
        return self._tensors[-1]

    def operand(self, *, rank: int | None = None, types: Sequence[str] = ()) -> SketchTensor | None:
        """Return a tensor to read, if there is one like this; mostly one that was made late.

        It is no scalar: TRANSPOSE leaves the result of a scalar unwritten, and scalars have no axis.
        """
        fit = [
            tensor
            for tensor in self._tensors
            if (tensor.shape if rank is None else len(tensor.shape) == rank) and (not types or tensor.type in types)
        ]
        if not fit:
            return None
        return fit[-1] if self.number(0, 2) else self.choice(fit)

    def last(self) -> SketchTensor:
        return self._tensors[-1]

    def constant(self, type: str, shape: Sequence[int], data: Any = None, **quantization: Any) -> int:
        if type == "INT4":
            data = bytes((math.prod(shape) + 1) // 2)
        elif data is None:
            data = np.ones(shape)
        return self._graph.tensor("constant", type, shape, data, **quantization)

    def node(
        self,
        op: str,
        inputs: Sequence[SketchTensor | int],
        type: str,
        shape: Sequence[int],
        options: dict[str, Any] | None = None,
        *,
        quantization: dict[str, Any] | None = None,
        outputs: int = 1,
        version: int = 1,
    ) -> None:
        """Add a node whose results are all of one type and shape."""
        quantization = self.quantization(type) if quantization is None or type not in _ZERO_POINTS else quantization
        if len(shape) > _MOST_DIMENSIONS or math.prod(shape) > _MOST_ELEMENTS:
            return
        made = [self._graph.tensor("result", type, shape, **quantization) for _ in range(outputs)]
        operands = [operand.index if isinstance(operand, SketchTensor) else operand for operand in inputs]
        self._read.update(operands)
        self._graph.node(op, operands, made, version, options)
        self._tensors += [SketchTensor(index, type, tuple(shape), quantization) for index in made]

    def output(self, tensor: SketchTensor) -> None:
        """Make a tensor an output, although nodes have read it."""
        self._read.discard(tensor.index)

    def unpacked(self, type: str, shape: Sequence[int]) -> int:
        """Return a FLOAT32 tensor that DEQUANTIZE makes of a constant."""
        packed = self.constant(type, shape, **({} if type == "FLOAT16" else {"scale": 0.5, "zero_point": 0}))
        made = self._graph.tensor("unpacked", "FLOAT32", shape)
        self._graph.node("DEQUANTIZE", [packed], [made], 1, {})
        self._read.update((packed, made))
        return made

    def bytes(self) -> bytes:
        made = [tensor.index for tensor in self._tensors]
        self._graph.outputs(*(index for index in made if index not in self._read or self.chance(8)))
        return self._builder.bytes()

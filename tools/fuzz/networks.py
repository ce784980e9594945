"""Networks whose nodes have the operands that they need, with sizes, scales, axes and options at their edges at the same time."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delegate_sim.model import schema
from fixtures.builder import ModelBuilder

_GREATEST = (1 << 31) - 1
LARGE = (0, 255, 4095, 65_535, 65_536, 1 << 20, (1 << 22) + 1, (1 << 26) + 1, 1 << 30, 1 << 30, _GREATEST)
_USUAL = (1, 1, 2, 3, 4, 8, 16)
_MOST_BYTES = 1 << 20
"""Constants and scales of a model; those beyond have a few elements in the file, or none."""
_NAMES = ("batch", "height", "width", "channels", "outputs", "kernel")
_KINDS = (
    *[("FLOAT32", "FLOAT32")] * 6, ("FLOAT32", "INT8"), ("FLOAT32", "FLOAT16"), ("FLOAT32", "INT4"),
    ("INT8", "INT8"), ("INT8", "INT8"), ("INT8", "INT4"), ("UINT8", "UINT8"), ("INT16", "INT8"), ("FLOAT16", "FLOAT16"),
)  # fmt: skip
"""Types of activations and weights."""
_BIASES = {"INT8": "INT32", "UINT8": "INT32", "INT16": "INT64"}
_SOUND = {
    "stride_w": 1,
    "stride_h": 1,
    "dilation_w_factor": 1,
    "dilation_h_factor": 1,
    "depth_multiplier": 1,
    "block_size": 2,
    "num_splits": 1,
}

Shape = tuple[int, ...]
Layer = Callable[["_Network", int, Shape], tuple[Sequence[int], Shape]]
"""Returns the operands of a node and the shape of its result, for the tensor that it reads and that tensor's shape."""


def network(generator: random.Random) -> bytes:
    """Return a model of one chain of layers with branches; sizes of the same meaning are the same everywhere."""
    built = _Network(generator)
    for _ in range(generator.choice((1, 1, 2, 3, 5, 8, 20))):
        built.add(generator.choice(_OPS))
    return built.content()


def long_network(generator: random.Random) -> bytes:
    """Return the same of many nodes, whose options differ; some have custom operators, each another one."""
    built = _Network(generator)
    ops = generator.sample(_OPS, generator.choice((1, 3, 10)))
    custom_share = generator.choice((0.0, 0.0, 0.3))
    for number in range(generator.choice((300, 1_000, 3_000, 8_000))):
        if generator.random() < custom_share:
            built.add_custom(f"Own{number}")
        else:
            built.add(generator.choice(ops))
    return built.content()


class _Network:
    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.activation_type, self.weight_type = generator.choice(_KINDS)
        edges = generator.choices(LARGE, k=generator.choice((1, 1, 2)))
        large = generator.sample(_NAMES, generator.choice((0, 1, 1, 2, 3)))
        self.sizes = {name: generator.choice(edges) if name in large else generator.choice(_USUAL) for name in _NAMES}
        self._is_edge = generator.choice((0.0, 0.0, 0.02, 0.2))
        # Numbers of scales and zero points of weights; None: one for each slice, or for each scale.
        self._scales = generator.choice((0, 1, 1, 2, 255, 4096, None, None))
        self._zero_points = generator.choice((None, None, None, 1, 255))
        self._axis = generator.choice((None, None, 0, 1, 3, -1, _GREATEST))
        self._has_any_batch = generator.random() < 0.25
        self._builder = ModelBuilder()
        self._graph = self._builder.subgraph()
        self._count = 0
        self._bytes_left = _MOST_BYTES
        shape = tuple([self.sizes[name] for name in ("batch", "height", "width", "channels")])
        if generator.random() < 0.3:
            shape = shape[:: generator.choice((1, 3))][: generator.randrange(5)] + (3,) * generator.choice((0, 0, 2))
        self._results = [(self.activation(shape), shape)]
        self._graph.inputs(self._results[0][0])
        if generator.random() < 0.3:
            self._results.append((self.weights(shape, 0, self.activation_type), shape))

    def edge(self, usual: int) -> int:
        """Return this number, or now and then one at the edge."""
        if self.generator.random() >= self._is_edge:
            return usual
        return self.generator.choice((*LARGE, usual - 1, usual + 1, -1, -(1 << 31)))

    def activation(self, shape: Shape) -> int:
        """Add a tensor that is computed; some have unknown sizes."""
        fields: dict[str, Any] = {}
        if self.activation_type in _BIASES:
            fields = {"scale": 0.5, "zero_point": 0}
        choice = self.generator.random()
        if self._has_any_batch and shape:
            fields["signature"] = (-1, *shape[1:])
        elif choice < 0.05:
            fields["signature"] = (-1,) * len(shape)
        return self._tensor(self.activation_type, shape, fields)

    def constant(self, kind: str, values: Sequence[int], shape: Shape | None = None) -> int:
        """Add a constant of these elements, each of which may be at the edge."""
        own = [(self.edge(value) + (1 << 31)) % (1 << 32) - (1 << 31) for value in values]
        return self._tensor(kind, (len(own),) if shape is None else shape, {"data": own})

    def weights(self, shape: Shape, axis: int = 0, kind: str | None = None) -> int:
        """Add weights: with elements or, if they are too many, with a few or none; one of the sizes may be at the edge."""
        kind = kind or self.weight_type
        shape = tuple([size if self.generator.random() >= self._is_edge else self.generator.choice(LARGE) for size in shape])
        fields: dict[str, Any] = {}
        slices = shape[axis] if shape else 1
        if kind not in ("FLOAT32", "FLOAT16"):
            scales = slices if self._scales is None else self._scales
            scales = scales if self._takes(12 * scales) else 1
            zero_points = scales if self._zero_points is None else self._zero_points
            fields = {"scale": [0.5] * scales, "zero_point": [0] * zero_points}
            fields["axis"] = axis % max(len(shape), 1) if self._axis is None else self._axis
        size = math.prod([max(size, 0) for size in shape]) * schema.BITS_PER_ELEMENT[kind] // 8
        if self._takes(size):
            fields["data"] = self.generator.choice((b"\1", b"\0")) * self._length(size)
        elif self.generator.random() < 0.7:
            fields["data"] = bytes(16)
        return self._tensor(kind, shape, fields)

    def _takes(self, size: int) -> bool:
        """Return whether so many bytes may still go into the file: at most a quarter of the remaining bytes."""
        if size > self._bytes_left // 4:
            return False
        self._bytes_left -= size
        return True

    def _length(self, size: int) -> int:
        """Return the length of a buffer for this many bytes: seldom another."""
        return size if self.generator.random() < 0.95 else self.generator.choice((0, 1, size // 2, size + 4))

    def bias(self, size: int) -> int:
        """Add a bias, or leave it out."""
        if self.generator.random() < 0.1:
            return -1
        return self.weights((size,), 0, _BIASES.get(self.activation_type, self.activation_type))

    def add(self, op: str) -> None:
        """Add a node to one of the last results, with what it needs."""
        operand, shape = self.generator.choice(self._results[-3:])
        if len(shape) != 4 and op in _OPS_ON_IMAGES and self.generator.random() < 0.9:
            op = "FULLY_CONNECTED"
        operands, result = _LAYERS[op](self, operand, shape)
        result = tuple([min(size, _GREATEST) for size in result])
        output = self.activation(result)
        version = self.generator.choice((1, 1, 2, 3, 5))
        self._graph.node(op, operands, [output], version, self._options(op))
        self._results.append((output, result))

    def add_custom(self, custom: str) -> None:
        """Add a node with a custom operator to one of the last results."""
        operand, shape = self.generator.choice(self._results[-3:])
        output = self.activation(shape)
        self._graph.node("CUSTOM", [operand], [output], custom=custom)
        self._results.append((output, shape))

    def content(self) -> bytes:
        """Return the file; its outputs are the last results."""
        self._graph.outputs(*[output for output, _ in self._results[-2:]])
        content: bytes = self._builder.bytes()
        return content

    def _tensor(self, kind: str, shape: Shape, fields: Mapping[str, Any]) -> int:
        self._count += 1
        index: int = self._graph.tensor(f"t{self._count}", kind, [min(size, _GREATEST) for size in shape], **fields)
        return index

    def _options(self, op: str) -> dict[str, Any] | None:
        table = schema.options_table(op)
        if not table:
            return None
        options: dict[str, Any] = {}
        for field in schema.table_fields(table).values():
            if field.format is None:
                continue
            kind = field.format[-1]
            if kind == "?":
                options[field.name] = self.generator.random() < 0.1
            elif kind in "fd":
                options[field.name] = self.generator.choice((0.0, 0.1, 1.0))
            elif struct.calcsize(field.format) == 1:
                options[field.name] = self.generator.choice((0, 0, 0, 0, 1))
            else:
                options[field.name] = self.edge(_SOUND.get(field.name, self.generator.choice((1, 2, 3))))
        return options


def _same(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand], shape


def _other_operand(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.generator.choice((network.activation, network.weights))(shape)], shape


def _vector(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.weights(shape[-1:], 0, network.activation_type)], shape


def _convolution(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    outputs, kernel = network.sizes["outputs"], network.sizes["kernel"]
    return [operand, network.weights((outputs, kernel, kernel, *shape[-1:])), network.bias(outputs)], (*shape[:-1], outputs)


def _depthwise(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    kernel = network.sizes["kernel"]
    return [operand, network.weights((1, kernel, kernel, *shape[-1:]), -1), network.bias(shape[-1] if shape else 1)], shape


def _transposed(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    result = (*shape[:-1], network.sizes["outputs"])
    (_, weights, bias), _ = _convolution(network, operand, shape)
    return [network.constant("INT32", result), weights, operand, bias], result


def _fully_connected(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    outputs = network.sizes["outputs"]
    return [operand, network.weights((outputs, *shape[-1:])), network.bias(outputs)], (*shape[:-1], outputs)


def _product(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    result = (*shape[:-1], network.sizes["outputs"])
    return [operand, network.weights((*shape[:-2], *shape[-1:], network.sizes["outputs"]), -1)], result


def _reshaped(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    result = network.generator.choice((shape[::-1], (math.prod(shape),), (1, *shape), (*shape[:1], math.prod(shape[1:]))))
    return [operand, network.constant("INT32", result)], result


def _permuted(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.constant("INT32", range(len(shape))[::-1])], shape[::-1]


def _reduced(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.constant("INT32", range(1, max(len(shape) - 1, 2)))], shape[:1] + shape[-1:]


def _padded(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    pads = network.constant("INT32", (0, 1) * len(shape), (len(shape), 2))
    return [operand, pads], tuple([size + 1 for size in shape])


def _resized(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    size = network.sizes["height"], network.sizes["width"]
    return [operand, network.constant("INT32", size)], shape[:1] + size + shape[3:]


def _sliced(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.constant("INT32", (0,) * len(shape)), network.constant("INT32", shape)], shape


def _strided(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    operands, _ = _sliced(network, operand, shape)
    return [*operands, network.constant("INT32", (1,) * len(shape))], shape


def _repeated(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    times = network.sizes["kernel"]
    return [operand, network.constant("INT32", (times,) * len(shape))], tuple([size * times for size in shape])


def _gathered(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    count = network.sizes["outputs"]
    indices = network.constant("INT32", (0, 1, 2)) if count < 8 else network.weights((count,), 0, "INT32")
    return [operand, indices], (count, *shape[1:])


def _recurrent(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    units, inputs = network.sizes["outputs"], shape[-1:]
    operands = [network.weights((units, *inputs)) for _ in range(4)] + [network.weights((units, units)) for _ in range(4)]
    operands += [-1] * 3 + [network.weights((units,), 0, network.activation_type) for _ in range(4)] + [-1] * 2
    return [operand, *operands, network.activation((1, units)), network.activation((1, units))], (*shape[:-1], units)


def _split(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [network.constant("INT32", (len(shape) - 1,), ()), operand], shape


def _filled(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [network.constant("INT32", shape), network.weights((), 0, network.activation_type)], shape


def _with_axis(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    return [operand, network.constant("INT32", (0,))], shape


def _one_hot(network: _Network, operand: int, shape: Shape) -> tuple[Sequence[int], Shape]:
    depth = network.sizes["outputs"]
    values = [network.weights((), 0, network.activation_type) for _ in range(2)]
    return [network.constant("INT32", (0, 1)), network.constant("INT32", (depth,), ()), *values], (2, depth)


_LAYERS: Mapping[str, Layer] = {
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _depthwise,
    "TRANSPOSE_CONV": _transposed,
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _product,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _recurrent,
    "RESHAPE": _reshaped,
    "TRANSPOSE": _permuted,
    "PAD": _padded,
    "MIRROR_PAD": _padded,
    "SLICE": _sliced,
    "STRIDED_SLICE": _strided,
    "TILE": _repeated,
    "BROADCAST_TO": _reshaped,
    "GATHER": _gathered,
    "PRELU": _vector,
    "SPLIT": _split,
    "FILL": _filled,
    "ONE_HOT": _one_hot,
    **dict.fromkeys(("CUMSUM", "REVERSE_V2", "EXPAND_DIMS"), _with_axis),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), _resized),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "ARG_MAX"), _reduced),
    **dict.fromkeys(("ADD", "MUL", "SUB", "DIV", "CONCATENATION", "PACK", "MAXIMUM", "SELECT_V2"), _other_operand),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_NORMALIZATION", "SOFTMAX", "RELU6", "GELU", "TANH"), _same),
    **dict.fromkeys(("UNPACK", "SQUEEZE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "CAST", "QUANTIZE", "DEQUANTIZE"), _same),
}  # fmt: skip
_OPS_ON_IMAGES = (
    "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "AVERAGE_POOL_2D", "MAX_POOL_2D", "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE",
)  # fmt: skip
_OPS = (
    *_LAYERS,
    *[op for op, layer in _LAYERS.items() if layer in (_convolution, _depthwise, _transposed, _fully_connected)] * 5,
)

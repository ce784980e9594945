"""The acceptance rules, operator by operator, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from delegate_sim.delegates.gpu.rules import EXPLANATIONS, RULES, validate
from delegate_sim.delegates.gpu.rules.custom import RULES as CUSTOM_RULES
from delegate_sim.delegates.gpu.target import Target
from delegate_sim.graph.graph import NodeView, file_graph
from delegate_sim.model import schema
from delegate_sim.model.model import Tensor
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules.rule import rules_in
from fixtures.builder import ModelBuilder
from tests.graphs import arena, constant, node_view, persistent, quantized

QUANT = Target(allow_quant_ops=True, excluded_ops=frozenset())
FLOAT_ONLY = Target(allow_quant_ops=False, excluded_ops=frozenset())

OPERATOR = "gpu-unsupported-operator"
VERSION = "gpu-operator-version"
COUNT = "gpu-operand-count"
CONSTANT = "gpu-constant-operand"
TYPE = "gpu-tensor-type"
RANK = "gpu-rank"
SHAPE = "gpu-shape"
BROADCAST = "gpu-broadcast"
VALUE = "gpu-attribute-value"
ACTIVATION = "gpu-activation"
QUANTIZATION = "gpu-quantization"
NEIGHBOUR = "gpu-neighbouring-node"

FLOAT = arena("FLOAT32", 1, 4, 4, 2)
HALF = arena("FLOAT16", 1, 4, 4, 2)
SCALAR = arena("FLOAT32")
MATRIX = arena("FLOAT32", 4, 2)
RANK_3 = arena("FLOAT32", 4, 4, 2)
RANK_5 = arena("FLOAT32", 1, 1, 4, 4, 2)
INT8 = quantized(arena("INT8", 1, 4, 4, 2), 0.5)
UINT8 = quantized(arena("UINT8", 1, 4, 4, 2), 0.5)
INT16 = arena("INT16", 1, 4, 4, 2)
INT32 = arena("INT32", 1, 4, 4, 2)
INT64 = arena("INT64", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)
WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT32")
BIAS = constant([0.0, 0.0], "FLOAT32")
FLOATS = constant([[[[1.0, 2.0]] * 4] * 4], "FLOAT32")
AXIS = constant([1])
SHAPE_OF_4 = constant([1, 4, 4, 2])

RELU, TANH, SIGN_BIT = 1, 4, 5


class Case(NamedTuple):
    """A node, the options of the delegate and the code expected."""

    op: str
    code: str | None
    node: NodeView
    target: Target
    arguments: Mapping[str, Any]


_CASES: list[Case] = []
_ACCEPTED: dict[str, Case] = {}


def accepted(op: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor], version: int = 1, **options: Any) -> None:
    """Add the node that other cases of this operator are variants of."""
    arguments = {"inputs": inputs, "outputs": outputs, "version": version, "options": options}
    _ACCEPTED[op] = Case(op, None, node_view(op, **arguments), QUANT, arguments)
    _CASES.append(_ACCEPTED[op])


def variant(op: str, code: str | None, *, inputs=None, outputs=None, version=None, target=QUANT, **options: Any) -> None:
    """Add a variant of the accepted node; operands are given as a new list, or by position."""
    arguments = dict(_ACCEPTED[op].arguments)
    arguments["inputs"] = _replaced(arguments["inputs"], inputs)
    arguments["outputs"] = _replaced(arguments["outputs"], outputs)
    arguments["version"] = version or arguments["version"]
    arguments["options"] = {**arguments["options"], **options}
    _CASES.append(Case(op, code, node_view(op, **arguments), target, arguments))


def without_options(op: str, code: str | None) -> None:
    """Add the accepted node without an options table, whose fields the runtime leaves at 0."""
    arguments = {**_ACCEPTED[op].arguments, "options": None}
    _CASES.append(Case(op, code, node_view(op, **arguments), QUANT, arguments))


def _replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes


class Chain:
    """A graph of several nodes, whose first node is looked at unless another index is given."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph()

    def tensor(self, kind: str, *shape: int, **arguments: Any) -> int:
        return self.subgraph.tensor("t", kind, shape, **arguments)

    def add(self, op: str, inputs: Sequence[int], outputs: Sequence[int], version: int = 1, **options: Any) -> Chain:
        self.subgraph.node(op, inputs, outputs, version, options or None)
        return self

    def case(self, op: str, code: str | None, index: int = 0, target: Target = QUANT) -> None:
        model = load(self.builder.bytes())
        graph = file_graph(model, model.subgraphs[0])
        _CASES.append(Case(op, code, graph.view(graph.nodes[index]), target, {}))


# One operand

_ELEMENTWISE = ("ABS", "COS", "ELU", "EXP", "FLOOR", "GELU", "LOG", "LOGISTIC", "NEG", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE")
for _op in (*_ELEMENTWISE, "TANH"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])

for _op in ("RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "LEAKY_RELU"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, None, inputs=[FLOATS])

accepted("HARD_SWISH", [FLOAT], [FLOAT], version=9)
variant("HARD_SWISH", COUNT, inputs=[FLOATS])
accepted("PRELU", [FLOAT, constant([[[0.1, 0.2]]], "FLOAT32")], [FLOAT])
variant("PRELU", VERSION, version=2)

# Two operands

for _op in ("DIV", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "SUB"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, None, inputs=[FLOATS, FLOAT])
    variant(_op, None, inputs=[FLOAT, RANK_3])
    variant(_op, COUNT, inputs=[FLOATS, FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])
for _op in ("DIV", "SUB"):
    variant(_op, None, fused_activation_function=TANH)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)
variant("LOGICAL_AND", None, inputs=[BOOL, BOOL], outputs=[BOOL])

for _op, _highest in (("ADD", 2), ("MUL", 3)):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=_highest)
    variant(_op, VERSION, version=_highest + 1)
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, None, inputs=[FLOATS, FLOATS])
    for _first, _second, _code in (
        (FLOAT, SCALAR, None),
        (arena("FLOAT32", 2), FLOAT, None),
        (FLOAT, RANK_3, None),
        (arena("FLOAT32", 2, 4, 4, 2), RANK_3, BROADCAST),
        (FLOAT, arena("FLOAT32", 1, 1), None),
        (FLOAT, arena("FLOAT32", 1, 2), None),
        (arena("FLOAT32", 3, 4, 4, 2), arena("FLOAT32", 3, 2), None),
        (arena("FLOAT32", 3, 4, 4, 2), arena("FLOAT32", 1, 1), BROADCAST),
        (RANK_3, MATRIX, BROADCAST),
    ):
        variant(_op, _code, inputs=[_first, _second])
        variant(_op, _code, inputs=[_second, _first])
variant("ADD", None, fused_activation_function=SIGN_BIT)
variant("MUL", None, fused_activation_function=RELU)
variant("MUL", ACTIVATION, fused_activation_function=SIGN_BIT)
accepted("ADD_N", [FLOAT, FLOAT], [FLOAT], version=2)
variant("ADD_N", VERSION, version=3)
variant("ADD_N", COUNT, inputs=[FLOAT, FLOAT, FLOAT])
variant("ADD_N", None, inputs=[RANK_3, MATRIX])

for _op in ("SELECT", "SELECT_V2"):
    accepted(_op, [BOOL, FLOAT, FLOAT], [FLOAT])
    variant(_op, VERSION, version=2)
    variant(_op, COUNT, inputs=[BOOL, FLOAT])
    variant(_op, TYPE, inputs={0: INT32})
    variant(_op, None, inputs={0: arena("BOOL", 4, 1)})
    variant(_op, None, inputs={0: arena("BOOL")})
    variant(_op, BROADCAST, inputs={0: arena("BOOL", 4, 3)})
    variant(_op, BROADCAST, inputs={0: arena("BOOL", 1, 1, 4, 4, 2)})
    for _position in (1, 2):
        variant(_op, None, inputs={_position: constant([1.0], "FLOAT32")})
        variant(_op, None, inputs={_position: SCALAR})
        variant(_op, BROADCAST, inputs={_position: RANK_3})
        variant(_op, BROADCAST, inputs={_position: constant([1.0, 2.0], "FLOAT32")})
        _matrices = {0: arena("BOOL", 4, 2), 1: constant([[1.0, 2.0]] * 4, "FLOAT32"), 2: constant([[1.0, 2.0]] * 4, "FLOAT32")}
        variant(_op, None, inputs=_matrices, outputs=[MATRIX])
        variant(_op, SHAPE, inputs={**_matrices, _position: MATRIX}, outputs=[MATRIX])

# Comparisons and casts

for _op in ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"):
    for _consumer, _kind, _version, _code in (
        ("CAST", "FLOAT32", 2, None),
        ("CAST", "FLOAT16", 1, None),
        ("CAST", "INT32", 1, NEIGHBOUR),
        ("LOGICAL_NOT", "BOOL", 1, NEIGHBOUR),
        ("CAST", "FLOAT32", 3, VERSION),
    ):
        _chain = Chain()
        _x, _y, _bool, _out = (_chain.tensor(kind, 2, 2) for kind in ("FLOAT32", "FLOAT32", "BOOL", _kind))
        _chain.add(_op, [_x, _y], [_bool], _version).add(_consumer, [_bool], [_out]).case(_op, _code)
    for _consumers in (0, 2):
        _chain = Chain()
        _x, _bool = _chain.tensor("FLOAT32", 2), _chain.tensor("BOOL", 2)
        _chain.add(_op, [_x, _x], [_bool])
        for _ in range(_consumers):
            _chain.add("CAST", [_bool], [_chain.tensor("FLOAT32", 2)])
        _chain.case(_op, NEIGHBOUR)

for _producer, _casts, _float_reads, _code in (
    ("LESS", 1, 1, None),
    ("LESS", 2, 1, NEIGHBOUR),
    ("LESS", 1, 0, NEIGHBOUR),
    ("LESS", 1, 2, NEIGHBOUR),
    ("LOGICAL_NOT", 1, 1, None),
):
    _chain = Chain()
    _x, _bool, _float = (_chain.tensor(kind, 2) for kind in ("FLOAT32", "BOOL", "FLOAT32"))
    _chain.add(_producer, [_x], [_bool]).add("CAST", [_bool], [_float])
    for _ in range(_casts - 1):
        _chain.add("CAST", [_bool], [_chain.tensor("FLOAT32", 2)])
    for _ in range(_float_reads):
        _chain.add("ABS", [_float], [_chain.tensor("FLOAT32", 2)])
    _chain.case("CAST", _code, index=1)

accepted("CAST", [FLOAT], [INT32], version=9)
variant("CAST", None, inputs=[INT32], outputs=[FLOAT])
variant("CAST", None, inputs=[HALF], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT32], outputs=[BOOL])
variant("CAST", TYPE, inputs=[INT8], outputs=[FLOAT])
variant("CAST", COUNT, inputs=[FLOATS])
variant("CAST", NEIGHBOUR, inputs=[BOOL], outputs=[FLOAT])

# Convolutions, products, pooling

_CONVOLUTION = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
accepted("CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT], version=6, **_CONVOLUTION)
accepted(
    "DEPTHWISE_CONV_2D",
    [FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32"), BIAS],
    [FLOAT],
    version=6,
    depth_multiplier=1,
    **_CONVOLUTION,
)
accepted("TRANSPOSE_CONV", [SHAPE_OF_4, WEIGHTS, FLOAT], [FLOAT], version=3, stride_h=1, stride_w=1)
for _op, _highest in (("CONV_2D", 6), ("DEPTHWISE_CONV_2D", 6), ("TRANSPOSE_CONV", 3)):
    variant(_op, VERSION, version=_highest + 1)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT, FLOAT])
    variant(_op, COUNT, inputs=[FLOATS, WEIGHTS])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])
    variant(_op, VALUE, stride_h=0)
    variant(_op, VALUE, stride_w=-1)
    without_options(_op, VALUE)
for _op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    variant(_op, VALUE, dilation_w_factor=0)
    variant(_op, None, fused_activation_function=RELU)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)
variant("CONV_2D", None, inputs={1: arena("FLOAT32", 2, 3, 3, 2)})
variant("DEPTHWISE_CONV_2D", RANK, inputs={0: RANK_3})
variant("DEPTHWISE_CONV_2D", RANK, inputs={1: constant([[[0.0, 0.0]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", RANK, outputs=[RANK_3])
variant("DEPTHWISE_CONV_2D", SHAPE, outputs=[arena("FLOAT32", 2, 4, 4, 2)])
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={1: constant([[[[0.0] * 4]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=2)
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: constant([0.0] * 4, "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: None})
variant("DEPTHWISE_CONV_2D", None, inputs=[FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32")])

accepted("FULLY_CONNECTED", [MATRIX, constant([[0.0, 0.0]], "FLOAT32"), None], [MATRIX], version=9)
variant("FULLY_CONNECTED", VERSION, version=10)
variant("FULLY_CONNECTED", COUNT, inputs=[])
variant("FULLY_CONNECTED", VALUE, weights_format=1)
variant("FULLY_CONNECTED", COUNT, inputs=[MATRIX, MATRIX, SCALAR])
variant("FULLY_CONNECTED", CONSTANT, inputs={0: constant([[0.0, 0.0]], "FLOAT32")})
variant("FULLY_CONNECTED", None, inputs={0: FLOAT})
variant("FULLY_CONNECTED", RANK, inputs={0: FLOAT}, keep_num_dims=True)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT], version=9)
variant("BATCH_MATMUL", COUNT, inputs=[FLOAT])
variant("BATCH_MATMUL", COUNT, outputs=[FLOAT, FLOAT])

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], version=2, filter_height=2, filter_width=2, stride_h=1, stride_w=1)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, filter_width=0)
    variant(_op, VALUE, stride_h=0)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)

# Shapes

accepted("CONCATENATION", [FLOAT, FLOATS, BOOL._replace(type="FLOAT16")], [FLOAT], version=2)
variant("CONCATENATION", VERSION, version=3)
for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], version=2, block_size=2)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, block_size=1)
    variant(_op, VALUE, block_size=-1)
variant("SPACE_TO_DEPTH", VERSION, version=3)
variant("DEPTH_TO_SPACE", None, version=3)

accepted("GATHER", [FLOAT, AXIS], [FLOAT])
variant("GATHER", VERSION, version=2)
variant("GATHER", None, inputs={1: arena("INT32", 2)})
variant("GATHER", COUNT, inputs=[FLOATS, AXIS])
variant("GATHER", RANK, inputs={1: constant([[1]])})
variant("GATHER", TYPE, inputs={1: constant([1], "INT64")})

_ON, _OFF = constant(1.0, "FLOAT32"), constant([0.0], "FLOAT32")
accepted("ONE_HOT", [arena("INT32", 2, 1, 1, 3), constant(4), _ON, _OFF], [FLOAT], axis=-1)
variant("ONE_HOT", VERSION, version=2)
variant("ONE_HOT", COUNT, inputs=[INT32, constant(4), _ON])
variant("ONE_HOT", TYPE, inputs={0: FLOAT})
variant("ONE_HOT", None, axis=3)
variant("ONE_HOT", VALUE, axis=4)
variant("ONE_HOT", VALUE, inputs={0: arena("INT32")}, axis=0)
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 1, 2, 1, 3)})
variant("ONE_HOT", SHAPE, inputs={0: arena("INT32", 2, 1, 3)})
variant("ONE_HOT", TYPE, inputs={2: constant(1)})
variant("ONE_HOT", TYPE, inputs={3: constant(1)})
variant("ONE_HOT", CONSTANT, inputs={2: SCALAR})
variant("ONE_HOT", CONSTANT, inputs={3: constant([0.0, 1.0], "FLOAT32")})
variant("ONE_HOT", CONSTANT, inputs={3: constant([[0.0]], "FLOAT32")})

for _op in ("PACK", "SPLIT", "SPLIT_V", "UNPACK"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT, FLOAT], version=9)

_PADDINGS = constant([[0, 0]] * 4)
for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, _PADDINGS], [FLOAT], version=2)
accepted("MIRROR_PAD", [FLOAT, _PADDINGS], [FLOAT], version=2, mode=0)
variant("MIRROR_PAD", VALUE, mode=1)
without_options("MIRROR_PAD", VALUE)
for _op in ("PAD", "PADV2", "MIRROR_PAD"):
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs={1: arena("INT32", 4, 2)})
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, RANK, inputs={1: constant([0, 0])})
    variant(_op, None, inputs={1: constant([[0, 0]] * 3)})
    variant(_op, SHAPE, inputs={1: constant([[0, 0]] * 2)})

accepted("RESHAPE", [FLOAT, SHAPE_OF_4], [FLOAT])
variant("RESHAPE", VERSION, version=2)
variant("RESHAPE", COUNT, inputs={1: persistent([1, 4, 4, 2])})
variant("RESHAPE", COUNT, inputs={0: FLOATS})

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, constant([8, 8])], [FLOAT], version=3, align_corners=True)
    variant(_op, VERSION, version=4)
    variant(_op, COUNT, inputs={1: arena("INT32", 2)})
variant("RESIZE_BILINEAR", VALUE, half_pixel_centers=True)
variant("RESIZE_NEAREST_NEIGHBOR", None, half_pixel_centers=True)

accepted("SLICE", [FLOAT, constant([0] * 4), constant([1] * 4)], [FLOAT], version=2)
variant("SLICE", VERSION, version=3)
variant("SLICE", COUNT, inputs=[FLOAT, constant([0] * 4)])
variant("SLICE", RANK, inputs={0: MATRIX})
accepted("STRIDED_SLICE", [RANK_3, constant([0] * 3), constant([1] * 3), constant([1] * 3)], [RANK_3], version=4, begin_mask=7)
variant("STRIDED_SLICE", VERSION, version=5)
for _mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", VALUE, **{_mask: 1})
variant("STRIDED_SLICE", COUNT, inputs=[RANK_3, constant([0] * 3), constant([1] * 3)])
variant("STRIDED_SLICE", RANK, inputs={0: MATRIX})

accepted("TILE", [FLOAT, SHAPE_OF_4], [FLOAT], version=9)
variant("TILE", COUNT, inputs={1: arena("INT32", 4)})
accepted("TRANSPOSE", [FLOAT, SHAPE_OF_4], [FLOAT], version=4)
variant("TRANSPOSE", VERSION, version=5)
variant("TRANSPOSE", COUNT, inputs={1: arena("INT32", 4)})

# Reductions

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT], version=9)
    variant(_op, COUNT, inputs={1: arena("INT32", 1)})
    variant(_op, COUNT, inputs={0: FLOATS})
    variant(_op, CONSTANT, inputs=[AXIS, FLOAT])
    variant(_op, CONSTANT, inputs={1: constant([1], "INT64")})
accepted("CUMSUM", [FLOAT, constant(1)], [FLOAT])
variant("CUMSUM", VERSION, version=2)
variant("CUMSUM", COUNT, inputs=[FLOAT])
variant("CUMSUM", TYPE, inputs={0: INT8}, outputs=[INT8])
variant("CUMSUM", TYPE, outputs=[HALF])
variant("CUMSUM", CONSTANT, inputs={1: arena("INT32")})
accepted("SOFTMAX", [FLOAT], [FLOAT], version=2, beta=1.0)
variant("SOFTMAX", VERSION, version=3)
variant("SOFTMAX", VALUE, beta=2.0)
without_options("SOFTMAX", VALUE)

# Quantisation

accepted("QUANTIZE", [FLOAT], [INT8], version=2)
variant("QUANTIZE", QUANTIZATION, target=FLOAT_ONLY)
variant("QUANTIZE", VERSION, version=3)
variant("QUANTIZE", COUNT, inputs=[FLOATS])
accepted("DEQUANTIZE", [UINT8], [FLOAT], version=3)
variant("DEQUANTIZE", QUANTIZATION, target=FLOAT_ONLY)
variant("DEQUANTIZE", VERSION, version=4)
variant("DEQUANTIZE", COUNT, outputs=[FLOAT, FLOAT])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT16])
accepted("DENSIFY", [FLOATS], [FLOAT])
variant("DENSIFY", VERSION, version=2)
variant("DENSIFY", COUNT, inputs=[FLOAT])

# LSTM

_GATE = constant([[0.0]], "FLOAT32")
_FULL = [FLOAT, *[_GATE] * 17, MATRIX, MATRIX]
accepted("LSTM", _FULL, [MATRIX], version=4, fused_activation_function=TANH)
variant("LSTM", VERSION, version=5)
variant("LSTM", None, inputs=[*_FULL, *[_GATE] * 4])
variant("LSTM", COUNT, inputs=_FULL[:18])
variant("LSTM", COUNT, outputs=[MATRIX, MATRIX])
variant("LSTM", ACTIVATION, fused_activation_function=RELU)
_BASIC = {
    "inputs": [MATRIX, MATRIX, _GATE, _GATE, MATRIX],
    "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 8)],
    "kernel_type": 1,
}
variant("LSTM", None, **_BASIC)
variant("LSTM", COUNT, **{**_BASIC, "inputs": [MATRIX, MATRIX, _GATE, _GATE]})
variant("LSTM", SHAPE, **{**_BASIC, "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 6)]})
variant("LSTM", ACTIVATION, **_BASIC, fused_activation_function=RELU)
variant("LSTM", VALUE, **_BASIC, cell_clip=1.0)
variant("LSTM", VALUE, **_BASIC, proj_clip=1.0)

# Custom operators

_POOL = (1, 2, 2, 2, 2, RELU)


def custom(op: str, code: str | None, inputs: Sequence[Tensor], outputs: int, words: Sequence[int] | None, version: int = 1):
    """Add a custom operator whose options are these 32-bit words."""
    chain = Chain()
    operands = [chain.tensor(t.type, *t.shape, **({} if t.value is None else {"data": t.value})) for t in inputs]
    results = [chain.tensor("FLOAT32", 1, 4, 4, 2) for _ in range(outputs)]
    options = None if words is None else struct.pack(f"<{len(words)}i", *words)
    chain.subgraph.node("CUSTOM", operands, results, version, custom=op, custom_options=options)
    chain.case(op, code)


custom("Convolution2DTransposeBias", None, [FLOAT, WEIGHTS], 1, (1, 2, 2))
custom("Convolution2DTransposeBias", COUNT, [FLOAT], 1, (1, 2, 2))
custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, None)
custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, (1, 0, 2))
custom("MaxPoolingWithArgmax2D", None, [FLOAT], 2, _POOL, version=2)
custom("MaxPoolingWithArgmax2D", VERSION, [FLOAT], 2, _POOL, version=3)
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, None)
custom("MaxPoolingWithArgmax2D", COUNT, [FLOAT], 1, _POOL)
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 2, 0, 2, 0))
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 0, 2, 2, 0))
custom("MaxPoolingWithArgmax2D", ACTIVATION, [FLOAT], 2, (1, 2, 2, 2, 2, SIGN_BIT))
custom("MaxUnpooling2D", None, [FLOAT, FLOAT], 1, _POOL)
custom("MaxUnpooling2D", COUNT, [FLOAT], 1, _POOL)
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, None)
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 2, 2, 2))
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 0, 2, 2, 2, 0))
custom("Resampler", None, [FLOAT, FLOAT], 1, None)
custom("Resampler", COUNT, [FLOAT], 1, None)
custom("Resampler", RANK, [FLOAT, RANK_3], 1, None)
custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 2, 4, 4, 2)], 1, None)
custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 1, 4, 4, 1)], 1, None)

# Types and ranks of all tensors

for _op in ("ABS", "RESHAPE"):
    variant(_op, None, inputs={0: HALF}, outputs=[HALF])
    variant(_op, None, inputs={0: INT8}, outputs=[UINT8])
    variant(_op, TYPE, inputs={0: INT8}, target=FLOAT_ONLY)
    variant(_op, TYPE, outputs=[UINT8], target=FLOAT_ONLY)
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, TYPE, outputs=[INT64])
    variant(_op, RANK, inputs={0: RANK_5})
    variant(_op, RANK, outputs=[RANK_5])
variant("ADD", RANK, inputs={1: constant([[[[[1.0]]]]], "FLOAT32"), 0: RANK_5})
variant("PACK", None, inputs=[constant([1], "INT64"), persistent([1], "INT64"), None, FLOAT])
variant("PACK", RANK, inputs=[FLOAT, constant([[[[[1]]]]])])


@pytest.mark.parametrize(
    "case", _CASES, ids=[f"{number}-{case.op}-{case.code or 'accepted'}" for number, case in enumerate(_CASES)]
)
def test_verdict(case):
    verdict = validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


# The types that tensors in the arena may have

_ALL = frozenset(schema.enum_names("TensorType").values())
_USUAL = {"FLOAT32", "FLOAT16"}
_FURTHER = {
    ("LOGICAL_AND", "inputs"): {"BOOL"},
    ("LOGICAL_AND", "outputs"): {"BOOL"},
    ("GATHER", "inputs"): {"INT32"},
}


@pytest.mark.parametrize("target", [QUANT, FLOAT_ONLY], ids=["quantised", "float"])
@pytest.mark.parametrize("side", ["inputs", "outputs"])
@pytest.mark.parametrize("op", ["ABS", "ADD", "CONV_2D", "GATHER", "LOGICAL_AND", "RESHAPE", "SOFTMAX"])
def test_types(op, side, target):
    arguments = _ACCEPTED[op].arguments

    def is_taken(kind):
        changed = {**arguments, side: _replaced(arguments[side], {0: arguments[side][0]._replace(type=kind)})}
        return validate(node_view(op, **changed), target).is_supported

    allowed = _USUAL | _FURTHER.get((op, side), set()) | ({"INT8", "UINT8"} if target.allow_quant_ops else set())
    assert {kind for kind in _ALL if is_taken(kind)} == allowed


# Operators that are left out


@pytest.mark.parametrize("op", ["BROADCAST_TO", "REVERSE_V2", "SPACE_TO_BATCH_ND", "STABLEHLO_CLAMP", "WHILE"])
def test_operator_without_parser(op):
    (reason,) = validate(node_view(op, [FLOAT], [FLOAT]), QUANT).reasons
    assert (reason.code, reason.kind, reason.found) == (OPERATOR, "unsupported-operator", op)


@pytest.mark.parametrize("op", ["TFLite_Detection_PostProcess", "FlexErf", "ABS"])
def test_custom_operator_without_parser(op):
    (reason,) = validate(node_view(op, [FLOAT], [FLOAT], custom=True), QUANT).reasons
    assert (reason.code, reason.found) == (OPERATOR, f"custom operator {op}")


def test_excluded_operator():
    excluding = Target(allow_quant_ops=True, excluded_ops=frozenset({"ABS", "CUSTOM"}))
    for node in (_ACCEPTED["ABS"].node, node_view("Resampler", [FLOAT, FLOAT], [FLOAT], custom=True)):
        (reason,) = validate(node, excluding).reasons
        assert reason.code == OPERATOR
        assert "left out" in reason.message
    assert validate(_ACCEPTED["COS"].node, excluding).is_supported


def test_reason_says_what_was_found_and_needed():
    (reason,) = validate(node_view("FULLY_CONNECTED", **{**_ACCEPTED["FULLY_CONNECTED"].arguments, "version": 12}), QUANT).reasons
    assert reason.kind == "operator-version"
    assert (reason.found, reason.needed) == ("version 12", "version at most 9")
    assert reason.message == "version 12; needs version at most 9"


# Nothing is left out


def test_every_operator_has_cases():
    assert {case.op for case in _CASES} == set(RULES)
    assert set(_ACCEPTED) | set(CUSTOM_RULES) >= set(RULES) - {case.op for case in _CASES if not case.arguments}


_NEWEST_RULES = rules_in(RULES, NEWEST)


def test_every_check_is_exercised_on_both_sides():
    refused, met = set(), set()
    for case, target in itertools.product(_CASES, (QUANT, FLOAT_ONLY)):
        if target is QUANT or case.target is FLOAT_ONLY:
            for position, check in enumerate(_NEWEST_RULES[case.op].checks):
                found = check.finder(case.node, target)
                (met if found is None else refused).add((case.op, position, check.code))
                if found is not None:
                    break
    own = {(op, position, check.code) for op, rule in _NEWEST_RULES.items() for position, check in enumerate(rule.checks[:-4])}
    assert own - refused == set()
    assert own - met == set()


def test_every_code_is_explained_and_every_explanation_is_of_a_code():
    codes = {check.code for rule in RULES.values() for check in rule.checks}
    assert {*codes, OPERATOR} == set(EXPLANATIONS)
    assert codes == {case.code for case in _CASES} - {None}


def test_every_check_has_a_hint():
    assert all(check.hint for rule in RULES.values() for check in rule.checks)

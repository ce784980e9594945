"""The acceptance rules, operator by operator, against ``IsSupported`` and ``IsOpSupported`` in ``op_map.cc``.

Each case is a node and the one code that it is refused with, None if it is taken. A case is of VeriSilicon's delegate unless
it names releases of NXP's variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from delegate_sim.delegates.vx.rules import EXPLANATIONS, NXP_RULES, RULES, custom, validate
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Allocation, Tensor
from tests.graphs import arena, constant, node_view, persistent, quantized

UPSTREAM, LF_6_6_3, LF_5_15_71 = "upstream", "lf-6.6.3", "lf-5.15.71"
RULE_SETS = {UPSTREAM: RULES, **NXP_RULES}

OPERATOR = "vx-unsupported-operator"
CUSTOM = "vx-custom-operator"
TYPE = "vx-tensor-type"
HYBRID = "vx-hybrid"
RANK = "vx-rank"
DYNAMIC = "vx-dynamic-shape"
SHAPE = "vx-shape"
CONSTANT = "vx-constant-operand"
OPTIONAL = "vx-optional-operand"
ATTRIBUTE = "vx-attribute-value"
QUANTIZATION = "vx-quantization"


class Case(NamedTuple):
    """A node, whose rules it is tried by, and the code expected of it."""

    op: str
    code: str | None
    rules: str
    node: NodeView
    arguments: Mapping[str, Any]


_CASES: list[Case] = []
_ACCEPTED: dict[str, Case] = {}


def accepted(op: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor], **options: Any) -> None:
    """Add the node that other cases of this operator are variants of, which is taken."""
    arguments = {"inputs": inputs, "outputs": outputs, "options": options}
    _ACCEPTED[op] = Case(op, None, UPSTREAM, _node(op, arguments), arguments)
    _CASES.append(_ACCEPTED[op])


def variant(
    op: str,
    code: str | None = None,
    *,
    inputs: Mapping[int, Tensor | None] | Sequence[Tensor | None] | None = None,
    outputs: Mapping[int, Tensor] | Sequence[Tensor] | None = None,
    rules: Sequence[str] = (UPSTREAM,),
    **options: Any,
) -> None:
    """Add a variant of the taken node; operands are given as a new list, or by position."""
    known = _ACCEPTED[op].arguments
    arguments = {
        "inputs": _replaced(known["inputs"], inputs),
        "outputs": _replaced(known["outputs"], outputs),
        "options": {**known["options"], **options},
    }
    _CASES.extend(Case(op, code, name, _node(op, arguments), arguments) for name in rules)


def without_options(op: str, code: str | None) -> None:
    """Add the taken node without an options table."""
    arguments = {**_ACCEPTED[op].arguments, "options": None}
    _CASES.append(Case(op, code, UPSTREAM, _node(op, arguments), arguments))


def _node(op: str, arguments: Mapping[str, Any]) -> NodeView:
    is_custom = op in custom.RULES
    return node_view(op, **{**arguments, "options": None if is_custom else arguments["options"]}, custom=is_custom)


def _replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes


FLOAT = arena("FLOAT32", 1, 4, 4, 2)
FLOAT_BATCH = arena("FLOAT32", 2, 4, 4, 2)
FLOAT_RANK_3 = arena("FLOAT32", 4, 4, 2)
FLOAT_RANK_6 = arena("FLOAT32", 1, 1, 1, 4, 4, 2)
FLOAT_RANK_7 = arena("FLOAT32", 1, 1, 1, 1, 4, 4, 2)
FLOAT_SCALAR = arena("FLOAT32")
FLOAT_EMPTY = arena("FLOAT32", 1, 0, 4, 2)
FLOAT_LONG = arena("FLOAT32", 65536, 2)
FLOAT_LARGE = arena("FLOAT32", 1, 65536)
FLOAT_LARGEST = arena("FLOAT32", 1, 65535)
FLOAT16 = arena("FLOAT16", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)
INT8_UNSCALED = arena("INT8", 1, 4, 4, 2)
INT8 = quantized(INT8_UNSCALED, 0.5)
INT8_PER_CHANNEL = quantized(INT8_UNSCALED, *[0.5] * 2)
INT8_VECTOR = quantized(arena("INT8", 4), 0.5)
UINT8_UNSCALED = arena("UINT8", 1, 4, 4, 2)
UINT8 = quantized(UINT8_UNSCALED, 0.5, zero_point=128)
UINT8_PER_CHANNEL = quantized(UINT8_UNSCALED, *[0.5] * 2)
UINT8_VECTOR = quantized(arena("UINT8", 4), 0.5)
INT16_UNSCALED = arena("INT16", 1, 4, 4, 2)
INT16 = quantized(INT16_UNSCALED, 0.5)
INT32_UNSCALED = arena("INT32", 1, 4, 4, 2)
INT32 = quantized(INT32_UNSCALED, 0.5)
INT64 = arena("INT64", 1, 4, 4, 2)
STRING = arena("STRING", 1, 4, 4, 2)
HEAP_STRING = STRING._replace(allocation=Allocation.DYNAMIC)

AXIS = constant(1)
COMPUTED_AXIS = arena("INT32")
PERSISTENT_AXIS = persistent(1)
PAIR = constant([1, 2])
COMPUTED_PAIR = arena("INT32", 2)
PERSISTENT_PAIR = persistent([1, 2])

RELU, RELU_N1_TO_1 = 1, 2


def needs_constant(op: str, position: int, computed: Tensor, known: Tensor) -> None:
    """Add variants whose operand is computed while running, or while the graph is prepared."""
    variant(op, CONSTANT, inputs={position: computed})
    variant(op, CONSTANT, inputs={position: known})
    variant(op, CONSTANT, inputs={position: None})


# What every operator is asked

accepted("ABS", [FLOAT], [FLOAT])
variant("ABS", inputs=[FLOAT_RANK_6])
variant("ABS", RANK, inputs=[FLOAT_RANK_7])
variant("ABS", outputs=[FLOAT_RANK_7])
variant("ABS", SHAPE, inputs=[FLOAT_EMPTY])
variant("ABS", SHAPE, outputs=[FLOAT_EMPTY])
variant("ABS", inputs=[FLOAT_LONG])
variant("ABS", inputs=[FLOAT_LARGEST])
variant("ABS", SHAPE, inputs=[FLOAT_LARGE])
variant("ABS", outputs=[FLOAT_LARGE])
variant("ABS", TYPE, inputs=[INT64])
variant("ABS", TYPE, inputs=[STRING])
variant("ABS", outputs=[STRING])
variant("ABS", inputs=[INT16])
variant("ABS", TYPE, outputs=[INT16])
variant("ABS", TYPE, outputs=[INT64])
variant("ABS", inputs=[arena("COMPLEX64", 4)], outputs=[arena("FLOAT64", 4)])
variant("ABS", TYPE, inputs=[FLOAT, INT64])
variant("ABS", inputs=[FLOAT, None])
variant("ABS", RANK, inputs=[FLOAT_RANK_7, INT64])
variant("ABS", TYPE, inputs=[INT64, FLOAT_RANK_7])
variant("ABS", SHAPE, inputs=[FLOAT, FLOAT_EMPTY, FLOAT_RANK_7])
variant("ABS", RANK, inputs=[FLOAT, FLOAT_RANK_7, FLOAT_EMPTY])
variant("ABS", RANK, inputs=[arena("FLOAT32", 1, 1, 1, 1, 1, 1, 0)])
variant("ABS", SHAPE, inputs=[FLOAT_EMPTY], outputs=[INT16])
variant("ABS", SHAPE, outputs=[FLOAT_EMPTY, INT64])
variant("ABS", TYPE, outputs=[INT64, FLOAT_EMPTY])

# Elementwise

for _op in (
    "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOCAL_RESPONSE_NORMALIZATION", "LOG",
    "LOGICAL_NOT", "LOGISTIC", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "RSQRT", "SIN", "SOFTMAX", "SQRT", "SQUARE", "TANH",
):  # fmt: skip
    accepted(_op, [FLOAT], [FLOAT])
for _op in (
    "ADD_N", "EQUAL", "FLOOR_DIV", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM",
    "MINIMUM", "NOT_EQUAL", "PRELU",
):  # fmt: skip
    accepted(_op, [FLOAT, FLOAT], [FLOAT])

for _op in ("ADD", "DIV", "MUL", "SUB"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT])
    variant(_op, QUANTIZATION, inputs=[INT16, INT16], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT16, INT16], outputs=[UINT8])
    variant(_op, inputs=[INT16_UNSCALED, INT16], outputs=[INT8])
    variant(_op, inputs=[INT16, INT16], outputs=[INT8_UNSCALED])
    variant(_op, inputs=[INT16, INT16], outputs=[FLOAT])
    variant(_op, inputs=[INT8, INT16], outputs=[INT8])
    variant(_op, inputs=[INT32, INT32], outputs=[INT32], fused_activation_function=RELU)
    variant(_op, TYPE, inputs=[INT32, FLOAT], outputs=[INT32], fused_activation_function=RELU_N1_TO_1)
    variant(_op, inputs=[INT32, INT32], outputs=[FLOAT], fused_activation_function=RELU_N1_TO_1)
    variant(_op, fused_activation_function=RELU_N1_TO_1)

accepted("POW", [FLOAT, FLOAT], [FLOAT])
variant("POW", inputs=[INT32, FLOAT])
variant("POW", inputs=[FLOAT, INT32])
variant("POW", TYPE, inputs=[INT32, INT32])

accepted("SQUARED_DIFFERENCE", [FLOAT, FLOAT], [FLOAT])
variant("SQUARED_DIFFERENCE", inputs=[INT8, INT8], outputs=[INT8])
variant("SQUARED_DIFFERENCE", inputs=[UINT8, UINT8], outputs=[UINT8])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[FLOAT, INT8])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[INT32, INT32], outputs=[INT32])
variant("SQUARED_DIFFERENCE", TYPE, inputs=[INT8, INT8], outputs=[UINT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[INT8_PER_CHANNEL, INT8], outputs=[INT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[UINT8, UINT8], outputs=[UINT8_PER_CHANNEL])
variant("SQUARED_DIFFERENCE", inputs=[INT8, INT8_PER_CHANNEL], outputs=[INT8])
variant("SQUARED_DIFFERENCE", QUANTIZATION, inputs=[INT8_UNSCALED, INT8], outputs=[INT8])

for _op in ("SELECT", "SELECT_V2"):
    accepted(_op, [BOOL, FLOAT, FLOAT], [FLOAT])
    variant(_op, RANK, inputs={0: arena("BOOL", 1)})
    variant(_op, RANK, inputs={1: FLOAT_SCALAR})
    variant(_op, inputs={2: FLOAT_SCALAR})
    variant(_op, inputs={0: INT8})
    for _tensor in (BOOL, INT8, UINT8):
        variant(_op, TYPE, inputs={1: _tensor})
        variant(_op, TYPE, inputs={2: _tensor})
        variant(_op, TYPE, outputs=[_tensor])
    variant(_op, inputs={1: INT32, 2: INT32}, outputs=[INT32])

accepted("CAST", [FLOAT], [INT32])
for _type in ("COMPLEX64", "UINT32", "UINT16"):
    variant("CAST", TYPE, inputs=[arena(_type, 4)])
    variant("CAST", TYPE, outputs=[arena(_type, 4)])
variant("CAST", inputs=[arena("FLOAT64", 4)])

accepted("DEQUANTIZE", [INT8], [FLOAT])
variant("DEQUANTIZE", inputs=[INT8_UNSCALED])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT16])
variant("DEQUANTIZE", inputs=[INT16_UNSCALED])
variant("DEQUANTIZE", inputs=[FLOAT16])
variant("DEQUANTIZE", QUANTIZATION, inputs=[quantized(FLOAT16, 0.5)])
variant("DEQUANTIZE", inputs=[INT16], outputs=[FLOAT16])
variant("DEQUANTIZE", QUANTIZATION, inputs=[INT8_PER_CHANNEL])
variant("DEQUANTIZE", QUANTIZATION, inputs=[UINT8_PER_CHANNEL])
variant("DEQUANTIZE", inputs=[INT8_PER_CHANNEL], outputs=[FLOAT16])
variant("DEQUANTIZE", inputs=[quantized(INT32_UNSCALED, *[0.5] * 2)])

accepted("QUANTIZE", [FLOAT], [INT8])
for _source in (INT32, INT16):
    variant("QUANTIZE", QUANTIZATION, inputs=[_source])
    variant("QUANTIZE", QUANTIZATION, inputs=[_source], outputs=[UINT8])
variant("QUANTIZE", inputs=[INT32_UNSCALED])
variant("QUANTIZE", QUANTIZATION, inputs=[INT16], outputs=[INT32])
variant("QUANTIZE", inputs=[INT16_UNSCALED], outputs=[INT32])
variant("QUANTIZE", inputs=[INT32], outputs=[INT32])
variant("QUANTIZE", inputs=[UINT8])
variant("QUANTIZE", QUANTIZATION, outputs=[INT8_PER_CHANNEL])
variant("QUANTIZE", QUANTIZATION, outputs=[UINT8_PER_CHANNEL])
variant("QUANTIZE", inputs=[INT8], outputs=[INT8_PER_CHANNEL])

# Convolutions, matrix products, pooling

WEIGHTS = arena("FLOAT32", 8, 3, 3, 2)
INT8_WEIGHTS = quantized(arena("INT8", 8, 3, 3, 2), 0.5)
GROUPED_WEIGHTS = arena("FLOAT32", 8, 3, 3, 1)

accepted("CONV_2D", [FLOAT, WEIGHTS, None], [FLOAT])
variant("CONV_2D", inputs={0: FLOAT_BATCH})
variant("CONV_2D", inputs={1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_RANK_3})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_SCALAR})
variant("CONV_2D", inputs={0: arena("FLOAT32", 4), 1: arena("FLOAT32", 4)})
variant("CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})
variant("CONV_2D", HYBRID, inputs={0: INT8})
variant("CONV_2D", inputs={0: INT8, 1: INT8_WEIGHTS}, outputs=[INT8])
variant("CONV_2D", TYPE, inputs={2: arena("INT64", 8)})
variant("CONV_2D", fused_activation_function=RELU_N1_TO_1, dilation_h_factor=2, dilation_w_factor=2)

accepted("DEPTHWISE_CONV_2D", [FLOAT, WEIGHTS], [FLOAT])
variant("DEPTHWISE_CONV_2D", inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("DEPTHWISE_CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})

accepted("TRANSPOSE_CONV", [PAIR, WEIGHTS, FLOAT], [FLOAT])
variant("TRANSPOSE_CONV", inputs={0: COMPUTED_PAIR, 1: INT8_WEIGHTS})
variant("TRANSPOSE_CONV", DYNAMIC, outputs=[FLOAT_SCALAR])

FILTER = constant([[[[[0.0]]]]], "FLOAT32")

accepted("CONV_3D", [FLOAT, FILTER], [FLOAT])
for _side in ("d", "h", "w"):
    variant("CONV_3D", ATTRIBUTE, **{f"dilation_{_side}_factor": 2})
variant("CONV_3D", HYBRID, inputs={0: INT8})
variant("CONV_3D", CONSTANT, inputs={1: WEIGHTS})
variant("CONV_3D", HYBRID, inputs={1: INT8_WEIGHTS})
without_options("CONV_3D", None)

accepted("FULLY_CONNECTED", [FLOAT, WEIGHTS, None], [FLOAT])
variant("FULLY_CONNECTED", HYBRID, inputs={1: INT8_WEIGHTS})
variant("FULLY_CONNECTED", ATTRIBUTE, weights_format=1)
variant("FULLY_CONNECTED", TYPE, inputs={2: INT16})
variant("FULLY_CONNECTED", TYPE, inputs={0: INT16, 1: INT16})
variant("FULLY_CONNECTED", ATTRIBUTE, inputs={2: INT16}, weights_format=1)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT])
variant("BATCH_MATMUL", adj_x=True)
variant("BATCH_MATMUL", ATTRIBUTE, adj_x=True, adj_y=True, rules=RULE_SETS)
variant("BATCH_MATMUL", TYPE, outputs=[INT32], rules=RULE_SETS)
variant("BATCH_MATMUL", TYPE, inputs=[FLOAT, INT8], outputs=[INT32], rules=RULE_SETS)
variant("BATCH_MATMUL", HYBRID, inputs=[INT8, FLOAT], rules=(UPSTREAM, LF_6_6_3))
variant("BATCH_MATMUL", HYBRID, inputs=[FLOAT, INT8])
variant("BATCH_MATMUL", None, inputs=[FLOAT, INT8], rules=(LF_6_6_3,))
variant("BATCH_MATMUL", None, inputs=[INT8, INT8], outputs=[INT8], rules=(UPSTREAM, LF_6_6_3))
for _inputs in ([FLOAT, INT8], [INT8, FLOAT], [INT8, INT8]):
    variant("BATCH_MATMUL", TYPE, inputs=_inputs, rules=(LF_5_15_71,))
variant("BATCH_MATMUL", None, inputs=[UINT8, UINT8], outputs=[UINT8], rules=RULE_SETS)

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT])
    variant(_op, filter_width=100, filter_height=100, fused_activation_function=RELU_N1_TO_1)

# Operators that move elements

for _op in ("CONCATENATION", "GATHER", "GATHER_ND", "HASHTABLE_LOOKUP"):
    accepted(_op, [FLOAT, INT32], [FLOAT])
for _op in ("SQUEEZE", "UNPACK"):
    accepted(_op, [FLOAT], [FLOAT])

accepted("PACK", [FLOAT, FLOAT], [FLOAT])
variant("PACK", inputs=[INT32, INT32], outputs=[INT32])
variant("PACK", inputs=[INT8_VECTOR, INT8_VECTOR], outputs=[INT8])
variant("PACK", TYPE, inputs=[INT32, INT32], outputs=[INT32], rules=NXP_RULES)
variant("PACK", RANK, inputs=[INT8_VECTOR, INT8_VECTOR], outputs=[INT8], rules=NXP_RULES)
variant("PACK", RANK, inputs=[UINT8_VECTOR, FLOAT], outputs=[UINT8], rules=NXP_RULES)
variant("PACK", None, inputs=[INT8, INT8_VECTOR], outputs=[INT8], rules=NXP_RULES)
variant("PACK", None, inputs=[FLOAT, INT32], rules=NXP_RULES)
variant("PACK", None, inputs=[arena("FLOAT32", 4)], rules=NXP_RULES)

for _op in ("ARG_MAX", "ARG_MIN"):
    accepted(_op, [FLOAT, AXIS], [INT32])
    variant(_op, inputs={1: COMPUTED_AXIS})
    variant(_op, DYNAMIC, inputs={0: FLOAT_SCALAR}, rules=RULE_SETS)
    variant(_op, DYNAMIC, outputs=[arena("INT32")], rules=RULE_SETS)
    variant(_op, inputs={0: INT8}, rules=(UPSTREAM, LF_6_6_3))
    variant(_op, TYPE, inputs={0: INT8}, rules=(LF_5_15_71,))
    variant(_op, TYPE, inputs={0: INT8}, outputs=[arena("INT32")], rules=(LF_5_15_71,))
    variant(_op, None, inputs={0: UINT8}, rules=(LF_5_15_71,))

accepted("BATCH_TO_SPACE_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("BATCH_TO_SPACE_ND", inputs={1: COMPUTED_PAIR, 2: COMPUTED_PAIR})
variant("BATCH_TO_SPACE_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])})
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("BATCH_TO_SPACE_ND", SHAPE, inputs={1: AXIS})
variant("BATCH_TO_SPACE_ND", DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("SPACE_TO_BATCH_ND", [FLOAT, PAIR, PAIR], [FLOAT])
variant("SPACE_TO_BATCH_ND", RANK, inputs={0: FLOAT_RANK_3})
variant("SPACE_TO_BATCH_ND", DYNAMIC, inputs={1: constant([1])}, outputs=[FLOAT_SCALAR])
variant("SPACE_TO_BATCH_ND", SHAPE, inputs={1: constant([1])})

accepted("BROADCAST_TO", [FLOAT, PAIR], [FLOAT])
variant("BROADCAST_TO", inputs=[INT64, arena("INT64", 4)])
variant("BROADCAST_TO", TYPE, inputs=[STRING, PAIR])
variant("BROADCAST_TO", TYPE, inputs=[INT64, PAIR], outputs=[INT64])
variant("BROADCAST_TO", RANK, inputs={0: FLOAT_RANK_7})
variant("BROADCAST_TO", SHAPE, inputs={0: FLOAT_EMPTY})
variant("BROADCAST_TO", SHAPE, outputs=[FLOAT_EMPTY])

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, TYPE, inputs=[INT32])
    variant(_op, inputs=[INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[UINT8_UNSCALED])
    variant(_op, QUANTIZATION, inputs=[INT8_UNSCALED, INT32])
    variant(_op, TYPE, inputs=[INT32, INT8_UNSCALED])

accepted("EMBEDDING_LOOKUP", [INT32, UINT8], [UINT8])
variant("EMBEDDING_LOOKUP", HYBRID, outputs=[INT8])
variant("EMBEDDING_LOOKUP", inputs={1: INT8}, outputs=[UINT8])

accepted("EXPAND_DIMS", [FLOAT, AXIS], [FLOAT])
needs_constant("EXPAND_DIMS", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

accepted("MIRROR_PAD", [FLOAT, PAIR], [FLOAT])
variant("MIRROR_PAD", inputs={1: COMPUTED_PAIR}, mode=1)
variant("MIRROR_PAD", DYNAMIC, outputs=[FLOAT_SCALAR])
variant("MIRROR_PAD", ATTRIBUTE, mode=2)
without_options("MIRROR_PAD", ATTRIBUTE)

accepted("ONE_HOT", [INT32, AXIS, FLOAT_SCALAR, FLOAT_SCALAR], [FLOAT])
needs_constant("ONE_HOT", 1, COMPUTED_AXIS, PERSISTENT_AXIS)
variant("ONE_HOT", TYPE, outputs=[BOOL])

for _op in ("MEAN", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT_SCALAR])
    needs_constant(_op, 1, COMPUTED_AXIS, PERSISTENT_AXIS)

for _op in ("PAD", "TRANSPOSE"):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    variant(_op, inputs={1: COMPUTED_PAIR})
    variant(_op, DYNAMIC, outputs=[FLOAT_SCALAR])

accepted("RESHAPE", [FLOAT, PAIR], [FLOAT])
variant("RESHAPE", inputs=[FLOAT])
variant("RESHAPE", inputs=[FLOAT, COMPUTED_PAIR, PAIR])
variant("RESHAPE", DYNAMIC, outputs=[FLOAT_SCALAR], rules=RULE_SETS)
variant("RESHAPE", CONSTANT, inputs={1: COMPUTED_PAIR}, rules=(UPSTREAM, LF_6_6_3))
variant("RESHAPE", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESHAPE", None, inputs={1: COMPUTED_PAIR}, rules=(LF_5_15_71,))

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, PAIR], [FLOAT])
    needs_constant(_op, 1, COMPUTED_PAIR, PERSISTENT_PAIR)
    variant(_op, inputs={0: INT8}, outputs=[INT8])
    variant(_op, QUANTIZATION, inputs={0: INT8_UNSCALED})
    variant(_op, QUANTIZATION, inputs={0: UINT8_UNSCALED})

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT])
needs_constant("REVERSE_V2", 1, COMPUTED_AXIS, PERSISTENT_AXIS)

accepted("SCATTER_ND", [INT32, FLOAT, PAIR], [FLOAT])
variant("SCATTER_ND", inputs={0: COMPUTED_PAIR})
needs_constant("SCATTER_ND", 2, COMPUTED_PAIR, PERSISTENT_PAIR)

accepted("SHAPE", [FLOAT], [INT32])
variant("SHAPE", inputs=[FLOAT_SCALAR])
variant("SHAPE", SHAPE, inputs=[arena("FLOAT32", -1, 4)])
variant("SHAPE", TYPE, outputs=[INT64])

accepted("SLICE", [FLOAT, PAIR, PAIR], [FLOAT])
needs_constant("SLICE", 1, COMPUTED_PAIR, PERSISTENT_PAIR)
needs_constant("SLICE", 2, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("SLICE", SHAPE, outputs=[FLOAT_BATCH])
variant("SLICE", SHAPE, outputs=[FLOAT_SCALAR])
variant("SLICE", inputs={0: FLOAT_RANK_3})
variant("SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, outputs=[FLOAT_BATCH])

for _op in ("SPLIT", "SPLIT_V"):
    accepted(_op, [FLOAT, INT8], [FLOAT])
    variant(_op, DYNAMIC, outputs=[HEAP_STRING])
    variant(_op, QUANTIZATION, inputs={0: INT8_UNSCALED})
    variant(_op, QUANTIZATION, inputs={1: UINT8_UNSCALED})
    variant(_op, DYNAMIC, inputs={1: UINT8_UNSCALED}, outputs=[HEAP_STRING])

accepted("STRIDED_SLICE", [FLOAT, PAIR, PAIR, PAIR], [FLOAT])
for _position in (1, 2, 3):
    needs_constant("STRIDED_SLICE", _position, COMPUTED_PAIR, PERSISTENT_PAIR)
variant("STRIDED_SLICE", ATTRIBUTE, new_axis_mask=1)
variant("STRIDED_SLICE", ATTRIBUTE, ellipsis_mask=1)
variant("STRIDED_SLICE", begin_mask=1, end_mask=1, shrink_axis_mask=1)
variant("STRIDED_SLICE", CONSTANT, inputs={1: COMPUTED_PAIR}, ellipsis_mask=1)

# Recurrent cells

accepted("RNN", [INT8] * 5, [FLOAT])

accepted("UNIDIRECTIONAL_SEQUENCE_RNN", [FLOAT] * 5, [FLOAT])
variant("UNIDIRECTIONAL_SEQUENCE_RNN", TYPE, inputs={1: INT8})
variant("UNIDIRECTIONAL_SEQUENCE_RNN", inputs={0: INT8, 2: INT8})

accepted("BIDIRECTIONAL_SEQUENCE_RNN", [FLOAT] * 9 + [None] * 3, [FLOAT])
variant("BIDIRECTIONAL_SEQUENCE_RNN", TYPE, inputs={1: INT8})
variant("BIDIRECTIONAL_SEQUENCE_RNN", inputs={5: INT8})
variant("BIDIRECTIONAL_SEQUENCE_RNN", OPTIONAL, inputs={9: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_RNN", OPTIONAL, inputs={9: FLOAT, 11: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_RNN", inputs={9: FLOAT, 10: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_RNN", inputs=[FLOAT] * 9)

accepted("UNIDIRECTIONAL_SEQUENCE_LSTM", [INT8] * 19 + [INT16], [INT8])
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs={0: UINT8, 19: FLOAT16})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={0: FLOAT})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={18: UINT8})
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={19: INT8})

accepted("BIDIRECTIONAL_SEQUENCE_LSTM", [FLOAT] * 16 + [None] * 2 + [FLOAT] * 21 + [None] * 9, [FLOAT])
variant("BIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={1: INT8})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", TYPE, inputs={1: None})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", inputs={2: INT8, 18: INT8})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", OPTIONAL, inputs={16: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", OPTIONAL, inputs={42: FLOAT})
variant("BIDIRECTIONAL_SEQUENCE_LSTM", inputs={17: FLOAT, 33: FLOAT, 41: FLOAT, 46: FLOAT})

# Custom operators

accepted("vsi-npu", [FLOAT, INT8], [FLOAT, UINT8])
variant("vsi-npu", TYPE, outputs=[FLOAT, INT16])
_REFUSED_ALWAYS = "WRNN_BIDI_SEQGRU"
_CASES.append(Case(_REFUSED_ALWAYS, CUSTOM, UPSTREAM, node_view(_REFUSED_ALWAYS, [FLOAT], [FLOAT], custom=True), {}))
_CASES.append(Case(_REFUSED_ALWAYS, TYPE, UPSTREAM, node_view(_REFUSED_ALWAYS, [INT64], [FLOAT], custom=True), {}))


def _identify(case: Case) -> str:
    shape = [f"{tensor.type}{list(tensor.shape)}" for tensor in (*case.node.inputs[:3], *case.node.outputs[:1])]
    return f"{case.op}-{case.code or 'taken'}-{case.rules}-{' '.join(shape)}"


@pytest.mark.parametrize("case", _CASES, ids=_identify)
def test_rule(case):
    verdict = validate(case.node, RULE_SETS[case.rules])
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)
    for reason in verdict.reasons:
        assert reason.code == f"vx-{reason.kind}"
        assert reason.found
        assert reason.needed


@pytest.mark.parametrize("op", ["CEIL", "COS", "LOG_SOFTMAX", "LSTM", "PADV2", "TILE", "TOPK_V2", "WHERE"])
def test_operators_without_a_mapper(op):
    for rules in RULE_SETS.values():
        assert [reason.code for reason in validate(node_view(op, [INT64], [INT64]), rules).reasons] == [OPERATOR]


def test_a_custom_operator_is_not_the_builtin_of_its_name_nor_the_other_way_round():
    assert validate(node_view("ABS", [FLOAT], [FLOAT], custom=True), RULES).reasons[0].code == CUSTOM
    ours = node_view("vsi-npu", [FLOAT], [FLOAT], custom=True)
    builtin = NodeView(ours.graph, ours.node._replace(builtin_code=0))
    assert validate(builtin, RULES).reasons[0].code == OPERATOR


def test_versions_are_not_looked_at():
    for op, case in _ACCEPTED.items():
        if op not in custom.RULES:
            assert validate(node_view(op, **case.arguments, version=99), RULES).is_supported


@pytest.mark.parametrize("op", sorted(RULES))
def test_every_operator_refuses_what_none_takes(op):
    for tensors, code in (([FLOAT_RANK_7], RANK), ([FLOAT_EMPTY], SHAPE), ([STRING], TYPE)):
        node = node_view(op, tensors * 20, [FLOAT], custom=op in custom.RULES)
        assert validate(node, RULES).reasons[0].code == code


# What the variants differ in


def test_nxp_differs_from_upstream_in_two_operators():
    newest = NXP_RULES[LF_6_6_3]
    assert set(newest) == set(RULES)
    assert {op for op in RULES if newest[op] is not RULES[op]} == {"BATCH_MATMUL", "PACK"}


def test_the_older_nxp_release_lacks_twelve_operators_and_differs_in_four():
    older, newest = NXP_RULES[LF_5_15_71], NXP_RULES[LF_6_6_3]
    assert set(newest) - set(older) == {
        "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "BROADCAST_TO", "CAST", "EMBEDDING_LOOKUP", "GELU",
        "HASHTABLE_LOOKUP", "MIRROR_PAD", "SCATTER_ND", "SHAPE", "SQUARED_DIFFERENCE", "UNIDIRECTIONAL_SEQUENCE_RNN",
    }  # fmt: skip
    assert set(older) < set(newest)
    assert {op for op in older if older[op] is not newest[op]} == {"ARG_MAX", "ARG_MIN", "BATCH_MATMUL", "RESHAPE"}


# Nothing is left out


def test_every_operator_has_cases():
    assert {case.op for case in _CASES} == set(RULES)


def test_every_check_is_exercised_on_both_sides():
    refused, met = set(), set()
    for case in _CASES:
        for check in RULE_SETS[case.rules][case.op].checks:
            if check.finder(case.node, None) is not None:
                refused.add((case.op, check))
                break
            met.add((case.op, check))
    shared_by_all = set(RULES["ABS"].checks)
    every = {
        (op, check)
        for rules in RULE_SETS.values()
        for op, rule in rules.items()
        for check in rule.checks
        if op == "ABS" or check not in shared_by_all
    }
    assert {(op, check.needed) for op, check in every - refused} == set()
    never_met = {(_REFUSED_ALWAYS, RULES[_REFUSED_ALWAYS].checks[-1])}
    assert every - met == never_met


def test_every_code_is_explained_and_every_explanation_is_of_a_code():
    codes = {check.code for rules in RULE_SETS.values() for rule in rules.values() for check in rule.checks}
    assert {*codes, OPERATOR} == set(EXPLANATIONS)
    assert codes == {case.code for case in _CASES if case.code}

"""The features of a node for which a converter raises the operator version.

Each operator has a table of demands, in the order of upstream's tests. The first demand that a node meets sets the node's
version.

Source: ``GetBuiltinOperatorVersion`` (``op_version.cc`` in ``tflite/converter/tools/versioning``, LiteRT). The tests read the
same data of a node as ``GetOpSignature`` (``op_signature.cc``). The tables were compared with models from the converters of
TensorFlow 2.15 and 2.21.

Two quantizers in ``quantize_model.cc`` do not follow the tables: the quantizer for 16-bit activations, and the quantizer that
``converter.experimental_new_quantizer = False`` selects. They set the version for INT8 data (``operator_property.cc``), even
if the data has another type. If the version of the float model is higher, they keep it. The AI Edge Quantizer keeps the
versions of the float model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from .conditions import (
    FLOAT8,
    VersionCondition,
    all_of,
    any_of,
    both_are,
    broadcasts_above_rank_4,
    either_is,
    full_lstm,
    hybrid_recurrent,
    hybrid_weights,
    input_is,
    integer_weights,
    is_grouped,
    is_per_channel,
    negated,
    not_power_of_two,
    option_equals,
    option_set,
    output_is,
    quantized_scales,
    rank_above,
    rescales_upwards,
    scale_for_each_slice,
    unquantized_int16_data,
)


class Demand(NamedTuple):
    """A condition on a node, and the version that a node needs if it meets the condition.

    A node meets the condition only if it has all features in ``given``.
    """

    version: int
    code: str
    condition: VersionCondition
    given: tuple[str, ...] = ()

    def remains_without(self, codes: Collection[str]) -> bool:
        """Return whether the demand can still apply if a node loses these features."""
        return self.code not in codes and not any(code in codes for code in self.given)


_SUB_BYTE = ("INT4", "INT2")


def _types(*versions: tuple[int, str], at: int = 0) -> tuple[Demand, ...]:
    return tuple(
        [
            Demand(version, f"{kind.lower()}-type", input_is(*(FLOAT8 if kind == "FLOAT8" else (kind,)), at=at))
            for version, kind in versions
        ]
    )


def _asymmetric(version: int, hybrid: VersionCondition) -> Demand:
    return Demand(
        version, "asymmetric-quantize-inputs", all_of(hybrid, option_set("asymmetric_quantize_inputs")), given=("hybrid-weights",)
    )


def _hybrid_pair(asymmetric: int, symmetric: int, hybrid: VersionCondition) -> tuple[Demand, ...]:
    """Return the demands of an operator that quantizes its float operands at run time."""
    return (_asymmetric(asymmetric, hybrid), Demand(symmetric, "hybrid-weights", hybrid))


def _quantized_bias(version: int, *weights: str) -> Demand:
    condition = all_of(integer_weights("INT16", *weights), option_set("quantized_bias_type"))
    return Demand(version, "quantized-bias-type", condition, given=("int16-type",))


_INT8_DATA = _types((2, "INT8"))
_INT16_INT8_DATA = _types((3, "INT16"), (2, "INT8"))
_INT8_INT16_DATA = _types((2, "INT8"), (2, "INT16"))
_FLOAT16_DATA = _types((2, "FLOAT16"))
_INT16_THROUGHOUT = (Demand(3, "int16-type", both_are("INT16")), *_INT8_DATA)
_BROADCAST = Demand(3, "broadcast-rank", broadcasts_above_rank_4)
_HYBRID_RECURRENT = _hybrid_pair(3, 2, hybrid_recurrent)

# The conditions on INT8 weights also have the narrower types, although earlier demands test for these types. If narrower weights
# were replaced by INT8 weights, these conditions would set the version.
_FULLY_CONNECTED = (
    Demand(14, "int2-weights", input_is("INT2", at=1)),
    Demand(13, "int4-weights", integer_weights("INT16", "INT4"), given=("int16-type",)),
    Demand(12, "per-channel", all_of(hybrid_weights(1, "INT2"), scale_for_each_slice(1, 0)), given=("hybrid-weights",)),
    _quantized_bias(11, "INT8", *_SUB_BYTE),
    Demand(8, "sparse-weights", lambda node: node.input(1).sparsity is not None),
    Demand(7, "int16-type", integer_weights("INT16", "INT16")),
    Demand(6, "missing-bias", lambda node: len(node.inputs) == 2),  # an omitted bias is a third operand
    Demand(5, "keep-num-dims", option_set("keep_num_dims")),
    Demand(10, "int4-weights", integer_weights("INT8", "INT4"), given=("int8-type",)),
    Demand(4, "int8-type", integer_weights("INT8", "INT8", *_SUB_BYTE)),
    *_hybrid_pair(9, 3, hybrid_weights(1, "INT2")),
    Demand(2, "shuffled-weights", option_equals("weights_format", 1)),
)

_CONV_2D = (
    _quantized_bias(8, "INT8"),
    Demand(6, "grouped-convolution", is_grouped),
    # Upstream tests the second result, which no convolution has. This demand is therefore never met.
    Demand(4, "int16-type", all_of(input_is("INT16"), input_is("INT16", at=1), output_is("INT16", at=1))),
    Demand(7, "int4-weights", integer_weights("INT8", "INT4"), given=("int8-type",)),
    Demand(3, "int8-type", integer_weights("INT8", "INT8", "INT4")),
    Demand(5, "per-channel", all_of(hybrid_weights(1), scale_for_each_slice(1, 0)), given=("hybrid-weights",)),
    Demand(2, "hybrid-weights", hybrid_weights(1)),
)

_DEPTHWISE_CONV_2D = (
    Demand(5, "int16-type", all_of(input_is("INT16"), input_is("INT16", at=1), output_is("INT16", at=1))),
    Demand(6, "per-channel", all_of(hybrid_weights(1), scale_for_each_slice(1, 3)), given=("hybrid-weights",)),
    Demand(4, "hybrid-weights", hybrid_weights(1)),
    Demand(7, "int4-weights", integer_weights("INT8", "INT4"), given=("int8-type",)),
    Demand(3, "int8-type", integer_weights("INT8", "INT8", "INT4")),
    Demand(2, "dilation", lambda node: (node.options.dilation_w_factor, node.options.dilation_h_factor) != (1, 1)),
)

_TRANSPOSE_CONV = (
    _quantized_bias(5, "INT8"),
    Demand(4, "fused-activation", option_set("fused_activation_function")),
    Demand(3, "transposed-convolution-bias", lambda node: len(node.inputs) == 4 and node.input(3).type != "NO_TYPE"),
    *_types((2, "INT8"), at=1),
)

_LSTM = (
    Demand(5, "int16-type", all_of(full_lstm, both_are("INT16"), input_is("INT8", at=2))),
    *_hybrid_pair(4, 3, all_of(full_lstm, hybrid_weights(2))),
    Demand(2, "basic-lstm", option_equals("kernel_type", 1)),
)

_UNIDIRECTIONAL_SEQUENCE_LSTM = (
    Demand(5, "int16-type", all_of(both_are("INT16"), input_is("INT8", at=2))),
    Demand(4, "diagonal-recurrent-weights", option_set("diagonal_recurrent_tensors")),
    *_hybrid_pair(3, 2, hybrid_weights(2)),
)

_EMBEDDING_LOOKUP = (
    Demand(4, "int4-weights", input_is("INT4", at=1)),
    Demand(4, "per-channel", scale_for_each_slice(1, 0, at_least=2)),
    Demand(5, "int2-weights", input_is("INT2", at=1)),
)

_ADD = (
    *_types((6, "FLOAT16")),
    Demand(5, "int16-unquantized", unquantized_int16_data),
    *_types((4, "INT64")),
    Demand(3, "int16-type", all_of(both_are("INT16"), quantized_scales(0), not_power_of_two)),
    *_INT8_DATA,
)

_SUB = (Demand(5, "int16-type", all_of(both_are("INT16"), not_power_of_two)), *_types((4, "INT64")), _BROADCAST, *_INT8_DATA)

# In some older models, MUL with an upward rescale has a lower version, since their converter did not have version 3 yet.
_MUL = (
    *_types((8, "FLOAT16")),
    Demand(7, "int16-unquantized", all_of(input_is("INT16"), negated(quantized_scales(0, 1)))),
    *_types((7, "UINT32"), (6, "COMPLEX64"), (5, "INT64")),
    Demand(4, "int16-type", all_of(input_is("INT16"), quantized_scales(0, 1))),
    Demand(3, "upward-rescale", rescales_upwards),
    *_INT8_DATA,
)

_ABS = (
    *_types((5, "INT32")),
    Demand(4, "int16-unquantized", unquantized_int16_data),
    Demand(3, "int16-type", all_of(input_is("INT16"), quantized_scales(0))),
    *_types((2, "INT8"), (2, "UINT8")),
)

_MAXIMUM_MINIMUM = (Demand(4, "int16-type", both_are("INT16")), _BROADCAST, *_INT8_DATA)

_TRANSPOSE = (
    *_types((9, "FLOAT16")),
    Demand(8, "high-rank", rank_above(6)),
    *_types((8, "BFLOAT16"), (7, "INT4")),
    Demand(6, "high-rank", rank_above(5)),
    *_types((5, "INT16")),
    Demand(4, "high-rank", rank_above(4)),
    *_types((3, "BOOL"), (2, "INT8")),
)

_SLICE = (
    *_types((8, "FLOAT16"), (7, "INT4"), (6, "UINT32")),
    Demand(5, "high-rank", rank_above(4)),
    *_types((4, "INT16"), (3, "STRING"), (2, "INT8")),
)

_STRIDED_SLICE = (
    Demand(8, "slice-offset", option_set("offset")),
    *_types((7, "UINT32")),
    Demand(6, "ellipsis-mask", option_set("ellipsis_mask")),
    Demand(6, "new-axis-mask", option_set("new_axis_mask")),
    *_types((5, "STRING")),
    Demand(4, "high-rank", rank_above(4)),
    *_types((3, "BOOL"), (2, "INT8")),
)

_GATHER = (
    *_types((8, "FLOAT8"), (7, "INT4")),
    Demand(6, "int16-indices", input_is("INT16", at=1)),
    Demand(5, "batch-dims", option_set("batch_dims")),
    *_types((4, "INT16"), (3, "BOOL"), (2, "INT8")),
)

_GATHER_ND = (
    *_types((6, "FLOAT8"), (5, "BOOL")),
    Demand(4, "int16-indices", input_is("INT16", at=1)),
    *_types((3, "INT16"), (2, "STRING")),
)

_PAD = (*_types((6, "FLOAT8"), (5, "BOOL")), Demand(4, "high-rank", rank_above(4)), *_INT16_INT8_DATA)

_SPACE_TO_BATCH_ND = (*_types((4, "INT16")), Demand(3, "rank-other-than-4", lambda node: node.input(0).rank != 4), *_INT8_DATA)

_PACK = (*_types((5, "FLOAT8"), (2, "INT8")), Demand(3, "int16-type", both_are("INT16")), *_types((4, "UINT32")))

_UNPACK = (
    *_types((6, "FLOAT8"), (2, "INT8"), (2, "UINT8"), (3, "BOOL")),
    Demand(4, "int16-type", both_are("INT16")),
    *_types((5, "FLOAT16"), (5, "BFLOAT16")),
)

_SELECT = (
    *_types((4, "UINT32")),
    Demand(3, "high-rank", lambda node: 5 in [node.input(position).rank for position in range(3)]),
    *_INT8_DATA,
)

_TOPK_V2 = (
    *_types((3, "INT16")),
    Demand(3, "int16-indices", any_of(input_is("INT16", at=1), output_is("INT16", at=1))),
    *_INT8_DATA,
)

_DYNAMIC_UPDATE_SLICE = (
    *_types((6, "BFLOAT16"), (5, "INT4"), (4, "INT16"), (3, "FLOAT16")),
    Demand(2, "int64-indices", input_is("INT64", at=2)),
)

# In earlier converters, FLOAT16 needed only version 2 of DEQUANTIZE, so many models with float16 weights have version 2.
_DEQUANTIZE = (
    *_types((9, "FLOAT8"), (8, "UINT4"), (7, "INT2"), (6, "INT4"), (3, "INT16"), (3, "FLOAT16")),
    Demand(5, "per-channel", all_of(input_is("INT8"), lambda node: is_per_channel(node.input(0))), given=("int8-type",)),
    *_INT8_DATA,
)

# The two quantizers in the module's docstring give version 2 to INT8 too, so older INT8 models have version 2.
_QUANTIZE = (
    Demand(5, "uint4-type", either_is("UINT4")),
    Demand(4, "int4-type", either_is("INT4")),
    Demand(3, "per-channel", lambda node: is_per_channel(node.output(0))),
    Demand(2, "int16-type", output_is("INT16")),
)

_CAST = (
    Demand(9, "float8-type", either_is(*FLOAT8)),
    Demand(8, "int2-type", either_is("INT2")),
    Demand(8, "uint4-type", either_is("UINT4")),
    Demand(7, "bfloat16-type", either_is("BFLOAT16")),
    Demand(6, "int4-type", all_of(input_is("INT4"), output_is("FLOAT32"))),
    Demand(5, "float64-type", either_is("FLOAT64")),
    Demand(5, "float16-type", either_is("FLOAT16")),
    Demand(4, "uint16-type", either_is("UINT16")),
    Demand(3, "int8-type", either_is("INT8")),
    Demand(2, "uint32-type", either_is("UINT32")),
)

# Some older models have version 1 with half_pixel_centers, since their converter did not have version 3 yet.
_RESIZE_BILINEAR = (*_types((4, "INT16")), Demand(3, "half-pixel-centers", option_set("half_pixel_centers")), *_INT8_DATA)

_RESIZE_NEAREST_NEIGHBOR = (
    *_types((4, "INT16")),
    Demand(3, "half-pixel-centers", option_set("half_pixel_centers")),
    Demand(3, "align-corners", option_set("align_corners")),
    *_INT8_DATA,
)

DEMANDS: Mapping[str, tuple[Demand, ...]] = {
    "ABS": _ABS,
    "ADD": _ADD,
    "BATCH_MATMUL": (*_INT16_INT8_DATA, _asymmetric(4, hybrid_weights(1))),
    "CAST": _CAST,
    "CONCATENATION": _types((7, "FLOAT8"), (6, "FLOAT16"), (5, "INT4"), (4, "UINT32"), (3, "INT16"), (2, "INT8")),
    "CONV_2D": _CONV_2D,
    "DEPTHWISE_CONV_2D": _DEPTHWISE_CONV_2D,
    "DEQUANTIZE": _DEQUANTIZE,
    "DIV": (Demand(2, "broadcast-rank", broadcasts_above_rank_4),),
    "DYNAMIC_UPDATE_SLICE": _DYNAMIC_UPDATE_SLICE,
    "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
    "EQUAL": _types((5, "INT16"), (3, "STRING"), (2, "INT8")),
    "FAKE_QUANT": (Demand(2, "narrow-range", option_set("narrow_range")),),
    "FILL": _types((5, "FLOAT8"), (4, "FLOAT16"), (3, "INT8"), (3, "INT16"), (2, "BOOL"), (2, "STRING"), at=1),
    "FLOOR_DIV": _types((3, "INT16"), (3, "INT8"), (2, "FLOAT32")),
    "FULLY_CONNECTED": _FULLY_CONNECTED,
    "GATHER": _GATHER,
    "GATHER_ND": _GATHER_ND,
    "GELU": _types((3, "FLOAT16"), (2, "INT8"), (2, "UINT8")),
    "L2_NORMALIZATION": (Demand(2, "int8-type", output_is("INT8")),),
    "LEAKY_RELU": _types((2, "INT16")),
    "LSTM": _LSTM,
    "MUL": _MUL,
    "NOT_EQUAL": _types((4, "INT16"), (3, "STRING"), (2, "INT8")),
    "PACK": _PACK,
    "QUANTIZE": _QUANTIZE,
    "RANGE": _types((2, "INT64")),
    "RELU": _types((3, "INT16"), (2, "INT8"), (2, "UINT8")),
    "RESIZE_BILINEAR": _RESIZE_BILINEAR,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZE_NEAREST_NEIGHBOR,
    "REVERSE_V2": _types((4, "FLOAT8"), (3, "INT8"), (2, "BOOL")),
    "SELECT": _SELECT,
    "SELECT_V2": _types((2, "UINT32")),
    "SIGN": _types((2, "INT32")),
    "SLICE": _SLICE,
    "SOFTMAX": _types((4, "FLOAT16"), (3, "INT16"), (2, "INT8")),
    "SPARSE_TO_DENSE": _types((3, "INT8"), (3, "UINT8"), (2, "INT64"), at=2),
    # In some older models, SPLIT has version 3 for any data, because the converter tested the axis operand for INT32.
    "SPLIT": _types((5, "FLOAT8"), (4, "INT16"), (3, "INT32"), (2, "INT8"), at=1),
    "SPLIT_V": _types((3, "FLOAT8"), (2, "INT8")),
    "SQUEEZE": _types((2, "STRING")),
    "STRIDED_SLICE": _STRIDED_SLICE,
    "SUB": _SUB,
    "SVDF": (*_types((3, "INT8")), *_hybrid_pair(4, 2, hybrid_weights(1))),
    "TILE": _types((3, "INT8"), (2, "STRING")),
    "TOPK_V2": _TOPK_V2,
    "TRANSPOSE": _TRANSPOSE,
    "TRANSPOSE_CONV": _TRANSPOSE_CONV,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _UNIDIRECTIONAL_SEQUENCE_LSTM,
    "UNPACK": _UNPACK,
    "WHERE": (Demand(2, "non-bool-condition", negated(input_is("BOOL"))),),
    "BROADCAST_TO": _types((4, "FLOAT8"), (3, "INT8"), (3, "INT16")),
    "FLOOR_MOD": _types((2, "INT16"), (2, "INT8")),
    **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _types((3, "BOOL"), (2, "INT8"))),
    **dict.fromkeys(("AVERAGE_POOL_2D", "LOGISTIC", "MAX_POOL_2D", "TANH"), _INT16_THROUGHOUT),
    **dict.fromkeys(("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"), _SPACE_TO_BATCH_ND),
    **dict.fromkeys(
        ("BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"), _HYBRID_RECURRENT
    ),
    **dict.fromkeys(("COS", "SIN"), _FLOAT16_DATA),
    **dict.fromkeys(
        ("DEPTH_TO_SPACE", "GREATER", "LESS_EQUAL", "LOG_SOFTMAX", "SPACE_TO_DEPTH", "SQUARED_DIFFERENCE", "SUM"), _INT8_DATA
    ),
    **dict.fromkeys(("EXP", "LOG", "REDUCE_PROD", "SQRT"), _INT8_INT16_DATA),
    **dict.fromkeys(
        ("GREATER_EQUAL", "LESS", "MEAN", "MIRROR_PAD", "REDUCE_MAX", "REDUCE_MIN", "RELU6", "RSQRT"), _INT16_INT8_DATA
    ),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), _MAXIMUM_MINIMUM),
    **dict.fromkeys(("PAD", "PADV2"), _PAD),
}
"""The demands that decide each operator's version, in the order of the tests. Operators without an entry have version 1."""
LOWEST_VERSIONS: Mapping[str, int] = {"BROADCAST_TO": 2}
"""The lowest version of each operator that has no version 1. Version 1 of BROADCAST_TO was withdrawn."""

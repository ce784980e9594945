"""Features of nodes that raise an operator version, with advice on how to avoid each feature.

The settings in the advice are attributes of ``tf.lite.TFLiteConverter`` (``tflite/python/lite.py``, LiteRT). If the name of a
setting begins with an underscore, the setting is experimental, and any release may remove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..foundation.converter_attributes import DENSE_PER_TENSOR, INT16X8, OLD_DYNAMIC_RANGE_QUANTIZER, OPTIMIZED, PER_TENSOR
from ..rules.kinds import Explanation

_FLOAT_CONVERSION = "leave converter.optimizations empty for a float model"
_FULL_INTEGER = "set converter.representative_dataset for full integer quantization"
_WEIGHTS_OF_ANOTHER_TOOL = (
    "Quantize the weights to INT8 instead, in the tool that quantized them to fewer bits: the post-training quantization of "
    "tf.lite.TFLiteConverter does not produce such weights"
)


def _data(name: str, advice: str) -> Explanation:
    return Explanation(
        f"{name} data", f"The operator works on tensors of type {name}, which only its later versions support.", advice
    )


def _cast(name: str, instead: str) -> Explanation:
    return _data(
        name, f"In the model's code, compute in {instead}, and cast (tf.cast) only where {name} values enter or leave the model"
    )


_QUANTIZATION: Mapping[str, Explanation] = MappingProxyType(
    {
        "hybrid-weights": Explanation(
            "INT8 weights with float activations",
            "The weights are quantized, but the activations are not, so the kernel quantizes its operand at run time. "
            "Dynamic range quantization produces such nodes.",
            f"The cause is {OPTIMIZED} without a representative dataset: {_FLOAT_CONVERSION}, {_FULL_INTEGER}, or add "
            "tf.float16 to converter.target_spec.supported_types for float16 weights",
        ),
        "asymmetric-quantize-inputs": Explanation(
            "asymmetric quantization at run time",
            "The option asymmetric_quantize_inputs is set on a node with quantized weights and float activations. The kernel "
            "then also computes a zero point when it quantizes its operand.",
            f"Dynamic range quantization ({OPTIMIZED} without a representative dataset) always sets this option: "
            f"{_FLOAT_CONVERSION}, or {_FULL_INTEGER}. To keep dynamic range quantization without this option, set "
            f"{OLD_DYNAMIC_RANGE_QUANTIZER} and {PER_TENSOR}",
        ),
        "per-channel": Explanation(
            "one scale for each channel",
            "The weights of a node with float activations, or the tensor of a QUANTIZE or DEQUANTIZE, have one scale for "
            "each channel instead of a single scale.",
            f"{PER_TENSOR} gives each tensor a single scale; {DENSE_PER_TENSOR} does so only for FULLY_CONNECTED. Accuracy "
            "may suffer",
        ),
        "int8-type": Explanation(
            "INT8 data",
            "The operator works on tensors of type INT8, which full integer quantization produces.",
            "The cause is converter.representative_dataset with tf.lite.Optimize.DEFAULT; set neither for a float model. If "
            "the model's code itself uses INT8, cast this data to another type with tf.cast",
        ),
        "int16-type": Explanation(
            "INT16 data",
            "The operator works on tensors of type INT16, which quantization with 16-bit activations and 8-bit weights produces.",
            f"The cause is {INT16X8} in converter.target_spec.supported_ops: use tf.lite.OpsSet.TFLITE_BUILTINS_INT8 instead. "
            "If the model's code itself uses INT16, cast this data to another type with tf.cast",
        ),
        "int16-unquantized": Explanation(
            "INT16 data without scales",
            "The operator computes with plain INT16 integers, not with quantized values.",
            "In the model's code, cast to int32 or float32 (tf.cast) before computing",
        ),
        "uint8-type": Explanation(
            "UINT8 data",
            "The operator works on tensors of type UINT8: images, or tensors that were quantized to UINT8, as was usual "
            "before INT8.",
            "Make the model's inputs and outputs float32 or INT8 (converter.inference_input_type and inference_output_type), "
            "and cast images to float32 before the first operator",
        ),
        "quantized-bias-type": Explanation(
            "explicit bias type",
            "The option quantized_bias_type is set on a node with INT16 activations and INT8 weights. It gives the type in "
            "which the node accumulates.",
            f"The cause is quantization with {INT16X8}. Use tf.lite.OpsSet.TFLITE_BUILTINS_INT8 in its place. "
            "converter._experimental_full_integer_quantization_bias_type does not matter",
        ),
        "int4-weights": Explanation(
            "INT4 weights",
            "The weights or the table have 4 bits for each element.",
            f"{_WEIGHTS_OF_ANOTHER_TOOL}. With quantization-aware training, do not set converter._experimental_low_bit_qat",
        ),
        "int2-weights": Explanation(
            "INT2 weights", "The weights or the table have 2 bits for each element.", _WEIGHTS_OF_ANOTHER_TOOL
        ),
        "int4-type": _data("INT4", "Quantize to INT8 instead, in the tool that quantized the model"),
        "uint4-type": _data("UINT4", "Quantize to INT8 instead, in the tool that quantized the model"),
        "int2-type": _data("INT2", "Quantize to INT8 instead, in the tool that quantized the model"),
        "sparse-weights": Explanation(
            "sparse weights",
            "The file stores only the nonzero weights and their positions.",
            "The cause is tf.lite.Optimize.EXPERIMENTAL_SPARSITY in converter.optimizations: remove it",
        ),
        "shuffled-weights": Explanation(
            "shuffled weights",
            "The weights are stored in the order SHUFFLED4x16INT8, which one kernel for UINT8 models needs.",
            "Convert again with tf.lite.TFLiteConverter, which writes weights in the default order",
        ),
        "narrow-range": Explanation(
            "fake quantization with narrow range",
            "FAKE_QUANT leaves out the lowest quantized value (narrow_range).",
            "Call tf.quantization.fake_quant_with_min_max_vars with narrow_range=False, or quantize the model while "
            "converting it, so that no FAKE_QUANT remains",
        ),
        "upward-rescale": Explanation(
            "upward rescaling of a product",
            "The product of the two operand scales is not below the scale of the result, so the kernel multiplies integer "
            "products by a factor of 1 or more.",
            "Scales come from the representative dataset: use samples with realistic values of the operands. Or bring both "
            "operands to a smaller range in the model's code, so that their scales become smaller",
        ),
    }
)
"""Features of quantized weights and activations."""

_TYPES: Mapping[str, Explanation] = MappingProxyType(
    {
        "bfloat16-type": _cast("BFLOAT16", "float32"),
        "bool-type": _cast("BOOL", "float32 or int32"),
        "complex64-type": _data("COMPLEX64", "In the model's code, compute the real and imaginary parts separately, in float32"),
        "float16-type": _cast("FLOAT16", "float32"),
        "float32-type": _data(
            "FLOAT32", "In the model's code, divide in int32. Or divide with tf.divide and round with tf.floor"
        ),
        "float64-type": _cast("FLOAT64", "float32"),
        "float8-type": _cast("FLOAT8_E4M3FN or FLOAT8_E5M2", "float32"),
        "int32-type": _cast("INT32", "float32"),
        "int64-type": _cast("INT64", "int32"),
        "string-type": _data("STRING", "In the model's code, map strings to int32 numbers before they enter the model"),
        "uint16-type": _cast("UINT16", "int32"),
        "uint32-type": _cast("UINT32", "int32"),
        "int16-indices": Explanation(
            "INT16 indices",
            "The operator reads or returns indices or counts of type INT16.",
            "In the model's code, cast indices to int32",
        ),
        "int64-indices": Explanation(
            "INT64 indices",
            "The operator reads indices of type INT64.",
            "In the model's code, cast indices to int32",
        ),
        "non-bool-condition": Explanation(
            "condition that is not BOOL",
            "The operator searches for nonzero numbers instead of true elements.",
            "In the model's code, compare first: tf.where(tensor != 0)",
        ),
    }
)
"""Features that are data types. Operators support these types only in later versions."""

_STRUCTURE: Mapping[str, Explanation] = MappingProxyType(
    {
        "missing-bias": Explanation(
            "missing bias operand",
            "The node has only two operands. A node with an omitted third operand (index -1) does not have this feature.",
            "Give the layer a bias (use_bias=True). It may be all zeros",
        ),
        "keep-num-dims": Explanation(
            "result with more than 2 dimensions",
            "The option keep_num_dims is set: the result is not a matrix, but keeps the leading dimensions of the operand. The "
            "converter sets the option if the operand of a dense layer or of a product with constant weights has 3 or more "
            "dimensions.",
            "In the model's code, reshape the data to 2 dimensions before a group of such layers, and back only after the "
            "whole group. Or write the layer as a convolution with a 1x1 window. A reshape directly before and after each "
            "layer may not help: if shapes are fixed, the converter replaces both reshapes by the option",
        ),
        "grouped-convolution": Explanation(
            "grouped convolution",
            "The filter reads fewer channels than the input has: each group of filters reads its own part of the channels.",
            "Write the layer with groups=1. Or split the channels, convolve each part and concatenate the results. If each "
            "group has one channel, you can also use a depthwise convolution",
        ),
        "dilation": Explanation(
            "dilated depthwise convolution",
            "The filter reads elements that are spaced apart (a dilation factor other than 1).",
            "In the model's code, use dilation_rate=1, with a larger window if the layer must cover the same area",
        ),
        "broadcast-rank": Explanation(
            "broadcasting with more than 4 dimensions",
            "The shapes of the two operands differ from each other, and one operand has more than 4 dimensions.",
            "In the model's code, merge dimensions (tf.reshape) so that 4 are enough, or give both operands the same shape first",
        ),
        "high-rank": Explanation(
            "more than 4 dimensions",
            "An operand has 5 or more dimensions. The operator's first version accepts at most 4.",
            "In the model's code, merge dimensions (tf.reshape) so that 4 are enough",
        ),
        "rank-other-than-4": Explanation(
            "number of dimensions other than 4",
            "The operand has fewer or more than 4 dimensions, for example because of a dilated 1-D convolution.",
            "In the model's code, give the operand 4 dimensions: use the 2-D form of the layer, with one dimension of size 1",
        ),
        "fused-activation": Explanation(
            "activation fused into a transposed convolution",
            "The activation that follows the transposed convolution has been fused into it.",
            "In the model's code, use no activation after the convolution, or one that is not fused, such as leaky ReLU",
        ),
        "transposed-convolution-bias": Explanation(
            "transposed convolution with a bias",
            "TRANSPOSE_CONV has a bias as its fourth operand.",
            "Build the layer with use_bias=False, and without a batch normalization after it: the offset of the normalization "
            "becomes a bias",
        ),
        "basic-lstm": Explanation(
            "basic LSTM kernel",
            "The LSTM has a single tensor with all weights (kernel_type BASIC).",
            "Build the model with tf.keras.layers.LSTM, and convert it with TensorFlow 2, which writes another form of LSTM",
        ),
        "diagonal-recurrent-weights": Explanation(
            "diagonal recurrent weights",
            "The recurrent weights of the LSTM are diagonal matrices, stored as vectors (diagonal_recurrent_tensors).",
            "In the model's code, use an LSTM with full recurrent matrices",
        ),
        "batch-dims": Explanation(
            "batched gather",
            "The option batch_dims is set: each batch of indices selects from the batch of data at the same position.",
            "In the model's code, call tf.gather with batch_dims=0 on flattened data, with the offset of each batch added to its "
            "indices",
        ),
        "slice-offset": Explanation(
            "slice ends relative to the begins",
            "The option offset is set: the ends of the slice are relative to its begins.",
            "In the model's code, slice with constant begins and ends, or with tf.slice",
        ),
        "ellipsis-mask": Explanation(
            "slice with an ellipsis",
            "The slice has an ellipsis (ellipsis_mask) that the converter did not expand.",
            "In the model's code, write out the slice of each dimension instead of '...'",
        ),
        "new-axis-mask": Explanation(
            "slice with a new dimension",
            "The slice adds a dimension (new_axis_mask) that the converter did not remove.",
            "In the model's code, use tf.expand_dims instead of tf.newaxis in a slice",
        ),
        "half-pixel-centers": Explanation(
            "resizing by pixel centers",
            "The option half_pixel_centers is set: positions are measured from the centers of pixels, as in tf.image.resize.",
            "In the model's code, use tf.compat.v1.image.resize_bilinear or resize_nearest_neighbor, which do not set the "
            "option by default. The results differ slightly, so train or check the model with this function",
        ),
        "align-corners": Explanation(
            "resizing with aligned corners",
            "The option align_corners is set: the corner elements of input and result coincide.",
            "In the model's code, call tf.compat.v1.image.resize_nearest_neighbor with align_corners=False",
        ),
    }
)
"""Features of operands, shapes and options."""

_ALL = {**_QUANTIZATION, **_TYPES, **_STRUCTURE}
FEATURES: Mapping[str, Explanation] = MappingProxyType(
    {code: own._replace(advice=f"{own.advice}.") for code, own in _ALL.items()}
)
"""All features. A feature has the same code for all operators."""

FEATURE_CHANGES: Mapping[str, str] = MappingProxyType({code: own.advice for code, own in _ALL.items()})
"""The advice on each feature without the last period, because other words may follow."""

HIGHEST_TOLD_APART = 32
"""The highest version that delegates' rules distinguish. A model file may store any version up to 2**31 - 1."""
_ABOVE = 3


def versions_to_try(version: int) -> list[int]:
    """Return versions that could replace an operator's version.

    Lower versions come before higher versions, and the nearest version comes first.

    >>> versions_to_try(3)
    [2, 1, 4, 5, 6]
    """
    lower = range(min(version - 1, HIGHEST_TOLD_APART), 0, -1)
    higher = range(max(version, 0) + 1, max(version, 0) + _ABOVE + 1)  # bounded: a constant number of versions
    return [*lower, *(higher if version <= HIGHEST_TOLD_APART else ())]

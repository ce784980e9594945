"""Prepare of convolutions, of images and of volumes, and of transposed ones."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.tensors import PrepareError
from delegate_sim.releases.catalogue import parse_release

SAME, VALID = 0, 1
"""Values of the schema's Padding."""
RELU6 = 3
"""Value of the schema's ActivationFunctionType."""
INT32, INT64 = 2, 4
"""Values of the schema's TensorType."""
BIAS_TYPES = {"FLOAT32": "FLOAT32", "UINT8": "INT32", "INT8": "INT32", "INT16": "INT64"}


def operands(kernels, kind, source, weights, channels, weights_type=None):
    """Input, weights, bias and output of a convolution; those of a quantized one have the scales that go together."""
    weights_type = weights_type or kind
    tensors = [
        kernels.arena(kind, *source),
        kernels.arena(weights_type, *weights),
        kernels.arena(BIAS_TYPES.get(kind, kind), channels),
        kernels.arena(kind),
    ]
    if kind != "FLOAT32":
        tensors = [kernels.quantized(tensor, scale) for tensor, scale in zip(tensors, (0.5, 0.5, 0.25, 1.0), strict=True)]
    return tensors


def conv_2d(kernels, tensors, **options):
    given = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1, **options}
    return kernels.prepare("CONV_2D", tensors[:-1], tensors[-1:], **given)


def float_conv(kernels, source=(1, 9, 7, 4), weights=(8, 3, 3, 4)):
    return operands(kernels, "FLOAT32", source, weights, weights[0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (1, 9, 7, 8)),
        ({"padding": VALID}, (1, 7, 5, 8)),
        ({"stride_h": 2, "stride_w": 3}, (1, 5, 3, 8)),
        ({"padding": VALID, "dilation_h_factor": 4, "dilation_w_factor": 3}, (1, 1, 1, 8)),
    ],
)
def test_conv_2d_shape(kernels, options, expected):
    kernels.assert_static(conv_2d(kernels, float_conv(kernels), **options), expected)


def test_conv_2d_grouped(kernels):
    tensors = float_conv(kernels, weights=(8, 1, 1, 2))
    kernels.assert_static(conv_2d(kernels, tensors), (1, 9, 7, 8))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((8, 3, 3, 3), "the number of input channels is not a multiple of the input channels of the weights"),
        ((3, 1, 1, 2), "the output channels cannot be divided evenly into groups"),
        ((8, 0, 3, 4), "the weights are empty"),
        ((8, 3, 4), "tensor 1 has 3 dimensions, not 4"),
    ],
)
def test_conv_2d_refuses_weights_that_do_not_fit(kernels, weights, message):
    with pytest.raises(PrepareError, match=message):
        conv_2d(kernels, float_conv(kernels, weights=weights))


@pytest.mark.parametrize("option", ["stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor"])
@pytest.mark.parametrize("step", [0, 2**15])
def test_conv_2d_refuses_steps_out_of_range(kernels, option, step):
    with pytest.raises(PrepareError, match="out of range"):
        conv_2d(kernels, float_conv(kernels), **{option: step})


def test_conv_2d_without_options_has_no_strides(kernels):
    *inputs, result = float_conv(kernels)
    with pytest.raises(PrepareError, match="stride"):
        kernels.prepare("CONV_2D", inputs, [result])


def test_conv_2d_needs_a_bias(kernels):
    source, weights, _, result = float_conv(kernels)
    with pytest.raises(PrepareError, match="no bias"):
        conv_2d(kernels, [source, weights, result])
    with pytest.raises(PrepareError, match="missing"):
        conv_2d(kernels, [source, weights, None, result])


def test_conv_2d_takes_float16_weights_but_not_a_float16_bias(kernels):
    source, weights, bias, result = float_conv(kernels)
    kernels.assert_static(conv_2d(kernels, [source, weights._replace(type="FLOAT16"), bias, result]), (1, 9, 7, 8))
    with pytest.raises(PrepareError, match="FLOAT16"):
        conv_2d(kernels, [source, weights, bias._replace(type="FLOAT16"), result])


@pytest.mark.parametrize("kind", ["UINT8", "INT8", "INT16"])
def test_conv_2d_quantized(kernels, kind):
    weights_type = "INT8" if kind == "INT16" else kind
    tensors = operands(kernels, kind, (1, 4, 4, 2), (3, 1, 1, 2), 3, weights_type)
    kernels.assert_static(conv_2d(kernels, tensors, quantized_bias_type=INT64 if kind == "INT16" else 0), (1, 4, 4, 3))


def test_conv_2d_names_the_type_of_an_int16_bias(kernels):
    tensors = operands(kernels, "INT16", (1, 4, 4, 2), (3, 1, 1, 2), 3, "INT8")
    with pytest.raises(PrepareError, match="type in the options"):
        conv_2d(kernels, tensors, quantized_bias_type=INT32)


def test_conv_2d_scale_of_the_bias_counts_for_uint8_only(kernels):
    for kind, is_refused in (("UINT8", True), ("INT8", False)):
        tensors = operands(kernels, kind, (1, 4, 4, 2), (3, 1, 1, 2), 3)
        tensors[2] = kernels.quantized(tensors[2], 0.28)
        if is_refused:
            with pytest.raises(PrepareError, match="bias scale"):
                conv_2d(kernels, tensors)
        else:
            kernels.assert_static(conv_2d(kernels, tensors), (1, 4, 4, 3))


def test_conv_2d_one_scale_for_each_output_channel(kernels):
    tensors = operands(kernels, "INT8", (1, 4, 4, 2), (3, 1, 1, 2), 3)
    tensors[1] = kernels.quantized(tensors[1], 0.5, 0.25, 1.0)
    kernels.assert_static(conv_2d(kernels, tensors), (1, 4, 4, 3))
    tensors[1] = kernels.quantized(tensors[1], 0.5, 0.25, dimension=3)
    with pytest.raises(PrepareError, match="one scale for each output channel"):
        conv_2d(kernels, tensors)


def test_conv_2d_refuses_zero_points_of_signed_weights(kernels):
    tensors = operands(kernels, "INT8", (1, 4, 4, 2), (3, 1, 1, 2), 3)
    tensors[1] = kernels.quantized(tensors[1], 0.5, zero_point=1)
    with pytest.raises(PrepareError, match="zero point"):
        conv_2d(kernels, tensors)


def test_conv_2d_refuses_an_activation_that_the_scale_of_the_output_cannot_hold(kernels):
    tensors = operands(kernels, "INT8", (1, 4, 4, 2), (3, 1, 1, 2), 3)
    conv_2d(kernels, tensors, fused_activation_function=RELU6)
    tensors[3] = kernels.quantized(tensors[3], 2e-9)
    conv_2d(kernels, tensors)
    with pytest.raises(PrepareError, match="activation"):
        conv_2d(kernels, tensors, fused_activation_function=RELU6)


def test_conv_2d_hybrid_scales(kernels):
    tensors = operands(kernels, "FLOAT32", (1, 4, 4, 2), (2, 1, 1, 2), 2, "INT8")
    kernels.assert_static(conv_2d(kernels, tensors), (1, 4, 4, 2))
    tensors[1] = kernels.quantized(tensors[1], 0.5, 0.5, dimension=3)
    conv_2d(kernels, tensors)
    tensors[1] = kernels.quantized(tensors[1], 0.5, 0.25, dimension=3)
    with pytest.raises(PrepareError, match="along the output channels"):
        conv_2d(kernels, tensors)


def test_conv_2d_hybrid_groups_need_one_scale_for_each_output_channel(kernels):
    tensors = operands(kernels, "FLOAT32", (1, 4, 4, 4), (2, 1, 1, 2), 2, "INT8")
    with pytest.raises(PrepareError, match="quantization"):
        conv_2d(kernels, tensors)
    tensors[1] = kernels.quantized(tensors[1], 0.5)
    with pytest.raises(PrepareError, match="one scale"):
        conv_2d(kernels, tensors)
    tensors[1] = kernels.quantized(tensors[1], 0.5, 0.5)
    conv_2d(kernels, tensors)
    with pytest.raises(PrepareError, match="signed"):
        conv_2d(kernels, [tensors[0], tensors[1]._replace(type="UINT8"), *tensors[2:]])


def test_conv_2d_refuses_a_scratch_tensor_too_large_to_index(kernels):
    conv_2d(kernels, float_conv(kernels, (1, 3080, 3080, 1), (1, 15, 15, 1)))
    with pytest.raises(PrepareError, match="int32"):
        conv_2d(kernels, float_conv(kernels, (1, 3100, 3100, 1), (1, 15, 15, 1)))


def depthwise(kernels, tensors, **options):
    given = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1, **options}
    return kernels.prepare("DEPTHWISE_CONV_2D", tensors[:-1], tensors[-1:], **given)


def test_depthwise_conv_2d_shape(kernels):
    tensors = operands(kernels, "FLOAT32", (2, 8, 8, 3), (1, 3, 3, 6), 6)
    kernels.assert_static(depthwise(kernels, tensors, padding=VALID, stride_h=2), (2, 3, 6, 6))
    source, weights, _, result = tensors
    kernels.assert_static(depthwise(kernels, [source, weights, result]), (2, 8, 8, 6))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((2, 3, 3, 6), "the first dimension of the weights is not 1"),
        ((1, 3, 3, 5), "the output channels are not a multiple of the input channels"),
        ((1, 3, 0, 6), "the weights are empty"),
        ((3, 3, 6), "tensor 1 has 3 dimensions, not 4"),
    ],
)
def test_depthwise_conv_2d_refuses_weights_that_do_not_fit(kernels, weights, message):
    with pytest.raises(PrepareError, match=message):
        depthwise(kernels, operands(kernels, "FLOAT32", (2, 8, 8, 3), weights, 6))


def test_depthwise_conv_2d_types(kernels):
    tensors = operands(kernels, "FLOAT32", (1, 8, 8, 3), (1, 1, 1, 3), 3, "FLOAT16")
    with pytest.raises(PrepareError, match="does not fit"):
        depthwise(kernels, tensors)
    depthwise(kernels, operands(kernels, "FLOAT32", (1, 8, 8, 3), (1, 1, 1, 3), 3, "INT4"))
    tensors = operands(kernels, "INT16", (1, 8, 8, 3), (1, 1, 1, 3), 3, "INT8")
    depthwise(kernels, tensors)
    with pytest.raises(PrepareError, match="INT32"):
        depthwise(kernels, [*tensors[:2], tensors[2]._replace(type="INT32"), tensors[3]])


def test_depthwise_conv_2d_hybrid_scales(kernels):
    tensors = operands(kernels, "FLOAT32", (1, 8, 8, 3), (1, 1, 1, 3), 3, "INT8")
    with pytest.raises(PrepareError, match="quantization"):
        depthwise(kernels, tensors)
    for scales, dimension in (((0.5,), 0), ((0.5, 0.25, 1.0), 3)):
        tensors[1] = kernels.quantized(tensors[1], *scales, dimension=dimension)
        depthwise(kernels, tensors)


def test_depthwise_conv_2d_multiplier_is_limited(kernels):
    depthwise(kernels, operands(kernels, "FLOAT32", (1, 2, 2, 1), (1, 1, 1, 2**15 - 1), 2**15 - 1))
    with pytest.raises(PrepareError, match="multiplier"):
        depthwise(kernels, operands(kernels, "FLOAT32", (1, 2, 2, 1), (1, 1, 1, 2**15), 2**15))


def transpose_conv(kernels, shape, kind="FLOAT32", weights_type=None, **options):
    source, weights, bias, result = operands(kernels, kind, (1, 3, 3, 4), (2, 3, 3, 4), 2, weights_type)
    given = {"stride_h": 2, "stride_w": 2, **options}
    return kernels.prepare("TRANSPOSE_CONV", [shape, weights, source, bias], [result], **given)


@pytest.mark.parametrize(
    ("shape", "padding"), [((1, 6, 6, 2), SAME), ((1, 5, 6, 2), SAME), ((1, 7, 8, 2), VALID), ((3, 6, 6, 9), SAME)]
)
def test_transpose_conv_shape(kernels, shape, padding):
    kernels.assert_static(transpose_conv(kernels, kernels.constant(shape), padding=padding), shape)


@pytest.mark.parametrize(
    ("shape", "padding", "message"),
    [
        ((1, 7, 6, 2), SAME, "the output shape does not match the shape of the input"),
        ((1, 6, 6, 2), VALID, "the output shape does not match the shape of the input"),
        ((1, 0, 6, 2), SAME, "the output is empty"),
        ((1, 6, 6), SAME, "tensor 0 has the shape"),
    ],
)
def test_transpose_conv_refuses_shapes_that_do_not_lead_back(kernels, shape, padding, message):
    with pytest.raises(PrepareError, match=message):
        transpose_conv(kernels, kernels.constant(shape), padding=padding)


def test_transpose_conv_shape_must_be_int32_where_it_is_read(kernels):
    with pytest.raises(PrepareError, match="INT64"):
        transpose_conv(kernels, kernels.constant([1, 6, 6, 2], "INT64"))
    kernels.assert_dynamic(transpose_conv(kernels, kernels.arena("INT64", 4)), cause=0)


def test_transpose_conv_does_not_read_a_persistent_shape(kernels):
    kernels.assert_dynamic(transpose_conv(kernels, kernels.persistent([1, 6, 6, 2])), cause=0)


def test_transpose_conv_types(kernels):
    shape = kernels.constant([1, 6, 6, 2])
    kernels.assert_static(transpose_conv(kernels, shape, "INT8"), (1, 6, 6, 2))
    kernels.assert_static(transpose_conv(kernels, shape, "INT16", "INT8", quantized_bias_type=INT64), (1, 6, 6, 2))
    with pytest.raises(PrepareError, match="FLOAT16"):
        transpose_conv(kernels, shape, "FLOAT32", "FLOAT16")
    with pytest.raises(PrepareError, match="quantization"):
        transpose_conv(kernels, shape, "FLOAT32", "INT8")


STEPS_3D = {f"{step}_{axis}{end}": 1 for step, end in (("stride", ""), ("dilation", "_factor")) for axis in ("d", "h", "w")}


def conv_3d(kernels, source=(1, 3, 4, 5, 2), weights=(2, 2, 2, 2, 4), kind="FLOAT32", **options):
    inputs = [kernels.arena("FLOAT32", *source), kernels.arena(kind, *weights), kernels.arena("FLOAT32", 4)]
    return kernels.prepare("CONV_3D", inputs, [kernels.arena("FLOAT32")], **{**STEPS_3D, **options})


def test_conv_3d_shape(kernels):
    kernels.assert_static(conv_3d(kernels), (1, 3, 4, 5, 4))
    kernels.assert_static(conv_3d(kernels, padding=VALID, stride_h=2), (1, 2, 2, 4, 4))


def test_conv_3d_window_that_does_not_fit_gives_an_empty_result_in_litert_2_2(kernels):
    node = conv_3d(kernels, weights=(9, 2, 2, 2, 4), padding=VALID, release=parse_release("litert-2.2.0"))
    kernels.assert_static(node, (1, 0, 3, 4, 4))
    with pytest.raises(PrepareError, match="does not fit"):
        conv_3d(kernels, weights=(9, 2, 2, 2, 4), padding=VALID)


def test_conv_3d_refuses(kernels):
    with pytest.raises(PrepareError, match="channels"):
        conv_3d(kernels, weights=(2, 2, 2, 3, 4))
    with pytest.raises(PrepareError, match="INT8"):
        conv_3d(kernels, kind="INT8")
    with pytest.raises(PrepareError, match="dilation"):
        conv_3d(kernels, dilation_d_factor=0)
    with pytest.raises(PrepareError, match="one element"):
        conv_3d(kernels, weights=(2, 2, 2, 2, 3))


def conv_3d_transpose(kernels, shape, **options):
    inputs = [shape, kernels.arena("FLOAT32", 2, 2, 2, 2, 4), kernels.arena("FLOAT32", 1, 3, 3, 3, 4), None]
    return kernels.prepare("CONV_3D_TRANSPOSE", inputs, [kernels.arena("FLOAT32")], **{**STEPS_3D, **options})


def test_conv_3d_transpose_shape(kernels):
    kernels.assert_static(conv_3d_transpose(kernels, kernels.constant([1, 3, 3, 3, 2])), (1, 3, 3, 3, 2))
    kernels.assert_static(conv_3d_transpose(kernels, kernels.persistent([1, 4, 4, 4, 2]), padding=VALID), (1, 4, 4, 4, 2))
    kernels.assert_dynamic(conv_3d_transpose(kernels, kernels.arena("INT32", 5)), cause=0)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 3, 3, 3, 2), "input and output shape have different batch sizes"),
        ((1, 3, 3, 3, 4), "weights and output shape have different numbers of channels"),
        ((1, 4, 3, 3, 2), "the output shape does not match the shape of the input"),
        ((1, 3, -3, 3, 2), "the output shape has a negative size"),
        ((1, 3, 3, 2), "tensor 0 has the shape"),
    ],
)
def test_conv_3d_transpose_refuses_shapes_that_do_not_lead_back(kernels, shape, message):
    with pytest.raises(PrepareError, match=message):
        conv_3d_transpose(kernels, kernels.constant(shape))


def test_conv_3d_transpose_refuses_steps_even_if_the_shape_is_unknown(kernels):
    with pytest.raises(PrepareError, match="stride"):
        conv_3d_transpose(kernels, kernels.arena("INT32", 5), stride_d=0)

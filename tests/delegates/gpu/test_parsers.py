"""Building the delegate's own model: operators that move elements, reductions, LSTM, custom operators and the clean-up."""

from __future__ import annotations

import pytest

from tests.support.delegates.gpu_sketch import RELU, TANH, assert_fails, conv

SPARSITY = ((0, 1, 2, 3), (), ((True, 1), (True, 1), (True, 1), (True, 4)))

# Shapes


def test_concatenation_copies_what_stands_twice(sketch):
    x = sketch.input(1, 2, 2, 3)
    assert sketch.build(sketch.node("CONCATENATION", [x, x, sketch.constant(1, 2, 2, 3)], (1, 2, 2, 9), axis=3)) is None


def test_concatenation_of_a_constant_gpu_build_constant_shape(sketch):
    constant = sketch.constant(2, 3)
    result = sketch.node("CONCATENATION", [sketch.input(2, 3), constant], (2, 6), axis=1)
    assert_fails(sketch.build(result), "gpu-build-constant-shape", 0, constant)


def test_pack(sketch):
    assert sketch.build(sketch.node("PACK", [sketch.input(2, 3), sketch.input(2, 3)], (2, 2, 3), axis=1, values_count=2)) is None


def test_pack_of_what_stands_twice_gpu_build_repeated_operand(sketch):
    x = sketch.input(2, 3)
    result = sketch.node("PACK", [x, x], (2, 2, 3), axis=1, values_count=2)
    assert_fails(sketch.build(result), "gpu-build-repeated-operand", 0, x)


def test_pack_gpu_build_axis(sketch):
    result = sketch.node("PACK", [sketch.input(2), sketch.input(2)], (2, 2), axis=2, values_count=2)
    assert_fails(sketch.build(result), "gpu-build-axis", 0, result)


def test_unpack(sketch):
    assert sketch.build(*sketch.node("UNPACK", [sketch.input(2, 3)], (3,), (3,), axis=0, num=2)) is None


def test_unpack_of_a_vector_gpu_build_rank(sketch):
    results = sketch.node("UNPACK", [sketch.input(2)], (), (), axis=0, num=2)
    assert_fails(sketch.build(*results), "gpu-build-rank", None, results[0])


@pytest.mark.parametrize(("op", "order"), [("SPLIT", "ax"), ("SPLIT_V", "xsa")])
def test_split(sketch, op, order):
    operands = {"x": sketch.input(2, 4), "a": sketch.constant(type="INT32"), "s": sketch.vector(2, 2)}
    results = sketch.node(op, [operands[name] for name in order], (2, 2), (2, 2), num_splits=2)
    assert sketch.build(*results) is None


def test_split_along_a_runtime_axis_gpu_build_runtime_operand(sketch):
    axis = sketch.input(1, type="INT32")
    results = sketch.node("SPLIT", [axis, sketch.input(2, 4)], (2, 2), (2, 2), num_splits=2)
    assert_fails(sketch.build(*results), "gpu-build-runtime-operand", 0, axis)


def test_split_into_one_that_has_two_results_gpu_build_output_count(sketch):
    operands = [sketch.constant(type="INT32", value=0), sketch.input(2, 4)]
    first, second = sketch.node("SPLIT", operands, (2, 4), (2, 4), num_splits=1)
    assert_fails(sketch.build(second, sketch.node("ABS", [first], (2, 4))), "gpu-build-output-count", 0)


def test_gather_gpu_build_axis(sketch):
    x = sketch.input(2, 3)
    assert_fails(sketch.build(sketch.node("GATHER", [x, sketch.vector(0)], (1, 3), axis=2)), "gpu-build-axis", 0, x)


@pytest.mark.parametrize("kind", ["INT32", "INT64"])
def test_transpose(sketch, kind):
    assert sketch.build(sketch.node("TRANSPOSE", [sketch.input(2, 3), sketch.vector(1, 0, type=kind)], (3, 2))) is None


def test_transpose_of_a_vector_gpu_build_shape(sketch):
    assert_fails(sketch.build(sketch.node("TRANSPOSE", [sketch.input(2), sketch.vector(0)], (2,))), "gpu-build-shape", 0)


def test_slice_without_sizes_gpu_build_missing_operand(sketch):
    result = sketch.node("SLICE", [sketch.input(1, 4, 4, 2), sketch.vector(0, 0, 0, 0), -1], (1, 2, 2, 2))
    assert_fails(sketch.build(result), "gpu-build-missing-operand", 0)


@pytest.mark.parametrize(
    ("shape", "starts", "sizes", "result"),
    [
        ((1, 4, 4, 2), (0, 1, 1, 0), (1, 2, -1, 2), (1, 2, 3, 2)),
        ((1, 4, 4, 2), (1, 1, 0), (2, 3, 2), (1, 2, 3, 2)),
        ((4, 4, 2), (1, 1, 0), (2, 3, -1), (2, 3, 2)),
    ],
)
def test_slice(sketch, shape, starts, sizes, result):
    operands = [sketch.input(*shape), sketch.vector(*starts), sketch.vector(*sizes)]
    assert sketch.build(sketch.node("SLICE", operands, result)) is None


@pytest.mark.parametrize(
    ("shape", "starts", "sizes", "result"),
    [
        ((1, 4, 4, 2), (0, 1), (1, 2), (1, 2, 3, 2)),
        ((4, 4, 2), (1, 1, 0), (2, 3), (2, 3, 2)),
        ((1, 4, 4, 2), (0, 1, 1, 0), (1, 2, 3, 2), (1, 2, 2, 2)),
    ],
)
def test_slice_gpu_build_slice(sketch, shape, starts, sizes, result):
    operands = [sketch.input(*shape), sketch.vector(*starts), sketch.vector(*sizes)]
    assert_fails(sketch.build(sketch.node("SLICE", operands, result)), "gpu-build-slice", 0)


@pytest.mark.parametrize(
    ("shape", "starts", "ends", "strides", "masks", "result"),
    [
        ((1, 4, 4, 2), (0, 0, 1, 0), (1, 4, -1, 2), (1, 2, 1, 1), (0, 0), (1, 2, 2, 2)),
        ((1, 4, 4, 2), (9, 9, 9, 9), (9, 9, 9, 9), (1, 1, 1, 1), (15, 15), (1, 4, 4, 2)),
        ((1, 4, 4, 2), (1, 1, 0), (3, 3, 2), (1, 1, 1), (0, 0), (1, 2, 2, 2)),
        ((1, 4, 2), (0, 1, 0), (1, 3, 2), (1, 1, 1), (0, 0), (1, 2, 2)),
    ],
)
def test_strided_slice(sketch, shape, starts, ends, strides, masks, result):
    operands = [sketch.input(*shape), *(sketch.vector(*values) for values in (starts, ends, strides))]
    assert sketch.build(sketch.node("STRIDED_SLICE", operands, result, begin_mask=masks[0], end_mask=masks[1])) is None


@pytest.mark.parametrize(
    ("shape", "starts", "ends", "strides", "result"),
    [
        ((2, 4, 2), (0, 1, 0), (2, 3, 2), (1, 1, 1), (2, 2, 2)),
        ((1, 4, 4, 2), (0, 0), (1, 4), (1, 1), (1, 4, 4, 2)),
        ((1, 4, 4, 2), (0, 0, 3, 0), (1, 4, 0, 2), (1, 1, -1, 1), (1, 4, 3, 2)),
    ],
)
def test_strided_slice_gpu_build_slice(sketch, shape, starts, ends, strides, result):
    operands = [sketch.input(*shape), *(sketch.vector(*values) for values in (starts, ends, strides))]
    assert_fails(sketch.build(sketch.node("STRIDED_SLICE", operands, result, begin_mask=0)), "gpu-build-slice", 0)


# Reductions


def test_reduction_without_kept_dimensions(sketch):
    assert sketch.build(sketch.node("SUM", [sketch.input(1, 4, 4, 2), sketch.vector(1, 2)], (1, 2), keep_dims=False)) is None


def test_mean_gpu_build_axis(sketch):
    x = sketch.input(2, 3)
    assert_fails(sketch.build(sketch.node("MEAN", [x, sketch.vector(2)], (2, 3), keep_dims=True)), "gpu-build-axis", 0, x)


# Quantization


def test_quantize_and_dequantize(sketch):
    small = sketch.node("QUANTIZE", [sketch.input(2, 3)], (2, 3), type="INT8", scale=0.5)
    assert sketch.build(sketch.node("DEQUANTIZE", [small], (2, 3))) is None


def test_quantize_to_a_type_without_rounding_gpu_build_quantization(sketch):
    result = sketch.node("QUANTIZE", [sketch.input(2, 3)], (2, 3), type="INT16", scale=0.5)
    assert_fails(sketch.build(result), "gpu-build-quantization", 0, result)


def test_dequantize_of_a_constant_gpu_build_constant_shape(sketch):
    constant = sketch.constant(2, 3, type="INT8", scale=0.5)
    assert_fails(sketch.build(sketch.node("DEQUANTIZE", [constant], (2, 3))), "gpu-build-constant-shape", 0, constant)


def test_densify_gpu_build_sparsity(sketch):
    constant = sketch.constant(1, 1, 1, 4)
    assert_fails(sketch.build(sketch.node("DENSIFY", [constant], (1, 1, 1, 4))), "gpu-build-sparsity", 0, constant)


# LSTM


def lstm(sketch, *, batch=1, variable=True, **replaced):
    state = sketch.variable if variable else sketch.input
    operands = [sketch.input(batch, 4), *(sketch.constant(4, 4) for _ in range(8)), -1, -1, -1]
    operands += [sketch.constant(4) for _ in range(4)] + [-1, -1, state(batch, 4), state(batch, 4)]
    for position, tensor in replaced.items():
        operands[int(position.removeprefix("at"))] = tensor
    return sketch.node("LSTM", operands, (batch, 4), fused_activation_function=TANH)


def test_lstm_gpu_build_lstm(sketch):
    assert_fails(sketch.build(lstm(sketch)), "gpu-build-lstm", 0)


def test_lstm_of_batches_gpu_build_shape(sketch):
    assert_fails(sketch.build(lstm(sketch, batch=2)), "gpu-build-shape", 0)


def test_lstm_without_variables_gpu_build_variable(sketch):
    assert_fails(sketch.build(lstm(sketch, variable=False)), "gpu-build-variable", 0)


def test_lstm_with_runtime_weights_gpu_build_runtime_operand(sketch):
    weights = sketch.input(4, 4)
    assert_fails(sketch.build(lstm(sketch, at6=weights)), "gpu-build-runtime-operand", 0, weights)


def test_lstm_without_weights_gpu_build_missing_operand(sketch):
    assert_fails(sketch.build(lstm(sketch, at2=-1)), "gpu-build-missing-operand", 0)


def test_lstm_with_8_bit_weights_takes_them_as_they_are(sketch):
    weights = sketch.constant(4, 4, type="INT8", scale=0.5)
    assert_fails(sketch.build(lstm(sketch, at2=weights)), "gpu-build-lstm", 0)


def test_lstm_with_8_bit_weights_gpu_build_unscaled_constant(sketch):
    weights = sketch.constant(4, 4, type="INT8")
    assert_fails(sketch.build(lstm(sketch, at2=weights)), "gpu-build-unscaled-constant", 0, weights)


def test_basic_lstm(sketch):
    operands = [sketch.input(1, 4), sketch.input(1, 4), sketch.constant(16, 8), sketch.constant(16), sketch.input(1, 4)]
    results = sketch.node("LSTM", operands, (1, 4), (1, 4), (1, 8), (1, 16), fused_activation_function=TANH, kernel_type=1)
    assert sketch.build(*results) is None


# Custom operators


def test_custom_operators(sketch):
    x, words = sketch.input(1, 4, 4, 2), (1, 2, 2, 2, 2, RELU)
    transposed = sketch.node(
        "CUSTOM", [x, sketch.constant(2, 3, 3, 2)], (1, 8, 8, 2), custom="Convolution2DTransposeBias", words=words
    )
    pooled, indices = sketch.node("CUSTOM", [x], (1, 2, 2, 2), (1, 2, 2, 2), custom="MaxPoolingWithArgmax2D", words=words)
    unpooled = sketch.node("CUSTOM", [pooled, indices], (1, 4, 4, 2), custom="MaxUnpooling2D", words=words)
    resampled = sketch.node("CUSTOM", [unpooled, x], (1, 4, 4, 2), custom="Resampler")
    assert sketch.build(transposed, resampled) is None


# The clean-up


@pytest.mark.parametrize("op", ["RESHAPE", "SLICE"])
def test_identity_beside_its_operand_gpu_build_identity(sketch, op):
    x = sketch.input(1, 4, 4, 2)
    more = {"RESHAPE": [], "SLICE": [sketch.vector(0, 0, 0, 0), sketch.vector(1, 4, 4, 2)]}[op]
    same = sketch.node(op, [x, *more], (1, 4, 4, 2))
    failure = sketch.build(sketch.node("ADD", [x, same], (1, 4, 4, 2)))
    assert_fails(failure, "gpu-build-identity", 0, x)
    assert "node 1 reads both" in failure.message


def test_identity_of_a_quantized_value_is_rounded_apart(sketch):
    quantized = {"type": "INT8", "scale": 0.5}
    x = sketch.node("ABS", [sketch.input(2, 3, **quantized)], (2, 3), **quantized)
    same = sketch.node("RESHAPE", [x], (2, 3), **quantized)
    assert sketch.build(sketch.node("ADD", [x, same], (2, 3), **quantized)) is None


def test_identity_that_is_a_result_stays(sketch):
    x = sketch.input(1, 4, 4, 2)
    same = sketch.node("RESHAPE", [x], (1, 4, 4, 2))
    assert sketch.build(same, sketch.node("ADD", [x, same], (1, 4, 4, 2))) is None


def test_change_of_shape_stays(sketch):
    x = sketch.input(2, 3)
    other = sketch.node("RESHAPE", [x], (3, 2))
    assert sketch.build(sketch.node("ADD", [x, other], (2, 3))) is None


@pytest.mark.parametrize("value", [0, 1])
def test_zeros_that_are_joined_twice_gpu_build_shared_constant(sketch, value):
    constant = sketch.constant(1, 2, 2, 1, type="INT8", value=value + 3, scale=0.5, zero_point=3)
    zeros = sketch.node("DEQUANTIZE", [constant], (1, 2, 2, 1))
    joined = [
        sketch.node("CONCATENATION", [sketch.input(1, 2, 2, 3), zeros], (1, 2, 2, 4), axis=3),
        sketch.node("CONCATENATION", [sketch.input(1, 2, 2, 3), zeros], (1, 2, 2, 4), axis=3),
    ]
    failure = sketch.build(*joined)
    if value:
        assert failure is None
    else:
        assert_fails(failure, "gpu-build-shared-constant", 0, zeros)


@pytest.mark.parametrize("uses", [1, 2])
def test_sparse_weights_of_two_convolutions_gpu_build_shared_constant(sketch, uses):
    sparse = sketch.constant(1, 1, 1, 4, sparsity=SPARSITY)
    weights = sketch.node("DENSIFY", [sparse], (1, 1, 1, 4))
    x = sketch.input(1, 4, 4, 4)
    failure = sketch.build(*[conv(sketch, x, weights, shape=(1, 4, 4, 1)) for _ in range(uses)])
    if uses == 1:
        assert failure is None
    else:
        assert_fails(failure, "gpu-build-shared-constant", 0, weights)


def test_opengl_runs_convolutions_with_unpacked_weights(sketch):
    """The delegate merges the DENSIFY into the convolution."""
    weights = sketch.node("DENSIFY", [sketch.constant(1, 1, 1, 4, sparsity=SPARSITY)], (1, 1, 1, 4))
    assert sketch.build(conv(sketch, sketch.input(1, 4, 4, 4), weights, shape=(1, 4, 4, 1)), is_opengl=True) is None


@pytest.mark.parametrize(("is_opengl", "code"), [(False, None), (True, "gpu-build-shader")])
def test_opengl_unpacks_no_other_constants_gpu_build_shader(sketch, is_opengl, code):
    unpacked = sketch.node("DENSIFY", [sketch.constant(1, 1, 1, 4, sparsity=SPARSITY)], (1, 1, 1, 4))
    failure = sketch.build(sketch.node("RELU", [unpacked], (1, 1, 1, 4)), is_opengl=is_opengl)
    assert getattr(failure, "code", None) == code

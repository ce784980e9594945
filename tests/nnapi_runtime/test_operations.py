"""Demands of the operations, by family: each rule met, with the feature level, and broken."""

from __future__ import annotations

import pytest

from delegate_sim.nnapi_runtime.cases import validate_operation
from delegate_sim.nnapi_runtime.operations import OPERATIONS
from delegate_sim.nnapi_runtime.types import OperationType
from tests.support.nnapi_runtime_examples import (
    FLAG,
    FLOAT,
    INT,
    SHAPE,
    T,
    arithmetic,
    convolution,
    fully_connected,
    operand,
    operation,
    per_channel,
    tensors,
    unary,
)

F32, F16, I32 = T.TENSOR_FLOAT32, T.TENSOR_FLOAT16, T.TENSOR_INT32
U8, S8, BOOL8 = T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED, T.TENSOR_BOOL8
RANK_5 = (1, 2, 3, 4, 5)
INTS = operand(I32, (2,))
PADDINGS = operand(I32, (4, 2))


def reshape(name="RESHAPE", code=F32, dims=SHAPE, output=SHAPE, **more):
    return operation(name, [operand(code, dims, **more), INTS], [operand(code, output)])


def concatenation(*scales, code=U8, dims=SHAPE):
    return operation("CONCATENATION", [*[operand(code, dims, scale) for scale in scales], INT], [operand(code, dims)])


def pack(dims=(2, 3), output=(2, 2, 3), scale=None, code=U8):
    return operation("PACK", [INT, operand(code, dims, scale), operand(code, (2, 3))], [operand(code, output)])


def mirror_pad(paddings=PADDINGS, output=SHAPE, scale=None, code=U8):
    return operation("MIRROR_PAD", [operand(code), paddings, INT], [operand(code, output, scale)])


def reverse(axis=(1,), output=SHAPE):
    return operation("REVERSE", [operand(F32), operand(I32, axis)], [operand(F32, output)])


def resize(*sizes, name="RESIZE_BILINEAR", code=F32, flags=0):
    return operation(name, [operand(code), *sizes, *[FLAG] * flags], [operand(code)])


def softmax(dims=(2, 3), *axis):
    return operation("SOFTMAX", [operand(F32, dims), FLOAT, *axis], [operand(F32, dims)])


def lstm(count, outputs=4, name="LSTM", flags=(), code=F32):
    state = [operand(code, (2, 3))]
    return operation(name, [*state * 20, INT, FLOAT, FLOAT, *flags, *state * count], state * outputs)


# An accepted case and the level it needs.
MET = [
    (unary("RELU"), 1),
    (unary("RELU", F16), 3),
    (unary("TANH", U8), 3),
    (unary("RELU", dims=()), 3),
    (unary("HARD_SWISH", dims=RANK_5), 4),
    (unary("RSQRT", U8), 7),
    (unary("ABS", I32), 4),
    (arithmetic("ADD", S8), 4),
    (arithmetic("SUB", U8), 3),
    (arithmetic("MUL", U8, output_scale=0.26), 1),
    (arithmetic("DIV", S8), 4),
    (operation("LESS", tensors(I32, SHAPE, SHAPE), tensors(BOOL8, SHAPE)), 3),
    (operation("SELECT", [operand(BOOL8), *tensors(S8, SHAPE, SHAPE)], tensors(S8, SHAPE)), 4),
    (operation("CAST", tensors(F32, SHAPE), tensors(I32, SHAPE)), 3),
    (operation("CAST", tensors(F32, SHAPE), tensors(I32, (0, 2))), 3),
    (unary("CAST", BOOL8), 4),
    (operation("QUANTIZE", tensors(F32, SHAPE), tensors(S8, SHAPE)), 4),
    (operation("DEQUANTIZE", tensors(U8, SHAPE), tensors(F32, SHAPE)), 1),
    (operation("DEQUANTIZE", tensors(U8, SHAPE), tensors(F16, SHAPE)), 3),
    (operation("FILL", [INTS, FLOAT], tensors(F32, SHAPE)), 4),
    (operation("BATCH_MATMUL", [*tensors(F32, SHAPE, SHAPE), FLAG, FLAG], tensors(F32, SHAPE)), 6),
    (convolution(), 1),
    (convolution(options=[FLAG]), 3),
    (convolution(options=[FLAG, INT, INT]), 3),
    (convolution(numbers=7), 1),
    (convolution(numbers=7, options=[FLAG, INT, INT]), 3),
    (convolution(code=U8), 1),
    (convolution(code=U8, filter_=operand(U8, (16, 3, 3, 3), 1.0)), 3),
    (convolution(code=U8, filter_=per_channel((16, 3, 3, 3), 0, 16)), 3),
    (convolution("DEPTHWISE_CONV_2D", numbers=5, dims=(8, 8, 3)), 1),
    (convolution("DEPTHWISE_CONV_2D", U8, numbers=5, filter_=per_channel((1, 3, 3, 6), 3, 6)), 3),
    (convolution("GROUPED_CONV_2D", numbers=5, options=[FLAG], filter_dims=(16, 3, 3, 3)), 3),
    (convolution("TRANSPOSE_CONV_2D", numbers=7, options=[FLAG]), 3),
    (fully_connected(), 1),
    (fully_connected(code=S8), 4),
    (fully_connected(dims=(), weights=(9, 9)), 3),
    (operation("MAX_POOL_2D", [operand(F32), *[INT] * 6, FLAG], tensors(F32, SHAPE)), 3),
    (operation("L2_POOL_2D", [operand(F32), *[INT] * 9], tensors(F32, SHAPE)), 1),
    (reshape(), 1),
    (reshape(code=I32), 6),
    (reshape("PAD", U8), 2),
    (reshape("PAD", U8, zero_point=3), 3),
    (concatenation(0.5, 0.5), 1),
    (concatenation(0.5, 0.25), 3),
    (operation("SPLIT", [operand(F32), INT, INT], tensors(F32, *[SHAPE] * 5)), 3),
    (pack(), 6),
    (pack(dims=(), output=()), 6),
    (mirror_pad(), 7),
    (mirror_pad(operand(I32, ())), 7),
    (reverse(), 7),
    (resize(INT, INT), 1),
    (resize(FLOAT, FLOAT), 3),
    (resize(INT, INT, flags=2), 4),
    (resize(INT, INT, name="RESIZE_NEAREST_NEIGHBOR", flags=1), 3),
    (operation("REDUCE_MAX", [operand(U8), INTS, FLAG], tensors(U8, SHAPE)), 3),
    (operation("TOPK_V2", [operand(S8), INT], [operand(S8), operand(I32)]), 4),
    (operation("EMBEDDING_LOOKUP", [INTS, operand(U8)], tensors(U8, SHAPE)), 3),
    (operation("RANK", tensors(T.TENSOR_QUANT16_ASYMM, SHAPE), [INT]), 4),
    (softmax(), 1),
    (softmax((2, 3, 4)), 3),
    (softmax((2, 3), INT), 3),
    (unary("L2_NORMALIZATION"), 1),
    (unary("L2_NORMALIZATION", dims=(2, 3)), 3),
    (lstm(0), 1),
    (lstm(4), 3),
    (lstm(4, 3, "UNIDIRECTIONAL_SEQUENCE_LSTM", [FLAG]), 4),
    (
        operation(
            "HEATMAP_MAX_KEYPOINT",
            [operand(U8), operand(T.TENSOR_QUANT16_ASYMM), FLAG],
            [operand(U8), operand(T.TENSOR_QUANT16_ASYMM)],
        ),
        3,
    ),
]

BROKEN = [
    ("operation-code", operation("DENSIFY", tensors(F32, SHAPE), tensors(F32, SHAPE))),
    ("operation-pointers", operation("RELU", [], tensors(F32, SHAPE))),
    ("operation-pointers", operation("RELU", tensors(F32, SHAPE), [])),
    ("operation-input-count", operation("RELU", tensors(F32, SHAPE, SHAPE), tensors(F32, SHAPE))),
    ("operation-input-count", convolution(options=[FLAG, INT])),
    ("operation-input-count", lstm(3)),
    ("operation-input-count", resize(INT, INT, name="RESIZE_NEAREST_NEIGHBOR")),
    ("operation-output-count", operation("RELU", tensors(F32, SHAPE), tensors(F32, SHAPE, SHAPE))),
    ("operation-type", unary("RELU", I32)),
    ("operation-type", unary("EXP", U8)),
    ("operation-type", arithmetic("DIV", U8)),
    ("operation-type", reshape("TRANSPOSE", I32)),
    ("operation-type", lstm(0, code=S8)),
    ("operation-type", operation("L2_POOL_2D", [operand(U8), *[INT] * 6], tensors(U8, SHAPE))),
    ("operation-input-type", operation("ADD", [operand(F32), operand(F16), INT], tensors(F32, SHAPE))),
    ("operation-input-type", convolution(options=[INT])),
    ("operation-input-type", convolution(code=U8, filter_=operand(S8, (16, 3, 3, 3)))),
    ("operation-input-type", convolution(code=F32, filter_=operand(F16, (16, 3, 3, 3)))),
    ("operation-input-type", operation("ELU", [operand(F16), FLOAT], tensors(F16, SHAPE))),
    ("operation-output-type", operation("LESS", tensors(F32, SHAPE, SHAPE), tensors(F32, SHAPE))),
    ("operation-output-type", operation("CAST", tensors(BOOL8, SHAPE), tensors(F32, SHAPE))),
    ("operation-rank", unary("RELU", dims=RANK_5)),
    ("operation-rank", arithmetic("ADD", dims=RANK_5)),
    ("operation-rank", reshape(dims=RANK_5)),
    ("operation-rank", concatenation(0.5, 0.5, dims=RANK_5)),
    ("operation-rank", operation("DEQUANTIZE", tensors(U8, RANK_5), tensors(F32, RANK_5))),
    ("operation-mul-output-scale", arithmetic("MUL", U8, output_scale=0.25)),
    ("operation-mul-output-scale-signed", arithmetic("MUL", S8, output_scale=0.25)),
    ("operation-cast-shape", operation("CAST", tensors(F32, (2, 3)), tensors(I32, (3, 2)))),
    ("operation-conv-rank", convolution(dims=(8, 8, 3))),
    ("operation-conv-rank", convolution(filter_dims=(3, 3, 3))),
    ("operation-filter-channel", convolution(code=U8, filter_=per_channel((16, 3, 3, 3), 1, 3))),
    (
        "operation-depthwise-filter-channel",
        convolution("DEPTHWISE_CONV_2D", U8, numbers=5, filter_=per_channel((6, 3, 3, 6), 0, 6)),
    ),
    ("operation-fully-connected-shape", fully_connected(dims=(8,))),
    ("operation-fully-connected-shape", fully_connected(dims=RANK_5)),
    ("operation-fully-connected-shape", fully_connected(dims=(2, 7))),
    ("operation-fully-connected-shape", fully_connected(bias=(5,))),
    ("operation-quantization-equal", pack(scale=0.25)),
    ("operation-quantization-equal", mirror_pad(scale=0.25)),
    ("operation-pack-rank", pack(output=(2, 3))),
    ("operation-pack-rank", pack(dims=(2, 3, 4), output=())),
    ("operation-mirror-pad-shape", mirror_pad(operand(I32, (4, 3)))),
    ("operation-mirror-pad-shape", mirror_pad(operand(I32, (3, 2)))),
    ("operation-mirror-pad-shape", mirror_pad(output=(2, 3))),
    ("operation-reverse-shape", reverse(axis=(2,))),
    ("operation-reverse-shape", reverse(output=(2, 3))),
    ("operation-resize-sizes", resize(INT, FLOAT)),
    ("channel-dimension", convolution(code=U8, filter_=per_channel((16, 3, 3, 3), 4, 16))),
]


@pytest.mark.parametrize(("case", "level"), MET)
def test_accepted_from_a_level_on(case, level):
    answer = validate_operation(case)
    assert answer["refusal"] is None
    assert (answer["accepted"], answer["level"], answer["runtime_only"]) == (True, level, False)


@pytest.mark.parametrize(("code", "case"), BROKEN)
def test_refused(code, case):
    answer = validate_operation(case)
    assert (answer["accepted"], answer["level"]) == (False, None)
    assert answer["refusal"]["code"] == code
    assert answer["refusal"]["result"] == (3 if code == "operation-pointers" else 4)


def test_every_operation_but_control_flow_has_a_rule():
    assert set(OPERATIONS) == set(OperationType) - {OperationType.IF, OperationType.WHILE, OperationType.OEM_OPERATION}


def test_an_omitted_tensor_counts_with_its_type_and_rank():
    case = operation("ADD", [operand(F32), operand(F32, ()), INT], tensors(F32, SHAPE), omitted=[1])
    assert validate_operation(case)["level"] == 3


def test_a_filter_without_its_scales_ends_the_process():
    case = convolution(code=U8, filter_=operand(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, (16, 3, 3, 3)))
    assert "abort" in validate_operation(case)


@pytest.mark.parametrize(
    ("case", "levels"),
    [
        (unary("RELU", dims=RANK_5), {10: 1, 11: None}),
        (convolution(dims=(8, 8, 3)), {10: 1, 11: None}),
        (fully_connected(dims=(2, 7)), {10: 1, 11: None}),
        (arithmetic("MUL", S8, output_scale=0.25), {10: None, 11: 4, 12: 4, 13: None}),
        (arithmetic("MUL", U8, output_scale=0.25), {10: None, 11: None}),
        (operation("EMBEDDING_LOOKUP", [INTS, operand(U8)], tensors(U8, SHAPE)), {10: 1, 11: 3}),
        (reverse(), {12: None, 13: 7}),
    ],
)
def test_releases_differ(case, levels):
    assert {release: validate_operation(case, release)["level"] for release in levels} == levels

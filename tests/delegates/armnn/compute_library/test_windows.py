"""Functions of Compute Library for convolutions, pooling, matrix products and LSTMs, against the records of the real delegate."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import ACC, BIAS, BOTH, IMAGE, RESULT, WEIGHTS, codes, int8
from tests.support.graphs import arena, constant, quantized

CONVOLUTION = {"stride_h": 1, "stride_w": 1}
GROUPED = constant([[[[0.0] * 4] * 3] * 3] * 4, "FLOAT32")


@pytest.mark.parametrize(
    ("inputs", "options", "expected"),
    [
        ([IMAGE, WEIGHTS, BIAS], {}, []),
        ([IMAGE, WEIGHTS, arena("FLOAT32", 4)], {}, ["constant-operand"]),
        ([IMAGE, arena("FLOAT32", 4, 3, 3, 16), BIAS], {}, ["constant-operand"]),
        ([IMAGE, quantized(constant([[[[0] * 16] * 3] * 3] * 4, "INT8"), 0.5), BIAS], {}, ["hybrid"]),
        # Winograd's function does not compare the channels.
        ([IMAGE, GROUPED, BIAS], {}, []),
        ([IMAGE, GROUPED, BIAS], {"stride_h": 2, "stride_w": 2}, ["shape"]),
        ([arena("FLOAT32", 1, 8, 8, 8), GROUPED, BIAS], {}, ["shape"]),
    ],
)
def test_convolutions(inputs, options, expected):
    assert codes("CONV_2D", inputs, [RESULT], ACC, **{**CONVOLUTION, **options}) == expected


def test_groups_are_refused_by_both_backends_only_where_both_refuse():
    assert codes("CONV_2D", [IMAGE, GROUPED, BIAS], [RESULT], BOTH, stride_h=2, stride_w=2) == []


def test_matrix_products():
    first, second = arena("FLOAT32", 2, 3, 4), arena("FLOAT32", 2, 4, 5)
    assert codes("BATCH_MATMUL", [first, second], [arena("FLOAT32", 2, 3, 5)], ACC) == []
    assert codes("BATCH_MATMUL", [first, arena("FLOAT32", 1, 4, 5)], [arena("FLOAT32", 2, 3, 5)], ACC) == ["shape"]


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers", "expected"),
    [(False, False, []), (True, False, []), (True, True, ["attribute-value"])],
)
def test_resizing(align_corners, half_pixel_centers, expected):
    options = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    inputs, outputs = [IMAGE, constant([16, 16])], [arena("FLOAT32", 1, 16, 16, 16)]
    assert codes("RESIZE_NEAREST_NEIGHBOR", inputs, outputs, ACC, **options) == expected


def test_pooling():
    options = {"filter_width": 2, "filter_height": 2, "stride_w": 2, "stride_h": 2}
    results = arena("FLOAT32", 1, 4, 4, 16)
    assert codes("MAX_POOL_2D", [IMAGE], [results], ACC, **options) == []
    assert codes("L2_POOL_2D", [int8(1, 8, 8, 16)], [int8(1, 4, 4, 16)], ACC, **options) == ["tensor-type"]

"""Prepare of pooling."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError

SAME, VALID = 0, 1
"""Values of the schema's Padding."""


def pool(kernels, op="MAX_POOL_2D", kind="FLOAT32", source=(1, 5, 5, 3), **options):
    given = {"padding": VALID, "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2, **options}
    return kernels.prepare(op, [kernels.arena(kind, *source)], [kernels.arena(kind)], **given)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (1, 2, 2, 3)),
        ({"padding": SAME}, (1, 3, 3, 3)),
        ({"filter_height": 8}, (1, 0, 2, 3)),
        ({"filter_width": 8}, (1, 2, 0, 3)),
        ({"filter_height": 0}, (1, 0, 2, 3)),
        ({"filter_width": 0}, (1, 0, 0, 3)),
    ],
)
def test_pool_shape(kernels, options, expected):
    kernels.assert_static(pool(kernels, **options), expected)


def test_pool_refuses(kernels):
    with pytest.raises(PrepareError, match="dimensions"):
        pool(kernels, source=(5, 5, 3))
    with pytest.raises(PrepareError, match="stride"):
        pool(kernels, stride_w=0)
    with pytest.raises(PrepareError, match="types"):
        kernels.prepare("MAX_POOL_2D", [kernels.arena("INT8", 1, 5, 5, 3)], [kernels.arena("UINT8")])


def test_only_l2_pool_refuses_quantized_inputs(kernels):
    pool(kernels, "AVERAGE_POOL_2D", "INT8")
    pool(kernels, "L2_POOL_2D", "INT16")
    with pytest.raises(PrepareError, match="L2"):
        pool(kernels, "L2_POOL_2D", "INT8")

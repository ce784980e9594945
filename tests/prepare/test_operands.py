"""The number of windows that fit along a dimension."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.operands import output_size


@pytest.mark.parametrize(
    ("padding", "size", "window", "stride", "dilation", "expected"),
    [
        ("SAME", 5, 3, 2, 1, 3),
        ("SAME", 0, 3, 2, 1, 0),
        ("VALID", 5, 3, 2, 1, 2),
        ("VALID", 5, 3, 1, 2, 1),
        ("VALID", 5, 6, 1, 1, 0),
        ("VALID", 5, 8, 3, 1, 0),
        ("VALID", 5, 8, 2, 1, 0),
        ("VALID", 5, 9, 2, 1, None),
        ("UNKNOWN", 5, 3, 1, 1, None),
        ("SAME", 5, 0, 1, 1, None),
        ("SAME", 5, 3, 0, 1, None),
        ("SAME", 5, 3, 1, 0, None),
    ],
)
def test_output_size(padding, size, window, stride, dilation, expected):
    assert output_size(padding, size, window, stride, dilation) == expected

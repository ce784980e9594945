"""Arithmetic in single precision gives what numpy's does, bit for bit."""

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delegate_sim.foundation.float32 import SMALLEST_NORMAL, float32, quotient

_ANY = st.floats(width=32)


def same(one, other):
    return (math.isnan(one) and math.isnan(other)) or struct.pack("<d", one) == struct.pack("<d", other)


@given(st.floats())
@example(3.4028235677973366e38)
@example(-3.5e38)
@example(1e-46)
def test_numbers_are_rounded_as_numpy_rounds_them(number):
    with np.errstate(all="ignore"):
        assert same(float32(number), float(np.float32(number)))


@given(_ANY, _ANY)
@example(0.0, -0.0)
@example(-1.0, 0.0)
@example(1.0, -0.0)
@example(math.inf, 0.0)
def test_results_of_two_numbers_are_those_of_numpy(first, second):
    left, right = np.float32(first), np.float32(second)
    with np.errstate(all="ignore"):
        assert same(quotient(first, second), float(left / right))
        assert same(float32(first * second), float(left * right))
        assert same(float32(first - second), float(left - right))


@given(st.floats(0, width=32))
def test_square_roots_are_those_of_numpy(number):
    assert same(float32(math.sqrt(number)), float(np.sqrt(np.float32(number))))


def test_the_smallest_normal_number_is_that_of_numpy():
    assert pytest.approx(float(np.finfo(np.float32).tiny), rel=0, abs=0) == SMALLEST_NORMAL

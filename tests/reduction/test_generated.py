"""Generated elements of constants."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import NO_TENSOR, Quantization
from delegate_sim.model.schema import BITS_PER_ELEMENT, NUMPY_TYPES
from delegate_sim.reduction.part_writing import can_generate, generated_bytes

QUANTIZED = Quantization("affine", np.ones(1), np.zeros(1), 0)


@pytest.mark.parametrize("kind", sorted(BITS_PER_ELEMENT))
def test_elements_have_the_size_and_are_finite(kind):
    tensor = NO_TENSOR._replace(type=kind)
    assert can_generate(tensor)
    size = 64 * BITS_PER_ELEMENT[kind] // 8
    content = generated_bytes(tensor, size, 1)
    assert (len(content), content) == (size, generated_bytes(tensor, size, 1))
    assert (content != generated_bytes(tensor, size, 2)) is (kind not in ("INT32", "UINT32", "INT64", "UINT64"))
    if kind in NUMPY_TYPES:
        assert np.isfinite(np.frombuffer(content, NUMPY_TYPES[kind])).all()


@pytest.mark.parametrize(("quantization", "most"), [(None, 0), (QUANTIZED, 8)])
def test_large_integers_are_small_numbers(quantization, most):
    tensor = NO_TENSOR._replace(type="INT32", quantization=quantization)
    values = np.frombuffer(generated_bytes(tensor, 400, 1), "<i4")
    assert abs(values).max() == most


def test_types_that_are_not_generated():
    assert not any(can_generate(NO_TENSOR._replace(type=kind)) for kind in ("STRING", "RESOURCE", "VARIANT", "UNKNOWN(99)"))

"""Prepare of GATHER, and what it reads its positions from."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.prepare.kernel import KernelTensor, PrepareError
from delegate_sim.prepare.operands import known_array
from tests import graphs
from tests.graphs import MODEL


def test_a_result_computed_from_what_is_known(kernels):
    table = kernels.persistent([[1, 2], [3, 4], [5, 6]])
    node = kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=0, batch_dims=0)
    kernels.assert_persistent(node, [[5, 6], [1, 2]])


def test_a_negative_size_is_refused_whatever_the_other_sizes(kernels):
    table = kernels.constant(np.zeros(2, np.int32))._replace(shape=(1 << 30, 4, -1))
    with pytest.raises(PrepareError, match="negative size"):
        kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=1, batch_dims=0)


def test_a_result_without_elements_takes_no_time_whatever_its_other_sizes(kernels):
    table = kernels.constant(np.zeros((1 << 30, 4, 0), np.int32))
    node = kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=1, batch_dims=0)
    result = node.output()
    assert (result.shape, result.computed.tolist()) == ((1 << 30, 2, 0), [])


@pytest.mark.parametrize(("kind", "expected"), [("INT32", [1, 2]), ("INT16", [1, 0, 2, 0]), ("STRING", None)])
def test_a_constant_whose_type_a_node_before_has_changed_is_read_as_the_new_type(kind, expected):
    """A node that writes to a constant sets its type; the memory stays the file's."""
    tensor = KernelTensor(MODEL, graphs.constant(np.array([1, 2], np.int32).view(np.float32), "FLOAT32"))
    tensor.type = kind
    found = tensor.known_value()
    assert (None if found is None else found.tolist()) == expected
    if kind == "INT32":
        assert known_array(tensor).tolist() == expected

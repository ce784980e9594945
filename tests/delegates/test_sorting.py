"""The order of equal elements, against what ``std::sort`` of libstdc++ does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.delegates.sorting import LONGEST_STABLE, gnu_sorted, llvm_sorted


def order(keys):
    return gnu_sorted(range(len(keys)), key=lambda index: keys[index])


@given(st.lists(st.integers(0, 5), max_size=200))
def test_sorts(keys):
    found = order(keys)
    assert sorted(found) == list(range(len(keys)))
    assert [keys[index] for index in found] == sorted(keys)


@given(st.lists(st.integers(0, 3), max_size=LONGEST_STABLE))
def test_short_lists_keep_equal_elements_in_order(keys):
    assert order(keys) == sorted(range(len(keys)), key=lambda index: keys[index])


@given(st.lists(st.integers(), unique=True, min_size=LONGEST_STABLE + 1, max_size=200))
def test_different_elements_leave_no_choice(keys):
    assert order(keys) == sorted(range(len(keys)), key=lambda index: keys[index])


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([0] * 17, [8, 16, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1]),
        ([1, 0] * 10, [1, 19, 17, 15, 13, 11, 9, 7, 5, 3, 8, 6, 10, 12, 4, 14, 16, 2, 18, 0]),
        (
            [0, 1, 2] * 8,
            [0, 3, 21, 6, 18, 9, 15, 12, 1, 22, 19, 16, 13, 10, 7, 4, 11, 14, 8, 17, 5, 20, 2, 23],
        ),
    ],
    ids=["17 equal", "20 of two sizes", "24 of three sizes"],
)
def test_long_lists_are_ordered_as_by_the_gnu_library(keys, expected):
    """What a program built with GCC 12 prints for these."""
    assert order(keys) == expected


# LLVM's


def llvm_order(keys):
    return llvm_sorted(range(len(keys)), key=lambda index: keys[index])


@given(st.lists(st.integers(0, 5), max_size=300))
def test_llvm_sorts(keys):
    found = llvm_order(keys)
    assert sorted(found) == list(range(len(keys)))
    assert [keys[index] for index in found] == sorted(keys)


@given(st.lists(st.integers(0, 3), max_size=23))
def test_llvm_keeps_equal_elements_of_short_lists_in_order(keys):
    assert llvm_order(keys) == sorted(range(len(keys)), key=lambda index: keys[index])


@pytest.mark.parametrize(
    ("sizes", "first"),
    [([1] * 18, 0), ([1, 1, 2] * 7 + [1, 1, 1, 1], 8), ([1, 2, 5, 6, 1, 2, 1, 5, *[1, 5, 6, 1, 2, 1, 5] * 5, 1, 5], 38)],
    ids=["18 equal", "25 of two sizes", "45 of four sizes"],
)
def test_the_largest_partition_is_that_which_the_binary_took(sizes, first):
    assert llvm_order([-size for size in sizes])[0] == first

"""The order of equal elements, against what ``std::sort`` of libstdc++ does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.delegates import sorting
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


# Runs that are split very unevenly

UNEVEN = (
        [28, 0, 23, 1, 26, 2, 22, 3, 30, 4, 21, 5, 25, 6, 20, 7, 27, 8, 10, 9, 29, 28, 27, 26, 25, 24, 23, 22, 21, 24,
     0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 18, 19, 17, 18, 16, 17, 15, 16, 14, 15, 13, 14, 12, 13, 11, 12, 10, 11, 19],
        [1, 30, 3, 31, 5, 32, 7, 33, 9, 34, 11, 35, 13, 36, 15, 37, 17, 38, 19, 39, 18, 57, 55, 58, 53, 56, 54, 51,
     52, 49, 47, 50, 45, 48, 43, 46, 41, 44, 59, 42, 14, 40, 10, 28, 27, 6, 2, 26, 29, 25, 12, 24, 23, 4, 16, 22, 21,
     0, 20, 8],
)  # fmt: skip


def test_equal_elements_of_an_uneven_run_are_ordered_as_by_the_gnu_library(monkeypatch):
    """What a program built with GCC 12 prints for keys that are split so unevenly that a heap sorts the rest."""
    heaps = []
    original = sorting._gnu_heap_sorted
    monkeypatch.setattr(sorting, "_gnu_heap_sorted", lambda heap: heaps.append(len(heap)) or original(heap))
    keys, expected = UNEVEN
    assert order(keys) == expected
    assert heaps == [40]


@pytest.mark.parametrize("sort", [gnu_sorted, llvm_sorted])
def test_many_elements_need_no_deep_recursion(sort):
    keys = [min(index, 5_000 - index) for index in range(5_000)]
    assert [keys[index] for index in sort(range(5_000), key=lambda index: keys[index])] == sorted(keys)


@pytest.mark.parametrize("heap_sort", [sorting._gnu_heap_sorted, sorting._llvm_heap_sorted])
@given(keys=st.lists(st.integers(0, 9), max_size=60))
def test_heaps_sort(heap_sort, keys):
    found = heap_sort([(key, index) for index, key in enumerate(keys)])
    assert [key for key, _ in found] == sorted(keys)
    assert sorted(index for _, index in found) == list(range(len(keys)))


RECORDED = json.loads(Path(__file__).with_name("sorted_lists.json").read_text("utf-8"))
"""What programs print that sort structures with ``std::sort`` by a comparison of keys: libc++ 19, and GCC 12's library."""


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: f"{recorded['library']} {len(recorded['keys'])}")
def test_recorded_lists(recorded):
    sort = {"gnu": order, "llvm": llvm_order}[recorded["library"]]
    assert sort(recorded["keys"]) == recorded["order"]


@pytest.mark.parametrize("library", ["gnu", "llvm"])
def test_recorded_lists_reach_the_heap(library, monkeypatch):
    reached = []
    heap_sorted = getattr(sorting, f"_{library}_heap_sorted")
    monkeypatch.setattr(sorting, f"_{library}_heap_sorted", lambda heap: reached.append(heap) or heap_sorted(heap))
    for recorded in RECORDED:
        if recorded["library"] == library:
            (order if library == "gnu" else llvm_order)(recorded["keys"])
    assert len(reached) >= 4

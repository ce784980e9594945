"""The order of equal elements, against what ``std::sort`` of the C++ libraries does."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.graph.unstable_sort import LONGEST_STABLE, gnu_sorted, llvm_sorted


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
    """The output of a program built with GCC 12 for these."""
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


@pytest.mark.parametrize("sort", [gnu_sorted, llvm_sorted])
def test_many_elements_need_no_deep_recursion(sort):
    keys = [min(index, 5_000 - index) for index in range(5_000)]
    assert [keys[index] for index in sort(range(5_000), key=lambda index: keys[index])] == sorted(keys)


RECORDED = json.loads(Path(__file__).with_name("sorted_lists.json").read_text("utf-8"))
"""Outputs of programs that sort structures with ``std::sort`` by a comparison of keys: libc++ 19, and GCC 12's library."""


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: f"{recorded['library']} {len(recorded['keys'])}")
def test_recorded_lists(recorded):
    sort = {"gnu": order, "llvm": llvm_order}[recorded["library"]]
    assert sort(recorded["keys"]) == recorded["order"]


# Many lists, as programs with the libraries leave them


def numbers(seed):
    """Numbers that look random and are the same everywhere."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


@functools.cache
def many_lists():
    """Lists of all lengths up to 60 and of some above: in order, backwards, nearly in order, of few and of many keys."""
    drawn = numbers(7)
    found = []
    for count in (*range(61), *range(1, 61), *range(17, 61), *range(61, 400, 7), 1000):
        different = (1, 2, 3, 5, count + 1)[next(drawn) % 5]
        keys = [next(drawn) % different for _ in range(count)]
        shape = next(drawn) % 6
        if shape == 0:
            keys.sort()
        elif shape == 1:
            keys.sort(reverse=True)
        elif shape == 2:
            keys = sorted(keys[: count // 2]) + sorted(keys[count // 2 :], reverse=True)
        elif shape == 3 and count:
            keys.sort()
            one, other = next(drawn) % count, next(drawn) % count
            keys[one], keys[other] = keys[other], keys[one]
        found.append(keys)
    return found


def orders(sort):
    return [sort(range(len(keys)), key=keys.__getitem__) for keys in many_lists()]


def digest(found):
    return hashlib.sha256("\n".join([" ".join(map(str, each)) for each in found]).encode()).hexdigest()


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (gnu_sorted, "52086622d888dcd1e257dd7e5bc0ce2867d15ab7c5231391f021cd4e9feb6293"),
        (llvm_sorted, "d0dc62572314a97a05e98bbf67c7a87c36e166b185950b786c626bfc0095f9bb"),
    ],
    ids=["libstdc++ 12", "libc++ 22"],
)
def test_many_lists_are_ordered_as_by_the_libraries(sort, expected):
    """The digests are of what programs printed that were built with them; ``ORDER`` is their source."""
    assert digest(orders(sort)) == expected


ORDER = """
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>
int main() {
  for (std::string line; std::getline(std::cin, line); std::cout << '\\n') {
    std::istringstream words(line);
    std::vector<std::pair<int, int>> keys;
    for (int key; words >> key;) keys.emplace_back(key, static_cast<int>(keys.size()));
    std::sort(keys.begin(), keys.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
    for (const auto& [key, index] : keys) std::cout << index << ' ';
  }
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ here")
def test_many_lists_are_ordered_as_by_the_library_that_is_here(tmp_path):
    (tmp_path / "order.cc").write_text(ORDER, encoding="utf-8")
    build = ["g++", "-std=c++17", "-O1", "order.cc", "-o", "order"]
    subprocess.run(build, cwd=tmp_path, check=True)
    given = "".join([f"{' '.join(map(str, keys))}\n" for keys in many_lists()])
    done = subprocess.run([tmp_path / "order"], input=given, capture_output=True, text=True, check=True)
    assert [[int(word) for word in line.split()] for line in done.stdout.splitlines()] == orders(gnu_sorted)

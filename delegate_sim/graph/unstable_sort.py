"""The order of equal elements after C++'s ``std::sort``.

``std::sort`` is not stable. Common libraries keep the order of equal elements in lists of up to 16 elements. In longer lists,
the order of equal elements depends on the library.

The GNU library splits each part of more than 16 elements by quicksort around a median of three. Then it uses insertion sort,
which is stable. LLVM's library splits each part of at least 24 elements by quicksort, with a shortcut for sorted parts. Both
libraries limit the depth of splits to twice the logarithm of the number of elements, and sort deeper parts with a heap. Only
lists that are made for this purpose reach this depth. The heap is left out: equal elements of such a part keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Element = TypeVar("Element")

LONGEST_STABLE = 16
"""Length of the longest list in which equal elements always keep their order."""


def gnu_sorted(elements: Iterable[Element], key: Callable[[Element], int]) -> list[Element]:
    """Return the elements sorted by key. Equal elements have the order of the GNU C++ library."""
    run = [(key(element), element) for element in elements]
    _quicksort(run, 0, len(run), _most_splits(len(run)))
    return [element for _, element in sorted(run, key=lambda entry: entry[0])]


def _most_splits(count: int) -> int:
    return 2 * max(count.bit_length() - 1, 0)


def _quicksort(run: list[tuple[int, Element]], first: int, last: int, splits: int) -> None:
    while last - first > LONGEST_STABLE:
        if splits == 0:
            run[first:last] = _stably_sorted(run[first:last])
            return
        splits -= 1
        candidates = (first + 1, first + (last - first) // 2, last - 1)
        _swap(run, first, _median(run, candidates))
        cut = _split(run, first, last)
        _quicksort(run, cut, last, splits)
        last = cut


def _median(run: list[tuple[int, Element]], candidates: tuple[int, int, int]) -> int:
    """Return the position of the median. Which of several equal elements is chosen affects their final order."""
    low, middle, high = candidates
    if run[low][0] < run[middle][0]:
        if run[middle][0] < run[high][0]:
            return middle
        return high if run[low][0] < run[high][0] else low
    if run[low][0] < run[high][0]:
        return low
    return high if run[middle][0] < run[high][0] else middle


def _split(run: list[tuple[int, Element]], pivot: int, last: int) -> int:
    left, right, value = pivot + 1, last, run[pivot][0]
    while True:
        while run[left][0] < value:
            left += 1
        right -= 1
        while value < run[right][0]:
            right -= 1
        if left >= right:
            return left
        _swap(run, left, right)
        left += 1


def _stably_sorted(run: list[tuple[int, Element]]) -> list[tuple[int, Element]]:
    return sorted(run, key=lambda entry: entry[0])


def _swap(run: list[tuple[int, Element]], one: int, other: int) -> None:
    run[one], run[other] = run[other], run[one]


# LLVM

_SHORTEST_SPLIT = 24
_SHORTEST_NINTHER = 129
_MOST_INSERTED = 8


def llvm_sorted(elements: Iterable[Element], key: Callable[[Element], int]) -> list[Element]:
    """Return the elements sorted by key. Equal elements have the order of LLVM's C++ library (``__introsort``)."""
    run = [(key(element), element) for element in elements]
    _introsort(run, 0, len(run), _most_splits(len(run)), is_leftmost=True)
    return [element for _, element in run]


def _introsort(run: list[tuple[int, Element]], first: int, last: int, splits: int, *, is_leftmost: bool) -> None:
    while last - first >= _SHORTEST_SPLIT:
        if splits == 0:
            run[first:last] = _stably_sorted(run[first:last])
            return
        splits -= 1
        _choose_pivot(run, first, last)
        if not is_leftmost and run[first - 1][0] >= run[first][0]:
            first = _split_equals_left(run, first, last)
            continue
        cut, was_split = _split_equals_right(run, first, last)
        if was_split:
            is_left_sorted = _insert_few(run, first, cut)
            if _insert_few(run, cut + 1, last):
                if is_left_sorted:
                    return
                last = cut
                continue
            if is_left_sorted:
                first = cut + 1
                continue
        _introsort(run, first, cut, splits, is_leftmost=is_leftmost)
        is_leftmost, first = False, cut + 1
    run[first:last] = _stably_sorted(run[first:last])


def _choose_pivot(run: list[tuple[int, Element]], first: int, last: int) -> None:
    half = (last - first) // 2
    if last - first < _SHORTEST_NINTHER:
        _sort_three(run, first + half, first, last - 1)
        return
    for offset in range(3):
        middle = first + half + (0, -1, 1)[offset]
        _sort_three(run, first + offset, middle, last - 1 - offset)
    _sort_three(run, first + half - 1, first + half, first + half + 1)
    _swap(run, first, first + half)


def _sort_three(run: list[tuple[int, Element]], *places: int) -> None:
    for place, entry in zip(places, sorted([run[place] for place in places], key=lambda entry: entry[0]), strict=True):
        run[place] = entry


def _split_equals_right(run: list[tuple[int, Element]], first: int, last: int) -> tuple[int, bool]:
    """Move the elements that are less than the first element to its left.

    Return the new position of the first element. Also return whether the smaller elements were in front before the move.
    """
    begin, pivot = first, run[first]
    first += 1
    while run[first][0] < pivot[0]:
        first += 1
    last -= 1
    while first <= last and run[last][0] >= pivot[0] and last > begin:
        last -= 1
    was_split = first >= last
    while first < last:
        _swap(run, first, last)
        first += 1
        while run[first][0] < pivot[0]:
            first += 1
        last -= 1
        while run[last][0] >= pivot[0]:
            last -= 1
    run[begin], run[first - 1] = run[first - 1], pivot
    return first - 1, was_split


def _split_equals_left(run: list[tuple[int, Element]], first: int, last: int) -> int:
    begin, end, pivot = first, last, run[first]
    first += 1
    while first < end and run[first][0] <= pivot[0]:
        first += 1
    if first < last:
        last -= 1
        while run[last][0] > pivot[0]:
            last -= 1
    while first < last:
        _swap(run, first, last)
        first += 1
        while run[first][0] <= pivot[0]:
            first += 1
        last -= 1
        while run[last][0] > pivot[0]:
            last -= 1
    run[begin], run[first - 1] = run[first - 1], pivot
    return first


def _insert_few(run: list[tuple[int, Element]], first: int, last: int) -> bool:
    if last - first <= 5:
        run[first:last] = _stably_sorted(run[first:last])
        return True
    _sort_three(run, first, first + 1, first + 2)
    moved = 0
    for place in range(first + 3, last):  # bounded: a part of the run
        entry, target = run[place], place
        if run[place - 1][0] <= entry[0]:
            continue
        while target > first and entry[0] < run[target - 1][0]:
            run[target] = run[target - 1]
            target -= 1
        run[target] = entry
        moved += 1
        if moved == _MOST_INSERTED:
            return place + 1 == last
    return True

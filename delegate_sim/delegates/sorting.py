"""The order in which C++ leaves elements that compare equal.

``std::sort`` is not stable. Up to 16 elements the common libraries order equal ones as they came; beyond that, each library
has its own way. The GNU library's: quicksort around the median of three elements as long as a run has more than 16, then
insertion sort, which is stable. LLVM's: quicksort too, as long as a run has at least 24, with a shortcut for runs that turn out
to be in order. (With very uneven runs the originals would change over to heap sort.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Element = TypeVar("Element")

LONGEST_STABLE = 16
"""Up to so many elements equal ones stay in order."""


def gnu_sorted(elements: Iterable[Element], key: Callable[[Element], int]) -> list[Element]:
    """Return the elements by ascending key, equal ones as the GNU C++ library would leave them."""
    run = [(key(element), element) for element in elements]
    _quicksort(run, 0, len(run))
    return [element for _, element in sorted(run, key=lambda entry: entry[0])]


def _quicksort(run: list[tuple[int, Element]], first: int, last: int) -> None:
    while last - first > LONGEST_STABLE:
        candidates = (first + 1, first + (last - first) // 2, last - 1)
        _swap(run, first, _median(run, candidates))
        cut = _split(run, first, last)
        _quicksort(run, cut, last)
        last = cut


def _median(run: list[tuple[int, Element]], candidates: tuple[int, int, int]) -> int:
    """Return where the median is; of equal elements, which one counts as such is part of the order."""
    low, middle, high = candidates
    if run[low][0] < run[middle][0]:
        if run[middle][0] < run[high][0]:
            return middle
        return high if run[low][0] < run[high][0] else low
    if run[low][0] < run[high][0]:
        return low
    return high if run[middle][0] < run[high][0] else middle


def _split(run: list[tuple[int, Element]], pivot: int, last: int) -> int:
    """Bring what is less than the pivot to the front; return where the rest begins."""
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


def _swap(run: list[tuple[int, Element]], one: int, other: int) -> None:
    run[one], run[other] = run[other], run[one]


# LLVM

_SHORTEST_SPLIT = 24
_SHORTEST_NINTHER = 129
_MOST_INSERTED = 8


def llvm_sorted(elements: Iterable[Element], key: Callable[[Element], int]) -> list[Element]:
    """Return the elements by ascending key, equal ones as the LLVM C++ library would leave them (``__introsort``)."""
    run = [(key(element), element) for element in elements]
    _introsort(run, 0, len(run), is_leftmost=True)
    return [element for _, element in run]


def _introsort(run: list[tuple[int, Element]], first: int, last: int, *, is_leftmost: bool) -> None:
    while last - first >= _SHORTEST_SPLIT:
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
        _introsort(run, first, cut, is_leftmost=is_leftmost)
        is_leftmost, first = False, cut + 1
    run[first:last] = sorted(run[first:last], key=lambda entry: entry[0])


def _choose_pivot(run: list[tuple[int, Element]], first: int, last: int) -> None:
    """Bring the median of three elements, or of three such medians, to the front."""
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
    """Bring what is less than the first element to its left; return where it then is, and whether nothing had to move."""
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
    """Bring what is greater than the first element to its right; return where that begins."""
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
    """Sort by insertion, giving up after a few moves; say whether the run is sorted."""
    if last - first <= 5:
        run[first:last] = sorted(run[first:last], key=lambda entry: entry[0])
        return True
    _sort_three(run, first, first + 1, first + 2)
    moved = 0
    for place in range(first + 3, last):
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

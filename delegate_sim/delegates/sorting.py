"""The order in which C++ leaves elements that compare equal.

``std::sort`` is not stable. Up to 16 elements the common libraries order equal ones as they came; beyond that, each library
has its own way. This is the GNU library's: quicksort around the median of three elements as long as a run has more than 16,
then insertion sort, which is stable. (With very uneven runs the original would change over to heap sort.)
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

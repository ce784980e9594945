"""Tables of small cases: one test takes all of a table, and names each case that fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

MOST_SHOWN = 10
"""The failures that are shown in full; of the others only the names are given."""


def for_each(cases: Iterable[Any], name: Callable[[Any], str] = str) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make a test of a case the test of all cases: as tests of their own, they cost some milliseconds each."""

    def decorate(test: Callable[[Any], None]) -> Callable[[], None]:
        def test_all() -> None:
            failures = [(name(case), failure) for case in table if (failure := _failure(test, case))]
            if failures:
                shown = [f"{case}\n{failure}" for case, failure in failures[:MOST_SHOWN]]
                others = [case for case, _ in failures[MOST_SHOWN:]]
                raise AssertionError("\n".join([f"{len(failures)} of {len(table)} cases fail", *shown, *others]))

        table = list(cases)
        assert table, "there are no cases"
        test_all.__name__, test_all.__qualname__, test_all.__doc__ = test.__name__, test.__qualname__, test.__doc__
        test_all.__module__ = test.__module__
        return test_all

    return decorate


def _failure(test: Callable[[Any], None], case: Any) -> str:
    """Return what a test says when it fails, empty if it passes."""
    try:
        test(case)
    except Exception as error:
        return "".join(traceback.format_exception(error))
    return ""

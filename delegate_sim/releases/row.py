"""Releases that are looked at in a row: what was found of one holds for the next if nothing that was asked of it differs.

What a result rests on is observed, not declared: it is made of a release that notes what it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, NoReturn, TypeVar

from ..named_tuples import NamedTuple
from .catalogue import Release

Found = TypeVar("Found")


class AskedLate(Exception):
    """Something was asked of a release after what was found of it had been given out for others."""


class ReleasesInRow:
    """One model, delegate and options on releases in a row, each taken by ``of`` before anything is made of it."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _FoundBefore] = {}

    def of(self, release: Release) -> Release:
        """Return a release of which ``shared`` makes nothing that was found before."""
        return _OneInRow(release, self)

    def take(self, what: Hashable, given: object, release: Release, make: Callable[[Release], Found]) -> Found:
        """Return what was last found, if that was of the same thing and holds for a release; otherwise find it out."""
        kept = self._kept.get(what)
        if kept is None or kept.given is not given or not kept.release.is_like(release):
            watched = _Watched(release)
            kept = self._kept[what] = _FoundBefore(given, watched, make(watched))
            watched.close()
        found: Found = kept.found
        return found


class _FoundBefore(NamedTuple):
    given: object
    release: _Watched
    found: Any


def shared(what: Hashable, given: object, release: Release, make: Callable[[Release], Found]) -> Found:
    """Return what ``make`` makes of a release, and of a thing, or what it made of one before in a row."""
    return release.row.take(what, given, release, make) if isinstance(release, _OneInRow) else make(release)


class _OneInRow(Release):
    """A release that knows the row it is in; otherwise as any other."""

    row: ReleasesInRow

    def __new__(cls, release: Release, row: ReleasesInRow) -> _OneInRow:
        self = super().__new__(cls, release.family, release.version)
        self.row = row
        return self


class _Watched(Release):
    """A release that notes between which others all that it is asked has the same answer.

    It equals no other, so that nothing is taken for known of it that it was not asked.
    """

    def __new__(cls, release: Release) -> _Watched:
        return super().__new__(cls, release.family, release.version)

    def __init__(self, release: Release) -> None:
        self._release = release
        self._own = release.order
        self._low: tuple[int, ...] = ()
        """The first order of those that are alike."""
        self._high: tuple[int, ...] | None = None
        """The first order behind them; None if there is none."""
        self._is_exact = False
        """Whether no other is."""
        self._is_closed = False

    def is_like(self, release: Release) -> bool:
        """Whether all that was asked has the same answer for a release."""
        if self._is_exact:
            return False
        return self._low <= release.order and (self._high is None or release.order < self._high)

    def close(self) -> None:
        """Refuse what was not asked yet."""
        self._is_closed = True

    def is_at_least(self, other: Release) -> bool:
        bound = other.order
        if self._own >= bound:
            if bound > self._low:
                self._note()
                self._low = bound
            return True
        if self._high is None or bound < self._high:
            self._note()
            self._high = bound
        return False

    def _note(self) -> None:
        if self._is_closed and not self._is_exact:
            raise AskedLate

    def _tell(self) -> None:
        """Note that something is asked to which every release has another answer."""
        self._note()
        self._is_exact = True

    @property
    def order(self) -> tuple[int, ...]:
        self._tell()
        return self._own

    @property
    def family(self) -> str:
        self._tell()
        return self._release.family

    @property
    def version(self) -> tuple[int, ...]:
        self._tell()
        return self._release.version

    def __str__(self) -> str:
        self._tell()
        return super().__str__()

    def __iter__(self) -> Iterator[Any]:
        self._tell()
        return super().__iter__()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError("releases are ordered by their order")

"""Releases that are looked at in a row: what was found of one holds for the next if nothing that was asked of it differs.

What a result rests on is observed, not declared: it is made of a release that notes what it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar, Token
from typing import Any, TypeVar, cast

from ..named_tuples import NamedTuple
from .catalogue import Release

Found = TypeVar("Found")


class AskedLate(BaseException):
    """Something was asked of a release after what was found of it had been given out for others.

    As it must not be caught on the way, it is no ``Exception``.
    """


class ReleasesInRow:
    """One model, delegate and options on releases in a row: while it is entered, ``shared`` keeps what it makes."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, _FoundBefore] = {}
        self._token: Token[ReleasesInRow | None] | None = None

    def __enter__(self) -> None:
        self._token = _ROW.set(self)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _ROW.reset(self._token)

    def take(self, what: Hashable, given: object, release: Release, make: Callable[[Release], Found]) -> Found:
        """Return what was last found, if that was of the same thing and holds for a release; otherwise find it out."""
        outer = release if isinstance(release, _Watched) else None
        plain = release if outer is None else outer.release
        kept = self._kept.get(what)
        if kept is None or kept.given is not given or not kept.release.is_like(plain):
            watched = _Watched(plain)
            try:
                kept = self._kept[what] = _FoundBefore(given, watched, make(cast(Release, watched)))
            except Exception:
                if outer is not None:
                    outer.note_all(watched)
                raise
            watched.close()
        if outer is not None:
            outer.note_all(kept.release)
        found: Found = kept.found
        return found


class _FoundBefore(NamedTuple):
    given: object
    release: _Watched
    found: Any


_ROW: ContextVar[ReleasesInRow | None] = ContextVar("releases in a row", default=None)


def shared(what: Hashable, given: object, release: Release, make: Callable[[Release], Found]) -> Found:
    """Return what ``make`` makes of a release, and of a thing, or what it made of one before in a row."""
    row = _ROW.get()
    return make(release) if row is None else row.take(what, given, release, make)


def _telling(method: str) -> Callable[..., Any]:
    """Return a method that asks the release itself, to which every other may have another answer."""

    def ask(self: _Watched, *arguments: object) -> Any:
        self.tell()
        return getattr(self.release, method)(*arguments)

    return ask


class _Watched:
    """Stands for a release, and notes between which others all that it is asked has the same answer.

    It equals no other, so that nothing is taken for known of it that it was not asked; and as caches may keep it, it refers to
    nothing but its release.
    """

    def __init__(self, release: Release) -> None:
        self.release = release
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

    def note_all(self, other: _Watched) -> None:
        """Note what was asked of a release that has the same answers."""
        if other._is_exact:
            self.tell()
        self._is_above(other._low)
        if other._high is not None:
            self._is_below(other._high)

    def tell(self) -> None:
        """Note that something is asked to which every release has another answer."""
        self._note()
        self._is_exact = True

    def is_at_least(self, other: Release) -> bool:
        """Whether this release is the other one or a later one."""
        bound = other.order
        if self._own >= bound:
            self._is_above(bound)
            return True
        self._is_below(bound)
        return False

    def _is_above(self, bound: tuple[int, ...]) -> None:
        if bound > self._low:
            self._note()
            self._low = bound

    def _is_below(self, bound: tuple[int, ...]) -> None:
        if self._high is None or bound < self._high:
            self._note()
            self._high = bound

    def _note(self) -> None:
        if self._is_closed and not self._is_exact:
            raise AskedLate

    @property
    def order(self) -> tuple[int, ...]:
        """What releases are ordered by."""
        self.tell()
        return self._own

    @property
    def family(self) -> str:
        """The family of the release."""
        self.tell()
        return self.release.family

    @property
    def version(self) -> tuple[int, ...]:
        """The numbers of the release."""
        self.tell()
        return self.release.version

    __str__ = _telling("__str__")
    __iter__, __getitem__, __len__ = map(_telling, ("__iter__", "__getitem__", "__len__"))
    __lt__, __le__, __gt__, __ge__ = map(_telling, ("__lt__", "__le__", "__gt__", "__ge__"))

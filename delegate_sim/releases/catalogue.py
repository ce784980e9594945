"""The names and the order of runtime releases."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..errors import OptionError
from ..foundation.printable import suggestion
from .packages import LITERT_LM_RELEASES, NIGHTLY, package_release


class Release(NamedTuple):
    """A release of TensorFlow Lite (``tf``) or LiteRT (``litert``)."""

    family: str
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.family}-{'.'.join(map(str, self.version))}{DEVELOPMENT if self.is_development_build else ''}"

    @property
    def name(self) -> str:
        """The release as text, such as ``litert-2.3.0``."""
        return str(self)

    @property
    def order(self) -> tuple[int, ...]:
        """A sort key that orders releases by the age of their rules.

        LiteRT continues TensorFlow Lite after release 2.17. A TensorFlow release after 2.17 has the key of the LiteRT release
        from the same time. If a release is newer than all known releases of its family, it has the key of the newest of these
        releases. ``tf-2.15`` has the key of ``tf-2.15.0``.
        """
        return _order_of(self)

    @property
    def is_after_newest(self) -> bool:
        """Whether this release is newer than all known releases of its family."""
        return self.version[:2] > _NEWEST_MINOR[self.family]

    @property
    def is_known(self) -> bool:
        """Whether the rules of this release are known, and not only those of an older one."""
        return not self.is_after_newest

    @property
    def is_development_build(self) -> bool:
        """Whether this release is known only from a development build."""
        candidate = PRE_RELEASES.get((self.family, self.version[:2]))
        return candidate is not None and bool(candidate.measured)

    def is_at_least(self, other: Release) -> bool:
        """Return whether this release is ``other`` or a release after it."""
        return self.order >= other.order


@functools.lru_cache(maxsize=128)
def _order_of(release: Release) -> tuple[int, ...]:
    if release.is_after_newest:
        return newest_of(release.family).order
    if release.family == "tf":
        return _COUNTERPARTS.get(release.version[:2], (0, *release.version[:2]))
    return release.version if len(release.version) > 2 else _FIRST_PATCHES.get(release.version, (*release.version, 0))


def oldest_alike(release: Release, changes: Iterable[Release]) -> Release:
    """Return the oldest release that behaves like ``release``, if behavior changes only in the releases ``changes``."""
    return max([change for change in changes if release.is_at_least(change)], key=lambda change: change.order, default=OLDEST)


_COUNTERPARTS: Mapping[tuple[int, ...], tuple[int, ...]] = {
    (2, 18): (1, 0, 1),
    (2, 19): (1, 1, 2),
    (2, 20): (1, 4, 0),
    (2, 21): (2, 1, 2),
    (2, 22): (2, 3, 0, 1),
}
"""For each TensorFlow release after 2.17, the LiteRT release from the same time.

The fourth number of TensorFlow 2.22 stands for a later change, which the rules of LiteRT 2.3 do not have.
"""
_FIRST_PATCHES: Mapping[tuple[int, ...], tuple[int, ...]] = {(1, 0): (1, 0, 1), (2, 0): (2, 0, 2)}

_MINOR_RELEASES = (
    *[("tf", (2, minor)) for minor in range(10, 23)],
    ("litert", (1, 0)),
    *[("litert", (1, minor)) for minor in (1, 2, 3, 4)],
    *[("litert", (2, minor)) for minor in (0, 1, 2, 3, 4)],
)
_NEWEST_MINOR = dict(_MINOR_RELEASES)
"""The newest known minor release of each family."""


class PreRelease(NamedTuple):
    """A version before a release. The rules of the release were read or measured in this version."""

    version: str
    measured: str = ""
    """The date of the measurement of a development build, such as ``2026-11-28``. Empty for a release candidate."""


PRE_RELEASES: Mapping[tuple[str, tuple[int, ...]], PreRelease] = {
    ("tf", (2, 22)): PreRelease("2.22.0rc0"),
    ("litert", (2, 4)): PreRelease("2.4.0.dev20261026", "2026-11-28"),
}
"""Minor releases that are known only from an earlier version."""
DEVELOPMENT = "-dev"
"""The end of the name of a release that is known only from a development build, such as ``litert-2.4-dev``."""
RELEASES = tuple(str(Release(family, version)) for family, version in _MINOR_RELEASES)
"""The releases with known log messages, oldest first within a family."""

_LITERT = """
    1.0.1 1.1.0 1.1.2 1.2.0 1.3.0 1.4.0 1.4.1 2.0.2 2.0.3 2.1.0 2.1.1 2.1.2 2.1.3 2.1.4 2.1.5 2.1.6 2.2.0 2.3.0 2.4-dev
"""
KNOWN_RELEASES = (*[name for name in RELEASES if name.startswith("tf-")], *[f"litert-{version}" for version in _LITERT.split()])
"""All releases that rules distinguish, oldest first within a family."""

OLDEST = Release(*_MINOR_RELEASES[0])
NEWEST = Release("litert", (2, 3))
"""The newest release that is not a development build. It is the default of all commands."""
DEFAULT_RELEASE = str(NEWEST)
_NAME = r"(tf|litert)-(\d{1,4}(?:\.\d{1,4}){1,2})(?:-dev|\.dev\d{1,12})?"
"""Pattern of a release's name."""


@functools.lru_cache(maxsize=256)
def parse_release(text: str) -> Release:
    """Return the release with this name, such as ``tf-2.15`` or ``litert-2.1.6``.

    The release may be unknown, but it must not be older than all known releases. For a release of LiteRT-LM
    (``litert-lm-0.14``) or a package (``com.google.ai.edge.litert:litert:2.1.0``), return the release in it. For ``nightly``,
    return the newest known release of LiteRT. A name may end in ``-fp32``, as in records of runs with 32-bit floats. For other
    texts, raise OptionError.
    """
    name = str(text).strip().removesuffix("-fp32")
    if name in NIGHTLY:
        return newest_of("litert")
    match = re.fullmatch(_NAME, name, re.ASCII) or re.fullmatch(_NAME, package_release(name) or "", re.ASCII)
    release = _release(match[1], tuple(int(part) for part in match[2].split("."))) if match else None
    if release is None or not _is_covered(release):
        known = (*RELEASES, *LITERT_LM_RELEASES)
        near, listed = suggestion(str(text), known, cutoff=0.9), f"the runtimes are {', '.join(known)}"
        others = f"{near} ({listed})" if near else f"; {listed}"
        raise OptionError(f"there is no runtime {text!r}{others}", f"there is no such runtime{others}")
    return release


class ReleaseNote(NamedTuple):
    """A note about a release of the runtime. ``template`` has the field ``{release}`` for the name of the release."""

    template: str
    release: Release

    def __str__(self) -> str:
        return self.about(str(self.release))

    def about(self, releases: str) -> str:
        """Return the note as text, with one or several releases as its subject."""
        return self.template.format(release=releases)


def release_note(release: Release) -> ReleaseNote | None:
    """Return a note that says which release's rules are used for an unknown release, or None if ``release`` is known.

    A copy of a runtime without releases has no note.
    """
    if not release.version:
        return None
    if candidate := PRE_RELEASES.get((release.family, release.version[:2])):
        words = f"the rules of {{release}} were read from its release candidate {candidate.version}"
        if candidate.measured:
            words = (
                f"the rules of {{release}} were measured on {candidate.measured} with its development build {candidate.version}"
            )
        return ReleaseNote(words, release)
    if release.is_after_newest:
        newest = newest_of(release.family)
        words = f"{{release}} is not known, because it is newer than {newest}; the rules of {newest} are used instead"
        return ReleaseNote(words, release)
    if str(release) in KNOWN_RELEASES or str(release) in RELEASES or release.family == "tf":
        return None
    known = sorted([other for other in map(parse_release, KNOWN_RELEASES) if other.family == "litert"], key=lambda one: one.order)
    used = next((other for other in reversed(known) if release.is_at_least(other)), known[0])
    return ReleaseNote(f"{{release}} is not known; the rules of {used} are used instead", release)


def newest_of(family: str) -> Release:
    """Return the newest known release of a family, which may be a development build."""
    return Release(family, _NEWEST_MINOR[family])


def _release(family: str, version: tuple[int, ...]) -> Release:
    """Return a release. All versions of a release that is known only from an earlier version are the same release."""
    return Release(family, version[:2] if (family, version[:2]) in PRE_RELEASES else version)


def _is_covered(release: Release) -> bool:
    known = [version for family, version in _MINOR_RELEASES if family == release.family]
    return release.version[:2] >= known[0]

"""The names and the order of runtime releases, and the packages that contain a runtime: on Maven, npm and PyPI.

LiteRT-LM is built from a commit of LiteRT's main branch (``LITERT_REF`` in ``WORKSPACE`` of LiteRT-LM). Of the release branches
that LiteRT made before this commit, the table takes the last, and names its first release. Sources of the commits: for 0.1 to
0.6, the tags of google-ai-edge/LiteRT-LM; for later releases, public projects that build LiteRT-LM and quote its ``WORKSPACE``,
because the copy of LiteRT-LM's history that was read has no later tags.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..errors import OptionError
from ..foundation.printable import suggestion

PINNED, VERSIONED, DATED = "pinned", "versioned", "dated"
MEASURED, MEASURED_BUILD, ASSUMED = "measured", "measured build", "assumed"
WORDS = MappingProxyType(
    {
        PINNED: "by commit {commit} in its build file",
        VERSIONED: "by commit {commit} of LiteRT, which sets its version",
        DATED: "by its date; its commit is not known",
        MEASURED: "by its binary; it names {commit}",
        MEASURED_BUILD: "by its binary 0.19.0.dev20261026",
        ASSUMED: "by the releases before and after it",
    }
)
"""Descriptions of the ways in which the release of LiteRT was found."""


class Contained(NamedTuple):
    """The release of LiteRT in a release of another package, and the way in which the LiteRT release was found."""

    litert: str
    basis: str
    commit: str = ""
    """The beginning of the commit of LiteRT in the build file; empty if the commit is not known."""

    @property
    def words(self) -> str:
        """The way in which the contained release was found, as a phrase."""
        return WORDS[self.basis].format(commit=self.commit)


CONTAINED = MappingProxyType(
    {
        "0.1": Contained("litert-1.3.0", PINNED, "17d354263"),
        "0.2": Contained("litert-1.3.0", PINNED, "4b46a6d40"),
        "0.3": Contained("litert-1.3.0", PINNED, "4b46a6d40"),
        "0.4": Contained("litert-1.3.0", PINNED, "8b84ae252"),
        "0.5": Contained("litert-1.3.0", PINNED, "76dc52593"),
        "0.6": Contained("litert-1.3.0", PINNED, "76dc52593"),
        "0.7": Contained("litert-1.3.0", DATED),
        "0.8": Contained("litert-2.0.2", DATED),
        "0.9": Contained("litert-2.1.2", ASSUMED),
        "0.10": Contained("litert-2.1.3", DATED),
        "0.11": Contained("litert-2.1.4", PINNED, "47615eb6e"),
        "0.12": Contained("litert-2.1.4", PINNED, "5c5b9ce68"),
        "0.13": Contained("litert-2.1.5", DATED),
        "0.14": Contained("litert-2.1.6", PINNED, "622f1f3c1"),
        "0.15": Contained("litert-2.1.6", PINNED, "3cb830ad9"),
        "0.16": Contained("litert-2.1.6", PINNED, "0ff28117f"),
        "0.17": Contained("litert-2.2.0", PINNED, "9fe5be455"),
        "0.18": Contained("litert-2.3.0", MEASURED, "26895c9fb"),
        "0.19": Contained("litert-2.4-dev", MEASURED_BUILD),
    }
)
"""The known releases of LiteRT-LM. Patch releases contain the same release of LiteRT as the first release with their number."""
PREFIX = "litert-lm-"
LITERT_LM_RELEASES = tuple([f"{PREFIX}{version}" for version in CONTAINED])


def releases_with(litert: str) -> tuple[str, ...]:
    """Return the releases of LiteRT-LM that contain a release of LiteRT, oldest first, such as ``litert-lm-0.14``."""
    return tuple([f"{PREFIX}{version}" for version, contained in CONTAINED.items() if contained.litert == litert])


_VERSION = r"v?(\d{1,4}\.\d{1,4})((?:\.\d{1,4})?)(?:[-.]?(?:a|alpha|b|beta|rc|dev)[\w.]*)?"
"""Pattern of a version. The first group is the minor release, the second is the number of the patch release with its dot."""
_BETWEEN = "(?:-|==| )"
"""Pattern of the text between the name of a Python package and its version."""
_LITERT_LM = (
    rf"(?:litert-lm(?:-api)?(?:-nightly)?{_BETWEEN}|(?:com\.google\.ai\.edge\.litertlm:)?litertlm-(?:android|jvm)[-:]|@litert-lm/core@)"
    + _VERSION
)
_LITERT_JS = "@litertjs/core@" + _VERSION
_PART = r"(?:-(?!support|metadata|task)[a-z-]{1,40})?:"
"""Pattern of the end of a Maven artifact's name. Artifacts with a version of their own are left out."""
_LITERT_PACKAGE = (
    rf"(?:com\.google\.ai\.edge\.litert:litert{_PART}|(?:ai-edge-litert(?:-nightly)?|litert-nightly){_BETWEEN})" + _VERSION
)
_TENSORFLOW = rf"org\.tensorflow:tensorflow-lite{_PART}" + _VERSION
NIGHTLY = ("nightly", "litert-nightly", "ai-edge-litert-nightly")
"""Names of the newest known development build of LiteRT."""
_BEGINNINGS = ("tf-", "litert-", "litertlm-", "ai-edge-litert", "com.google.ai.edge.litert", "@litert", "org.tensorflow:")

IN_LITERT_JS: Mapping[str, Contained] = {
    "0.1": Contained("litert-2.0.2", VERSIONED, "6b2aa34d4"),
    "0.2": Contained("litert-2.0.2", VERSIONED, "58570cd13"),
    "2.0": Contained("litert-2.1.0", VERSIONED, "b698864a2"),
    "2.5": Contained("litert-2.1.6", VERSIONED, "c3390e34c"),
}
"""The release of LiteRT in each release of LiteRT.js. LiteRT.js is a part of LiteRT's sources."""
EXAMPLES = (
    f"{PREFIX}0.14",
    "com.google.ai.edge.litert:litert:2.1.0",
    "@litertjs/core@2.0.0",
    "ai-edge-litert==2.1.0",
    "ai-edge-litert-nightly==2.4.0.dev20261026",
    "litert-lm-api==0.18.1",
    "com.google.ai.edge.litertlm:litertlm-android:0.11.0",
    "org.tensorflow:tensorflow-lite:2.14.0",
    "@litert-lm/core@0.17.1",
)
"""A name of each kind."""


def contained_release(name: str) -> Contained | None:
    """Return the release of LiteRT in a release of LiteRT-LM or LiteRT.js, such as ``@litertjs/core@2.0.0``.

    Return None for any other name, and for releases that are not known.
    """
    if match := re.fullmatch(_LITERT_LM, name):
        return CONTAINED.get(match[1])
    if match := re.fullmatch(_LITERT_JS, name):
        return _in_litert_js(match[1])
    return None


def package_release(name: str) -> str | None:
    """Return the release of LiteRT or TensorFlow Lite in a package, such as ``com.google.ai.edge.litert:litert:2.1.0``.

    Return None if the package is not known.
    """
    if contained := contained_release(name):
        return contained.litert
    for family, pattern in (("litert", _LITERT_PACKAGE), ("tf", _TENSORFLOW)):
        if match := re.fullmatch(pattern, name):
            return f"{family}-{match[1]}{match[2]}"
    return None


def is_release_name(text: str) -> bool:
    """Return whether a text begins like the name of a release or of a package."""
    return text in NIGHTLY or text.startswith(_BEGINNINGS)


def package_lines() -> tuple[str, ...]:
    """Return a line about each release of LiteRT-LM."""
    named = {f"{PREFIX}{version}": contained for version, contained in CONTAINED.items()}
    widths = [max(map(len, names)) for names in (named, [contained.litert for contained in named.values()])]
    return tuple(
        [f"{name:<{widths[0]}}  {contained.litert:<{widths[1]}}  {contained.words}" for name, contained in named.items()]
    )


def _in_litert_js(version: str) -> Contained | None:
    """Return what a release of LiteRT.js contains. A release between two known releases is assumed to equal the earlier one."""
    if version in IN_LITERT_JS:
        return IN_LITERT_JS[version]
    known, order = list(map(_version_order, IN_LITERT_JS)), _version_order(version)
    if not known[0] < order < known[-1]:
        return None
    before = max([own for own in IN_LITERT_JS if _version_order(own) < order], key=_version_order)
    return IN_LITERT_JS[before]._replace(basis=ASSUMED, commit="")


def _version_order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


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
    if release is not None and not _is_covered(release):
        oldest = next((name for name in RELEASES if parse_release(name).family == release.family), RELEASES[0])
        words = f"is older than the oldest known release, {oldest}"
        raise OptionError(f"{name} {words}", f"the runtime {words}")
    if release is None:
        known = (*RELEASES, *LITERT_LM_RELEASES)
        near, listed = suggestion(str(text), known, cutoff=0.9), f"the runtimes are {', '.join(_spans(known))}"
        others = f"{near} ({listed})" if near else f"; {listed}"
        raise OptionError(f"there is no runtime {text!r}{others}", f"there is no such runtime{others}")
    return release


def _spans(names: Sequence[str]) -> Iterator[str]:
    """Yield the first and last name of each family, such as ``tf-2.10 to tf-2.22``."""
    for _, group in itertools.groupby(names, lambda name: re.split(r"-(?=\d)", name)[0]):
        own = list(group)
        yield own[0] if len(own) == 1 else f"{own[0]} to {own[-1]}"


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
    return Release(family, version[:2] if (family, version[:2]) in PRE_RELEASES else version)


def _is_covered(release: Release) -> bool:
    known = [version for family, version in _MINOR_RELEASES if family == release.family]
    return release.version[:2] >= known[0]

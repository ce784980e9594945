"""The names of packages that contain a runtime: on Maven, npm and PyPI, and the names of LiteRT-LM's releases.

LiteRT-LM is built from a commit of LiteRT's main branch (``LITERT_REF`` in ``WORKSPACE`` of LiteRT-LM). Of the release branches
that LiteRT made before this commit, the table takes the last, and names its first release. Sources of the commits: for 0.1 to
0.6, the tags of google-ai-edge/LiteRT-LM; for later releases, public projects that build LiteRT-LM and quote its ``WORKSPACE``,
because the copy of LiteRT-LM's history that was read has no later tags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

PINNED, VERSIONED, DATED, MEASURED, MEASURED_BUILD, ASSUMED = (
    "pinned",
    "versioned",
    "dated",
    "measured",
    "measured build",
    "assumed",
)
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
_LITERT = rf"(?:com\.google\.ai\.edge\.litert:litert{_PART}|(?:ai-edge-litert(?:-nightly)?|litert-nightly){_BETWEEN})" + _VERSION
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
    for family, pattern in (("litert", _LITERT), ("tf", _TENSORFLOW)):
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
    known, order = list(map(_order, IN_LITERT_JS)), _order(version)
    if not known[0] < order < known[-1]:
        return None
    before = max([own for own in IN_LITERT_JS if _order(own) < order], key=_order)
    return IN_LITERT_JS[before]._replace(basis=ASSUMED, commit="")


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))

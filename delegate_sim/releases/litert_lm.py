"""The releases of LiteRT-LM, each with the release of LiteRT that it contains.

LiteRT-LM is built from a commit of LiteRT's main branch (``LITERT_REF`` in ``WORKSPACE`` of LiteRT-LM). Of the release branches
that LiteRT made before this commit, the table takes the last, and names its first release. Sources of the commits: for 0.1 to
0.6, the tags of google-ai-edge/LiteRT-LM; for later releases, public projects that build LiteRT-LM and quote its ``WORKSPACE``,
because the copy of LiteRT-LM's history that was read has no later tags.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

PINNED, VERSIONED, DATED, MEASURED, ASSUMED = "pinned", "versioned", "dated", "measured", "assumed"
WORDS = MappingProxyType(
    {
        PINNED: "by commit {commit} in its build file",
        VERSIONED: "by commit {commit} of LiteRT, which sets its version",
        DATED: "by the date of its release; the commit in its build file is not known",
        MEASURED: "by comparing its binary with the rules; its build file has commit {commit}",
        ASSUMED: "by the releases before and after it; its build file is not known",
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
        "0.19": Contained("litert-2.3.0", DATED),
    }
)
"""The known releases of LiteRT-LM. Patch releases contain the same release of LiteRT as the first release with their number."""
PREFIX = "litert-lm-"
LITERT_LM_RELEASES = tuple([f"{PREFIX}{version}" for version in CONTAINED])


def releases_with(litert: str) -> tuple[str, ...]:
    """Return the releases of LiteRT-LM that contain a release of LiteRT, oldest first, such as ``litert-lm-0.14``."""
    return tuple([f"{PREFIX}{version}" for version, contained in CONTAINED.items() if contained.litert == litert])

"""The releases of LiteRT-LM, each with the release of LiteRT that it contains.

LiteRT-LM is built from a commit of LiteRT's main branch (``LITERT_REF`` in ``WORKSPACE`` of LiteRT-LM). The table has the last
release of LiteRT that was branched off before this commit.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import NamedTuple

PINNED, DATED, MEASURED, ASSUMED = "pinned", "dated", "measured", "assumed"
WORDS = MappingProxyType(
    {
        PINNED: "by the commit in its build file",
        DATED: "by the date of its release; the commit in its build file is not known",
        MEASURED: "by comparing its binary with the rules",
        ASSUMED: "by the releases before and after it; its build file is not known",
    }
)
"""Descriptions of the ways in which the release of LiteRT was found."""


class Contained(NamedTuple):
    """The release of LiteRT in a release of LiteRT-LM, and the way in which the LiteRT release was found."""

    litert: str
    basis: str


CONTAINED = MappingProxyType(
    {
        "0.11": Contained("litert-2.1.4", PINNED),
        "0.12": Contained("litert-2.1.5", ASSUMED),
        "0.13": Contained("litert-2.1.5", ASSUMED),
        "0.14": Contained("litert-2.1.6", DATED),
        "0.15": Contained("litert-2.1.6", ASSUMED),
        "0.16": Contained("litert-2.1.6", ASSUMED),
        "0.17": Contained("litert-2.2.0", DATED),
        "0.18": Contained("litert-2.3.0", MEASURED),
    }
)
"""The known releases of LiteRT-LM. For earlier releases, the release of LiteRT is not known."""
PREFIX = "litert-lm-"
_NAME = re.compile(r"(?:litert-lm-|litertlm-(?:android|jvm)[-:])(\d+\.\d+)(?:\.\d+)?")
"""Pattern of release names: the names of this project and the names on Maven."""
LITERT_LM_RELEASES = tuple([f"{PREFIX}{version}" for version in CONTAINED])


def contained_release(name: str) -> Contained | None:
    """Return the release of LiteRT in a release of LiteRT-LM (``litert-lm-0.14`` or ``litertlm-android-0.14.0``).

    Return None if the release of LiteRT-LM is not known.
    """
    match = _NAME.fullmatch(name.strip())
    return CONTAINED.get(match[1]) if match else None


def releases_with(litert: str) -> tuple[str, ...]:
    """Return the releases of LiteRT-LM that contain a release of LiteRT, oldest first, such as ``litert-lm-0.14``."""
    return tuple([f"{PREFIX}{version}" for version, contained in CONTAINED.items() if contained.litert == litert])


def litert_lm_lines() -> tuple[str, ...]:
    """Return a line about each release of LiteRT-LM."""
    return tuple(
        [f"{PREFIX}{version}  {contained.litert}  ({WORDS[contained.basis]})" for version, contained in CONTAINED.items()]
    )

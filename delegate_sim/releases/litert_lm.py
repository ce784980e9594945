"""The releases of LiteRT-LM, and the releases of LiteRT that they contain.

LiteRT-LM is built from a commit of LiteRT's main branch (``LITERT_REF`` in its ``WORKSPACE``), not from a release. Each release
of LiteRT-LM therefore gets the last release of LiteRT that was branched off before that commit.
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
"""The way in which the contained release of LiteRT was found, in words."""


class Contained(NamedTuple):
    """The release of LiteRT in a release of LiteRT-LM, and how it was found."""

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
"""The known releases of LiteRT-LM. Earlier releases are left out: it is not known what they contain."""
PREFIX = "litert-lm-"
_NAME = re.compile(r"(?:litert-lm-|litertlm-(?:android|jvm)[-:])(\d+\.\d+)(?:\.\d+)?")
"""Names of the Python packages' and of Maven's releases, which have the same numbers."""
LITERT_LM_RELEASES = tuple([f"{PREFIX}{version}" for version in CONTAINED])


def contained_release(name: str) -> Contained | None:
    """Return the release of LiteRT in a release of LiteRT-LM (``litert-lm-0.14`` or ``litertlm-android-0.14.0``).

    Return None if the name is not that of a known release of LiteRT-LM.
    """
    match = _NAME.fullmatch(name.strip())
    return CONTAINED.get(match[1]) if match else None


def litert_lm_lines() -> tuple[str, ...]:
    """Return a line about each release of LiteRT-LM."""
    return tuple(
        [f"{PREFIX}{version}  {contained.litert}  ({WORDS[contained.basis]})" for version, contained in CONTAINED.items()]
    )

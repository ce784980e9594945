"""The meanings of errors that LiteRT-LM's engine prints. A meaning is found from the log alone, without the bundle."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping

_MEANINGS: Mapping[str, str] = json.loads(pkgutil.get_data(__package__, "error_meanings.json") or b"")
"""Meanings of errors, by words in the error. The first words that are in the error are used."""


def engine_meaning(line: str) -> str:
    """Return the meaning of an error of the engine; empty if it is unknown."""
    return next((meaning for words, meaning in _MEANINGS.items() if words in line), "")

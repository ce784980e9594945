"""Measure how much the outputs of a conversion differ from the outputs of the float model, both on the CPU.

Results are cached.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from ..conversion.cache import ConversionCache
from ..conversion.convert import Conversion
from ..errors import DelegateSimError
from ..inference.difference import Difference, TensorDifference, check_installed
from ..inference.models import compare_models
from ..model.reader import load

SAMPLES = 2
"""The number of inputs on which a conversion is compared with the float model."""
_FORMAT = 2


def difference_from(reference: Conversion, conversion: Conversion, cache: ConversionCache) -> tuple[Difference | None, str]:
    """Compare the outputs of a conversion with the outputs of ``reference``, the same converter's float model.

    Return the difference, if known, and the reason why it is unknown, if any. A failure is not cached, because missing packages
    may be installed later.
    """
    try:
        check_installed()
        key = _key(reference, conversion)
        result = _read(cache.find(key))
        if result is None:
            result = compare_models(load(reference.path), load(conversion.path), samples=SAMPLES, is_timed=False)
            with suppress(OSError):
                cache.keep(key, {"digest": "", "difference": asdict(result)}, None)
    except DelegateSimError as error:
        return None, str(error)
    if result.problem:
        return result, result.problem
    return result, "" if result.relative < float("inf") else "all outputs of the float model are 0"


def _key(reference: Conversion, conversion: Conversion) -> str:
    runtime = importlib.metadata.version("ai-edge-litert")
    parts = ("difference", str(_FORMAT), str(SAMPLES), runtime, reference.digest, conversion.digest)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read(entry: Mapping[str, Any] | None) -> Difference | None:
    """Return the difference in a cache entry; None if the entry is missing or invalid."""
    try:
        stored = entry["difference"] if entry is not None else None
        if stored is None:
            return None
        outputs = tuple([TensorDifference(**output) for output in stored["outputs"]])
        return Difference(outputs, (), int(stored["samples"]))
    except (KeyError, TypeError, ValueError):
        return None

"""Numerical difference of a conversion from the float model on the CPU, cached with the conversion."""

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
"""Inputs on which each model is compared with the float model."""
_FORMAT = 1


def difference_from(reference: Conversion, made: Conversion, cache: ConversionCache) -> tuple[Difference | None, str]:
    """Return how a conversion differs from the float model of the same converter, or None and why that is not known.

    A failure is not kept: what is missing may be installed later.
    """
    try:
        check_installed()
        key = _key(reference, made)
        found = _read(cache.find(key))
        if found is None:
            found = compare_models(load(reference.path), load(made.path), samples=SAMPLES, is_timed=False)
            with suppress(OSError):
                cache.keep(key, {"digest": "", "difference": asdict(found)}, None)
    except DelegateSimError as error:
        return None, str(error)
    if found.problem:
        return found, found.problem
    return found, "" if found.relative < float("inf") else "all outputs of the float model are 0"


def _key(reference: Conversion, made: Conversion) -> str:
    runtime = importlib.metadata.version("ai-edge-litert")
    parts = ("difference", str(_FORMAT), str(SAMPLES), runtime, reference.digest, made.digest)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read(entry: Mapping[str, Any] | None) -> Difference | None:
    """Return what an entry holds, None where it does not fit."""
    try:
        found = entry["difference"] if entry is not None else None
        if found is None:
            return None
        outputs = tuple([TensorDifference(**each) for each in found["outputs"]])
        first, second = found["seconds"]
        return Difference(outputs, (), (float(first), float(second)), int(found["samples"]))
    except (KeyError, TypeError, ValueError):
        return None

"""A pytest plugin with the fixture ``delegate_sim``. The fixture applies a delegate to a model and checks the result.

    def test_model(delegate_sim):
        delegate_sim("model.tflite", "nnapi", feature_level=31).assert_partitions(max=1)

pytest imports this module on every start, so slow imports happen only when the fixture is called.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from delegate_sim.errors import DelegateSimError, ModelError
from delegate_sim.foundation.printable import printable
from delegate_sim.releases.catalogue import DEFAULT_RELEASE

if TYPE_CHECKING:
    from delegate_sim.model.model import Model

    from .assertions import Analysis

__all__ = ["DelegateSim"]

_MODELS_KEPT = 8


class DelegateSim:
    """The value of the fixture ``delegate_sim``: a function that applies a delegate to a model."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        """The folders in which relative paths are looked up, in this order."""

    def __call__(
        self,
        model: str | os.PathLike[str] | bytes | Model,
        delegate: str | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        runtime: str = DEFAULT_RELEASE,
        defaults: str = "benchmark",
        **more_options: Any,
    ) -> Analysis:
        """Apply a delegate, and return an analysis with assertion methods. Takes the arguments of ``delegate_sim.analyze``.

        Keyword arguments are options of the delegate, and override ``options``. A relative path is searched in the folder of the
        test file, and then in pytest's root directory. Raises ModelError and OptionError.
        """
        __tracebackhide__ = True
        from delegate_sim import analyze

        from .assertions import Analysis

        try:
            source, name = self._find(model)
            report = analyze(source, delegate, {**(options or {}), **more_options}, runtime=runtime, defaults=defaults)
        except DelegateSimError as error:
            # The part of the traceback in this package does not help the author of the test.
            raise error.with_traceback(None) from None
        return Analysis(report, name)

    def _find(self, model: str | os.PathLike[str] | bytes | Model) -> tuple[Model | bytes, str]:
        if isinstance(model, bytes):
            return model, "the given bytes"
        if not isinstance(model, str | os.PathLike):
            return model, model.path or "the given model"
        name = os.fsdecode(model)
        for folder in self._folders:
            path = folder / name
            if os.path.exists(path) or os.path.isabs(name):
                return _loaded(str(path), _stamp(path)), name
        places = " or ".join(dict.fromkeys(map(str, self._folders)))
        raise ModelError(printable(f"{name}: the file does not exist in {places}"))


@pytest.fixture(name="delegate_sim")
def _delegate_sim(request: pytest.FixtureRequest) -> DelegateSim:
    """Apply a delegate to a model: delegate_sim("model.tflite", "nnapi", feature_level=31).assert_partitions(max=1)."""
    return DelegateSim(request.path.parent, request.config.rootpath)


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return values that change if the file changes, or None for a missing file."""
    with suppress(OSError, ValueError):
        status = os.stat(path)
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return None


@functools.lru_cache(_MODELS_KEPT)
def _loaded(path: str, stamp: tuple[int, ...] | None) -> Model:
    from delegate_sim import load

    return load(path)

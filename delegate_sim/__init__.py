"""Predict, without a device, what a TFLite / LiteRT delegate will do to a model.

>>> import delegate_sim
>>> report = delegate_sim.analyze("model.tflite", delegate="nnapi")  # doctest: +SKIP
>>> report.log_lines  # doctest: +SKIP
>>> delegate_sim.diagnose("model.tflite").findings[0].cause.change  # doctest: +SKIP
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and "delegate_sim" in sys.orig_argv and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]  # `python -m delegate_sim`: no module of the current folder is imported

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import DelegateSimError, FixError, MissingPackageError, ModelError, OptionError
from .version import __version__

if TYPE_CHECKING:
    from .api.analyze import analyze, simulate
    from .api.check import check, reconcile
    from .api.compare import compare, whatif
    from .api.diagnose import diagnose
    from .api.engines import analyze_bundle, analyze_micro, compiled_model
    from .api.fix import diff, fix, verify
    from .api.load import load
    from .api.sweep import sweep

__all__ = [
    "DelegateSimError",
    "FixError",
    "MissingPackageError",
    "ModelError",
    "OptionError",
    "__version__",
    "analyze",
    "analyze_bundle",
    "analyze_micro",
    "check",
    "compare",
    "compiled_model",
    "diagnose",
    "diff",
    "fix",
    "load",
    "reconcile",
    "simulate",
    "sweep",
    "verify",
    "whatif",
]

_MODULES = {
    "analyze": "analyze",
    "analyze_bundle": "engines",
    "analyze_micro": "engines",
    "check": "check",
    "compare": "compare",
    "compiled_model": "engines",
    "diagnose": "diagnose",
    "diff": "fix",
    "fix": "fix",
    "load": "load",
    "reconcile": "check",
    "simulate": "analyze",
    "sweep": "sweep",
    "verify": "fix",
    "whatif": "compare",
}
"""The module in ``api`` of each public function. A module is imported at the first use of a function, so this package is fast."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".api.{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

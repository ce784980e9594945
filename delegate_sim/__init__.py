"""Predict, without a device, what a TFLite / LiteRT delegate will do to a model.

>>> import delegate_sim
>>> report = delegate_sim.analyze("model.tflite", delegate="nnapi")  # doctest: +SKIP
>>> report.log_lines  # doctest: +SKIP
>>> delegate_sim.diagnose("model.tflite").findings[0].cause.change  # doctest: +SKIP
"""

from __future__ import annotations

from .api.functions import (
    analyze,
    analyze_bundle,
    analyze_micro,
    check,
    compare,
    compiled_model,
    diagnose,
    diff,
    fix,
    load,
    reconcile,
    simulate,
    sweep,
    verify,
    whatif,
)
from .errors import DelegateSimError, FixError, MissingPackageError, ModelError, OptionError
from .version import __version__

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

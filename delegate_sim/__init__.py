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

"""Tell, without a device, what a TFLite / LiteRT delegate will do to a model.

>>> import delegate_sim
>>> report = delegate_sim.analyze("model.tflite", delegate="nnapi")  # doctest: +SKIP
>>> report.to_dict()["runs"][0]["log_lines"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from .errors import DelegateSimError, ModelError, OptionError
from .reader import load
from .version import __version__

if TYPE_CHECKING:
    from .model import Model
    from .report import Report


__all__ = ["DelegateSimError", "ModelError", "OptionError", "__version__", "analyze", "load"]

_DEFAULT_RUNTIME = "litert-2.3"


def analyze(
    model: Model | str | PathLike[str] | bytes,
    delegate: str = "nnapi",
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str = _DEFAULT_RUNTIME,
    defaults: str = "api",
) -> Report:
    """Apply a delegate to a model and report what the runtime would do.

    ``options`` are the delegate's, under its own names; what is not given is taken from ``defaults`` (``api``: the
    delegate's own, ``benchmark``: what benchmark_model passes). ``runtime`` is the release that words the log lines.
    Raises ModelError if the model cannot be read, OptionError for an unknown delegate, option, value or runtime.
    """
    from .delegates.registry import find_delegate
    from .model import Model
    from .options import parse_options
    from .report import Report
    from .runtime import parse_release
    from .simulate import simulate

    if not isinstance(model, Model):
        model = load(model)
    chosen = find_delegate(delegate)
    values = parse_options(chosen.name, chosen.options, options or {}, defaults)
    run = simulate(model, chosen, values, parse_release(runtime), defaults)
    return Report(model, (run,))

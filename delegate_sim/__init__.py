"""Tell, without a device, what a TFLite / LiteRT delegate will do to a model.

>>> import delegate_sim
>>> report = delegate_sim.analyze("model.tflite", delegate="nnapi")  # doctest: +SKIP
>>> report.to_dict()["runs"][0]["log_lines"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from .errors import DelegateSimError, ModelError, OptionError
from .version import __version__

if TYPE_CHECKING:
    from .model.model import Model
    from .results.report import Report
    from .runtime.interpreter import Application


__all__ = ["DelegateSimError", "ModelError", "OptionError", "__version__", "analyze", "load", "simulate"]

_DEFAULT_RUNTIME = "litert-2.3"


def load(source: str | PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path (mapped into memory) or from bytes.

    Raises ModelError with one line that names the file and what is wrong with it.
    """
    # The reader imports numpy, which takes time: whoever only imports the package, as pytest does, need not wait for it.
    from .model.reader import load

    return load(source)


def analyze(
    model: Model | str | PathLike[str] | bytes,
    delegate: str = "nnapi",
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    defaults: str = "api",
    own_resolver: bool = False,
) -> Report:
    """Apply a delegate to a model and report what the runtime would do.

    ``options`` are the delegate's, under its own names; those not given are taken from ``defaults`` (``api``: the
    delegate's own, ``benchmark``: what benchmark_model passes). ``runtime`` is the release whose rules and log
    lines are used, by default the newest; it may also be given among the options as ``release``. A model with an operator that
    the release does not load has the outcome ``not-loaded``, unless the application registers such operators itself
    (``own_resolver``).
    Raises ModelError if the model cannot be read, OptionError for an unknown delegate, option, value or runtime.
    """
    from .releases.catalogue import parse_release
    from .results.report import Report
    from .runtime.interpreter import Assumptions, simulate_chain

    model = _loaded(model)
    target, release = _target(delegate, options, defaults)
    runs = simulate_chain(
        model,
        [target],
        parse_release(_agreed([runtime, release])),
        defaults,
        assumptions=Assumptions(has_own_resolver=own_resolver),
    )
    return Report(model, runs)


def simulate(
    model: Model | str | PathLike[str] | bytes,
    delegates: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    runtime: str | None = None,
    defaults: str = "api",
    own_resolver: bool = False,
) -> Report:
    """Apply delegates one after another, each to what those before it left, and report where every node finally runs.

    ``delegates`` are names with options, in the order in which the application applies them. The report has one run for each,
    and ``placement`` in its dictionary. Raises as ``analyze`` does, and OptionError if there is no delegate.
    """
    from .releases.catalogue import parse_release
    from .results.report import Report
    from .runtime.interpreter import Assumptions, simulate_chain

    if not delegates:
        raise OptionError("there is no delegate to apply")
    model = _loaded(model)
    targets, releases = zip(*[_target(name, options, defaults) for name, options in delegates], strict=True)
    release = parse_release(_agreed([runtime, *releases]))
    assumptions = Assumptions(has_own_resolver=own_resolver)
    return Report(model, simulate_chain(model, targets, release, defaults, assumptions=assumptions), is_chain=True)


def _loaded(model: Model | str | PathLike[str] | bytes) -> Model:
    from .model.model import Model

    return model if isinstance(model, Model) else load(model)


def _target(name: str, options: Mapping[str, Any] | None, defaults: str) -> tuple[Application, str | None]:
    """Return a delegate with its options, and the release of the runtime given among them."""
    from .delegates.registry import find_delegate
    from .options import parse_options, without_release

    delegate = find_delegate(name)
    own, release = without_release(options or {})
    return (delegate, parse_options(delegate.name, delegate.options, own, defaults)), release


def _agreed(releases: Sequence[str | None]) -> str:
    """Return the one release that is named, the newest if none is."""
    named = list(dict.fromkeys([str(release) for release in releases if release is not None]))
    if len(named) > 1:
        raise OptionError(f"two releases are named: {' and '.join(named)}")
    return named[0] if named else _DEFAULT_RUNTIME

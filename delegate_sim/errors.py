"""The errors that the public functions raise."""

from __future__ import annotations


class DelegateSimError(Exception):
    """Base of every error that a caller's input can cause; its text is one line fit for a user."""


class ModelError(DelegateSimError):
    """The source is not a TFLite model that can be read."""


class LimitError(ModelError):
    """The model, or a hypothetical change of it, is larger than a limit allows."""


class OptionError(DelegateSimError):
    """A delegate, an option, a value or a release that does not exist or is out of range."""


class MissingPackageError(DelegateSimError):
    """Something was asked for that needs a package which is not installed."""


class FixError(DelegateSimError):
    """A model that cannot be rewritten, or whose rewritten form does not compute the same."""


def fault_text(error: Exception) -> str:
    """Return what to say of an error of the program itself, which no input should cause."""
    return f"internal error: {type(error).__name__}: {error}"

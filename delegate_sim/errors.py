"""The errors that the public functions raise."""

from __future__ import annotations


class DelegateSimError(Exception):
    """Base class of all errors that a caller's input can cause. The message is one line."""


class ModelError(DelegateSimError):
    """The source is not a TFLite model that can be read."""


class NotSimulatedError(ModelError):
    """The model cannot be simulated on a target. The message has the reason, and the path of the model if it is known."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: not simulated: {reason}" if path else reason)
        self.reason = reason


class LimitError(NotSimulatedError):
    """The model, or the model after a hypothetical change, exceeds a limit."""


class OptionError(DelegateSimError):
    """The delegate, option, value or release does not exist or is out of range."""

    def __init__(self, message: str, expected: str = "") -> None:
        super().__init__(message)
        self.expected = expected
        """The message without the invalid value, for a value in a file; "" if there is no such message."""


class MissingPackageError(DelegateSimError):
    """A function needs a package that is not installed."""


class FixError(DelegateSimError):
    """The model cannot be rewritten, or the rewritten model computes different results."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path


class OutputError(FixError):
    """A file must not be written: it is an input, another output, or exists and must not be replaced."""


class NotRunningError(FixError):
    """A model does not run on the CPU."""


def fault_text(error: Exception) -> str:
    """Return the message for an internal error."""
    return f"internal error: {type(error).__name__}: {error}"

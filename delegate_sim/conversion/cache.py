"""Conversions that are kept, by what they were made of."""

from __future__ import annotations

from types import TracebackType


class ConversionCache:
    """A folder of conversions. Without a path it is a temporary one, which is removed at the end of ``with``."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder

    def __enter__(self) -> ConversionCache:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove a temporary folder."""


def default_folder() -> str:
    """Return the user's folder for conversions."""
    raise NotImplementedError

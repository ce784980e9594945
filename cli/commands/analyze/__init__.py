"""``delegate-sim analyze``."""

from .analyze import command

__all__ = ["command"]

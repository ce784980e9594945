"""The error for a bundle that cannot be read."""

from __future__ import annotations


class BundleError(Exception):
    """Raised if a bundle cannot be read. The caller adds the name of the bundle to the message."""

"""The error for a bundle that cannot be read."""

from __future__ import annotations


class BundleError(Exception):
    """Raised if a bundle cannot be read; the message follows the bundle's name."""

"""The error for a bundle that cannot be read."""

from __future__ import annotations


class BundleError(Exception):
    """Raised if a bundle cannot be read. The caller puts the name of the bundle in front of the message."""

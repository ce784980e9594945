"""The error for a bundle that cannot be read."""

from __future__ import annotations


class BundleError(Exception):
    """Raised if a bundle cannot be read. The message lacks the name of the bundle, which the caller adds."""

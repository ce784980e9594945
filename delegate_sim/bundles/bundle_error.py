"""The error of a bundle that cannot be read."""

from __future__ import annotations


class BundleError(Exception):
    """Say what is wrong with a bundle, worded to follow its name."""

"""The error for a bundle that cannot be read."""

from __future__ import annotations

READING = "reading the bundle"
"""The activity in the message if a bundle takes too much work (``foundation/work_budget.py``)."""


class BundleError(Exception):
    """Raised if a bundle cannot be read. The caller adds the name of the bundle to the message."""

"""The steps at which tests go through many cases: each run takes a sample of these, and ``make samples`` takes all."""

from __future__ import annotations

import os

IS_WHOLE = bool(os.environ.get("DELEGATE_SIM_WHOLE_SAMPLES"))


def every(count):
    """Return the step at which a test goes through its cases: ``count``, or 1 where all are asked for."""
    return 1 if IS_WHOLE else count

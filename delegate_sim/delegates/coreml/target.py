"""What the acceptance rules ask of the target."""

from __future__ import annotations

from typing import NamedTuple

COREML_2 = 2
COREML_3 = 3


class Target(NamedTuple):
    """The version of Core ML that models are made for."""

    coreml_version: int

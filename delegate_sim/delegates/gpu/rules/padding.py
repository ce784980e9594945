"""Padding."""

from __future__ import annotations

from ...gpu_compatibility import padding
from .checks import UP_TO_2, gpu_rule

_PAD = gpu_rule("PadOperationParser", *padding.PAD, version_in=UP_TO_2)

RULES = {
    "MIRROR_PAD": gpu_rule("PadOperationParser", *padding.MIRROR_PAD, version_in=UP_TO_2),
    "PAD": _PAD,
    "PADV2": _PAD,
}

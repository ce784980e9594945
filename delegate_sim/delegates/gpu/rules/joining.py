"""Joining and splitting."""

from __future__ import annotations

from .checks import UP_TO_2, gpu_rule

RULES = {
    "CONCATENATION": gpu_rule("ConcatenationOperationParser", version_in=UP_TO_2),
    "PACK": gpu_rule("PackOperationParser"),
    "SPLIT": gpu_rule("SplitOperationParser"),
    "SPLIT_V": gpu_rule("SplitVOperationParser"),
    "UNPACK": gpu_rule("UnpackOperationParser", cases=()),
}

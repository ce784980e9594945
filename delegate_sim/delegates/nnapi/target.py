"""Feature levels of NNAPI, and what of a device the rules depend on (``nnapi_delegate_kernel.h``, ``NeuralNetworksTypes.h``)."""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release
from ...rules.rule import Condition

NNAPI_1_0 = 27
NNAPI_1_1 = 28
NNAPI_1_2 = 29
NNAPI_1_3 = 30
FEATURE_LEVEL_5 = 31
FEATURE_LEVEL_6 = 1000006
FEATURE_LEVEL_7 = 1000007
FEATURE_LEVEL_8 = 1000008

FEATURE_LEVELS = (NNAPI_1_0, NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, FEATURE_LEVEL_5, FEATURE_LEVEL_6, FEATURE_LEVEL_7, FEATURE_LEVEL_8)

LEVEL_NAMES = {
    NNAPI_1_0: "NNAPI 1.0 (Android 8.1)",
    NNAPI_1_1: "NNAPI 1.1 (Android 9)",
    NNAPI_1_2: "NNAPI 1.2 (Android 10)",
    NNAPI_1_3: "NNAPI 1.3 (Android 11)",
    FEATURE_LEVEL_5: "feature level 5 (Android 12)",
    FEATURE_LEVEL_6: "feature level 6",
    FEATURE_LEVEL_7: "feature level 7",
    FEATURE_LEVEL_8: "feature level 8",
}


class NnapiTarget(NamedTuple):
    """What ``Validate`` looks at: the feature level, whether an accelerator is specified, and the release of the runtime."""

    level: int
    has_accelerator: bool
    release: Release = NEWEST


def from_level(level: int) -> Condition[NnapiTarget]:
    """Feature levels from this one on."""
    return Condition(f"from level {level}", lambda target: target.level >= level)


def below_level(level: int) -> Condition[NnapiTarget]:
    """Feature levels below this one."""
    return Condition(f"below level {level}", lambda target: target.level < level)


def with_accelerator(is_specified: bool) -> Condition[NnapiTarget]:
    """Whether an accelerator is specified."""
    words = "with accelerator" if is_specified else "without accelerator"
    return Condition(words, lambda target: target.has_accelerator == is_specified)

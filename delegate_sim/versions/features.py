"""Features of nodes that raise an operator version, with advice on how to avoid each feature.

The settings in the advice are attributes of ``tf.lite.TFLiteConverter`` (``tflite/python/lite.py``, LiteRT). If the name of a
setting begins with an underscore, the setting is experimental, and any release may remove it.

The texts are in ``features.json``. A placeholder there is a line of ``foundation/converter_attributes.py``.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from ..foundation import converter_attributes
from ..rules.kinds import Explanation

_ALL = {
    code: Explanation(**{part: text.format_map(vars(converter_attributes)) for part, text in texts.items()})
    for code, texts in json.loads(pkgutil.get_data(__package__, "features.json") or b"").items()
}
FEATURES: Mapping[str, Explanation] = MappingProxyType(
    {code: own._replace(advice=f"{own.advice}.") for code, own in _ALL.items()}
)
"""All features. A feature has the same code for all operators."""

FEATURE_CHANGES: Mapping[str, str] = MappingProxyType({code: own.advice for code, own in _ALL.items()})
"""The advice on each feature without the last period, because other words may follow."""

HIGHEST_TOLD_APART = 32
"""The highest version that delegates' rules distinguish. A model file may store any version up to 2**31 - 1."""
_ABOVE = 3


def versions_to_try(version: int) -> list[int]:
    """Return versions that could replace an operator's version.

    Lower versions come before higher versions, and the nearest version comes first.

    >>> versions_to_try(3)
    [2, 1, 4, 5, 6]
    """
    lower = range(min(version - 1, HIGHEST_TOLD_APART), 0, -1)
    higher = range(max(version, 0) + 1, max(version, 0) + _ABOVE + 1)  # bounded: a constant number of versions
    return [*lower, *(higher if version <= HIGHEST_TOLD_APART else ())]

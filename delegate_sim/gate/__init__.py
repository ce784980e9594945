"""Checks of models against a configuration, a baseline and budgets, and explanations of their codes (``codes.json``)."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping

from ..rules.kinds import Explanation

_AGREE = "If the change is intended, accept it with delegate-sim check --update and commit the baseline."

GATE: Mapping[str, Explanation] = {
    code: Explanation(**{part: text.format(agree=_AGREE) for part, text in texts.items()})
    for code, texts in json.loads(pkgutil.get_data(__package__, "codes.json") or b"").items()
}

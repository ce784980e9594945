"""Rules of ML Drift: the checks of each operator, in ML Drift's order.

Source: ``NewOperationParser``, each parser's ``IsSupported`` and ``GetOpsToReplaceWithOptions``
(``ml_drift_delegate/tflite/model_builder.cc``), and ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``). The rules that LiteRT 2.3 added, and the rules before LiteRT 2.2, have no public
source. They were found by running the binaries.
"""

from __future__ import annotations

import operator
from typing import Any

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules
from ..kinds import KINDS
from . import custom
from .checks import SOURCE

RULES: RuleBook[Any] = RuleBook(
    "mldrift",
    families=family_rules(__name__),
    custom=custom.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that ML Drift has", said="Operation is not supported."),
    unknown_custom=Unknown("a custom operator that ML Drift has", said="{op}"),
    key=operator.attrgetter("release"),
    has_native_messages=True,
)

"""Rules of ML Drift: the checks of each operator, in ML Drift's order.

Source: ``NewOperationParser``, each parser's ``IsSupported`` and ``GetOpsToReplaceWithOptions``
(``ml_drift_delegate/tflite/model_builder.cc``), and ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``). New rules of LiteRT 2.3 and rules before LiteRT 2.2 have no public source. They
were measured with the binaries.
"""

from __future__ import annotations

import operator
from typing import Any

from ....rules.book import RuleBook, Unknown
from ....rules.kinds import kinds_in
from ....rules.rule import family_rules, modules_of_families
from ...gpu_compatibility.checks import OPERAND_COUNT, RANK
from . import stablehlo
from .tensors import SOURCE

MODULES = modules_of_families(
    activation="activation conversion",
    slicing="slicing joining",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reduction reshaping padding gathering filling",
)
"""The module of each family of operators, with its rules and problems."""
RULES: RuleBook[Any] = RuleBook(
    "mldrift",
    families=family_rules(__name__, MODULES),
    custom=stablehlo.CUSTOM_RULES,
    kinds=tuple(kinds_in("delegates/mldrift", "rules", (OPERAND_COUNT, RANK)).values()),
    source=SOURCE,
    unknown=Unknown("an operator that ML Drift has", said="Operation is not supported."),
    unknown_custom=Unknown("a custom operator that ML Drift has", said="{op}"),
    key=operator.attrgetter("release"),
    has_native_messages=True,
)

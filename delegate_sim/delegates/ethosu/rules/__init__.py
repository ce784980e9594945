"""Rules of the Ethos-U delegate: the checks of each operator, in the delegate's order.

Source: ``IsNodeSupportedByEthosU`` (``ethosu_supported_ops.cc`` of nxp-imx/tflite-ethosu-delegate-imx), with its table of
constraints. The delegate stops at the first failed check. No check looks at an operator's version.
"""

from __future__ import annotations

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules, modules_of_families
from ...decision import ReleaseOnly
from . import arithmetic
from .checks import KINDS, SOURCE

RULES: RuleBook[ReleaseOnly] = RuleBook(
    "ethosu-imx93",
    families=family_rules(
        __name__,
        modules_of_families(
            arithmetic="activation arithmetic conversion matrix recurrent",
            shapes="reduction reshaping slicing joining padding",
            windows="convolution pooling resizing",
        ),
    ),
    custom=arithmetic.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE.with_symbol("IsNodeSupportedByEthosU"),
    unknown=Unknown("an operator in the delegate's table"),
    unknown_custom=Unknown(f"the custom operator {arithmetic.COMPILED_NETWORK}, or an operator in the delegate's table"),
)

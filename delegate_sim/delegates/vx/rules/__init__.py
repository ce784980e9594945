"""Rules of the VX delegate: the checks of each operator, in the delegate's order.

Source: VeriSilicon/tflite-vx-delegate, ``Delegate::SupportedOp`` (``delegate_main.cc``) and the two tables of mappers
(``op_map.cc``). A mapper checks and translates one operator. No mapper checks an operator's version.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules, modules_of_families
from . import layers
from .checks import CUSTOM_OPERATOR, KINDS, SOURCE, VxTarget
from .variants import lf_5_15_71, lf_6_6_3

__all__ = ["NXP_RULES", "RULES"]

_WITHOUT_MAPPER = "(in the delegate's log: op {builtin_code}) has no mapper"

RULES: RuleBook[VxTarget] = RuleBook(
    "vx",
    families=family_rules(
        __name__,
        modules_of_families(
            arithmetic="activation arithmetic conversion",
            layers="convolution pooling resizing matrix recurrent",
            shapes="reduction reshaping slicing joining padding gathering filling",
        ),
    ),
    custom=layers.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the delegate maps", problem=_WITHOUT_MAPPER),
    unknown_custom=Unknown(
        f"the custom operator {layers.COMPILED_NETWORK}, or a builtin operator", problem=_WITHOUT_MAPPER, kind=CUSTOM_OPERATOR
    ),
)
"""The rules of VeriSilicon's delegate."""

_LF_6_6_3 = lf_6_6_3(RULES)
NXP_RULES: Mapping[str, RuleBook[VxTarget]] = {"lf-6.6.3": _LF_6_6_3, "lf-5.15.71": lf_5_15_71(_LF_6_6_3)}
"""The rules of NXP's variant by release, newest first."""

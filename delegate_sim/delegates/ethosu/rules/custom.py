"""The delegate's own custom operator."""

from __future__ import annotations

from ....rules.rule import OpRule
from ....rules.source import Source
from .checks import ETHOSU_DELEGATE

COMPILED_NETWORK = "ethos-u"
"""A custom operator that contains a network compiled by Vela beforehand."""

RULES: dict[str, OpRule[object]] = {
    COMPILED_NETWORK: OpRule(
        (), source=(Source(ETHOSU_DELEGATE, "ethosu_delegate.cc", "EthosuDelegate::IsNodeSupportedByDelegate"),)
    )
}

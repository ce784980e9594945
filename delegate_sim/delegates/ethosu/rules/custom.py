"""The delegate's own custom operator."""

from __future__ import annotations

from ....rules.rule import OpRule
from ....rules.source import Source
from .checks import ETHOSU_DELEGATE

COMPILED_NETWORK = "ethos-u"
"""The custom operator of networks that Vela compiled beforehand."""

RULES: dict[str, OpRule[object]] = {
    COMPILED_NETWORK: OpRule(
        (), source=(Source(ETHOSU_DELEGATE, "ethosu_delegate.cc", "EthosuDelegate::IsNodeSupportedByDelegate"),)
    )
}

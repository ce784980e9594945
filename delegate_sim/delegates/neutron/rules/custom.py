"""The delegate's own custom operator."""

from __future__ import annotations

from ....rules.rule import OpRule
from ....rules.source import Source
from .checks import NEUTRON_6_6_3, NEUTRON_6_6_23

COMPILED_NETWORK = "NeutronGraph"
"""The custom operator of networks that NXP's converter compiled beforehand."""

_FILE, _SYMBOL = "neutron_delegate.cc", "NeutronDelegate::IsNodeSupportedByDelegate"
RULES: dict[str, OpRule[object]] = {
    COMPILED_NETWORK: OpRule((), source=(Source(NEUTRON_6_6_23, _FILE, _SYMBOL), Source(NEUTRON_6_6_3, _FILE, _SYMBOL)))
}

"""NXP's variant of the TIM-VX delegate (nxp-imx/tflite-vx-delegate-imx)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...rules.book import RuleBook
from ..options import Option, OptionValues
from ..traits import LogTraits
from .delegate import VxDelegate
from .rules import NXP_RULES
from .rules.checks import VxTarget

NEWEST_RELEASE = next(iter(NXP_RULES))


def release(value: Any) -> str:
    """Parse a release of NXP's board support package, such as lf-5.15.71 or lf-5.15.71_2.2.0."""
    name = str(value).strip().partition("_")[0]
    if name not in NXP_RULES:
        raise InvalidValueError(f"takes {' or '.join(NXP_RULES)}", value)
    return name


class NxpVxDelegate(VxDelegate):
    """NXP's delegate (see ``delegates.base.Delegate``)."""

    name = "vx-nxp"
    title = "NXP's VX delegate"
    options = (
        *VxDelegate.options,
        Option(
            "release",
            release,
            NEWEST_RELEASE,
            f"release of NXP's board support package: {' or '.join(NXP_RULES)}",
            choices=tuple(NXP_RULES),
        ),
    )
    rules = NXP_RULES[NEWEST_RELEASE]
    rule_options = ("release",)
    log = LogTraits(tried_options=MappingProxyType({"release": tuple(NXP_RULES)[-1]}))
    """Without names, because both variants of the delegate print the same lines. These lines are attributed to VeriSilicon's
    delegate first.
    """

    def own_release(self, options: OptionValues) -> str:
        """Return the release of NXP's board support package."""
        return str(options["release"])

    @property
    def rule_books(self) -> tuple[RuleBook[VxTarget], ...]:
        """The rules of each release, newest first."""
        return tuple(NXP_RULES.values())

    def rules_for(self, options: OptionValues) -> RuleBook[VxTarget]:
        """Return the rules of the release that the options name."""
        return NXP_RULES[options["release"]]


DELEGATE = NxpVxDelegate()

"""The Neutron delegate's handling of a subgraph.

Source: ``neutron_delegate.cc`` of nxp-imx/tflite-neutron-delegate, and TFLite's ``SimpleDelegate``.

The delegate takes every supported node, also accepts graphs with dynamic tensors, and does not limit partitions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...errors import NotSimulatedError
from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import Graph
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook
from ..base import Delegate
from ..decision import Decision, ReleaseOnly, chance_warnings, crash_while_checking, summary_line, take_supported
from ..options import Option, OptionValues
from ..traits import LogTraits
from .rules import CLOSED_RELEASES, NAME, READS_MISSING_SIZES, RULES, WITH_RULES, has_compiled

_KERNEL = "NeutronDelegate"
_CONVERTER = (
    f"from {CLOSED_RELEASES[0]} on, NXP's closed-source converter decides which nodes the Neutron NPU takes; "
    f"for the rules of an older release, use --option release={WITH_RULES}"
)


def release(value: Any) -> str:
    """Parse a release of NXP's board support package, such as lf-6.6.23 or lf-6.6.23_2.0.0."""
    name = str(value).strip().partition("_")[0]
    if name not in RULES:
        raise InvalidValueError(f"takes {', '.join(RULES)}", value)
    return name


class NeutronDelegate(Delegate):
    """NXP's delegate for the i.MX95 (see ``delegates.base.Delegate``)."""

    name = NAME
    kernel_name = _KERNEL
    provider_name = "EXTERNAL"
    title = "The Neutron delegate"
    summary = "NXP's external delegate for the Neutron NPU of the i.MX95."
    options = (
        Option(
            "release",
            release,
            WITH_RULES,
            f"release of NXP's board support package: {', '.join(RULES)}; from {CLOSED_RELEASES[0]} on, NXP's converter selects "
            "nodes, and this selection is not simulated",
            choices=tuple(RULES),
        ),
    )
    rules = RULES[WITH_RULES]
    computes_integers = True
    rule_options = ("release",)
    counts_cpu_partitions = False
    log = LogTraits(switch="external delegate path", libraries=("neutron_delegate",), chip="i.MX 95")

    def own_release(self, options: OptionValues) -> str:
        """Return the release of NXP's board support package."""
        return str(options["release"])

    @property
    def rule_books(self) -> tuple[RuleBook[ReleaseOnly], ...]:
        """The rules of every release."""
        return tuple(dict.fromkeys(RULES.values()))

    def rules_for(self, options: OptionValues) -> RuleBook[ReleaseOnly]:
        """Return the rules of the release that the options name."""
        return RULES[options["release"]]

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes.

        Raises NotSimulatedError if NXP's converter decides about the graph.
        """
        if options["release"] in CLOSED_RELEASES and not has_compiled(graph):
            raise NotSimulatedError(_CONVERTER, graph.model.path or "the model")
        rules = self.rules_for(options)
        decision = take_supported(graph, rules, ReleaseOnly(release))
        failure = crash_while_checking(decision, rules, READS_MISSING_SIZES)
        if failure is not None:
            return replace(decision, nodes=(), preview=(), failure=failure)
        warnings = tuple(chance_warnings(decision, rules))
        return replace(decision, log_lines=(summary_line(_KERNEL, decision),), warnings=warnings)


DELEGATE = NeutronDelegate()

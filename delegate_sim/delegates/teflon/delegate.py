"""Teflon's options, and its handling of a subgraph (``PrepareDelegate``, ``tfl_device.c``).

Of the compilation by the drivers, only rocket's additions are simulated. The delegate takes float nodes too, which an 8-bit NPU
cannot compute, so these nodes count as wrong results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ...rules.book import RuleBook
from ...rules.kinds import kinds_in
from ..base import Delegate
from ..decision import Decision, ReleaseOnly, chance_warnings, crash_while_checking, kinds_by_code, take_supported
from ..options import Option, OptionValues
from ..traits import LogTraits
from .rules import NAME, READS_COMPUTED, ROCKET, RULES, reads_stale_sizes

VERSIONS = tuple(dict.fromkeys(version for version, _ in RULES))
DRIVERS = tuple(dict.fromkeys(driver for _, driver in RULES))


def _choice(choices: tuple[str, ...], value: Any) -> str:
    if value not in choices:
        raise InvalidValueError(f"takes {', '.join(choices)}", value)
    return str(value)


def _no_rules(values: Mapping[str, Any]) -> str:
    if (values["mesa"], values["driver"]) in RULES:
        return ""
    drivers = [driver for version, driver in RULES if version == values["mesa"]]
    cures = [f"choose mesa={version}" for version, driver in RULES if driver == values["driver"]]
    return f"Mesa {values['mesa']} opens only {', '.join(drivers)} (Couldn't open kernel device); {' or '.join(cures)}"


OPTIONS = (
    Option(
        "driver",
        partial(_choice, DRIVERS),
        DRIVERS[0],
        "the NPU's driver: etnaviv (i.MX 8M Plus, A311D), rocket (RK3588) or ethosu (i.MX 93); the computer decides, so the "
        "delegate itself has no such option",
        conflict=_no_rules,
    ),
    Option(
        "mesa",
        partial(_choice, VERSIONS),
        VERSIONS[0],
        f"version of Mesa: {VERSIONS[0]} (Debian 13), or {VERSIONS[1]} for later versions, whose rules were read but not run",
        choices=VERSIONS,
    ),
)


_FAILURES = kinds_in("delegates/teflon", "failures", is_shared=True)
FLOAT_NODE = _FAILURES["teflon-numbers-float"]
"""The kind of a node that the NPU computes wrongly."""
LONE_ADDITION = _FAILURES["teflon-lone-addition"]


class TeflonDelegate(Delegate):
    """The ``teflon`` delegate (see ``delegates.base.Delegate``)."""

    name = NAME
    kernel_name = "Teflon Delegate"
    provider_name = "EXTERNAL"
    title = "Teflon"
    summary = "Mesa's external delegate for NPUs with drivers in the mainline kernel: i.MX 8M Plus, A311D, RK3588 and i.MX 93."
    options = OPTIONS
    rules = next(iter(RULES.values()))
    rule_options = ("mesa", "driver")
    semantics = 2
    has_number_rules = True
    further_kinds = kinds_by_code(FLOAT_NODE, LONE_ADDITION)
    log = LogTraits(
        switch="external delegate path",
        libraries=("teflon",),
        options_by_interface={driver: {"driver": driver, "mesa": version} for version, driver in reversed(tuple(RULES))},
    )

    @property
    def rule_books(self) -> tuple[RuleBook[ReleaseOnly], ...]:
        """The rules of every version and driver."""
        return tuple(RULES.values())

    def rules_for(self, options: OptionValues) -> RuleBook[ReleaseOnly]:
        """Return the rules of the version and the driver that the options name."""
        return RULES[options["mesa"], options["driver"]]

    def own_release(self, options: OptionValues) -> str:
        """Return the version of Mesa."""
        return f"Mesa {options['mesa']}"

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return True: the delegate also accepts dynamic tensors."""
        return True

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Apply the rules to every node, and delegate all supported nodes."""
        rules = self.rules_for(options)
        decision = take_supported(graph, rules, ReleaseOnly(release))
        failure = crash_while_checking(decision, rules, READS_COMPUTED)
        if failure is not None:
            return replace(decision, nodes=(), preview=(), failure=failure)
        return replace(decision, warnings=(*chance_warnings(decision, rules), *_stale_warnings(decision)))

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the crash of the driver rocket at an ADD (``rkt_ml_subgraph_create``, ``rkt_ml.c``), or None."""
        graph, results = decision.graph, set[int]()
        for node in [graph.view(graph.nodes[index]) for index in subset.nodes] if options["driver"] == ROCKET else ():
            if node.op == "ADD":
                if node.input(0).index not in results:
                    return LONE_ADDITION.failure(node.input(0), node.node.index)
                results.remove(node.input(0).index)  # The convolution then writes the result of the ADD.
            results.add(node.output(0).index)
        return None

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield the float nodes of a partition. The delegate does not look at the type, but the NPU computes with 8 bits."""
        for index in subset.nodes:
            source = graph.view(graph.nodes[index]).input(0)
            if source.type in ("FLOAT32", "FLOAT16"):
                yield FLOAT_NODE.failure(source, index)


def _stale_warnings(decision: Decision) -> Iterator[str]:
    graph = decision.graph
    nodes = [index for index in decision.nodes if reads_stale_sizes(graph.view(graph.nodes[index]))]
    if nodes:
        count = "1 node joins or splits" if len(nodes) == 1 else f"{len(nodes)} nodes join or split"
        yield (
            f"subgraph {graph.index}: {count} tensors with fewer than 4 dimensions (first: node {nodes[0]}). The delegate "
            "compares dimension 3 anyway, and reads memory behind the shapes, so it may refuse such a node"
        )


DELEGATE = TeflonDelegate()

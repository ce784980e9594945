"""The tiny delegate: float additions, RELU and small matrix products, at most one partition."""

from __future__ import annotations

from delegate_sim.delegates.base import Delegate, keep_largest
from delegate_sim.delegates.decision import Decision, kinds_by_code, take_supported
from delegate_sim.delegates.options import Option, OptionValues, integer
from delegate_sim.delegates.traits import LogTraits, PartitionLimits
from delegate_sim.graph.graph import Graph
from delegate_sim.releases.catalogue import NEWEST, Release
from delegate_sim.rules import kinds
from delegate_sim.rules.book import RuleBook, Unknown
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.rule import OpRule, Repository, Source
from delegate_sim.rules.vocabulary import max_version, rank, typed

_FLOAT = typed(INPUT, ("FLOAT32",))
SOURCE = Source(Repository("example/tiny", "0" * 40), "tiny.cc", "IsSupported")

RULES = RuleBook(
    "tiny",
    families=(
        {
            "ADD": OpRule((max_version(1), _FLOAT)),
            "FULLY_CONNECTED": OpRule((_FLOAT, rank(INPUT, 2))),
            "RELU": OpRule((_FLOAT,)),
        },
    ),
    kinds=(kinds.OPERATOR, kinds.VERSION, kinds.TENSOR_TYPE, kinds.RANK),
    source=SOURCE,
    unknown=Unknown("one of the three operators of the tiny delegate"),
)


class TinyDelegate(Delegate):
    """The delegate as the runtime meets it."""

    name = "tiny"
    kernel_name = "TfLiteTinyDelegate"
    provider_name = "TINY"
    options = (Option("max_delegated_partitions", integer, 1, "how many partitions to delegate at most"),)
    rules = RULES
    further_kinds = kinds_by_code(kinds.PARTITION_LIMIT)
    limits = PartitionLimits("max_delegated_partitions", 1_000_000)
    log = LogTraits(switch="use tiny")

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Take the largest partitions."""
        from delegate_sim.delegates.decision import ReleaseOnly

        found = take_supported(graph, RULES, ReleaseOnly(release))
        return keep_largest(self, found, options["max_delegated_partitions"], 0)


DELEGATE = TinyDelegate()

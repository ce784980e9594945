"""The grouping delegate: runs of consecutive nodes, each HARD_SWISH inlined as RELU6 and NEG, and a compiler behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from delegate_sim.delegates.base import Delegate, keep_largest
from delegate_sim.delegates.decision import Decision, ReleaseOnly, kinds_by_code
from delegate_sim.delegates.options import Option, OptionValues, boolean, integer
from delegate_sim.delegates.traits import StageBehind
from delegate_sim.graph.graph import Graph
from delegate_sim.graph.partition import Subset, partition
from delegate_sim.model import schema
from delegate_sim.model.model import Node
from delegate_sim.refusal import Refusal
from delegate_sim.releases.catalogue import NEWEST, Release
from delegate_sim.rules import kinds
from delegate_sim.rules.book import RuleBook, Unknown
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.rule import OpRule, Repository, Source
from delegate_sim.rules.vocabulary import typed

_FLOAT = OpRule((typed(INPUT, ("FLOAT32",)),))
INLINED, PARTS = "HARD_SWISH", ("RELU6", "NEG")
BEHIND = kinds.OPERATOR.reworded(title="Compiler", meaning="It refuses.", advice="Ask it.", hint="ask the compiler")

RULES = RuleBook(
    "grouping",
    families=({"ADD": _FLOAT, "RELU": _FLOAT, "RELU6": _FLOAT, "NEG": _FLOAT},),
    kinds=(kinds.OPERATOR, kinds.TENSOR_TYPE),
    source=Source(Repository("example/grouping", "0" * 40), "grouping.cc", "IsSupported"),
    unknown=Unknown("an operator of the grouping delegate"),
)


class Compiler(StageBehind):
    """A compiler that takes a number of kernels at most."""

    def refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Refuse more kernels than the compiler takes."""
        kernels = [subset for subset in subsets if subset.is_delegated]
        if len(kernels) <= options["kernels"]:
            return None
        message = f"the compiler takes no {len(kernels)} kernels"
        return Refusal("compiler", message, BEHIND.hint, node=kernels[-1].nodes[-1], is_predicted=not options["knows_build"])


class GroupingDelegate(Delegate):
    """The delegate as the runtime meets it."""

    name = "grouping"
    kernel_name = "GroupingDelegate"
    provider_name = "GROUPING"
    options = (
        Option("dropped", integer, -1, "a supported node that the delegate leaves to the CPU"),
        Option("refused_part", integer, -1, "which part of an inlined node is not supported"),
        Option("kernels", integer, 1000, "how many kernels the compiler takes at most"),
        Option("knows_build", boolean, True, "whether the compiler is that of the release"),
        Option("max_delegated_partitions", integer, 1000, "how many partitions to delegate at most"),
    )
    rules = RULES
    further_kinds = kinds_by_code(kinds.PARTITION_LIMIT)
    behind = Compiler()

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Take what is supported after inlining, in runs of consecutive nodes."""
        whole, origins = inlined(graph)
        verdicts = {index: RULES.validate(whole.view(whole.nodes[index]), ReleaseOnly(release)) for index in whole.execution_plan}
        refused = [index for index in origins if index - min(origins) == options["refused_part"]]
        nodes = tuple(
            index
            for index in whole.execution_plan
            if verdicts[index].is_supported and index != options["dropped"] and index not in refused
        )
        # With each node waiting for the one before it, subsets are runs of the execution plan.
        in_order = tuple(pairwise(range(len(whole.execution_plan))))
        groups = partition(replace(whole, control_edges=in_order), nodes)
        found = Decision(whole, verdicts, nodes, groups, subsets=groups, origins=origins)
        return keep_largest(self, found, options["max_delegated_partitions"], 0)


def inlined(graph: Graph) -> tuple[Graph, dict[int, int]]:
    """Return the graph with the parts of each inlined node in its place, and the node that each part stems from."""
    nodes, tensors, plan, origins = list(graph.nodes), list(graph.tensors), list[int](), dict[int, int]()
    for index in graph.execution_plan:
        node = graph.nodes[index]
        if node.op != INLINED:
            plan.append(index)
            continue
        inner = tensors[node.outputs[0]]._replace(index=len(tensors), name="inner")
        tensors.append(inner)
        for op, source, result in zip(PARTS, (node.inputs[0], inner.index), (inner.index, node.outputs[0]), strict=True):
            code = schema.builtin_code(op)
            plan.append(len(nodes))
            origins[len(nodes)] = index
            nodes.append(Node(len(nodes), op, code, None, 1, (source,), (result,), (), None, None))
    if not origins:
        return graph, {}
    return replace(graph, nodes=tuple(nodes), tensors=tuple(tensors), execution_plan=tuple(plan)), origins

"""What every delegate offers to the runtime that applies it, and what they share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..graph import Graph, NodeView
from ..model import Node, Tensor
from ..options import Option
from ..partition import Subset
from ..rules import Explanation, Reason, RuleSet, Verdict
from ..runtime import NEWEST, Release
from .sorting import LONGEST_STABLE, gnu_sorted

Options = Mapping[str, Any]

PARTITION_LIMIT_CODE = "partition-limit"
"""The code of nodes whose partition a limit leaves out."""
PARTITION_MINIMUM_CODE = "partition-minimum"
"""The code of nodes whose partition has too few of them."""


class KernelFailure(NamedTuple):
    """A delegate kernel, or a CPU kernel whose operands a delegate changed, that cannot be initialised or prepared.

    ``node`` is None if the partition as a whole is to blame, ``tensor`` if no single tensor is. ``is_crash`` says that the
    process ends there: nothing can be restored. ``is_known`` is False where it is read from the sources of another release than
    the one that is simulated, so that it is only worth a warning.
    """

    node: int | None
    tensor: int | None
    code: str
    message: str
    hint: str
    is_crash: bool = False
    is_known: bool = True


class FailureWording(NamedTuple):
    """A message with places for what was found, what to do in a few words, and the explanation."""

    message: str
    hint: str
    explanation: Explanation
    is_crash: bool = False


def kernel_failure(
    wordings: Mapping[str, FailureWording], code: str, node: int | None, tensor: Tensor | None = None, **found: Any
) -> KernelFailure:
    """Word a failure; the other arguments are what was found, by the names in the message."""
    wording = wordings[code]
    if tensor is not None:
        name = f"tensor {tensor.index} ({tensor.name})" if tensor.name else f"tensor {tensor.index}"
        found = {"tensor": name, "type": tensor.type, "shape": list(tensor.shape), **found}
    index = None if tensor is None else tensor.index
    return KernelFailure(node, index, code, wording.message.format(**found), wording.hint, wording.is_crash)


@dataclass(frozen=True)
class Decision:
    """What a delegate decides about one subgraph.

    ``graph`` has the operands as the delegate left them; ``nodes`` are those that it asks the runtime to replace, chosen
    among the partitions of ``preview``; ``set_aside`` says of supported nodes why they are not among them. ``initialised``
    are partitions whose kernels are known to initialise. A ``failure`` ends everything before any node is replaced.
    """

    graph: Graph
    verdicts: Mapping[int, Verdict]
    nodes: tuple[int, ...] = ()
    preview: tuple[Subset, ...] = ()
    set_aside: Mapping[int, Reason] = field(default_factory=dict)
    initialised: frozenset[Subset] = frozenset()
    failure: KernelFailure | None = None
    warnings: tuple[str, ...] = ()
    log_lines: tuple[str, ...] = ()
    """What the delegate itself prints, before the runtime reports the replacement."""

    @property
    def candidates(self) -> tuple[Subset, ...]:
        """The partitions that the delegate could take."""
        return tuple(subset for subset in self.preview if subset.is_delegated)

    @property
    def keeps_preview(self) -> bool:
        """Whether the nodes to replace are all those of the preview, so that its partitions stand."""
        return sum(len(subset.nodes) for subset in self.candidates) == len(self.nodes)


class Delegate(Protocol):
    """One delegate: a module-level object, without state."""

    name: str
    """The name on the command line and in reports."""
    kernel_name: str
    """The name of its kernels in log lines."""
    provider_name: str
    """The name in benchmark_model's lines."""
    options: tuple[Option, ...]
    rules: RuleSet
    explanations: Mapping[str, Explanation]

    def allows_dynamic_tensors(self, options: Options) -> bool:
        """``kTfLiteDelegateFlagsAllowDynamicTensors``: it sees graphs as they stand in the file, dynamic tensors included."""

    def decide(self, graph: Graph, options: Options, release: Release = NEWEST) -> Decision:
        """Look at one subgraph and say which nodes to replace, by the rules of a release of the runtime."""

    def kernel_failure(self, graph: Graph, subset: Subset, options: Options, release: Release = NEWEST) -> KernelFailure | None:
        """Initialise and prepare the kernel of one partition; None if that works."""


FLOAT16_WIDENING = Verdict(
    False,
    (
        Reason(
            "float16-dequantize",
            "FP16GraphPartitionHelper",
            "widens a float16 constant; is delegated only together with every other node",
            "DEQUANTIZE of a float16 constant",
            "all other nodes supported",
            "make every other node acceptable, and this one goes along",
        ),
    ),
)
"""Delegates with ``FP16GraphPartitionHelper`` (``delegates/utils.cc``) take such nodes with all others, or not at all."""


class Float16Remapping:
    """Constant float16 weights behind DEQUANTIZE: nodes are asked about, and run, with the float16 constants themselves.

    Source: ``FP16GraphPartitionHelper`` (``delegates/utils.cc``). A DEQUANTIZE counts once it has come up in plan order.
    """

    def __init__(self) -> None:
        self.constants: dict[int, int] = {}
        """Output of each such DEQUANTIZE to its constant."""
        self.nodes: dict[int, int] = {}
        """Output of each such DEQUANTIZE to its node."""

    def notice(self, node: NodeView) -> bool:
        """Remember a DEQUANTIZE of a float16 constant; say whether this is one."""
        if not node.is_constant_float16_dequantize or not node.node.outputs:
            return False
        self.constants[node.node.outputs[0]] = node.node.inputs[0]
        self.nodes[node.node.outputs[0]] = node.node.index
        return True

    def verdicts(self, graph: Graph, validate: Callable[[NodeView], Verdict]) -> dict[int, Verdict]:
        """Return the verdict on each node, asked about with the constants; those that widen them are refused one by one."""
        found = {}
        for index in graph.execution_plan:
            node = graph.nodes[index]
            view = graph.view(node)
            if self.notice(view):
                found[index] = FLOAT16_WIDENING
                continue
            remapped = self.remapped(node)
            found[index] = validate(view if remapped is node else graph.view(remapped))
        return found

    def remapped(self, node: Node) -> Node:
        """Return the node with the constants as operands."""
        constants = self.constants
        if constants and any(index in constants for index in node.inputs):
            return node._replace(inputs=tuple(constants.get(index, index) for index in node.inputs))
        return node

    def apply(self, graph: Graph, nodes: Iterable[int]) -> Graph:
        """Return the graph with these nodes remapped."""
        chosen = set(nodes)
        inputs = {
            node.index: changed.inputs
            for node in graph.nodes
            if node.index in chosen and (changed := self.remapped(node)) is not node
        }
        return graph.with_inputs(inputs) if inputs else graph


def largest_partitions(subsets: Sequence[Subset], limit: int, minimum: int = 0) -> tuple[Subset, ...]:
    """Return the ``limit`` partitions of most nodes that have the minimum of nodes, largest first.

    Source: ``GetFirstNLargestPartitions`` (``delegates/utils.cc``), with equal ones as the GNU C++ library orders them.
    """
    largest = gnu_sorted(subsets, key=lambda subset: -len(subset.nodes))[:limit]
    return tuple(subset for subset in largest if len(subset.nodes) >= minimum)


def keep_largest(decision: Decision, limit: int, minimum: int) -> Decision:
    """Keep of a decision's nodes those of the largest partitions, and say of the others why they are left out.

    Source: ``GetNodesOfFirstNLargestPartitions`` (``delegates/utils.cc``), for delegates with the options
    ``max_delegated_partitions`` and ``min_nodes_per_partition``.
    """
    candidates = decision.candidates
    kept = {node for subset in largest_partitions(candidates, limit, minimum) for node in subset.nodes}
    set_aside = dict(decision.set_aside)
    for subset in candidates:
        if subset.nodes[0] in kept:
            continue
        if len(subset.nodes) < minimum:
            reason = partition_minimum(len(subset.nodes), minimum, "min_nodes_per_partition")
        else:
            reason = partition_limit(len(candidates), limit, "max_delegated_partitions")
        set_aside |= dict.fromkeys(subset.nodes, reason)
    warnings = decision.warnings
    if order_depends_on_library(candidates, limit, minimum):
        warnings += (library_order_warning(decision.graph, limit),)
    nodes = tuple(node for node in decision.nodes if node in kept)
    return dataclasses.replace(decision, nodes=nodes, set_aside=set_aside, warnings=warnings)


def partition_limit(found: int, limit: int, option: str) -> Reason:
    """Say of a node that an option's limit on partitions leaves it out."""
    largest = "the largest" if limit == 1 else f"among the {limit} largest"
    return Reason(
        PARTITION_LIMIT_CODE,
        PARTITION_LIMIT_CODE,
        f"its partition is not {largest} of {found}",
        f"{found} partitions",
        f"at most {limit}",
        f"raise {option}, or merge partitions by removing what splits them",
    )


def partition_minimum(found: int, minimum: int, option: str) -> Reason:
    """Say of a node that an option's minimum of nodes leaves its partition out."""
    nodes = "1 node" if found == 1 else f"{found} nodes"
    return Reason(
        PARTITION_MINIMUM_CODE,
        PARTITION_MINIMUM_CODE,
        f"its partition has {nodes}; needs at least {minimum}",
        f"a partition of {nodes}",
        f"at least {minimum} nodes",
        f"lower {option}, or merge partitions by removing what splits them",
    )


def order_depends_on_library(subsets: Sequence[Subset], limit: int, minimum: int = 0) -> bool:
    """Whether which partitions the limit keeps is up to the C++ library's way with equal sizes."""
    if len(subsets) <= LONGEST_STABLE or limit >= len(subsets):
        return False
    sizes = sorted((len(subset.nodes) for subset in subsets), reverse=True)
    return sizes[limit - 1] == sizes[limit] >= minimum


def library_order_warning(graph: Graph, limit: int) -> str:
    """Say that ``order_depends_on_library`` holds."""
    return (
        f"subgraph {graph.index}: partitions of equal size compete for the limit of {limit}; which are kept depends on the C++ "
        "library of the runtime (here as with GNU's)"
    )

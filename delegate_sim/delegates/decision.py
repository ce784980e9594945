"""A delegate's decision about one subgraph, and the failure of one of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..graph.calls import ReplacingCall
from ..graph.graph import Graph
from ..graph.partition import Subset, partition
from ..model.model import Tensor
from ..releases.catalogue import NEWEST, Release
from ..rules.book import RuleBook
from ..rules.kinds import Kind
from ..rules.rule import Reason, Verdict

if TYPE_CHECKING:
    from .stage_behind import StageRefusal


@dataclass(frozen=True, slots=True)
class KernelFailure:
    """A delegate kernel, or a CPU kernel whose operands a delegate changed, that cannot be initialized or prepared.

    ``node`` is None if the partition as a whole is to blame, ``tensor`` if no single tensor is. ``is_crash`` says that the
    process ends there: nothing can be restored. ``is_known`` is False where it is read from the sources of another release than
    the one that is simulated: the report marks it as a prediction.
    """

    node: int | None
    tensor: int | None
    code: str
    message: str
    hint: str
    is_crash: bool = False
    is_known: bool = True
    is_later: bool = False
    """Whether it shows only after everything has been applied: it fails the model, though nothing is undone."""
    log_lines: tuple[str, ...] = ()
    """The lines that are printed, if there are more than that of a restored plan. They follow the line of the stage, unless they
    contain it."""
    stage: StageRefusal | None = None


@dataclass(frozen=True, slots=True)
class FailureWording:
    """The words for a kernel failure: a message with places for values, and its kind."""

    message: str
    kind: Kind
    is_crash: bool = False


def kernel_failure(
    wordings: Mapping[str, FailureWording], code: str, node: int | None, tensor: Tensor | None = None, **values: Any
) -> KernelFailure:
    """Word a failure; ``values`` are those of the places in its message."""
    wording = wordings[code]
    if tensor is not None:
        name = f"tensor {tensor.index} ({tensor.name})" if tensor.name else f"tensor {tensor.index}"
        values = {"tensor": name, "type": tensor.type, "shape": list(tensor.shape), **values}
    index = None if tensor is None else tensor.index
    return KernelFailure(node, index, code, wording.message.format(**values), wording.kind.hint, wording.is_crash)


FileNode: TypeAlias = tuple[int, int]
"""A node of the file: its subgraph and its index there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """A delegate's decision about one subgraph.

    ``graph`` has the operands as the delegate left them; ``nodes`` are those that it asks the runtime to replace, chosen among
    the partitions of ``preview``; ``set_aside`` says why supported nodes are not among them. ``initialized`` are
    partitions whose kernels are known to initialize. A ``failure`` ends everything before any node is replaced.
    """

    graph: Graph
    verdicts: Mapping[int, Verdict]
    nodes: tuple[int, ...] = ()
    preview: tuple[Subset, ...] = ()
    set_aside: Mapping[int, Reason] = field(default_factory=dict)
    initialized: frozenset[Subset] = frozenset()
    failure: KernelFailure | None = None
    warnings: tuple[str, ...] = ()
    log_lines: tuple[str, ...] = ()
    """The lines that the delegate itself prints, before the runtime reports the replacement."""
    findings: object = None
    """Data that the delegate needs again for its kernels; nobody else reads it."""
    subsets: tuple[Subset, ...] | None = None
    """All partitions in running order, where the delegate groups the nodes to replace itself; None: the runtime partitions."""
    calls: tuple[ReplacingCall, ...] = ()
    """The runtime's reports, if the delegate has it replace nodes in several calls; ``subsets`` are those in the end."""
    origins: Mapping[int, int] = field(default_factory=dict)
    """Nodes that ``graph`` has behind those of the given graph, each with the node of the given graph that it stems from.

    A delegate that inlines a node takes it off the execution plan and adds others; tensors may be added behind the given ones
    too. Reports show what becomes of the added nodes at the nodes that they stem from.
    """
    skipped: frozenset[int] = frozenset()
    """Subgraphs that no delegate is asked about any more, as this one runs the nodes that stand for them."""

    groups: tuple[tuple[FileNode, ...], ...] | None = None
    """The nodes that a compiler is given together, by where they stand in the file; None where there is no such stage.

    Unlike ``subsets`` they have the nodes of inlined bodies as such, and no node that is compiled without being grouped.
    """
    places: Mapping[int, FileNode] = field(default_factory=dict)
    """Positions in the file of nodes that ``graph`` has behind those of the given graph, if they are in the file."""

    @property
    def candidates(self) -> tuple[Subset, ...]:
        """The partitions that the delegate could take."""
        return tuple(subset for subset in self.preview if subset.is_delegated)

    @property
    def keeps_preview(self) -> bool:
        """Whether the nodes to replace are all those of the preview, so that its partitions stand."""
        return sum(len(subset.nodes) for subset in self.candidates) == len(self.nodes)

    def grouped(self) -> tuple[Subset, ...]:
        """Return all partitions in running order; raises ValueError if the delegate's own are of other nodes than ``nodes``."""
        if self.subsets is None:
            return self.preview if self.keeps_preview else partition(self.graph, self.nodes)
        if {node for subset in self.subsets if subset.is_delegated for node in subset.nodes} != set(self.nodes):
            raise ValueError("the delegate groups other nodes than those that it asks the runtime to replace")
        return self.subsets


class ReleaseOnly(NamedTuple):
    """The target of rules that ask nothing of it but the release of the runtime."""

    release: Release = NEWEST


def take_supported(graph: Graph, rules: RuleBook[Any], target: Any) -> Decision:
    """Ask about every node in plan order, and take all that are supported."""
    verdicts = rules.verdicts(graph, graph.execution_plan, target)
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ())


def kinds_by_code(*kinds: Kind) -> Mapping[str, Kind]:
    """Return shared kinds by their codes."""
    return MappingProxyType({kind.name: kind for kind in kinds})


def kinds_of_failures(wordings: Mapping[str, FailureWording]) -> Mapping[str, Kind]:
    """Return the kinds of kernel failures by their codes."""
    return MappingProxyType({code: wording.kind for code, wording in wordings.items()})

"""The result of applying a delegate to a model."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..delegates.base import Delegate
from ..delegates.decision import Decision
from ..delegates.options import OptionValues
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..releases.catalogue import Release
from ..rules.kinds import NOT_LOADED_KINDS, NOT_PREPARED_KINDS
from .target import Target

if TYPE_CHECKING:
    from ..delegates.stage_behind import StageRefusal

REFUSED = "refused"
"""The outcome if the runtime does not apply the delegate to any node."""

_NOT_LOADED = frozenset({kind.name for kind in NOT_LOADED_KINDS})
_NOT_PREPARED = frozenset({kind.name for kind in NOT_PREPARED_KINDS})


_IF_SET = frozenset({"stage", "is_at_invoke"})
"""Fields of a refusal that ``to_dict`` returns only if they are set."""


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphRun:
    """One subgraph after the delegate was applied. The decision is None if the delegate was not applied to the subgraph."""

    graph: Graph
    decision: Decision | None = None
    subsets: tuple[Subset, ...] = ()
    """All partitions in execution order. Empty if no node was replaced."""
    plan: tuple[Subset, ...] = ()
    """All partitions in execution order, with the nodes that the delegate added to the graph (``Decision.origins``)."""
    taken: frozenset[int] = frozenset()
    """Nodes that run on the delegate as part of a node in another subgraph."""
    advice: Mapping[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    """The changes that fix single reasons, keyed by the node and the code of the reason. Empty without a diagnosis."""

    @functools.cached_property
    def delegated(self) -> frozenset[int]:
        """The nodes that run entirely on the delegate."""
        nodes = {kind: [subset.nodes for subset in self.subsets if subset.is_delegated == kind] for kind in (True, False)}
        return self.taken.union(*nodes[True]).difference(*nodes[False])

    def without_kernels(self) -> SubgraphRun:
        """Return the run with all nodes back on the CPU. The verdicts do not change."""
        return SubgraphRun(self.graph, self.decision)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why the runtime did not apply the delegate (``refused``), or undid the delegation (``restored``).

    A run is also refused if the runtime cannot load or prepare the model. In this case, the model does not run at all. With the
    outcomes ``delegated`` and ``none``, the model fails after the delegate was applied. If ``is_predicted`` is true, the
    delegation is predicted to be undone.
    """

    code: str
    message: str
    hint: str
    subgraph: int
    node: int | None
    tensor: int | None
    cause: int | None = None
    is_predicted: bool = False
    """Whether the refusal is predicted from the source code of another release."""
    is_at_invoke: bool = False
    """Whether only ``Invoke`` fails, because the failing node comes after a dynamic tensor. Allocating tensors then succeeds."""
    stage: str = ""
    """For a compiler plugin: ``load`` if LiteRT's loader refuses the model file, or ``partition`` if the plugin fails."""
    behind: StageRefusal | None = None
    """The call that a stage behind the delegate rejected, if any."""

    @property
    def text(self) -> str:
        """The message. If a stage behind the delegate rejected a call for a node, the message begins with this node."""
        if self.behind is None or not self.behind.is_of_node or self.node is None:
            return self.message
        place = f"{self.subgraph}:{self.node}" if self.subgraph else f"{self.node}"
        return f"node {place}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the refusal as plain data. Some keys are absent if they are not set."""
        entry = {name: value for name, value in asdict(self).items() if name != "behind" and (name not in _IF_SET or value)}
        if self.behind is not None:
            entry.update(asdict(self.behind), further=list(self.behind.further))
            del entry["is_of_node"]
        return entry


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The result of applying one delegate to a model."""

    target: Target
    outcome: str
    """``delegated``, ``none``, ``refused`` or ``restored``."""
    refusal: Refusal | None
    log_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    subgraphs: tuple[SubgraphRun, ...]
    by_default: bool = False
    """Whether the runtime applied the delegate by default, although the application did not request it."""
    removed: frozenset[int] = frozenset()
    """Bodies of inlined or compiled composites, which LiteRT removes from the model for a compiler plugin."""

    @property
    def delegate(self) -> Delegate:
        """The delegate that was applied."""
        return self.target.delegate

    @property
    def takes_nodes(self) -> bool:
        """Whether the delegate takes nodes, and nothing fails afterwards."""
        return self.refusal is None and any(subgraph.delegated for subgraph in self.subgraphs)

    @property
    def options(self) -> OptionValues:
        """The options of the delegate."""
        return self.target.options

    @property
    def release(self) -> Release:
        """The release of the runtime that applied the delegate."""
        return self.target.release

    @property
    def is_loaded(self) -> bool:
        """Whether the runtime loads the model."""
        return self.refusal is None or self.refusal.code not in _NOT_LOADED

    @property
    def is_prepared(self) -> bool:
        """Whether all CPU kernels can be prepared."""
        return self.refusal is None or self.refusal.code not in _NOT_PREPARED

    def __repr__(self) -> str:
        return f"<Run {self.delegate.name} on {self.release}: {self.outcome}>"


def option_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a delegate's options as plain data for JSON."""
    return {name: _option_value(value) for name, value in options.items()}


def _option_value(value: Any) -> Any:
    """Convert an option's value for JSON: a tuple to a list, and a driver profile to text."""
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return list(value) if isinstance(value, tuple) else str(value)

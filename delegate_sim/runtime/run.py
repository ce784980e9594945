"""The result of applying a delegate to a model: the plain data that reports are built from."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
"""The outcome of a delegate that is applied to nothing."""

_NOT_LOADED = frozenset({kind.name for kind in NOT_LOADED_KINDS})
_NOT_PREPARED = frozenset({kind.name for kind in NOT_PREPARED_KINDS})


_IF_SET = frozenset({"stage", "is_at_invoke"})
"""Keys that data of a refusal has only if they are set."""


@dataclass(frozen=True, eq=False, repr=False)
class SubgraphRun:
    """One subgraph after the delegate was applied. Without a decision the subgraph was skipped or never reached."""

    graph: Graph
    decision: Decision | None = None
    subsets: tuple[Subset, ...] = ()
    """All partitions in running order; none if no node was replaced."""
    plan: tuple[Subset, ...] = ()
    """The same with the nodes that the delegate added to the graph, where it added any (``Decision.origins``)."""
    taken: frozenset[int] = frozenset()
    """Nodes that run on the delegate as part of a node of another subgraph."""

    @functools.cached_property
    def delegated(self) -> frozenset[int]:
        """The nodes that run on the delegate in the end, each as a whole."""
        nodes = {kind: [subset.nodes for subset in self.subsets if subset.is_delegated == kind] for kind in (True, False)}
        return self.taken.union(*nodes[True]).difference(*nodes[False])

    def without_kernels(self) -> SubgraphRun:
        """Return the run with all nodes back on the CPU; the verdicts on them stay."""
        return SubgraphRun(self.graph, self.decision)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why the runtime applied the delegate to nothing (``refused``), or undid it (``restored``).

    A model is also refused where the runtime does not load it, or cannot prepare it before the delegate is asked: it then runs
    nowhere. With the outcomes ``delegated`` and ``none``: why the model, after the delegate was applied, will not run, or, where
    it ``is_predicted``, why everything is undone.
    """

    code: str
    message: str
    hint: str
    subgraph: int
    node: int | None
    tensor: int | None
    cause: int | None = None
    is_predicted: bool = False
    """Whether it is read from the sources of another release than the one that is simulated."""
    is_at_invoke: bool = False
    """Whether tensors can be allocated, since it stands behind a dynamic one, so that only running the model fails."""
    stage: str = ""
    """Of a compiler plugin: ``load`` if the file is not read for it, ``partition`` if it fails."""
    behind: StageRefusal | None = None
    """More of it, where a stage behind the delegate refused a call."""

    @property
    def text(self) -> str:
        """The message for a reader, behind the node for which a stage behind the delegate refused a call."""
        if self.behind is None or not self.behind.is_of_node or self.node is None:
            return self.message
        place = f"{self.subgraph}:{self.node}" if self.subgraph else f"{self.node}"
        return f"node {place}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the refusal as plain data; stages of a plugin, and calls behind the delegate, only where there are any."""
        entry = {name: value for name, value in asdict(self).items() if name != "behind" and (name not in _IF_SET or value)}
        if self.behind is not None:
            entry.update(asdict(self.behind), further=list(self.behind.further))
            del entry["is_of_node"]
        return entry


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One delegate applied to a model."""

    target: Target
    outcome: str
    """``delegated``, ``none``, ``refused`` or ``restored``."""
    refusal: Refusal | None
    log_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    subgraphs: tuple[SubgraphRun, ...]
    by_default: bool = False
    """Whether the runtime applied the delegate by itself."""
    removed: frozenset[int] = frozenset()
    """Subgraphs that the model no longer has after a compiler plugin, since their nodes went elsewhere."""

    @property
    def delegate(self) -> Delegate:
        """The delegate that was applied."""
        return self.target.delegate

    @property
    def options(self) -> OptionValues:
        """Its options."""
        return self.target.options

    @property
    def release(self) -> Release:
        """The release of the runtime that applied it."""
        return self.target.release

    @property
    def is_loaded(self) -> bool:
        """Whether the runtime loads the model; if it does not, no delegate is ever applied."""
        return self.refusal is None or self.refusal.code not in _NOT_LOADED

    @property
    def is_prepared(self) -> bool:
        """Whether all CPU kernels can be prepared: before a delegate is asked, and in what it left to the CPU."""
        return self.refusal is None or self.refusal.code not in _NOT_PREPARED

    def __repr__(self) -> str:
        return f"<Run {self.delegate.name} on {self.release}: {self.outcome}>"


def option_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options fit for JSON."""
    return {name: _option_value(value) for name, value in options.items()}


def _option_value(value: Any) -> Any:
    """Return plain data as it is, and anything else, such as the profile of a driver, as text."""
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return list(value) if isinstance(value, tuple) else str(value)

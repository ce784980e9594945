"""Compare one model and delegate across runtime releases: which take it, and what changes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...delegates.base import Delegate, OptionValues
from ...graph.analysis_cache import AnalysisCache
from ...model.model import Model
from ...releases.catalogue import KNOWN_RELEASES, Release, parse_release
from ...releases.notes import predicted_build
from ...rules.rule import Reason
from ...runtime.interpreter import Run, simulate
from ...runtime.model_loading import load_on
from ...runtime.resolver import Loads
from ...runtime.target import Target
from ..report.measures import TAKEN, Measures, measure
from ..report.placement import node_reasons
from .platform_table import PlatformRow, platform_rows


@dataclass(frozen=True, slots=True)
class Unloaded:
    """An operator in a version that a release's own kernels do not load."""

    op: str
    version: int


@dataclass(frozen=True, slots=True)
class Move:
    """Nodes of one operator whose verdict differs from the previous release's, and why the one or the other refused them."""

    op: str
    is_delegated: bool
    reasons: tuple[Reason, ...]
    nodes: tuple[tuple[int, int], ...]
    """Subgraph and node."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One release."""

    release: Release
    loads: Loads
    """True if the release's own kernels load the model."""
    unloaded: tuple[Unloaded, ...]
    """The operators that they do not load, or of which nothing is known, in file order: the runtime ends at the first."""
    unloaded_types: tuple[str, ...]
    """The types of tensors that the release does not load."""
    lines: tuple[str, ...]
    """What the runtime reports of a model that it does not load."""
    measures: Measures
    moves: tuple[Move, ...]
    """Against the last release before that loads the model; empty for the first."""
    notes: tuple[str, ...]
    """What is uncertain about the release's rules."""
    is_certain: bool = True
    """True if it is known of this release that the delegate's kernels cannot be made, if they cannot."""

    @property
    def is_loaded(self) -> bool:
        """True if it is known that the release's own kernels load the model."""
        return self.loads is Loads.YES

    @property
    def is_full(self) -> bool:
        """True if the model is loaded and every node is delegated, as far as is known."""
        return self.loads is not Loads.UNKNOWN and self.measures.outcome in TAKEN and not self.measures.fallback_nodes


@dataclass(frozen=True, slots=True)
class FirstLoading:
    """The first release of a family that loads a model, and what the one before does not load; nothing for the oldest known."""

    release: Release
    because_of: tuple[Unloaded, ...] = ()
    because_of_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """All releases, oldest first."""

    model: Model
    delegate: Delegate
    options: OptionValues
    rows: tuple[ReleaseRow, ...]
    platforms: tuple[PlatformRow, ...] = ()
    """Each release of the platform behind the delegate, if it has one."""

    @property
    def full(self) -> tuple[Release, ...]:
        """The releases that load the model and delegate all of it."""
        return tuple(row.release for row in self.rows if row.is_full)

    @property
    def first_loading(self) -> Mapping[str, FirstLoading | None]:
        """The first release of each family that loads the model; None if none does. The families do not follow on each other."""
        found: dict[str, FirstLoading | None] = {}
        for family in dict.fromkeys(row.release.family for row in self.rows):
            rows = [row for row in self.rows if row.release.family == family]
            loading = [number for number, row in enumerate(rows) if row.is_loaded]
            found[family] = None
            if loading:
                before = rows[loading[0] - 1] if loading[0] else None
                found[family] = FirstLoading(
                    rows[loading[0]].release, *(() if before is None else (before.unloaded, before.unloaded_types))
                )
        return found


def release_table(
    model: Model,
    target: Target,
    releases: Sequence[str] | None = None,
) -> ReleaseTable:
    """Simulate a model under releases of the runtime other than the target's, oldest first by the rules that they have.

    Unless named they are all that are known, of a delegate that came with a later one those from then on.
    """
    delegate = target.delegate
    ordered = sorted(
        map(parse_release, releases or _known(delegate)), key=lambda release: (release.order, release.family == "litert")
    )
    rows: list[ReleaseRow] = []
    before: Run | None = None
    cache = AnalysisCache()
    for release in ordered:
        run = simulate(model, replace(target, release=release), cache=cache)
        loading = load_on(model, release)
        unloaded = tuple([Unloaded(code.op, code.version) for code in loading.refused or loading.unknown])
        moves: tuple[Move, ...] = ()
        if run.is_loaded:
            moves = () if before is None else tuple(_moves(before, run))
            before = run
        is_predicted = run.refusal is not None and run.refusal.is_predicted
        said = (*delegate.release_notes(release), *([predicted_build(release)] if is_predicted else ()))
        rows.append(
            ReleaseRow(
                release,
                loading.loads,
                unloaded,
                loading.refused_types,
                loading.lines,
                measure(run),
                moves,
                said,
                not is_predicted,
            )
        )
    return ReleaseTable(model, delegate, target.options, tuple(rows), platform_rows(model, target, cache))


def _known(delegate: Delegate) -> Sequence[str]:
    """Return the releases to look at."""
    if not delegate.starts_at_known:
        return KNOWN_RELEASES
    since = parse_release(delegate.known_since)
    return [name for name in KNOWN_RELEASES if name.startswith("litert-") and parse_release(name).is_at_least(since)]


def _moves(before: Run, after: Run) -> list[Move]:
    """Group the nodes that moved since the previous release by operator and reasons."""
    found: dict[tuple[str, bool, tuple[Reason, ...]], list[tuple[int, int]]] = {}
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        graph = new.graph
        for index in graph.execution_plan:
            is_delegated = index in new.delegated
            if is_delegated == (index in old.delegated):
                continue
            refusing, run = (old, before) if is_delegated else (new, after)
            reasons = node_reasons(refusing, index, run.refusal)
            found.setdefault((graph.nodes[index].op, is_delegated, reasons), []).append((graph.index, index))
    return [Move(op, is_delegated, reasons, tuple(nodes)) for (op, is_delegated, reasons), nodes in found.items()]

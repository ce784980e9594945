"""Compare runtime releases for a model and a delegate.

The results are the releases that load the model, and the delegated nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...delegates.base import Delegate
from ...delegates.options import OptionValues
from ...foundation.documents import head
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model
from ...releases.catalogue import KNOWN_RELEASES, Release, ReleaseNote, parse_release
from ...releases.litert_lm import releases_with
from ...releases.notes import predicted_build
from ...rules.rule import Reason
from ...runtime.interpreter import Run, option_values, simulate
from ...runtime.model_loading import load_on
from ...runtime.resolver import Loads
from ...runtime.target import Target
from ..report.measures import TAKEN, Measures, measure
from ..report.multiply_adds import ComputeTotals, compute_of
from ..report.outcome_words import state_entry
from ..report.placement import node_reasons
from .platform_table import PlatformRow, platform_rows, platforms_entry


@dataclass(frozen=True, slots=True)
class Unloaded:
    """An operator version that a release cannot load, because the release has no CPU kernel for the version."""

    op: str
    version: int


@dataclass(frozen=True, slots=True)
class Move:
    """Nodes of one operator that moved to the delegate or to the CPU since the previous release.

    ``reasons`` says why one of the two releases does not delegate the nodes.
    """

    op: str
    is_delegated: bool
    reasons: tuple[Reason, ...]
    nodes: tuple[tuple[int, int], ...]
    """The subgraph and index of each node."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """The result for one release."""

    release: Release
    loads: Loads
    """Whether the release loads the model. Only the release's own CPU kernels are considered."""
    unloaded: tuple[Unloaded, ...]
    """The operators that the release does not load, or may not load, in file order.

    The runtime reports only the first operator.
    """
    unloaded_types: tuple[str, ...]
    """The tensor types that the release does not load."""
    lines: tuple[str, ...]
    """The runtime's messages if the release does not load the model."""
    measures: Measures
    compute: ComputeTotals
    moves: tuple[Move, ...]
    """Changes since the previous release that loads the model. Empty if no earlier release loads the model."""
    notes: tuple[ReleaseNote, ...]
    """Notes about uncertain rules of the release."""
    is_certain: bool = True
    """False if the release probably cannot create the delegate kernels."""

    @property
    def is_loaded(self) -> bool:
        """Whether the release is known to load the model."""
        return self.loads is Loads.YES

    @property
    def is_full(self) -> bool:
        """Whether the release is known to load the model and delegates every node."""
        return self.loads is not Loads.UNKNOWN and self.measures.outcome == TAKEN and not self.measures.fallback_nodes


@dataclass(frozen=True, slots=True)
class FirstLoading:
    """The first release of a family that loads a model.

    ``because_of`` and ``because_of_types`` list the operators and tensor types that the previous release does not load.
    """

    release: Release
    because_of: tuple[Unloaded, ...] = ()
    because_of_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """The results for all simulated releases, oldest first."""

    model: Model
    delegate: Delegate
    options: OptionValues
    rows: tuple[ReleaseRow, ...]
    newest: Run
    """The run on the newest release."""
    platforms: tuple[PlatformRow, ...] = ()
    """The results on the releases of the delegate's platform. Empty if there is no platform."""
    not_simulated: tuple[str, ...] = ()
    """Texts that name the releases of runtime and platform that were not simulated because of a limit."""

    @property
    def full(self) -> tuple[Release, ...]:
        """The releases that load the model and delegate all of its nodes."""
        return tuple(row.release for row in self.rows if row.is_full)

    @property
    def first_loading(self) -> Mapping[str, FirstLoading | None]:
        """The first release of each family that loads the model. None if no release of the family is known to load it."""
        releases: dict[str, FirstLoading | None] = {}
        for family in dict.fromkeys(row.release.family for row in self.rows):
            rows = [row for row in self.rows if row.release.family == family]
            loading = [number for number, row in enumerate(rows) if row.is_loaded]
            releases[family] = None
            if loading:
                before = rows[loading[0] - 1] if loading[0] else None
                releases[family] = FirstLoading(
                    rows[loading[0]].release, *(() if before is None else (before.unloaded, before.unloaded_types))
                )
        return releases

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data (schema ``delegate-sim/releases/2``)."""
        return {
            **head("releases"),
            "model": {"path": self.model.path, "sha256": self.model.sha256},
            "delegate": self.delegate.name,
            "options": option_values(self.options),
            **state_entry(self.delegate, self.options, self.newest.warnings),
            "releases": [
                {
                    "release": str(row.release),
                    "litert_lm": list(releases_with(str(row.release))),
                    "loads": None if row.loads is Loads.UNKNOWN else row.is_loaded,
                    "unloaded_types": list(row.unloaded_types),
                    "lines": list(row.lines),
                    "unloaded": [asdict(one) for one in row.unloaded],
                    "measures": {**asdict(row.measures), **row.compute._asdict()},
                    "moves": [
                        {
                            "op": move.op,
                            "delegated": move.is_delegated,
                            "nodes": [{"subgraph": subgraph, "node": node} for subgraph, node in move.nodes],
                            "reasons": [reason.to_dict() for reason in move.reasons],
                        }
                        for move in row.moves
                    ],
                    "notes": [str(note) for note in row.notes],
                }
                for row in self.rows
            ],
            **platforms_entry(self.platforms),
            "fully_delegated": {"first": str(self.full[0]), "last": str(self.full[-1])} if self.full else None,
            "first_loading": {
                family: first
                and {
                    "release": str(first.release),
                    "because_of": [asdict(one) for one in first.because_of],
                    "because_of_types": list(first.because_of_types),
                }
                for family, first in self.first_loading.items()
            },
            **({"not_simulated": list(self.not_simulated)} if self.not_simulated else {}),
        }


def release_table(model: Model, target: Target, effort: Effort | None = None) -> ReleaseTable:
    """Simulate a model on all known runtime releases since the introduction of the delegate.

    The release with the oldest rules comes first. If a large model would take too many simulations, the oldest releases are
    left out.
    """
    effort = effort or Effort(model)
    delegate = target.delegate
    ordered = sorted(map(parse_release, _known(delegate)), key=lambda release: (release.order[:3], release.family == "litert"))
    left_out = ordered[: -max(effort.left, 2)]
    rows: list[ReleaseRow] = []
    before: Run | None = None
    cache = AnalysisCache()
    for release in ordered[len(left_out) :]:
        effort.spend()
        run = simulate(model, replace(target, release=release), cache=cache)
        loading = load_on(model, release, cache)
        unloaded = tuple([Unloaded(code.op, code.version) for code in loading.refused or loading.unknown])
        moves: tuple[Move, ...] = ()
        if run.is_loaded:
            moves = () if before is None else tuple(_moves(before, run))
            before = run
        is_predicted = run.refusal is not None and run.refusal.is_predicted
        notes = (*delegate.release_notes(release), *([predicted_build(release)] if is_predicted else ()))
        rows.append(
            ReleaseRow(
                release,
                loading.loads,
                unloaded,
                loading.refused_types,
                loading.lines,
                measure(run),
                compute_of(run).totals,
                moves,
                notes,
                not is_predicted,
            )
        )
    not_simulated = (f"{left_out[0]} to {left_out[-1]}: {effort.reason}",) if left_out else ()
    platforms, left_out_platforms = platform_rows(model, target, cache, effort)
    return ReleaseTable(model, delegate, target.options, tuple(rows), run, platforms, (*not_simulated, *left_out_platforms))


def _known(delegate: Delegate) -> Sequence[str]:
    """Return the known releases since the introduction of the delegate."""
    if not delegate.history.starts_at_known:
        return KNOWN_RELEASES
    since = parse_release(delegate.history.known_since)
    return [name for name in KNOWN_RELEASES if name.startswith("litert-") and parse_release(name).is_at_least(since)]


def _moves(before: Run, after: Run) -> list[Move]:
    """Return the nodes that moved since the previous release, grouped by operator and reasons."""
    moves: dict[tuple[str, bool, tuple[Reason, ...]], list[tuple[int, int]]] = {}
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        graph = new.graph
        for index in graph.execution_plan:
            is_delegated = index in new.delegated
            if is_delegated == (index in old.delegated):
                continue
            refusing, run = (old, before) if is_delegated else (new, after)
            reasons = node_reasons(refusing, index, run.refusal)
            moves.setdefault((graph.nodes[index].op, is_delegated, reasons), []).append((graph.index, index))
    return [Move(op, is_delegated, reasons, tuple(nodes)) for (op, is_delegated, reasons), nodes in moves.items()]

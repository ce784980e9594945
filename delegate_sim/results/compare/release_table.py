"""Compare runtime releases for a model and a delegate.

The results are the releases that load the model, and the delegated nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...delegates.base import Delegate
from ...delegates.options import OptionValues
from ...errors import OptionError
from ...foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, within
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...hypothetical.hypothetical_changes import NodeKey
from ...model.model import Model
from ...refusal import Refusal
from ...releases.catalogue import DEFAULT_RELEASE, KNOWN_RELEASES, Release, ReleaseNote, parse_release, releases_with
from ...releases.wording import predicted_build
from ...rules.rule import Reason
from ...runtime.interpreter import Run, simulate
from ...runtime.model_loading import load_on
from ...runtime.resolver import Loads
from ...runtime.target import Target
from ..report.measures import TAKEN, Measures, measure
from ..report.multiply_adds import ComputeTotals, compute_of
from ..report.number_risks import NUMBER_RISKS, NumberRisk, number_risks
from ..report.placement import node_reasons
from ..report.tables import MEASURED, MODEL, NOT_SIMULATED, STATE, run_columns


@dataclass(frozen=True, slots=True)
class PlatformRow(Declared):
    """The result on one release of the platform. ``notes`` lists what is uncertain about the result."""

    columns = (Column("release"), MEASURED, *(Column("refusal", OBJECT), Column("notes", LIST)))

    platform: str
    release: str
    measures: Measures
    compute: ComputeTotals
    refusal: Refusal | None
    notes: tuple[str, ...]


def platform_rows(
    model: Model, target: Target, cache: AnalysisCache, effort: Effort
) -> tuple[tuple[PlatformRow, ...], tuple[str, ...]]:
    """Simulate a model on each release of the platform, with the default release of the runtime.

    Return the rows, and at most one text. The text names the platform releases that were not simulated because of the limit on
    simulations. A delegate without a platform has no rows.
    """
    delegate, platform = target.delegate, target.delegate.behind.platform
    if platform is None or target.options[platform.option] == platform.alone:
        return (), ()
    rows = []
    release = parse_release(DEFAULT_RELEASE)
    for name in effort.limit(platform.releases):
        effort.spend()
        own = {**target.options, platform.option: name}
        run = simulate(model, target._replace(options=own, release=release), cache=cache)
        notes = tuple(delegate.behind.notes(own))
        rows.append(PlatformRow(platform.key, name, measure(run), compute_of(run).totals, run.refusal, notes))
    left_out = platform.releases[len(rows) :]
    return tuple(rows), (f"{platform.key} {', '.join(left_out)}: {effort.reason}",) if left_out else ()


_RELEASE = Column("release", source="release.name")


@dataclass(frozen=True, slots=True)
class Unloaded(Declared):
    """An operator version that a release cannot load, because the release has no CPU kernel for the version."""

    op: str
    version: int


@dataclass(frozen=True, slots=True)
class Move(Declared):
    """Nodes of one operator that moved to the delegate or to the CPU since the previous release.

    ``reasons`` says why one of the two releases does not delegate the nodes.
    """

    columns = (
        *(Column("op"), Column("delegated", YES_OR_NO, source="is_delegated")),
        Column("nodes", LIST, source=lambda move: [NodeKey(*node) for node in move.nodes]),
        Column("reasons", LIST),
    )

    op: str
    is_delegated: bool
    reasons: tuple[Reason, ...]
    nodes: tuple[tuple[int, int], ...]
    """The subgraph and index of each node."""


@dataclass(frozen=True, slots=True)
class ReleaseRow(Declared):
    """The result for one release."""

    columns = (
        *(_RELEASE, Column("litert_lm", LIST, source=lambda row: releases_with(row.release.name))),
        Column("loads", YES_OR_NO, source=lambda row: None if row.loads is Loads.UNKNOWN else row.is_loaded),
        *attributes("unloaded_types", "lines", "unloaded", type=LIST),
        MEASURED,
        *(Column("moves", LIST, parts=Move.columns), Column("notes", LIST, source=lambda row: map(str, row.notes))),
        NUMBER_RISKS._replace(source=lambda row: row.number_risks or None),
    )

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
    number_risks: tuple[NumberRisk, ...] = ()
    """The nodes that the delegate computes differently from the CPU."""

    @property
    def is_loaded(self) -> bool:
        """Whether the release is known to load the model."""
        return self.loads is Loads.YES

    @property
    def is_full(self) -> bool:
        """Whether the release is known to load the model and delegates every node."""
        return self.loads is not Loads.UNKNOWN and self.measures.outcome == TAKEN and not self.measures.fallback_nodes


@dataclass(frozen=True, slots=True)
class FirstLoading(Declared):
    """The first release of a family that loads a model.

    ``because_of`` and ``because_of_types`` list the operators and tensor types that the previous release does not load.
    """

    columns = (_RELEASE, *attributes("because_of", "because_of_types", type=LIST))

    release: Release
    because_of: tuple[Unloaded, ...] = ()
    because_of_types: tuple[str, ...] = ()


_PLATFORMS = (
    Column("name", source=lambda table: table.platforms[0].platform),
    Column("releases", LIST, source="platforms", parts=PlatformRow.columns),
)


@dataclass(frozen=True, slots=True)
class ReleaseTable(Declared):
    """The results for all simulated releases, oldest first."""

    document = "releases"
    columns = (
        *(
            MODEL,
            *within("newest", (*run_columns("delegate", "options"), *STATE)),
            Column("releases", LIST, source="rows", parts=ReleaseRow.columns),
        ),
        Column("platform", OBJECT, source=lambda table: table if table.platforms else None, parts=_PLATFORMS, is_optional=True),
        Column("fully_delegated", OBJECT, source=lambda table: _first_and_last(table.full)),
        Column("first_loading", OBJECT),
        NOT_SIMULATED,
    )

    model: Model
    delegate: Delegate
    options: OptionValues
    rows: tuple[ReleaseRow, ...]
    newest: Run
    """The run on the newest release that is not a development build."""
    platforms: tuple[PlatformRow, ...] = ()
    """The results on the releases of the delegate's platform. Empty if there is no platform."""
    not_simulated: tuple[str, ...] = ()
    """Texts that name the releases of runtime and platform that were not simulated because of a limit."""

    @property
    def full(self) -> tuple[Release, ...]:
        """The releases that load the model and delegate all of its nodes."""
        return tuple(row.release for row in self.rows if row.is_full)

    @property
    def newest_row(self) -> ReleaseRow:
        """The row of the newest release that is not a development build."""
        return next(row for row in reversed(self.rows) if row.release == self.newest.release)

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


def _first_and_last(releases: Sequence[Release]) -> dict[str, str] | None:
    return {"first": releases[0].name, "last": releases[-1].name} if releases else None


def release_table(model: Model, target: Target, effort: Effort | None = None) -> ReleaseTable:
    """Simulate a model on all known runtime releases since the introduction of the delegate.

    The release with the oldest rules comes first. If a large model would take too many simulations, the oldest releases are
    left out. Raises OptionError for a runtime whose rules are known for one copy only.
    """
    effort = effort or Effort(model)
    delegate = target.delegate
    if delegate.runs_whole_models:
        raise OptionError(f"the rules of {delegate.display_name} are known for one copy, {delegate.default_release}")
    ordered = sorted(map(parse_release, _known(delegate)), key=lambda release: (release.order[:3], release.family == "litert"))
    left_out = ordered[: -max(effort.left, 2)]
    rows: list[ReleaseRow] = []
    before: Run | None = None
    newest: Run | None = None
    cache = AnalysisCache()
    for release in ordered[len(left_out) :]:
        effort.spend()
        run = simulate(model, target._replace(release=release), cache=cache)
        newest = run if newest is None or not release.is_development_build else newest
        loading = load_on(model, release, cache)
        unloaded = tuple([Unloaded(code.op, code.version) for code in loading.refused or loading.unknown])
        moves: tuple[Move, ...] = ()
        if run.is_loaded:
            moves = () if before is None else tuple(_moves(before, run))
            before = run
        notes = (*delegate.release_notes(release), *([predicted_build(release)] if run.is_rejected else ()))
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
                not run.is_rejected,
                tuple(number_risks(run)),
            )
        )
    not_simulated = (f"{left_out[0]} to {left_out[-1]}: {effort.reason}",) if left_out else ()
    platforms, left_out_platforms = platform_rows(model, target, cache, effort)
    assert newest is not None
    return ReleaseTable(model, delegate, target.options, tuple(rows), newest, platforms, (*not_simulated, *left_out_platforms))


def _known(delegate: Delegate) -> Sequence[str]:
    if not delegate.history.starts_at_known:
        return KNOWN_RELEASES
    since = parse_release(delegate.history.known_since)
    return [name for name in KNOWN_RELEASES if name.startswith("litert-") and parse_release(name).is_at_least(since)]


def _moves(before: Run, after: Run) -> list[Move]:
    moves: dict[tuple[str, bool, tuple[Reason, ...]], list[tuple[int, int]]] = {}
    for old, new in zip(before.final_subgraphs, after.final_subgraphs, strict=True):
        graph = new.graph
        for index in graph.execution_plan:
            is_delegated = index in new.delegated
            if is_delegated == (index in old.delegated):
                continue
            refusing, run = (old, before) if is_delegated else (new, after)
            reasons = node_reasons(refusing, index, run.refusal)
            moves.setdefault((graph.nodes[index].op, is_delegated, reasons), []).append((graph.index, index))
    return [Move(op, is_delegated, reasons, tuple(nodes)) for (op, is_delegated, reasons), nodes in moves.items()]

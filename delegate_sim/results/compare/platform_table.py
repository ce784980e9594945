"""Compare a delegate's results on the releases of its platform. For example, Android is the platform of NNAPI."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...foundation.columns import LIST, OBJECT, Column, Declared
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model
from ...refusal import Refusal
from ...releases.catalogue import DEFAULT_RELEASE, parse_release
from ...runtime.interpreter import simulate
from ...runtime.target import Target
from ..report.measures import Measures, measure
from ..report.multiply_adds import ComputeTotals, compute_of
from ..report.run_columns import MEASURED


@dataclass(frozen=True, slots=True)
class PlatformRow(Declared):
    """The result on one release of the platform. ``notes`` lists what is uncertain about the result."""

    columns = (
        Column("release"),
        MEASURED,
        *(Column("refusal", OBJECT), Column("notes", LIST)),
    )

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
        run = simulate(model, replace(target, options=own, release=release), cache=cache)
        notes = tuple(delegate.behind.notes(own))
        rows.append(PlatformRow(platform.key, name, measure(run), compute_of(run).totals, run.refusal, notes))
    left_out = platform.releases[len(rows) :]
    return tuple(rows), (f"{platform.key} {', '.join(left_out)}: {effort.reason}",) if left_out else ()

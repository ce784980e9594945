"""Diagnoses, releases and sweeps as comma-separated values, and sweeps as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.ranking import RankedCause
from delegate_sim.foundation.columns import INTEGER, NUMBER, Column, attributes, keys, within
from delegate_sim.foundation.printable import printable
from delegate_sim.results.compare.release_table import ReleaseRow, ReleaseTable
from delegate_sim.results.report.measures import MEASURES, NUMBERS, measure_columns
from delegate_sim.sweeping.sweep_result import Swept

from ..console.layout import message
from ..models import Unreadable
from ..text import sweep as words
from ..text.diagnoses import diagnosis_labels
from ..text.elements.measures import FURTHER_TITLES
from ..text.releases import FAMILIES
from .comma_separated import cells, sheet
from .common import code_block, row, text

if TYPE_CHECKING:
    from delegate_sim.timing.fixes import FixTimes, TimeBounds


class _Diagnosed(NamedTuple):
    label: str
    diagnosis: Diagnosis
    times: FixTimes | None
    first: RankedCause | None


class _Released(NamedTuple):
    path: str
    target: str
    table: ReleaseTable
    newest: ReleaseRow


def _measured(row: _Diagnosed) -> float | None:
    cause = None if row.times is None or row.first is None else row.times.of_cause(row.first)
    return cause.ms if cause is not None and cause.is_known else None


def _saves(row: _Diagnosed) -> float | None:
    return None if row.times is None or row.first is None else _at_most(row.times.of(row.first))


def _at_most(bounds: TimeBounds | None) -> float | None:
    return None if bounds is None or not bounds.is_whole else bounds.at_most_ms


def _loads_from(family: str, row: _Released) -> str | None:
    first = row.table.first_loading.get(family)
    return None if first is None else str(first.release)


_COST = (
    *within("measures", MEASURES[:3]),
    Column("multiply_adds", INTEGER, source="total_multiply_adds"),
    Column("delegated_multiply_adds", INTEGER, source="multiply_adds"),
    *within("measures", measure_columns("partitions", "delegate_kernels")),
)
DIAGNOSED = (
    Column("model", source="diagnosis.model.path"),
    Column("target", source="label"),
    Column("delegate", source="diagnosis.target.delegate.name"),
    Column("runtime", source=lambda row: str(row.diagnosis.target.release)),
    *within("diagnosis.now", _COST),
    Column("causes", INTEGER, source=lambda row: len(row.diagnosis.findings)),
    Column("cause", source="first.cause.name"),
    Column("title", source="first.cause.title"),
    Column("codes", source=lambda row: row.first and ", ".join(row.first.cause.codes)),
    Column("cause_nodes", INTEGER, source=lambda row: row.first and len(row.first.cause.nodes)),
    *within("first.cause", attributes("suggestion", "change")),
    *within("first.alone", _COST, "without_first_"),
    *within("diagnosis.without_all", _COST, "without_all_"),
    Column("measured_ms", NUMBER, source=lambda row: row.times and row.times.timings[0].total_ms, digits=6),
    Column("cause_measured_ms", NUMBER, source=_measured, digits=6),
    Column("saves_at_most_ms", NUMBER, source=_saves, digits=6),
    Column("all_save_at_most_ms", NUMBER, source=lambda row: row.times and _at_most(row.times.of_all()), digits=6),
)
RELEASED = (
    Column("model", source="path"),
    Column("target"),
    Column("delegate", source="table.delegate.name"),
    *[Column(f"loads_from_{family}", source=partial(_loads_from, family)) for family in FAMILIES],
    Column("fully_delegated_from", source=lambda row: str(row.table.full[0]) if row.table.full else None),
    Column("fully_delegated_to", source=lambda row: str(row.table.full[-1]) if row.table.full else None),
    Column("newest", source=lambda row: str(row.newest.release)),
    *within("newest.measures", (*MEASURES[:3], *NUMBERS), "newest_"),
)


def diagnosis_sheet(diagnoses: Sequence[tuple[Diagnosis, FixTimes | None]], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each diagnosis (with the first cause), and a row for each model that cannot be read."""
    labels = diagnosis_labels([diagnosis for diagnosis, _ in diagnoses])
    rows = [
        _Diagnosed(label, diagnosis, times, diagnosis.findings[0] if diagnosis.findings else None)
        for label, (diagnosis, times) in zip(labels, diagnoses, strict=True)
    ]
    return _sheet(DIAGNOSED, rows, [row.diagnosis.not_simulated for row in rows], unreadable)


def releases_sheet(tables: Sequence[tuple[str, str, ReleaseTable]], unreadable: Sequence[Unreadable]) -> str:
    """Return CSV with a row for each model and target, and a row for each model that cannot be read."""
    rows = [_Released(path, target, table, table.newest_row) for path, target, table in tables]
    return _sheet(RELEASED, rows, [row.table.not_simulated for row in rows], unreadable)


def _sheet(
    columns: Sequence[Column], results: Sequence[Any], left_out: Sequence[Sequence[str]], unreadable: Sequence[Unreadable]
) -> str:
    rows = [[*cells(columns, result), "", " | ".join(reasons)] for result, reasons in zip(results, left_out, strict=True)]
    rows += [[model.path, *[""] * (len(columns) - 1), model.message, ""] for model in unreadable]
    return sheet((*keys(columns), "error", "not_simulated"), rows)


_TARGET_RULE = ("---:", "---", *["---:"] * (3 + len(FURTHER_TITLES)))
_CONVERSION_RULE = ("---:", "---", "---", "---:", "---:", "---:", "---")


def conversions_markdown(sweep: Swept, shown: Sequence[int] = (), with_code: bool = True) -> str:
    """Return the tables, and the Python code of the rows in ``shown``. With ``with_code``, add the code of the best rows."""
    return "\n\n".join([part for part in _parts(sweep, shown, with_code) if part]) + "\n"


def conversions_sheet(sweep: Swept) -> str:
    """Return CSV with one row per conversion. A row has the numbers of every target."""
    table = sweep.table("rows")
    return sheet(
        table.columns, [[str(value).lower() if isinstance(value, bool) else value for value in values] for values in table.rows]
    )


def _parts(sweep: Swept, shown: Sequence[int], with_code: bool) -> Iterator[str]:
    yield f"### delegate-sim sweep {text(message(sweep.source.text))}"
    yield f"**{text(words.verdict(sweep))}**"
    yield "\n".join([f"- {text(answer)}" for answer in words.answers(sweep)])
    yield f"{text(words.converters_text(sweep))}; {text(words.calibration_text(sweep))}"
    if sweep.models:
        yield _table(
            words.CONVERSION_TITLES, _CONVERSION_RULE, [words.conversion_cells(sweep, sweep_row) for sweep_row in sweep.models]
        )
        yield text(words.LEGEND)
    for target in sweep.targets if sweep.models else ():
        yield f"**{text(words.target_title(sweep, target))}**"
        yield _table(words.target_titles(target), _TARGET_RULE, words.target_rows(sweep, target))
    for heading, items in (("Without a model", words.failed_rows), ("Difference not known", words.unknown_differences)):
        if listed := "\n".join([f"- {text(item)}" for item in items(sweep)]):
            yield from (f"**{heading}**", listed)
    for sweep_row in words.coded_rows(sweep, shown, with_code):
        yield f"**{text(words.code_title(sweep, sweep_row))}**"
        yield code_block([printable(line) for line in sweep_row.conversion.code.splitlines()]).replace("```\n", "```python\n", 1)


def _table(titles: Sequence[str], rule: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return "\n".join([row(titles), row(rule), *[row([text(item) for item in line]) for line in cells]])

"""What a scan found, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.scan.job import ScanRow
from delegate_sim.scan.output import causes_path
from delegate_sim.scan.scan import Scanned
from delegate_sim.scan.schema import CAUSES, RUNS

from ..layout import counted, message, share, wrapped
from ..terminal import Line
from .tables import table

_MOST_ERRORS = 5


def scan_lines(found: Scanned, output: str, models: int, width: int) -> Iterator[Line]:
    """Return a row for each target, what could not be read, and where everything is."""
    rows = found.tables[RUNS]
    done = len({row["model"] for row in rows})
    anew = f"{found.judged:,} judged now, {found.unchanged:,} unchanged"
    if found.is_interrupted:
        stopped = f"Stopped with {done:,} of {counted(models, 'model')} ({anew}); the same command goes on from here"
        yield Line(stopped, "bold red")
    else:
        yield Line(f"{counted(models, 'model')}: {anew}", "bold")
    by_target: dict[str, list[ScanRow]] = {}
    for row in rows:
        by_target.setdefault(row["target"], []).append(row)
    if by_target:
        cells: list[tuple[str, ...]] = [("target", "models", "whole", "in part", "nothing", "no answer", "multiply-adds")]
        cells += [_cells(target, own) for target, own in by_target.items()]
        yield from map(Line, table(cells, range(1, 7), width, 2))
    yield from _error_lines(rows, width)
    files = output if output.endswith(".sqlite") else f"{output} and {causes_path(output)}"
    yield Line("")
    yield Line(f"{counted(len(rows), 'row')} and {counted(len(found.tables[CAUSES]), 'cause')} in {message(files)}")
    if found.tables[CAUSES]:
        yield Line(f"What keeps most of it on the CPU: delegate-sim query {message(output)} --view top-causes", "cyan")


def _cells(target: str, rows: Sequence[ScanRow]) -> tuple[str, ...]:
    answered = [row for row in rows if not row["error"]]
    whole = sum([0 < row["nodes"] == row["delegated_nodes"] for row in answered])
    nothing = sum([not row["delegated_nodes"] for row in answered])
    total = sum([row["multiply_adds"] for row in answered])
    taken = sum([row["delegated_multiply_adds"] for row in answered])
    counts = (len(rows), whole, len(answered) - whole - nothing, nothing, len(rows) - len(answered))
    return (target, *[f"{count:,}" for count in counts], share(taken, total) if total else "-")


def _error_lines(rows: Sequence[ScanRow], width: int) -> Iterator[Line]:
    errors = list(dict.fromkeys([row["error"] for row in rows if row["error"]]))
    if not errors:
        return
    yield Line("")
    for error in errors[:_MOST_ERRORS]:
        yield from [Line(line, "bold red") for line in wrapped(message(error), width)]
    if len(errors) > _MOST_ERRORS:
        yield Line(f"... and {len(errors) - _MOST_ERRORS:,} more, in the column error")

"""The result of a scan as a short text."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.foundation.printable import command_line, typed_path
from delegate_sim.scan.output import causes_path
from delegate_sim.scan.scan import Scanned
from delegate_sim.scan.totals import TargetTotals, Totals

from ..console.layout import counted, message, share
from ..console.terminal import Line
from .elements.paragraphs import paragraph, table


def scan_lines(scan: Scanned, output: str, models: int, width: int) -> Iterator[Line]:
    """Yield a row for each target, the models that could not be read, and the output files."""
    totals = scan.totals
    has_wrong = any(own.wrong or own.possibly_wrong for own in totals.targets.values())
    for verdict in TargetTotals.verdicts(totals.targets):
        yield from paragraph(message(verdict), width, "", "  ", style="bold")
    anew = f"{scan.judged:,} simulated now, {scan.unchanged:,} unchanged"
    if scan.is_interrupted:
        stopped = f"Stopped with {totals.models:,} of {counted(models, 'model')} ({anew}); run the same command again to continue"
        yield Line(stopped, "bold red")
    else:
        yield Line(f"{counted(models, 'model')}: {anew}", "bold")
    if totals.targets:
        cells: list[tuple[str, ...]] = [
            ("target", "models", "whole", "in part", "nothing", "fails", "no answer", "nodes", "multiply-adds", "wrong")
        ]
        cells += [_cells(target, own) for target, own in totals.targets.items()]
        if not has_wrong:
            cells = [row[:-1] for row in cells]
        yield from table(cells, range(1, len(cells[0])), width)
    yield from _error_lines(totals, width)
    files = output if output.endswith(".sqlite") else f"{output} and {causes_path(output)}"
    yield Line("")
    yield Line(f"{counted(totals.rows, 'row')} and {counted(scan.causes, 'cause')} in {message(files)}")
    if scan.causes:
        yield Line(f"To see what keeps the most work on the CPU: {message(command_line(['query', typed_path(output)]))}", "cyan")
    if has_wrong:
        command = command_line(["query", typed_path(output), "--view", "wrong-numbers"])
        yield Line(f"To see the models with wrong numbers: {message(command)}", "cyan")


def _cells(target: str, own: TargetTotals) -> tuple[str, ...]:
    counts = (own.models, own.whole, own.in_part, own.untouched, own.failing, own.without_answer)
    taken = share(own.delegated_multiply_adds, own.multiply_adds) if own.multiply_adds else "-"
    perhaps = f" + {own.possibly_wrong:,} perhaps" if own.possibly_wrong else ""
    wrong = f"{own.wrong:,}{perhaps}" if own.judged else "-"
    return (target, *[f"{count:,}" for count in counts], share(own.delegated_nodes, own.nodes), taken, wrong)


def _error_lines(totals: Totals, width: int) -> Iterator[Line]:
    if not totals.failed_models:
        return
    yield Line("")
    for error in totals.errors:
        yield from paragraph(message(error), width, style="bold red")
    if totals.failed_models > len(totals.errors):
        others = counted(totals.failed_models - len(totals.errors), "more model")
        yield Line(f"... and {others}, in the column error")

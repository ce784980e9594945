"""The result of a sweep as text: the conversions, the result on every target, and the code of the best conversions."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import and_

from delegate_sim.conversion.convert import FailureKind
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.outcome_words import words_of
from delegate_sim.runtime.target import LabeledTarget
from delegate_sim.sweeping.rows import SweepRow, percent
from delegate_sim.sweeping.sweep import SAMPLES
from delegate_sim.sweeping.sweep_result import Swept

from ..console.layout import counted, message, operator_list, share
from ..console.terminal import Line
from .elements.measures import FURTHER_TITLES, further_cells, nodes_cell, work_cell
from .elements.paragraphs import BAD, HEADING, HINT, heading_lines, indented, paragraph, table
from .elements.verdict import shown_options

_MOST_NAMED = 3
CONVERSION_TITLES = ("row", "converter", "settings", "bytes", "difference", "seconds", "tried")
_RIGHT = (0, 3, 4, 5)
_SECONDS = CONVERSION_TITLES.index("seconds")
_KERNELS = 4
_RIGHT_OF_TARGET = (0, *range(2, _KERNELS + 1 + len(FURTHER_TITLES)))
_OPTIONAL_OF_TARGET = (*range(_KERNELS + len(FURTHER_TITLES), _KERNELS, -1), _KERNELS)
_LONGEST_LEFT = 60


def sweep_lines(sweep: Swept, width: int, shown: Sequence[int] = (), with_code: bool = True, written: str = "") -> Iterator[Line]:
    """Yield the text of a sweep, with the Python code that makes the best rows and the rows in ``shown``.

    ``written`` is a sentence about the file that the sweep wrote, without the full stop. Empty if it wrote no file.
    """
    for text in (*answers(sweep), verdict(sweep)):
        yield from paragraph(text, width, style=HEADING)
    if best_rows(sweep):
        told = f"{message(written) or WRITING}{CODE_BELOW if with_code else ''}."
        yield from paragraph(told, width, style=HINT)
    for text in (converters_text(sweep), calibration_text(sweep), difference_data_text(sweep)):
        yield from paragraph(text, width)
    models = sweep.models
    if models:
        yield Line("")
        rows = [CONVERSION_TITLES, *[conversion_cells(sweep, row) for row in models]]
        yield from table(rows, _RIGHT, width, optional=(_SECONDS,))
        yield Line("")
        yield from paragraph(LEGEND, width, style=HINT)
        for target in sweep.targets:
            yield Line("")
            yield from paragraph(target_title(sweep, target), width, style=HEADING)
            rows = [target_titles(target), *target_rows(sweep, target)]
            yield from table(rows, _RIGHT_OF_TARGET, width, optional=_OPTIONAL_OF_TARGET)
    failed = list(failed_rows(sweep))
    yield from _section(f"Without a model: {counted(len(failed), 'conversion')}", failed, width, BAD)
    yield from _section("Difference not known", list(unknown_differences(sweep)), width)
    for row in coded_rows(sweep, shown, with_code):
        yield Line("")
        yield from paragraph(code_title(sweep, row), width, style=HEADING)
        # The code is not indented, so that it can be pasted.
        yield from (Line(printable(line)) for line in row.conversion.code.splitlines())


LEGEND = (
    "*: no other row is better in one measure and at least as good in all others. The measures are the share of multiply-adds "
    "on each target, the size and the difference. Difference: the largest error of an output on this CPU, as a share of the "
    "output's largest value in the float model of the same converter."
)


def verdict(sweep: Swept) -> str:
    """Return a one-line summary of a sweep."""
    failed, labels = len(sweep.rows) - len(sweep.models), [target.label for target in sweep.targets]
    targets = " and ".join(labels) if len(labels) <= _MOST_NAMED else counted(len(labels), "target")
    text = f"{message(sweep.source.text)}: {counted(len(sweep.rows), 'conversion')} tried for {targets}"
    text += f", {failed:,} without a model" if failed else ""
    return f"{text}; interrupted" if sweep.is_interrupted else text


WRITING = "--best-for TARGET -o FILE writes the best model"
CODE_BELOW = "; its Python code is at the end"

_NO_BEST = "no row can be the best: "


def answers(sweep: Swept) -> Iterator[str]:
    """Yield a line for each target: the best row, and the result on the target."""
    for target in sweep.targets if sweep.models else ():
        best, excluded = _best(sweep, target), _better_excluded(sweep, target)
        if best is not None:
            taken = f"{_taken_text(sweep, target, best)}{_left_text(sweep, target, best)}{_fix_text(sweep, target)}"
            yield f"{target.label}: {_best_text(sweep, target)}, {taken}"
        elif excluded is None:
            yield f"{target.label}: {_best_text(sweep, target)}"
        if excluded is not None:
            yield f"{target.label}: {_NO_BEST if best is None else ''}{_excluded_text(sweep, target, excluded)}"
    if sweep.models and (text := _all_targets_text(sweep)):
        yield text


def _fix_text(sweep: Swept, target: LabeledTarget) -> str:
    fix = sweep.fix_for(target.label)
    return "" if fix is None or fix.cost is None else f"; delegate-sim fix on the written model brings more ({fix.result})"


def _all_targets_text(sweep: Swept) -> str:
    best = [sweep.best_for(target.label) for target in sweep.targets]
    row = sweep.best_for_all()
    if all(other == best[0] for other in best) or row is None or not all(cost.multiply_adds for cost in row.costs):
        return ""
    shares = [share(cost.multiply_adds, cost.total_multiply_adds) for cost in row.costs]
    results = ", ".join([f"{target.label} {delegated}" for target, delegated in zip(sweep.targets, shares, strict=True)])
    return f"one model for all targets: row {row.number}, {message(row.name)}, is the best, with these multiply-adds: {results}"


def _best_text(sweep: Swept, target: LabeledTarget) -> str:
    best = _best(sweep, target)
    if best is not None:
        cost = best.costs[sweep.targets.index(target)]
        is_without_work = cost.total_multiply_adds and not cost.multiply_adds
        words = "no row delegates multiply-adds; best by nodes is" if is_without_work else "best is"
        return f"{words} row {best.number}, {message(best.name)}"
    excluded = _better_excluded(sweep, target)
    if excluded is not None:
        return f"{_NO_BEST}row {excluded.number} {excluded.why_not_best(sweep.asked.max_difference)}"
    runs = sweep.best_for(target.label) is not None or sweep.excluded_for(target.label) is not None
    return "no conversion has delegated nodes" if runs else "no model runs"


def _best(sweep: Swept, target: LabeledTarget) -> SweepRow | None:
    best = sweep.best_for(target.label)
    return best if best is not None and _takes(sweep, target, best) else None


def _better_excluded(sweep: Swept, target: LabeledTarget) -> SweepRow | None:
    excluded = sweep.excluded_for(target.label)
    return excluded if excluded is not None and _takes(sweep, target, excluded) else None


def _excluded_text(sweep: Swept, target: LabeledTarget, row: SweepRow) -> str:
    why = row.why_not_best(sweep.asked.max_difference)
    text = f"row {row.number}, {message(row.name)}, would be the best {_taken_text(sweep, target, row)}, but {why}"
    if row.is_drawn:
        return f"{text}: give --data"
    return text if row.error is None else f"{text}, more than --max-difference {percent(sweep.asked.max_difference)}"


def _taken_text(sweep: Swept, target: LabeledTarget, row: SweepRow) -> str:
    cost = row.costs[sweep.targets.index(target)]
    measures = cost.measures
    part = f"{share(measures.delegated_nodes, measures.nodes)} of nodes"
    if cost.multiply_adds:
        part = f"{share(cost.multiply_adds, cost.total_multiply_adds)} of multiply-adds"
    return f"with {part} delegated, {words_of(target.target.delegate.name).short_kernels(measures.delegate_kernels)}"


def _left_text(sweep: Swept, target: LabeledTarget, best: SweepRow) -> str:
    """Return a clause about the operators that stay on the CPU in every row, or about those of the best row if there are none."""
    place = sweep.targets.index(target)
    own = Counter(dict(best.left[place])) if best.left else Counter[str]()
    if not own:
        return ""
    in_all = functools.reduce(and_, [Counter(dict(row.left[place])) for row in sweep.models if row.left])
    operators = operator_list((in_all or own).elements(), _LONGEST_LEFT)
    left = words_of(target.target.delegate.name).left
    where = "in every row" if in_all else f"in row {best.number}"
    return f"; {left} {where}: {operators} (delegate-sim diagnose on the written model says why)"


def converters_text(sweep: Swept) -> str:
    """Return the converters with their versions."""
    used = [
        converter
        for row in sweep.rows
        for converter in (row.conversion.route.converter, row.conversion.route.quantizer)
        if converter
    ]
    names = dict.fromkeys([f"{converter.installed_name} {converter.version or 'is missing'}" for converter in used])
    return f"converters: {message(', '.join(names))}"


def calibration_text(sweep: Swept) -> str:
    """Return a phrase about the calibrated rows and the calibration data."""
    rows = [str(row.number) for row in sweep.models if row.conversion.settings.calibrates]
    if not rows:
        if sweep.asked.calibration.is_drawn and not any(row.conversion.settings.calibrates for row in sweep.rows):
            return "int8 was not tried, because it needs --data"
        return "calibrated: no row, because no conversion measures ranges"
    return f"calibrated: {_row_numbers(rows)}, with {message(sweep.asked.calibration.words)}"


def difference_data_text(sweep: Swept) -> str:
    """Return a phrase about the inputs on which differences were measured."""
    calibration = sweep.asked.calibration
    data = f"{SAMPLES} random inputs (give real inputs with --data)" if calibration.is_drawn else message(calibration.words)
    return f"difference measured on {data}; the best rows have at most {percent(sweep.asked.max_difference)} (--max-difference)"


def conversion_cells(sweep: Swept, row: SweepRow) -> tuple[str, ...]:
    """Return the table cells of a conversion. The converter's version is shown only if there are several versions."""
    made = row.conversion
    seconds = f"{made.seconds:.1f}{' (kept)' if made.is_kept else ''}"
    origin = f"same file as row {row.same_as}" if row.same_as is not None else origin_text(row)
    versions = {other.conversion.route.version for other in sweep.rows if other.conversion.route.name == made.route.name}
    converter = f"{made.route.name} {made.route.version}" if len(versions) > 1 else made.route.name
    named = _number(row), message(converter), message(made.settings.name)
    return (*named, f"{made.size:,}", difference_text(row), seconds, origin)


def origin_text(row: SweepRow) -> str:
    """Return the reason why a conversion was tried."""
    origin = row.origin
    return message(origin.words if origin.row is None else f"{origin.words} (row {origin.row})")


def difference_text(row: SweepRow) -> str:
    """Return the largest error of a conversion as a percentage, or ``unknown``."""
    return "unknown" if row.error is None else percent(row.error)


def target_title(sweep: Swept, target: LabeledTarget) -> str:
    """Return a title with a target, its most important options and the best row."""
    own = target.target
    options = shown_options(own.delegate, own.options, own.defaults)
    return f"{message(f'{target.label} on {own.release} {options}'.rstrip())}: {_best_text(sweep, target)}"


def target_titles(target: LabeledTarget) -> tuple[str, ...]:
    """Return titles for the columns of ``target_cells``."""
    return ("row", "settings", "delegated", "multiply-adds", "kernels", *FURTHER_TITLES)


def target_rows(sweep: Swept, target: LabeledTarget) -> list[tuple[str, ...]]:
    """Return the results of each model on a target. Rows with the same converted file as an earlier row are left out."""
    place = sweep.targets.index(target)
    return [target_cells(row, row.costs[place]) for row in sweep.models if row.same_as is None]


def _takes(sweep: Swept, target: LabeledTarget, row: SweepRow) -> bool:
    return row.costs[sweep.targets.index(target)].measures.is_delegated


def target_cells(row: SweepRow, cost: Cost) -> tuple[str, ...]:
    """Return the table cells with the result of a row on a target. A failure replaces the share of nodes."""
    measures = cost.measures
    return (
        _number(row),
        message(row.conversion.settings.name),
        nodes_cell(measures),
        work_cell(cost.multiply_adds, cost.total_multiply_adds),
        f"{measures.delegate_kernels:,}",
        *further_cells(measures),
    )


def best_rows(sweep: Swept) -> list[SweepRow]:
    """Return the best row of each target, without duplicates. Targets that take no node are left out."""
    best = [_best(sweep, target) for target in sweep.targets]
    return list(dict.fromkeys([row for row in best if row is not None]))


def coded_rows(sweep: Swept, shown: Sequence[int], with_code: bool) -> list[SweepRow]:
    """Return the rows whose code is shown: the rows in ``shown``, and with ``with_code`` the best rows before them."""
    numbers = {row.number: row for row in sweep.rows}
    return list(dict.fromkeys([*(best_rows(sweep) if with_code else ()), *[numbers[number] for number in shown]]))


def code_title(sweep: Swept, row: SweepRow) -> str:
    """Return a title for the Python code of a row, with the targets for which the row is best."""
    labels = [target.label for target in sweep.targets if _best(sweep, target) == row]
    best = f", best for {', '.join(labels)}" if labels else ""
    return f"Row {row.number}{best}: {message(row.name)}"


_OTHER_PYTHON = ", or name another Python that has it with --python PATH, which may be given several times"


def failed_rows(sweep: Swept) -> Iterator[str]:
    """Yield a line for each conversion that produced no model, with the failure."""
    for row in sweep.rows:
        if not row.is_model:
            failure = row.conversion.failure
            other = _OTHER_PYTHON if failure is not None and failure.kind is FailureKind.MISSING else ""
            yield f"row {row.number}, {message(row.name)}: {message(row.failure)}{other}"


def unknown_differences(sweep: Swept) -> Iterator[str]:
    """Yield a line for each reason why a difference is unknown, with the numbers of the rows."""
    rows: dict[str, list[str]] = {}
    for row in sweep.models:
        if row.no_difference:
            rows.setdefault(row.no_difference, []).append(str(row.number))
    for reason, numbers in rows.items():
        yield f"{_row_numbers(numbers)}: {message(reason)}"


def _section(title: str, texts: Sequence[str], width: int, style: str = HEADING) -> Iterator[Line]:
    if texts:
        yield from heading_lines(title, style)
    for text in texts:
        yield from indented(text, width, "  ")


def _number(row: SweepRow) -> str:
    return f"{'*' if row.is_best else ' '} {row.number}"


def _row_numbers(numbers: Sequence[str]) -> str:
    return f"{'row' if len(numbers) == 1 else 'rows'} {', '.join(numbers)}"

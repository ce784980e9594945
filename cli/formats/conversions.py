"""The result of a sweep as Markdown and as comma-separated values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from delegate_sim.foundation.printable import printable
from delegate_sim.sweeping.rows import SweepRow
from delegate_sim.sweeping.sweep_result import Swept

from ..console.layout import message
from ..text import sweep as words
from ..text.elements.measures import FURTHER_TITLES
from .comma_separated import sheet
from .common import code_block, row, text

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
    yield from _list("Without a model", list(words.failed_rows(sweep)))
    yield from _list("Difference not known", list(words.unknown_differences(sweep)))
    for sweep_row in _coded(sweep, shown, with_code):
        yield f"**{text(words.code_title(sweep, sweep_row))}**"
        yield code_block([printable(line) for line in sweep_row.conversion.code.splitlines()]).replace("```\n", "```python\n", 1)


def _coded(sweep: Swept, shown: Sequence[int], with_code: bool) -> list[SweepRow]:
    numbers = {sweep_row.number: sweep_row for sweep_row in sweep.rows}
    return list(dict.fromkeys([*(words.best_rows(sweep) if with_code else ()), *[numbers[number] for number in shown]]))


def _list(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"**{heading}**"
        yield "\n".join([f"- {text(item)}" for item in items])


def _table(titles: Sequence[str], rule: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return "\n".join([row(titles), row(rule), *[row([text(item) for item in line]) for line in cells]])

"""Displays of results: a line of text, a notebook table, and data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import MissingPackageError, OptionError
from ...foundation.printable import printable, shortened

if TYPE_CHECKING:
    import pandas

_LONGEST_LINE = 240
_LONGEST_CELL = 200
_ROWS_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns. Cells are plain data: strings, numbers, booleans, None, or tuples of these."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


class Shown:
    """Base class of results that can be displayed as a line of text or as tables."""

    def _line(self) -> str:
        """Return a one-line summary, which may contain unescaped names from a model."""
        raise NotImplementedError

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return functions that create the tables, keyed by table name. The main table comes first."""
        raise NotImplementedError

    def _shown(self) -> Sequence[str]:
        """Return the names of the tables that a notebook shows."""
        return list(self._tables())[:1]

    def _picture(self) -> str:
        """Return HTML to display above the tables in a notebook. Names from a model must be escaped."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shortened(printable(self._line()), _LONGEST_LINE)}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook. Everything from a model is escaped."""
        tables = self._tables()
        parts = [f"<p><b>{_escaped(self._line(), _LONGEST_LINE)}</b></p>"]
        parts.append(self._picture())
        parts += ["".join(_html(name, tables[name]())) for name in self._shown()]
        return f"<div>{''.join(parts)}</div>"

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return one of the result's tables as a data frame, by default the first table.

        Raises OptionError, listing the available tables, if there is no table of that name. Raises MissingPackageError if pandas
        is not installed.
        """
        tables = self._tables()
        name = next(iter(tables)) if table is None else table
        if not isinstance(name, str) or name not in tables:
            raise OptionError(f"a {type(self).__name__} has no table {name!r}; its tables are {', '.join(tables)}")
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError(
                "to_pandas() needs the package pandas, which is not installed: pip install pandas"
            ) from error
        table_ = tables[name]()
        return pandas.DataFrame(list(table_.rows), columns=list(table_.columns))


def _html(name: str, table: Table) -> Iterator[str]:
    yield f'<table border="1"><caption>{_escaped(name, _LONGEST_CELL)}</caption><thead><tr>'
    yield from (f"<th>{_escaped(column, _LONGEST_CELL)}</th>" for column in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows[:_ROWS_SHOWN]:
        yield f"<tr>{''.join([f'<td>{_escaped(_cell(cell), _LONGEST_CELL)}</td>' for cell in row])}</tr>"
    yield "</tbody></table>"
    if len(table.rows) > _ROWS_SHOWN:
        yield f"<p>... and {len(table.rows) - _ROWS_SHOWN:,} more: to_pandas({_escaped(repr(name), _LONGEST_CELL)}) has all</p>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(_cell, value)) if isinstance(value, tuple) else str(value)


def _escaped(text: str, longest: int) -> str:
    import html

    return html.escape(shortened(printable(text), longest))

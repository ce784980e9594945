"""The columns of results. A result declares its columns once, and all formats are written from them.

``docs/stability.md`` says when a version changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..errors import MissingPackageError, OptionError
from ..version import __version__

if TYPE_CHECKING:
    import pandas


SCHEMAS = (
    "delegate-sim/accuracy/1",
    "delegate-sim/app/1",
    "delegate-sim/baseline/2",
    "delegate-sim/bundle/1",
    "delegate-sim/check/2",
    "delegate-sim/compare/2",
    "delegate-sim/devices/1",
    "delegate-sim/diagnosis/2",
    "delegate-sim/diff/2",
    "delegate-sim/doctor/1",
    "delegate-sim/driver/1",
    "delegate-sim/engine/1",
    "delegate-sim/explanations/1",
    "delegate-sim/fix/3",
    "delegate-sim/fix-bundle/1",
    "delegate-sim/fix-per-target/1",
    "delegate-sim/half-precision/1",
    "delegate-sim/inspect/1",
    "delegate-sim/live-difference/1",
    "delegate-sim/log/1",
    "delegate-sim/lowered/1",
    "delegate-sim/page/1",
    "delegate-sim/precision/1",
    "delegate-sim/reconcile/1",
    "delegate-sim/reconcile-accelerators/1",
    "delegate-sim/reconcile-compiler/1",
    "delegate-sim/reduction/1",
    "delegate-sim/releases/2",
    "delegate-sim/report/1",
    "delegate-sim/rule-changes/2",
    "delegate-sim/rules/2",
    "delegate-sim/scoreboard/1",
    "delegate-sim/search/2",
    "delegate-sim/sweep/3",
    "delegate-sim/times/1",
    "delegate-sim/unpacked-bundle/1",
    "delegate-sim/unpacked-task/1",
    "delegate-sim/verification/1",
)
"""The schemas of all documents: the tool, the name of the document, and the version of its schema."""
_VERSION_KEYS = {
    **dict.fromkeys(("diff", "fix", "fix-bundle", "fix-per-target"), "delegate_sim"),
    **dict.fromkeys(("engine", "page"), "version"),
    **dict.fromkeys(("app", "bundle", "explanations", "log"), ""),
}
"""The key of this tool's version in documents without the key ``tool``. Empty for documents without a version."""
_BY_NAME = {schema.split("/")[1]: schema for schema in SCHEMAS}


def schema_of(document: str) -> str:
    """Return the value of the key ``schema`` in a document.

    >>> schema_of("report")
    'delegate-sim/report/1'
    """
    return _BY_NAME[document]


def head(document: str) -> dict[str, Any]:
    """Return the first entries of a document: the schema, and the version of this tool."""
    schema, key = {"schema": schema_of(document)}, _VERSION_KEYS.get(document)
    if key is None:
        return {**schema, "tool": {"name": "delegate-sim", "version": __version__}}
    return {**schema, key: __version__} if key else schema


TEXT, INTEGER, NUMBER, YES_OR_NO, LIST, OBJECT = "text", "integer", "number", "yes or no", "list", "object"
_PLAIN = (str, int, float, bool)
_JSON_TYPES = {TEXT: "string", INTEGER: "integer", NUMBER: "number", YES_OR_NO: "boolean", LIST: "array", OBJECT: "object"}


class Column(NamedTuple):
    """One value of a result. Any value may be absent.

    ``key`` is the key in JSON and the name of the column in tables and files. ``noun`` names the value in text, in the singular.
    ``better`` is 1 if a larger value is better, -1 if a smaller value is better, and 0 if neither is better.
    """

    key: str
    type: str = TEXT
    meaning: str = ""
    noun: str = ""
    unit: str = ""
    caption: str = ""
    """The title on the report page, if it differs from the title in text."""
    better: int = 0
    since: str = ""
    """The first version of delegate-sim with the column. Baselines of earlier versions lack the column. Empty for 1.0."""
    digits: int | None = None
    """The number of decimal places in JSON and CSV, or None if numbers are not rounded."""
    source: str | Callable[[Any], Any] = ""
    """The path of attributes from the result to the value, or a function of the result. The default is the attribute ``key``."""
    parts: Sequence[Column] = ()
    """The columns of the value, or of each item of a list. Empty if the value is plain data or declares its own columns."""
    is_optional: bool = False
    """Whether JSON leaves the key out if the value is None."""

    def rounded(self, result: Any) -> Any:
        """Return the value of a result, rounded for JSON and CSV."""
        value = self.of(result)
        return value if value is None or self.digits is None else round(value, self.digits)

    @property
    def title(self) -> str:
        """The name of the value in text."""
        return f"{self.noun}s"

    def of(self, result: Any) -> Any:
        """Return the value of a result. The value is None if a part of the path is None."""
        source = self.source or self.key
        if not isinstance(source, str):
            return source(result)
        if "." not in source:
            return None if result is None else getattr(result, source)
        for name in source.split("."):
            result = None if result is None else getattr(result, name)
        return result

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the column's values."""
        schema: dict[str, Any] = {"description": f"{self.meaning[:1].upper()}{self.meaning[1:]}."} if self.meaning else {}
        schema["type"] = _JSON_TYPES[self.type]
        return {**schema, "minimum": 0} if self.type in (INTEGER, NUMBER) else schema


def within(path: str, columns: Iterable[Column], prefix: str = "") -> tuple[Column, ...]:
    """Return columns of a part of a result as columns of the result. ``prefix`` is put before the keys."""
    return tuple([column._replace(key=prefix + column.key, source=_within(path, column)) for column in columns])


def _within(path: str, column: Column) -> str | Callable[[Any], Any]:
    source = column.source or column.key
    if isinstance(source, str):
        return f"{path}.{source}"
    return partial(_of_part, Column(path), column)


def group(key: str, *parts: Column) -> Column:
    """Return a column whose value is an object with several columns of the same result."""
    return Column(key, OBJECT, source=lambda result: result, parts=parts)


def renamed(column: Column, key: str) -> Column:
    """Return the column with another key. Some formats have another key for historical reasons."""
    return column._replace(key=key, source=column.source or column.key)


def attributes(*keys: str, type: str = TEXT) -> tuple[Column, ...]:
    """Return columns of one type that are attributes of a result."""
    return tuple([Column(key, type) for key in keys])


def positions(*keys: str) -> tuple[Column, ...]:
    """Return the columns of a tuple, in the order of its items."""
    return tuple([Column(key, source=itemgetter(number)) for number, key in enumerate(keys)])


def keys(columns: Iterable[Column]) -> tuple[str, ...]:
    """Return the keys of columns, which are the names in a header."""
    return tuple([column.key for column in columns])


def values(columns: Iterable[Column], result: Any) -> tuple[Any, ...]:
    """Return the values of a result."""
    return tuple([column.of(result) for column in columns])


def entry(columns: Iterable[Column], result: Any) -> dict[str, Any]:
    """Return the values of a result by key, as plain data."""
    pairs = [(column, column.rounded(result)) for column in columns]
    return {
        column.key: value if value is None or type(value) in _PLAIN else _part(column, value)
        for column, value in pairs
        if value is not None or not column.is_optional
    }


def _part(column: Column, value: Any) -> Any:
    if not column.parts or value is None:
        return plain(value)
    return entry(column.parts, value) if column.type == OBJECT else [entry(column.parts, item) for item in value]


def _flat(columns: Iterable[Column]) -> Iterator[Column]:
    for column in columns:
        if column.type == OBJECT and column.parts:
            yield from [
                part._replace(key=f"{column.key}_{part.key}", source=partial(_of_part, column, part))
                for part in _flat(column.parts)
            ]
        else:
            yield column


def _of_part(column: Column, part: Column, result: Any) -> Any:
    value = column.of(result)
    return None if value is None else part.of(value)


def plain(value: Any) -> Any:
    """Return a value as plain data for JSON.

    A result becomes an object with its columns, or with its fields if it declares no columns. A member of an enumeration
    becomes its value.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if type(value) in (tuple, list):
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Enum):
        return value.value
    return _by_field(value) if is_dataclass(value) or hasattr(value, "_fields") else list(map(plain, value))


def _by_field(result: Any) -> dict[str, Any]:
    names = [field.name for field in fields(result)] if is_dataclass(result) else result._fields
    return {name: plain(getattr(result, name)) for name in names}


def number_or_text(number: float | None) -> float | str | None:
    """Return a number as JSON has it. Infinity and NaN become text, because JSON has no such numbers."""
    return number if number is None or math.isfinite(number) else str(number)


def by_key(columns: Iterable[Column]) -> Mapping[str, Column]:
    """Return columns by key."""
    return {column.key: column for column in columns}


class Table(NamedTuple):
    """Rows under named columns. Cells are plain data: strings, numbers, booleans, None, or tuples of such values."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @classmethod
    def of(cls, columns: Sequence[Column], results: Iterable[Any]) -> Table:
        """Return a table with a row for each result."""
        return cls(keys(columns), [values(columns, result) for result in results])


class Declared:
    """Base class of results that declare their columns. Without a declaration, the fields are the columns."""

    __slots__ = ()
    columns: ClassVar[Sequence[Column]] = ()
    document: ClassVar[str] = ""
    """The name of the result's schema. Empty for parts of other documents."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data. Keys of the schema are stable."""
        content = entry(self.columns, self) if self.columns else _by_field(self)
        return {**head(self.document), **content} if self.document else content

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        lists = [column for column in self.columns if column.type == LIST and column.parts]
        return {column.key: partial(self._list_table, column) for column in lists}

    def _list_table(self, column: Column) -> Table:
        columns = tuple(_flat(column.parts))
        rows = [tuple([_part(own, own.rounded(item)) for own in columns]) for item in column.of(self) or ()]
        return Table(keys(columns), rows)

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return one of the result's tables as a data frame. The default is the first table.

        Raises OptionError if there is no table with this name. Raises MissingPackageError if pandas is not installed.
        """
        chosen = self.table(table)
        try:
            import pandas
        except ImportError as error:
            raise MissingPackageError(
                "to_pandas() needs the package pandas, which is not installed: pip install pandas"
            ) from error
        return pandas.DataFrame(list(chosen.rows), columns=list(chosen.columns))

    def table(self, name: str | None = None) -> Table:
        """Return one of the result's tables. The default is the first table. Raises OptionError if there is no such table."""
        tables = self._tables()
        name = next(iter(tables), None) if name is None else name
        if not isinstance(name, str) or name not in tables:
            known = f"no table {name!r}; its tables are {', '.join(tables)}" if tables else "no tables"
            raise OptionError(f"a {type(self).__name__} has {known}")
        return tables[name]()

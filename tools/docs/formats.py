"""Write the generated parts of docs/formats.md, docs/scan.md and docs/schemas: what the declared columns say (``make docs``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from delegate_sim.foundation.columns import Column, keys
from delegate_sim.foundation.documents import SCHEMAS
from delegate_sim.gate.results import CASE
from delegate_sim.results.report.findings import FINDING
from delegate_sim.results.report.measures import DERIVED, MEASURES
from delegate_sim.results.report.tables import NODE, ON_CPU, PARTITION, RUN
from delegate_sim.scan.schema import CAUSE_COLUMNS, RUN_COLUMNS
from delegate_sim_cli.formats import comma_separated, sheets
from tools.docs.sections import with_section

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "schemas"
_TABLES: Mapping[str, Iterable[Column]] = {
    "`analyze` and `check` in CSV": comma_separated.COLUMNS,
    "`diagnose` in CSV": sheets.DIAGNOSED,
    "`releases` in CSV": sheets.RELEASED,
    '`to_pandas("runs")`': RUN,
    '`to_pandas("nodes")`': NODE,
    '`to_pandas("partitions")`': PARTITION,
    '`to_pandas("on_cpu")`': ON_CPU,
    '`to_pandas("cases")` of a check': CASE,
    '`to_pandas("findings")` of a check, after `model` and `target`': FINDING,
}
_BETTER = {1: "more", -1: "fewer", 0: ""}


def formats_page(text: str) -> str:
    """Return docs/formats.md with its tables as the code has them."""
    text = with_section(text, "documents", "\n".join(_document_rows()))
    text = with_section(text, "measures", "\n".join(_measure_rows()))
    return with_section(text, "tables", "\n".join(_table_rows()))


def scan_page(text: str) -> str:
    """Return docs/scan.md with its tables as the code has them."""
    text = with_section(text, "runs", "\n".join(_column_rows(RUN_COLUMNS)))
    return with_section(text, "causes", "\n".join(_column_rows(CAUSE_COLUMNS)))


def schema_text(text: str) -> str:
    """Return a JSON schema with the measures as the code declares them."""
    return json.dumps(_with_measures(json.loads(text)), indent=2, ensure_ascii=False) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each page and schema with its text as the code has it."""
    for path, page in ((DOCS / "formats.md", formats_page), (DOCS / "scan.md", scan_page)):
        yield path, page(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.iterdir()):
        yield path, schema_text(path.read_text(encoding="utf-8"))


def _document_rows() -> Iterator[str]:
    yield "| value of the key `schema` | published schema |"
    yield "|---|---|"
    for schema in SCHEMAS:
        document = schema.split("/")[1]
        file = f"{document}.schema.json"
        yield f"| `{schema}` | {f'[{document}](schemas/{file})' if (FOLDER / file).exists() else ''} |"


def _measure_rows() -> Iterator[str]:
    yield "| key | type | unit | better | since | meaning |"
    yield "|---|---|---|---|---|---|"
    for column in (*MEASURES, *DERIVED):
        better = _BETTER[column.better]
        yield f"| `{column.key}` | {column.type} | {column.unit} | {better} | {column.since} | {column.meaning} |"


def _table_rows() -> Iterator[str]:
    yield "| table | columns |"
    yield "|---|---|"
    for table, columns in _TABLES.items():
        yield f"| {table} | {', '.join([f'`{key}`' for key in keys(columns)])} |"


def _column_rows(columns: Iterable[Column]) -> Iterator[str]:
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in columns:
        yield f"| `{column.key}` | {column.type} | {column.meaning} |"


def _with_measures(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_measures(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: _with_measures(value) for key, value in schema.items()}
    properties = schema.get("properties", {})
    counts = MEASURES[1:]
    if counts[0].key in properties and counts[1].key in properties and "outcome" in properties and "partitions" in properties:
        declared = {column.key: column.json_schema() for column in counts}
        later = {key: value for key, value in properties.items() if key not in declared}
        first = {key: later.pop(key) for key in list(properties)[: list(properties).index(counts[0].key)]}
        schema["properties"] = {**first, **declared, **later}
        is_baseline = "fallback" in properties
        required = [column.key for column in counts if not (is_baseline and column.since)]
        place = schema["required"].index(counts[0].key)
        rest = [key for key in schema["required"] if key not in declared]
        schema["required"] = [*rest[:place], *required, *rest[place:]]
    return schema


def main() -> None:
    """Write the pages and schemas."""
    for path, text in pages():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

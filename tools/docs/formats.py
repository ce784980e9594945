"""Write the generated parts of docs/formats.md, docs/scan.md and docs/schemas: what the declared columns say (``make docs``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from delegate_sim.apps.app import App
from delegate_sim.device.compare.accelerator_chain import StackReconciliation
from delegate_sim.device.compare.reconcile import Reconciliation
from delegate_sim.device.compare.row_matching import CompilerJoin
from delegate_sim.device.parse.log_summary import ExplainedLog
from delegate_sim.diagnosis.diagnosis import Diagnosis
from delegate_sim.diagnosis.goal_search import Search
from delegate_sim.fixing.fix import FIX
from delegate_sim.foundation.columns import LIST, SCHEMAS, Column, Declared, attributes, keys, schema_of
from delegate_sim.gate.results import CASE, Results
from delegate_sim.graph.graph import Inspected
from delegate_sim.inference.difference import Difference
from delegate_sim.live.comparison import LiveResult
from delegate_sim.live.litert_lm import LiveBundle
from delegate_sim.llm.contents import BundleContents
from delegate_sim.llm.report import BackendReport
from delegate_sim.micro.report import APPLICATION
from delegate_sim.reduction.reduce import Reduction
from delegate_sim.results.compare.comparison import Comparison
from delegate_sim.results.compare.release_table import ReleaseTable
from delegate_sim.results.report.accelerator_stack import StackResult
from delegate_sim.results.report.findings import FINDING
from delegate_sim.results.report.measures import DERIVED, MEASURES
from delegate_sim.results.report.report import Report
from delegate_sim.results.report.tables import NODE, ON_CPU, PARTITION, RUN
from delegate_sim.scan.schema import CAUSE_COLUMNS, RUN_COLUMNS
from delegate_sim.sweeping.sweep_result import Swept
from delegate_sim.verification.half_precision import PrecisionReport
from delegate_sim.verification.verification import Verification
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
_RESULTS: tuple[type[Declared], ...] = (
    *(App, BundleContents, Comparison, CompilerJoin, Diagnosis, ExplainedLog, Inspected),
    *(PrecisionReport, Reconciliation, ReleaseTable, Report, Results, Search, StackReconciliation, Swept, Verification),
)
_LIVE = Column("live", LIST, parts=LiveResult.columns, is_optional=True)
_LIVE_BUNDLES = Column("live", LIST, parts=LiveBundle.columns, is_optional=True)
_FURTHER = {
    "diff": attributes("a", "b") + tuple(Difference.columns),
    "engine": (Column("bundle"), Column("backends", LIST, parts=BackendReport.columns), _LIVE_BUNDLES),
    "fix": FIX,
    "reduction": (*Reduction.columns, *attributes("written", "command")),
    "report": (
        *(*Report.columns[:3], _LIVE, *Report.columns[4:-1]),
        *(StackResult.columns[-1]._replace(is_optional=True), Report.columns[-1]._replace(parts=APPLICATION)),
    ),
}
"""The columns of documents that no result has, and of documents to which a command adds keys."""
_DOCUMENTS: Mapping[str, Sequence[Column]] = {**{result.document: result.columns for result in _RESULTS}, **_FURTHER}
"""The columns of each document with a published schema."""
_HEAD = ("schema", "tool", "version", "delegate_sim")
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
    """Return a JSON schema with the measures and the keys as the code declares them.

    Descriptions and limits of declared keys are kept.
    """
    schema = _with_measures(json.loads(text))
    for document, columns in _DOCUMENTS.items():
        for part in [schema, *schema.get("$defs", {}).values()]:
            if part.get("properties", {}).get("schema", {}).get("const") == schema_of(document):
                _declare(part, columns, schema)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


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
        required = [column.key for column in counts if not (column.is_optional or (is_baseline and column.since))]
        place = schema["required"].index(counts[0].key)
        rest = [key for key in schema["required"] if key not in declared]
        schema["required"] = [*rest[:place], *required, *rest[place:]]
    return schema


def _declare(part: dict[str, Any], columns: Iterable[Column], schema: dict[str, Any]) -> None:
    """Give an object in a schema the declared keys, and also the objects inside it."""
    old = part["properties"]
    head = [key for key in old if key in _HEAD and key not in keys(columns)]
    required = [column.key for column in columns if not column.is_optional]
    part["properties"] = {key: old[key] for key in head}
    part["properties"].update({column.key: old.get(column.key, column.json_schema()) for column in columns})
    part["required"] = [*head, *required]
    for column in columns:
        inner = _object(part["properties"][column.key], schema)
        if column.parts and inner is not None:
            _declare(inner, column.parts, schema)


def _object(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the object that a part of a schema allows, alone, in a list or besides null. None if there is no such object."""
    if "$ref" in part:
        return _object(schema["$defs"][part["$ref"].rpartition("/")[2]], schema) if part["$ref"].startswith("#") else None
    if "items" in part:
        return _object(part["items"], schema)
    choices = [_object(choice, schema) for choice in part.get("anyOf", ())]
    return part if "properties" in part else next((choice for choice in choices if choice is not None), None)


def main() -> None:
    """Write the pages and schemas."""
    for path, text in pages():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

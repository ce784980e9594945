"""Columns of a scan."""

from __future__ import annotations

from pathlib import Path

from delegate_sim.scan.schema import CAUSE_COLUMNS, RUN_COLUMNS


def test_every_column_is_documented():
    page = (Path(__file__).resolve().parents[2] / "docs" / "scan.md").read_text(encoding="utf-8")
    for column in (*RUN_COLUMNS, *CAUSE_COLUMNS):
        assert f"| `{column.key}` | {column.type} | {column.meaning} |" in page

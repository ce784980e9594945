"""The tables of docs/appendix/sweep.md and the schema match the code."""

from __future__ import annotations

import json
from pathlib import Path

from delegate_sim.conversion.convert import FailureKind
from delegate_sim.conversion.settings import OPTIONS, QUANTIZATIONS
from delegate_sim.conversion.sources import SourceKind
from tools.sweep.source_models import MODELS
from tools.sweep.table import EXAMPLES, agreement, sections, summary

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "sweep.md").read_text(encoding="utf-8")
TABLES = (DOCS / "appendix" / "sweep.md").read_text(encoding="utf-8")


def test_the_page_names_every_setting():
    assert [name for name in QUANTIZATIONS if f"`{name}`" not in PAGE] == []
    assert [name for name in OPTIONS if f"`+{name}`" not in PAGE] == []


def test_the_page_has_a_place_for_every_table():
    for mark in ("summary", "agreement", *EXAMPLES):
        assert f"<!-- {mark} -->" in TABLES
        assert f"<!-- /{mark} -->" in TABLES
    names = {f"{family}/{model.file}" for family, models in MODELS.items() for model in models}
    assert set(EXAMPLES.values()) <= names


def test_the_schema_names_every_kind_of_failure_and_source():
    schema = json.loads((DOCS / "schemas" / "sweep.schema.json").read_text(encoding="utf-8"))
    kinds = schema["$defs"]["row"]["properties"]["failure"]["anyOf"][1]["properties"]["kind"]["enum"]
    assert set(kinds) == {kind.value for kind in FailureKind} | {"unreadable"}
    assert set(schema["properties"]["source"]["properties"]["kind"]["enum"]) == {kind.value for kind in SourceKind}


def cost(share, kernels):
    return {"outcome": "delegated", "share": share, "kernels": kernels}


def entry(found_share, *, settings=("fixed-shapes",), then=1.0, failure=None):
    targets = {label: {"multiply_add_share": found_share, "delegate_kernels": 1, "delegated_nodes": 3} for label in LABELS}
    row = {"number": 1, "converter": "tensorflow", "settings": "float+fixed", "failure": failure, "targets": targets}
    told = {"now": cost(0.0, 0), "settings": list(settings), "then": cost(then, 1), "others": []}
    return {
        "model": "keras/unet.keras",
        "sweep": {"rows": [row], "best_for": dict.fromkeys(LABELS, 1)},
        "foretold": dict.fromkeys(LABELS, told),
        "page": "### title\n\ntext\n",
    }


LABELS = ("nnapi", "gpu", "npu-google", "vx", "hexagon")


def test_the_tables_say_where_the_diagnosis_and_the_search_agree():
    assert "| keras/unet.keras | gpu | 0 %, 0 | fixed-shapes | 100 %, 1 | 100 %, 1 | float+fixed | yes |" in agreement(
        [entry(1.0)]
    )
    assert "| 100 %, 1 | 50 %, 1 | float+fixed | no |" in agreement([entry(0.5)])
    assert "For 5 more pairs" in agreement([entry(0.0, settings=(), then=0.0)])


def test_the_tables_count_what_failed():
    failure = {"kind": "crashed", "line": "tensorflow crashed (SIGSEGV)"}
    text = summary([entry(1.0, failure=failure)])
    assert "| keras/unet.keras | 1 | 1 crashed | float+fixed: 100 %, 1 |" in text
    assert "1 conversions of 1 models were tried, and 1 failed." in text
    assert "- keras/unet.keras, tensorflow: float+fixed: crashed: `tensorflow crashed (SIGSEGV)`" in text
    assert [name for name, _ in sections([entry(1.0)])] == ["summary", "agreement"]

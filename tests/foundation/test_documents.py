"""Documents and the versions of their schemas."""

from __future__ import annotations

import json
import re
from pathlib import Path

from delegate_sim.foundation.columns import SCHEMAS, head, schema_of
from delegate_sim.version import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_a_document_starts_with_its_schema_and_the_tool():
    assert head("report") == {"schema": "delegate-sim/report/1", "tool": {"name": "delegate-sim", "version": __version__}}


def test_every_document_is_listed_once_and_by_name():
    assert [schema_of(schema.split("/")[1]) for schema in SCHEMAS] == list(SCHEMAS)


def test_published_schemas_have_the_current_version():
    for path in (ROOT / "docs" / "schemas").iterdir():
        document = path.name.partition(".")[0]
        assert schema_of(document) in json.dumps(json.loads(path.read_text(encoding="utf-8"))), path.name


def test_no_other_module_declares_a_version():
    declared = re.compile(r'^\w+ = "delegate-sim/[a-z-]+/\d+"', re.MULTILINE)
    sources = [path for folder in ("delegate_sim", "cli") for path in (ROOT / folder).rglob("*.py")]
    found = {path.relative_to(ROOT).as_posix() for path in sources if declared.search(path.read_text(encoding="utf-8"))}
    assert found == {"delegate_sim/gate/baseline/content.py"}  # the first schema, which can still be read

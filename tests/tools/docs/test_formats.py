"""The generated parts of the pages and schemas about formats."""

from __future__ import annotations

import json

import pytest

from delegate_sim.foundation.columns import INTEGER, Column
from tools.docs import formats

NODES = {"type": "array", "items": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]}}
SCHEMA = {
    "$defs": {
        "search": {
            "properties": {"schema": {"const": "delegate-sim/search/2"}, "gone": {}, "goal": {"enum": ["a"]}, "nodes": NODES},
            "required": ["schema", "gone"],
        }
    }
}


def test_a_schema_has_the_declared_keys(monkeypatch):
    parts = (Column("node", INTEGER, "the node"), Column("old", is_optional=True))
    monkeypatch.setattr(formats, "_DOCUMENTS", {"search": (Column("goal"), Column("nodes", parts=parts))})
    found = json.loads(formats.schema_text(json.dumps(SCHEMA)))["$defs"]["search"]
    assert found["required"] == ["schema", "goal", "nodes"]
    assert list(found["properties"]) == found["required"]
    assert found["properties"]["goal"] == {"enum": ["a"]}, "limits of the schema are kept"
    node = found["properties"]["nodes"]["items"]
    assert node["required"] == ["node"]
    assert node["properties"] == {
        "node": {"description": "The node.", "type": "integer", "minimum": 0},
        "old": {"type": "string"},
    }


@pytest.mark.parametrize("path", sorted(formats.FOLDER.iterdir()), ids=lambda path: path.name)
def test_published_schemas_are_as_declared(path):
    text = path.read_text(encoding="utf-8")
    assert formats.schema_text(text) == text

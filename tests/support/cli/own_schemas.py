"""The program's own JSON schemas, and validation against them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"


@functools.cache
def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(name, content):
    validator(name).validate(content)

"""The program's own JSON schemas, and validation against them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"


@functools.cache
def validator(name):
    schema = _read(f"{name}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=Registry(retrieve=_resource))


def _read(file):
    return json.loads((SCHEMAS / file).read_text(encoding="utf-8"))


def _resource(file):
    """Return a schema that another schema of the folder names."""
    return Resource.from_contents(_read(file))


def validate(name, content):
    validator(name).validate(content)

"""The result of ``fix`` as plain data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import delegate_sim

ROOT = Path(__file__).resolve().parents[2]


def test_the_result_of_the_python_function_has_the_json_of_the_command():
    jsonschema = pytest.importorskip("jsonschema")
    model = ROOT / "fixtures" / "models" / "transformer_block.tflite"
    fixed = delegate_sim.fix(model, None, "gpu", defaults="benchmark")
    entry = json.loads(json.dumps(fixed.to_dict()))
    schema = json.loads((ROOT / "docs" / "schemas" / "fix.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(entry)
    assert entry["schema"] == "delegate-sim/fix/3"
    assert entry["targets"][0]["after"] == fixed.plan.after[0].to_dict()

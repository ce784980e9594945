"""JSON that is made in parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim.results.report.display import json_array, json_object, json_value

MODELS = Path(delegate_sim.__file__).parents[1] / "fixtures" / "models"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(VALUES), st.dictionaries(st.text(), VALUES))
def test_parts_are_what_is_written_at_once(items, fields):
    array = "".join(json_array(map(json_value, items)))
    assert array == json.dumps(items, indent=2)
    assert "".join(json_object({key: json_value(value) for key, value in fields.items()})) == json.dumps(fields, indent=2)
    nested = json_object({"array": json_array(map(json_value, items)), "end": json_value(0)})
    assert "".join(nested) == json.dumps({"array": items, "end": 0}, indent=2)


@pytest.mark.parametrize("is_chain", [False, True])
def test_a_report_is_the_same_as_objects_and_as_text(is_chain):
    path = str(next(iter(sorted(MODELS.glob("*.tflite")))))
    report = (
        delegate_sim.simulate(path, [("nnapi", {}), ("gpu", {})], defaults="api")
        if is_chain
        else delegate_sim.analyze(path, "nnapi", defaults="api")
    )
    assert report.is_chain is is_chain
    text = report.to_json()
    assert json.loads(text) == report.to_dict()
    assert '  {"index": 0, ' in text, "a node is a line"


def test_a_report_is_made_run_by_run(monkeypatch):
    report = delegate_sim.simulate(str(next(iter(sorted(MODELS.glob("*.tflite"))))), [("nnapi", {}), ("gpu", {})], defaults="api")
    made = []
    monkeypatch.setattr("delegate_sim.results.report.report.placed_nodes", lambda run, own: made.append(run.delegate.name) or ())
    parts = report.json_parts()
    assert made == []
    while not made:
        next(parts)
    assert made == ["nnapi"]
    list(parts)
    assert made == ["nnapi", "gpu"]

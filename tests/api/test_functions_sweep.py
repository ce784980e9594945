"""``delegate_sim.sweep``, with converters that are none."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.api import sweep as api_module
from delegate_sim.sweeping import sweep as sweep_module
from tests.support.conversion.fake_converters import make_source
from tests.support.conversion.sweep_conversions import TENSORFLOW, Fake

pytest.importorskip("ai_edge_litert", reason="ranking needs the runtime: install the extra 'fix'")

PHONE = [("nnapi", {"android": "13"})]


@pytest.fixture
def source(tmp_path, monkeypatch):
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.setattr(sweep_module, "convert", Fake(made))
    monkeypatch.setattr(api_module, "find_converters", lambda pythons: (TENSORFLOW.converter,))
    return make_source(tmp_path, "net")


def test_the_result_shows_itself(source, tmp_path):
    found = delegate_sim.sweep(source, PHONE, settings="int8+fixed", cache=tmp_path / "cache", defaults="api")
    assert repr(found) == f"<Swept {source}: 4 conversions tried, 4 models, {sum(row.is_best for row in found.rows)} best>"
    assert found.best_for("nnapi").conversion.settings.name == "float+fixed"
    assert "float+fixed" in found._repr_html_()


def test_tables_become_data_frames(source, tmp_path):
    pytest.importorskip("pandas")
    found = delegate_sim.sweep(source, PHONE, cache=tmp_path / "cache", defaults="api")
    rows = found.to_pandas()
    assert list(rows["settings"]) == ["float", "float16", "dynamic-range", "float+fixed"]
    assert rows["nnapi_multiply_add_share"].iloc[-1] == 1
    assert set(found.to_pandas("targets")["target"]) == {"nnapi"}


def test_the_best_model_is_written(source, tmp_path):
    output = tmp_path / "best.tflite"
    delegate_sim.sweep(source, PHONE, best_for="nnapi", output=output, cache=tmp_path / "cache", defaults="api")
    assert delegate_sim.analyze(output, *PHONE[0], defaults="api").to_dict()["runs"][0]["outcome"] == "delegated"
    with pytest.raises(delegate_sim.FixError, match="already exists"):
        delegate_sim.sweep(source, PHONE, best_for="nnapi", output=output, cache=tmp_path / "cache", defaults="api")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"best_for": "nnapi"}, "give best_for and output together"),
        ({"settings": "int9"}, "there is no quantization 'int9'"),
        ({"shapes": {"x": (0,)}}, "a shape is"),
        ({"all": 1}, "all must be True or False"),
        ({"delegates": []}, "no delegate is given"),
        ({"delegates": "none"}, "none"),
        ({"data": "none.npz"}, "does not exist"),
        ({"best_for": "gpu", "output": "x.tflite"}, "there is no target 'gpu'"),
    ],
)
def test_wrong_arguments(source, arguments, words):
    with pytest.raises(delegate_sim.OptionError, match=words):
        delegate_sim.sweep(source, **{"delegates": PHONE, **arguments}, defaults="api")


def test_a_source_of_no_known_form(tmp_path):
    with pytest.raises(delegate_sim.ModelError, match="none"):
        delegate_sim.sweep(tmp_path / "none.keras", "nnapi", defaults="api")

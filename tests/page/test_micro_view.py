"""The view of the page for TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import replace

from delegate_sim.diagnosis.advice.commands import diagnose_command
from delegate_sim.page.content import page_content
from tests.support.micro_models import chain, hybrid
from tests.support.pages import MODELS, micro_view, views


def test_refused_nodes_have_a_state_and_reasons():
    (view,) = page_content([micro_view(hybrid().bytes())])["views"]
    (subgraph,) = view["subgraphs"]
    refused = [position for position, state in enumerate(subgraph["states"]) if state]
    assert sorted(map(int, subgraph["reasons"])) == refused
    assert view["reasons"][0]["code"] == "micro-hybrid"
    assert view["measures"]["delegated_nodes"] == view["measures"]["nodes"] - len(refused)
    assert view["grade"] == "bad"


def test_causes_name_the_pass_that_fixes_them():
    (view,) = page_content([micro_view(str(MODELS / "float16_weights.tflite"))])["views"]
    assert "--micro --pass float16-widened" in view["causes"][0]["fix"]["command"]


def test_commands_repeat_the_options_of_the_target(tmp_path):
    source = tmp_path / "main app.cc"
    source.write_text("r.AddConv2D();", encoding="utf-8")
    view = micro_view(str(MODELS / "float16_weights.tflite"), kernels="cmsis-nn", resolver=str(source))
    assert f" --micro --kernels=cmsis-nn '--resolver={source}'" in diagnose_command(view.model, view.run.target)


def test_causes_are_left_out_if_they_are_not_wanted():
    given = replace(micro_view(hybrid().bytes()), diagnosis=None)
    assert page_content([given])["views"][0]["causes"] is None


def test_only_a_model_with_a_plan_has_an_arena():
    content = page_content([micro_view(chain("RELU").bytes()), micro_view(hybrid().bytes())])
    assert [("arena" in model) for model in content["models"]] == [True, False]
    assert content["models"][0]["arena"]["head"] > 0


def test_delegates_can_be_on_the_same_page():
    path = str(MODELS / "quantized_block.tflite")
    content = page_content([*views(path), micro_view(path)])
    assert [view["delegate"] for view in content["views"]] == ["nnapi", "micro"]
    assert set(content["views"][0]) <= set(content["views"][1]) | {"micro"}

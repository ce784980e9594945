"""The view of the page for TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import replace

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
    assert view["grade"] == "none"


def test_causes_name_the_pass_that_fixes_them():
    (view,) = page_content([micro_view(str(MODELS / "float16_weights.tflite"))])["views"]
    assert "--micro --pass float16-widened" in view["causes"][0]["fix"]["command"]


def test_commands_repeat_the_options_of_the_target():
    given = micro_view(str(MODELS / "float16_weights.tflite"))
    target = replace(given.report.target, kernels="cmsis-nn", resolver="src/main app.cc")
    (view,) = page_content([replace(given, report=replace(given.report, target=target))])["views"]
    assert "--micro --resolver 'src/main app.cc' --kernels cmsis-nn --pass " in view["causes"][0]["fix"]["command"]


def test_causes_are_left_out_if_they_are_not_wanted():
    given = replace(micro_view(hybrid().bytes()), causes=None)
    assert page_content([given])["views"][0]["causes"] is None


def test_only_a_model_with_a_plan_has_an_arena():
    content = page_content([micro_view(chain("RELU").bytes()), micro_view(hybrid().bytes())])
    assert [("arena" in model) for model in content["models"]] == [True, False]
    assert content["models"][0]["arena"]["head"] > 0


def test_delegates_can_be_on_the_same_page():
    path = str(MODELS / "quantized_block.tflite")
    content = page_content([*views(path), micro_view(path)])
    assert [view["delegate"] for view in content["views"]] == ["nnapi", "TensorFlow Lite Micro"]
    assert set(content["views"][0]) <= set(content["views"][1]) | {"micro"}

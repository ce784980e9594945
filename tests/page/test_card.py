"""The card: its data, and its picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.card import card_of
from delegate_sim.page.card_picture import CardPlace, card_image, card_list, card_markdown, card_picture, shown_share
from delegate_sim.results.report.display import DELEGATED, LEFT, REFUSED
from delegate_sim.runtime.interpreter import simulate
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import target
from tests.support.hostile_names import hostile_model
from tests.support.models import chain_model
from tests.support.pages import MODELS
from tests.support.type_conversions import open_batch

_NAMESPACE = "{http://www.w3.org/2000/svg}"


def card(builder, *delegates):
    model = load(builder.bytes())
    return card_of(model, [simulate(model, target(name)) for name in delegates])


def work_left_on_the_cpu():
    """RELU, RELU and the product of two computed matrices."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    tensor = layers.input("FLOAT32", 4, 4)
    for _ in range(2):
        tensor = layers.node("RELU", [tensor], "FLOAT32", (4, 4))
    layers.node("BATCH_MATMUL", [tensor, tensor], "FLOAT32", (4, 4))
    layers.finish()
    return builder


def rows_of(card):
    return {row.label: row for group in card.groups for row in group.rows}


def test_strips_follow_the_order_of_the_file():
    rows = rows_of(card(chain_model(["RELU", "ROUND", "RELU", "RELU"]), "gpu", "nnapi"))
    gpu, nnapi = rows["GPU"], rows["NNAPI on Android 13"]
    assert gpu.lengths == ((LEFT, 1), (REFUSED, 1), (DELEGATED, 2))
    assert nnapi.lengths == ((DELEGATED, 1), (REFUSED, 1), (DELEGATED, 2))
    assert (nnapi.part, nnapi.whole, nnapi.counts_nodes) == (3, 4, True)


def test_kinds_of_devices_have_groups_and_the_largest_share_comes_first():
    groups = card(chain_model(["RELU", "ROUND"]), *DELEGATE_NAMES).groups
    assert [group.title.split()[0] for group in groups] == ["Phones", "NPUs", "Boards", "Microcontrollers"]
    for group in groups:
        shares = [row.part for row in group.rows]
        assert shares == sorted(shares, reverse=True)
    devices = {row.delegate: row.devices for group in groups for row in group.rows}
    assert devices["npu-google"] == "such as Pixel 10"
    assert devices["nnapi"] == "Android, deprecated since Android 15"
    assert devices["vx-nxp"] == "i.MX 8M Plus"


def test_the_cpu_belongs_to_the_boards_if_there_is_no_phone():
    groups = card(chain_model(["RELU"]), "vx", "xnnpack").groups
    assert [(group.title, len(group.rows)) for group in groups] == [("Boards", 2)]


def test_all_delegates_have_a_name_for_their_devices():
    assert all(row.devices for group in card(chain_model(["RELU"]), *DELEGATE_NAMES).groups for row in group.rows)


def test_targets_without_an_answer_are_rows():
    model = load(chain_model(["RELU"]).bytes())
    made = card_of(model, [simulate(model, target("gpu"))], [target("vx")], "a limit")
    row = rows_of(made)["VX delegate"]
    assert (row.lengths, row.summary) == ((), "not simulated: a limit")
    assert shown_share(row) == "-"


def test_a_model_that_its_compiler_has_not_seen_has_no_share():
    row = rows_of(card(chain_model(["RELU"]), "gpu", "edgetpu"))["Edge TPU's delegate"]
    assert (row.lengths, row.is_ranked, shown_share(row)) == ((), False, "-")


@pytest.mark.parametrize(
    ("builder", "delegates", "headline"),
    [
        (chain_model(["RELU", "RELU"]), ("gpu", "vx"), "All 2 accelerators run all of it"),
        (chain_model(["RELU", "ROUND"]), ("gpu", "vx"), "GPU and the VX delegate run 50 % of the nodes"),
        (
            chain_model(["RELU", "ROUND", "RELU"]),
            ("gpu", "hexagon"),
            "GPU runs 33.3 % of the nodes. Hexagon runs none of it",
        ),
        (chain_model(["RELU", "SIN"]), ("gpu", "coreml"), "GPU alone runs all of it. Core ML runs none of it"),
        (open_batch(), ("gpu", "mldrift", "xnnpack"), "No phone accelerator starts: the batch size is not fixed"),
        (chain_model(["ROUND", "ROUND"]), ("gpu", "coreml"), "None of 2 accelerators runs any of it"),
        (work_left_on_the_cpu(), ("coreml", "hexagon"), "None of 2 accelerators runs any of the multiply-adds"),
    ],
)
def test_the_sentence_says_which_accelerators_run_the_model(builder, delegates, headline):
    assert card(builder, *delegates).headline == headline


@pytest.mark.parametrize(("other", "first"), [("gpu", "GPU runs 71.4 % of the nodes"), ("teflon", "NNAPI on Android 13 runs ")])
def test_a_deprecated_target_leads_only_if_no_other_accelerator_runs_a_node(other, first):
    model = load(MODELS / "pooling.tflite")
    assert card_of(model, [simulate(model, target(name)) for name in ("nnapi", other)]).headline.startswith(first)


@pytest.mark.parametrize(
    ("name", "delegates", "advised"),
    [
        ("pooling.tflite", ("nnapi", "gpu"), "gpu"),
        ("pooling.tflite", ("nnapi", "teflon"), "nnapi"),
        ("transformer_block.tflite", ("mldrift", "coreml"), "mldrift"),
    ],
)
def test_the_advice_is_about_the_target_to_use_first(name, delegates, advised):
    model = load(MODELS / name)
    made = card_of(model, [simulate(model, target(own)) for own in delegates])
    assert made.advice.delegate == advised
    assert f"--delegate {advised}" in made.advice.command


def test_a_delegate_that_takes_only_nodes_without_work_is_not_said_to_run_none():
    model = load(MODELS / "transformer_block.tflite")
    made = card_of(model, [simulate(model, target(name)) for name in ("mldrift", "coreml")])
    assert made.headline == "ML Drift runs 100 % of the multiply-adds. Core ML runs 0 % of the multiply-adds"


@pytest.mark.parametrize(
    ("other", "begin", "end"),
    [
        ("teflon", "ML Drift runs ", ", but computes nodes wrongly"),
        ("coreml", "Core ML runs ", ". ML Drift computes nodes wrongly"),
    ],
)
def test_a_delegate_with_wrong_numbers_is_not_said_to_run_none(other, begin, end):
    model = load(MODELS / "arithmetic.tflite")
    made = card_of(model, [simulate(model, target(name)) for name in ("mldrift", other)])
    assert (made.headline.startswith(begin), made.headline.endswith(end)) == (True, True)
    assert other != "coreml" or made.advice.delegate == "mldrift"


def test_unknown_sizes_have_a_command_without_the_folder_of_the_model(tmp_path):
    (tmp_path / "model.tflite").write_bytes(open_batch().bytes())
    model = load(tmp_path / "model.tflite")
    made = card_of(model, [simulate(model, target(name)) for name in ("gpu", "mldrift")])
    assert made.advice.command.startswith("delegate-sim fix model.tflite --delegate gpu --shape ")
    assert not rows_of(made)["GPU"].is_applied
    assert str(tmp_path) not in card_picture(made) + card_markdown(made)


def test_a_model_that_no_rewrite_improves_has_the_command_of_a_diagnosis():
    assert card(chain_model(["RELU", "ROUND"]), "gpu", "vx").advice.command == "delegate-sim diagnose - --delegate gpu"


def test_markdown_has_a_row_for_each_target_and_no_markup_of_the_model():
    text = card_markdown(card(hostile_model(), *DELEGATE_NAMES))
    assert sum(line.startswith("| **") for line in text.splitlines()) == len(DELEGATE_NAMES) + 1
    assert not re.search(r"(?<!\\)<(?!br>|sub>|/sub>)", text)


def test_a_png_has_twice_the_size():
    pytest.importorskip("resvg_py", reason="the package that draws PNG files (the extra [report]) is not installed")
    image = card_image(card(chain_model(["RELU"]), "gpu", "nnapi"))
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(image[16:20], "big") == 2200


@pytest.mark.parametrize("builder", [hostile_model(), chain_model(["RELU"]), open_batch()])
def test_the_picture_is_one_element_without_styles_or_scripts(builder):
    picture = card_picture(card(builder, *DELEGATE_NAMES), CardPlace(1, {*DELEGATE_NAMES}, has_patterns=True))
    root = ElementTree.fromstring(picture)  # the picture was made here
    assert root.tag == "svg"
    assert {element.tag for element in root.iter()} <= {"svg", "defs", "pattern", "rect", "text", "path", "a", "g"}
    assert not any(name in element.attrib for element in root.iter() for name in ("style", "onload"))
    assert all(
        element.attrib["href"].startswith("#target=") and element.attrib["href"].endswith("&model=1")
        for element in root.iter("a")
    )
    assert all(text.isprintable() for element in root.iter("text") for text in element.itertext())


def test_the_list_for_narrow_screens_has_the_rows_and_the_strips_of_the_picture():
    made, place = card(chain_model(["RELU"]), *DELEGATE_NAMES), CardPlace(0, {"gpu"}, has_patterns=True)
    listed, drawn = card_list(made, place), card_picture(made, place)
    rows = [row for group in made.groups for row in group.rows]
    assert listed.count('class="card-row"') == len(rows)
    used = re.findall(r'<use href="#([^"]+)">', listed)
    assert used == re.findall(r'<g id="([^"]+)">', drawn)
    assert len(set(used)) == len(rows)
    assert re.findall(r'<a href="([^"]+)">', listed) == ["#target=gpu"]


def test_a_file_has_its_own_style():
    root = ElementTree.fromstring(card_picture(card(chain_model(["RELU"]), "gpu", "nnapi")))
    assert root.find(f"{_NAMESPACE}style") is not None


def test_long_plans_have_few_cells():
    picture = card_picture(card(chain_model(["RELU", "ROUND"] * 1000), "gpu", "nnapi"))
    assert picture.count("<rect") < 1000

"""The card: its data, and its picture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.card import card_of
from delegate_sim.page.card_picture import card_picture
from delegate_sim.results.report.plan_strip import DELEGATED, LEFT, REFUSED
from delegate_sim.runtime.interpreter import simulate
from tests.support.diagnoses import target
from tests.support.hostile_names import hostile_model
from tests.support.models import chain_model
from tests.support.type_conversions import open_batch

_NAMESPACE = "{http://www.w3.org/2000/svg}"


def card(builder, *delegates):
    model = load(builder.bytes())
    return card_of(model, [simulate(model, target(name)) for name in delegates])


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
    assert [group.title for group in groups][:3] == ["Most devices", "Android phones", "iPhones"]
    for group in groups:
        shares = [row.part for row in group.rows]
        assert shares == sorted(shares, reverse=True)
    notes = {row.label: row.note for group in groups for row in group.rows}
    assert notes["npu-google"]
    assert notes["NNAPI on Android 13"]
    assert not notes["LiteRT GPU"]


def test_unknown_sizes_are_said_once_with_the_command():
    stops = card(open_batch(), "gpu", "mldrift", "xnnpack").stops
    assert [stop.targets for stop in stops] == [2]
    assert "--shape" in stops[0].command
    assert not rows_of(card(open_batch(), "gpu", "mldrift"))["GPU"].is_applied


@pytest.mark.parametrize("builder", [hostile_model(), chain_model(["RELU"]), open_batch()])
def test_the_picture_is_one_element_without_styles_or_scripts(builder):
    picture = card_picture(card(builder, *DELEGATE_NAMES), is_file=False)
    root = ElementTree.fromstring(picture)  # the picture was made here
    assert root.tag == "svg"
    assert {element.tag for element in root.iter()} <= {"svg", "defs", "pattern", "rect", "text", "path"}
    assert not any(name in element.attrib for element in root.iter() for name in ("style", "href", "onload"))
    assert all(text.isprintable() for element in root.iter("text") for text in element.itertext())


def test_a_file_has_its_own_style():
    root = ElementTree.fromstring(card_picture(card(chain_model(["RELU"]), "gpu", "nnapi")))
    assert root.find(f"{_NAMESPACE}style") is not None


def test_long_plans_have_few_cells():
    picture = card_picture(card(chain_model(["RELU", "ROUND"] * 1000), "gpu", "nnapi"))
    assert picture.count("<rect") < 1000

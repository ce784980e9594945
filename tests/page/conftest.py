"""Pages of models, and a browser to open them in."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.content import PageView
from delegate_sim.page.document import page
from tests.support.hostile_names import hostile_model
from tests.support.models import chain_model
from tests.support.pages import MODELS, micro_view, timed_view, views


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the addresses of pages that tests look at, by name."""
    folder = tmp_path_factory.mktemp("pages")
    block = str(MODELS / "transformer_block.tflite")
    texts = {
        "targets": page(views(block, delegates=("nnapi", "gpu", "hexagon"))),
        "models": page(views(block, str(MODELS / "mobilenet_block.tflite"))),
        "hostile": page(views(hostile_model().bytes())),
        "subgraphs": page(views(str(MODELS / "several_subgraphs.tflite"))),
        "fails": page(views(str(MODELS / "cannot_prepare.tflite"), delegates=("vx", "nnapi"))),
        "many": page(views(block, delegates=DELEGATE_NAMES)),
        "left out": page([PageView(view.model, view.run, causes_left_out="a limit") for view in views(block)]),
        "frees": page(views(str(MODELS / "convolutions.tflite"))),
        "timed": page([timed_view(str(MODELS / "many_partitions.tflite"))]),
        "micro": page([micro_view(str(MODELS / "quantized_block.tflite")), micro_view(block)]),
        "empty": page(views(chain_model(()).bytes())),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    first = {"targets": "#target=nnapi", "fails": "#target=vx", "many": "#target=nnapi"}
    return {name: (folder / f"{name}.html").as_uri() + first.get(name, "") for name in texts}


@pytest.fixture(scope="session")
def browser(system_chromium):
    """Return the system's Chromium."""
    return system_chromium

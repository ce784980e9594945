"""Imports go one way: each room of the house imports only from those below it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.architecture import PAGE, page_with_picture, rooms_imported

ROOT = Path(__file__).resolve().parents[1]

LAYERS = (
    ("errors", "text", "files", "model_files", "toml_lines", "version"),
    ("releases",),
    ("options",),
    ("model",),
    ("graph",),
    ("prepare", "rules", "nnapi_runtime"),
    ("versions", "delegates"),
    ("runtime",),
    ("results",),
    ("device", "diagnosis"),
    ("gate",),
)
"""The rooms of ``delegate_sim``, lowest first. Rooms of one layer do not import each other."""
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def modules():
    return sorted(path for path in (ROOT / "delegate_sim").rglob("*.py") if path.parent != ROOT / "delegate_sim")


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT / "delegate_sim").as_posix())
def test_a_module_imports_only_from_below(path):
    own = path.relative_to(ROOT / "delegate_sim").parts[0]
    for room in rooms_imported(path):
        assert room == own or LEVEL[room] < LEVEL[own], f"{own} imports {room}"


def test_every_room_has_a_layer():
    found = {path.stem if path.is_file() else path.name for path in (ROOT / "delegate_sim").iterdir()}
    assert found - {"__init__", "__main__", "__pycache__", "py"} <= set(LEVEL)


def test_the_package_does_not_import_the_command_line():
    for path in modules():
        assert "delegate_sim_cli" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if path.relative_to(ROOT / "delegate_sim").parts[0] not in ("delegates",)],
    ids=lambda path: path.stem,
)
def test_nothing_but_the_registry_and_the_delegates_names_a_delegate(path):
    """Code above the delegates asks ``Delegate`` for what it needs; names in documentation strings are free."""
    names = {"nnapi", "gpu", "vx", "vx-nxp", "coreml", "hexagon", "xnnpack", "mldrift"}
    strings = {
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert not strings & names


def test_the_picture_shows_the_imports_as_they_are():
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_picture(page), "run `make docs`"

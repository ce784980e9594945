"""Imports go one way: each room of the house imports only from those below it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = (
    ("errors", "text", "files", "toml_lines", "version"),
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


def imports(path, package):
    """The modules of ``package`` that a file imports, as dotted names; imports for types only are left out."""
    inside = [package, *path.relative_to(ROOT / path.relative_to(ROOT).parts[0]).with_suffix("").parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in for_types:
            continue
        if node.level:
            base = inside[: -node.level] if path.name != "__init__.py" else inside[: len(inside) - node.level]
            yield ".".join([*base, *([node.module] if node.module else [])]), [alias.name for alias in node.names]
        elif node.module and node.module.split(".")[0] == package:
            yield node.module, [alias.name for alias in node.names]


def rooms_imported(path, package="delegate_sim"):
    for module, names in imports(path, package):
        parts = module.split(".")
        yield from [parts[1]] if len(parts) > 1 else names


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

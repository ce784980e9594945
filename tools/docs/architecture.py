"""Draw the picture in docs/architecture.md: imports between the packages of ``delegate_sim``, read from the code.

``python -m tools.docs.architecture`` writes it between the page's markers.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from pathlib import Path

from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "delegate_sim"
PAGE = ROOT / "docs" / "architecture.md"
FOUNDATION = "foundation"
"""Stands for the modules directly in the package: errors, text, files, options."""


def room_of(path: Path) -> str:
    """Return the room of a module: the folder in the package, or the module's own name directly in it."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@functools.cache
def imported_names(path: Path, folder: Path = PACKAGE, name: str = "delegate_sim") -> Sequence[str]:
    """Return the dotted names that a module imports from its package, when it is loaded or later; not those for types only.

    ``folder`` is that of the package, ``name`` its name in imports.
    """
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for_types = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    package = (name, *path.relative_to(folder).parent.parts)
    names: list[str] = []
    for node in nodes:
        if not isinstance(node, ast.ImportFrom) or id(node) in for_types:
            continue
        base = package[: len(package) - node.level + 1] if node.level else ()
        target = (*base, *(node.module.split(".") if node.module else ()))
        if target[:1] == (name,):
            names += [".".join([*target, alias.name]) for alias in node.names]
    return names


def rooms_imported(path: Path, folder: Path = PACKAGE, name: str = "delegate_sim") -> Sequence[str]:
    """Return the rooms that a module imports from; see ``imported_names``."""
    return list(dict.fromkeys(dotted.split(".")[1] for dotted in imported_names(path, folder, name)))


def room_imports() -> dict[str, set[str]]:
    """Return which rooms each room imports from; the modules directly in the package are one room, the foundation."""
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    imports: dict[str, set[str]] = {room: set() for room in [*sorted(folders), FOUNDATION]}
    for path in PACKAGE.rglob("*.py"):
        own = room_of(path)
        if own in ("__init__", "__main__"):
            continue
        own = own if own in folders else FOUNDATION
        targets = {room if room in folders else FOUNDATION for room in rooms_imported(path)}
        if own != FOUNDATION:  # options know releases; that one arrow would turn the picture on its head
            imports[own] |= targets - {own}
    return imports


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out imports that lead where others lead anyway (the transitive reduction)."""

    def reachable(room: str) -> set[str]:
        return graph[room].union(*[reachable(target) for target in graph[room]])

    return {
        room: {target for target in targets if not any(target in reachable(other) for other in targets - {target})}
        for room, targets in graph.items()
    }


def picture() -> str:
    """Return the diagram in Mermaid's language."""
    edges = [
        f"    {room} --> {target}" for room, targets in sorted(reduced(room_imports()).items()) for target in sorted(targets)
    ]
    return "\n".join(["```mermaid", "flowchart TD", "    cli[cli, installed as delegate_sim_cli] --> gate", *edges, "```"])


def page_with_picture(page: str) -> str:
    """Return the page with the diagram between its markers."""
    return with_section(page, "picture", picture())


if __name__ == "__main__":
    PAGE.write_text(page_with_picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""Find functions named ``module:function`` or ``file.py:function`` without importing anything."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass

from ..foundation.files import read_whole


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module: ``folder`` is what Python's path needs in order to import ``module``."""

    path: str
    folder: str
    module: str
    name: str


def find_function(text: str) -> Function | None:
    """Return the function that a text names, None if the text has no such form. Raises OSError with what is wrong."""
    place, separator, name = text.rpartition(":")
    if not separator or not place or not name.isidentifier():
        return None
    if place.endswith(".py"):
        path = os.path.abspath(place)
        module = os.path.basename(path)[: -len(".py")]
        if not module.isidentifier():
            raise OSError(f"{module!r} is no name that a module can have")
        found = Function(path, os.path.dirname(path), module, name)
    elif all(part.isidentifier() for part in place.split(".")):
        found = _of_module(place, name)
    else:
        return None
    if name not in _functions(found.path):
        raise OSError(f"{found.path} defines no {name!r}")
    return found


def _of_module(module: str, name: str) -> Function:
    parts = module.split(".")
    for folder in (os.getcwd(), *sys.path):
        base = os.path.join(os.path.abspath(folder), *parts)
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(path):
                return Function(path, os.path.abspath(folder), module, name)
    raise OSError(f"there is no module {module!r} here or on Python's path")


def _functions(path: str) -> set[str]:
    """Return the names that a module's outermost lines define or import."""
    found = set()
    for node in _tree(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def packages_imported(path: str) -> frozenset[str]:
    """Return the outermost packages that a module imports anywhere in its text. Raises OSError."""
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _tree(path: str) -> ast.Module:
    try:
        return ast.parse(read_whole(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise OSError(f"is no Python that can be read: {error}") from None

"""Find a function named ``module:function`` or ``file.py:function`` without importing its module."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass

from ..foundation.files import read_whole


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module. To import ``module``, ``folder`` must be on Python's path."""

    path: str
    folder: str
    module: str
    name: str


def find_function(text: str) -> Function | None:
    """Return the function that ``text`` names, or None if ``text`` has another form.

    Raise OSError if there is no such function.
    """
    place, separator, name = text.rpartition(":")
    if not separator or not place or not name.isidentifier():
        return None
    if place.endswith(".py"):
        path = os.path.abspath(place)
        module = os.path.basename(path)[: -len(".py")]
        if not module.isidentifier():
            raise OSError(f"{module!r} is not a valid module name")
        function = Function(path, os.path.dirname(path), module, name)
    elif all(part.isidentifier() for part in place.split(".")):
        function = _function_of_module(place, name)
    else:
        return None
    if name not in _functions(function.path):
        raise OSError(f"{function.path} defines no {name!r}")
    return function


def _function_of_module(module: str, name: str) -> Function:
    parts = module.split(".")
    for folder in (os.getcwd(), *sys.path):
        base = os.path.join(os.path.abspath(folder), *parts)
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(path):
                return Function(path, os.path.abspath(folder), module, name)
    raise OSError(f"there is no module {module!r} here or on Python's path")


def _functions(path: str) -> set[str]:
    """Return the names that a module defines or imports at top level."""
    names = set()
    for node in _tree(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def packages_imported(path: str) -> frozenset[str]:
    """Return the top-level packages that a module imports in any place. Raise OSError if the module cannot be read."""
    packages = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return frozenset(packages)


def _tree(path: str) -> ast.Module:
    try:
        return ast.parse(read_whole(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise OSError(f"is not valid Python: {error}") from None

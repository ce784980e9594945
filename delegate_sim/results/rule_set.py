"""The version of what decides about a delegate: when it is the same, so is every verdict on the same model and target."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from ..delegates.base import Delegate

_FOLDER = Path(__file__).parent.parent
_MODULES = (
    "model/control_dependencies",
    "errors",
    "rules/explanations",
    "model/flexbuffer",
    "graph/graph",
    "runtime/interpreter",
    "model/model",
    "options",
    "graph/partition",
    "model/reader",
    "releases/notes",
    "runtime/resolver",
    "rules/rule",
    "releases/catalogue",
    "model/schema",
    "text",
)
"""What reads, prepares, judges and partitions whatever the delegate, beside the packages ``prepare`` and ``delegates``."""


def rule_set_version(delegate: Delegate) -> str:
    """Return a digest of the rules of a delegate and of all that prepares and partitions graphs for them.

    It is taken from the sources, so that nobody can forget to raise it.
    """
    return _digest(type(delegate).__module__.split(".")[-2])


@functools.cache
def _digest(delegate_package: str) -> str:
    import hashlib  # loads OpenSSL, which only reports for programs need

    digest = hashlib.sha256()
    for path in sources(delegate_package):
        name = path.relative_to(_FOLDER).as_posix()
        digest.update(f"{name}\0{path.read_text(encoding='utf-8')}\0".encode())
    return digest.hexdigest()[:12]


def sources(delegate_package: str) -> Iterator[Path]:
    """Return the files that a delegate's verdicts come from, in a fixed order."""
    for module in _MODULES:
        yield _FOLDER / f"{module}.py"
    yield from sorted((_FOLDER / "delegates").glob("*.py"))
    for folder in ("prepare", f"delegates/{delegate_package}"):
        yield from sorted((_FOLDER / folder).rglob("*.py"))

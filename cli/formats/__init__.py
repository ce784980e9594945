"""Output formats for continuous integration: each module renders all results of a command as one text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.gate.results import Results

_MODULES = {
    "markdown": "markdown",
    "github": "github",
    "sarif": "sarif",
    "junit": "junit",
    "gitlab": "gitlab",
    "csv": "comma_separated",
}

FORMATS = tuple(_MODULES)


def render(form: str, results: Results) -> str:
    """Return the results in one of ``FORMATS``, ending with a line break. Raises KeyError for an unknown format."""
    text: str = import_module(f".{_MODULES[form]}", __package__).render(results)
    return text

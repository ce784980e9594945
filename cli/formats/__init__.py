"""Output formats for continuous integration: each module makes one text from all the results of a call."""

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
    """Return the results in one of FORMATS, with a line end at the end. Raises KeyError for another name."""
    text: str = import_module(f".{_MODULES[form]}", __package__).render(results)
    return text

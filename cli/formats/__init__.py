"""Output formats for continuous integration: each renders all results of a command as one text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delegate_sim.gate.results import Results

_FUNCTIONS = {
    "markdown": "markdown.render",
    "github": "github.render",
    "sarif": "sarif.render",
    "junit": "github.junit_report",
    "gitlab": "github.gitlab_report",
    "csv": "comma_separated.render",
}
"""The function of each format, after the name of its module."""
FORMATS = tuple(_FUNCTIONS)


def render(form: str, results: Results) -> str:
    """Return the results in one of ``FORMATS``, ending with a line break. Raises KeyError for an unknown format."""
    module, function = _FUNCTIONS[form].split(".")
    text: str = getattr(import_module(f".{module}", __package__), function)(results)
    return text

"""``delegate-sim doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from delegate_sim.live.engine import Engine
from delegate_sim.live.engines import engines
from delegate_sim.live.trial import lacking
from delegate_sim.version import __version__

from ..console.layout import message
from ..console.terminal import Line, result_options, width, write_result
from ..text.elements.tables import table

SCHEMA = "delegate-sim/doctor/1"

_EPILOG = """\b
Examples:
  delegate-sim doctor
  delegate-sim analyze model.tflite --delegate npu-intel --live
"""


@click.command("doctor", epilog=_EPILOG)
@result_options
def command(form: str, output: str | None) -> None:
    """Show which real delegates can run on this host (analyze --live), and what the other delegates need.

    You install the libraries of vendors yourself, under their licenses. delegate-sim does not download, store or upload them.
    """
    results = [(engine, lacking(engine)) for engine in engines()]
    write_result(form, output, lambda: _entry(results), lambda: _lines(results))


def _entry(results: Sequence[tuple[Engine, str]]) -> dict[str, Any]:
    entries = [
        {
            "target": engine.delegate.name,
            "ready": not lacks,
            "software": engine.software,
            "lacks": lacks,
            "simulated": not engine.delegate.is_live_only,
        }
        for engine, lacks in results
    ]
    return {"schema": SCHEMA, "tool": {"name": "delegate-sim", "version": __version__}, "engines": entries}


def _lines(results: Sequence[tuple[Engine, str]]) -> list[Line]:
    rows = []
    for engine, lacks in results:
        words = f"lacks {message(lacks)}" if lacks else f"ready ({message(engine.software)})"
        words += "; can run live, but is not simulated" if engine.delegate.is_live_only else ""
        rows.append((engine.delegate.name, words))
    return [Line("Real delegates on this host, each tested with a one-node model", "bold"), *table(rows, (), width())]

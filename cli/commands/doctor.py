"""``delegate-sim doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from delegate_sim.foundation.documents import head
from delegate_sim.live.litert_lm import engine as litert_lm
from delegate_sim.live.trial import tested_engines

from ..console.layout import message
from ..console.output_file import FileCommand
from ..console.terminal import Line, result_options, width, write_result
from ..text.elements.paragraphs import paragraph
from ..text.elements.tables import table

_EPILOG = """\b
Examples:
  delegate-sim doctor
  delegate-sim analyze model.tflite --delegate npu-intel --live
  delegate-sim analyze llm.litertlm --option backend=cpu --live
"""


@click.command("doctor", cls=FileCommand, epilog=_EPILOG)
@result_options
def command(form: str, output: str | None) -> None:
    """Show which real delegates can run on this host (analyze --live), and what the other delegates need.

    You install the libraries of vendors yourself, under their licenses. delegate-sim does not download, store or upload them.
    """
    results = [
        _Result(engine.delegate.name, engine.software, lacks, not engine.delegate.is_live_only)
        for engine, lacks in tested_engines()
    ]
    results.append(_Result(litert_lm.NAME, litert_lm.software(), litert_lm.try_engine(), True))
    write_result(form, output, lambda: _entry(results), lambda: _lines(results))


class _Result(NamedTuple):
    """A delegate or engine: its name, version, the requirements that this host does not meet, and whether it can be simulated."""

    target: str
    software: str
    lacks: str
    is_simulated: bool


def _entry(results: Sequence[_Result]) -> dict[str, Any]:
    entries = [
        {
            "target": result.target,
            "ready": not result.lacks,
            "software": result.software,
            "lacks": result.lacks,
            "simulated": result.is_simulated,
        }
        for result in results
    ]
    return {**head("doctor"), "engines": entries}


def _lines(results: Sequence[_Result]) -> list[Line]:
    rows = []
    for result in results:
        words = f"lacks {message(result.lacks)}" if result.lacks else f"ready ({message(result.software)})"
        words += "" if result.is_simulated else "; can run live, but is not simulated"
        rows.append((result.target, words))
    title = "Real delegates on this host, each tested with a one-node model, and LiteRT-LM's engine, which runs bundles"
    return [*paragraph(title, width(), style="bold"), *table(rows, (), width())]

"""``delegate-sim doctor``."""

from __future__ import annotations

import json

import click

from delegate_sim.live.engines import engines
from delegate_sim.version import __version__

from ..layout import wrapped
from ..terminal import Line, width, write, write_lines

SCHEMA = "delegate-sim/doctor/1"

_CLOSED = "Qualcomm's plugin, whose rules are closed, can be neither simulated nor, so far, run here."
_EPILOG = """\b
Examples:
  delegate-sim doctor
  delegate-sim analyze model.tflite --delegate npu-intel --live
"""


@click.command("doctor", epilog=_EPILOG)
@click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True, help="Text to read, or JSON."
)
def command(form: str) -> None:
    """Say which delegates can be run on this host (analyze --live), and what the others lack.

    The libraries of vendors are yours, and so are their licences: nothing of them is downloaded, stored or passed on.
    """
    found = list(engines())
    if form == "json":
        entries = [
            {
                "target": each.delegate.name,
                "ready": each.is_ready,
                "software": each.software,
                "lacks": each.lacks,
                "needs": each.needs,
            }
            for each in found
        ]
        document = {"schema": SCHEMA, "tool": {"name": "delegate-sim", "version": __version__}, "engines": entries}
        write(json.dumps(document, indent=2) + "\n", "json")
        return
    column = max(len(each.delegate.name) for each in found)
    lines = [Line("Real delegates on this host", "bold")]
    for each in found:
        words = (
            f"lacks {each.lacks}"
            if each.lacks
            else f"needs {each.needs}; tried when asked"
            if each.needs
            else f"ready ({each.software})"
        )
        label = f"  {each.delegate.name:<{column}}  "
        lines += [Line(line) for line in wrapped(words, width(), label, " " * len(label))]
    lines += [Line(line) for line in wrapped(_CLOSED, width(), "", "")]
    write_lines(lines)

"""``delegate-sim doctor``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.live.trial import TestedEngines, tested_engines

from ..console.layout import message
from ..console.output_file import FileCommand, Outputs
from ..console.terminal import Line, result_options, width, write_result
from ..options.shared import sdk_option
from ..text.elements.paragraphs import paragraph, table

_EPILOG = """\b
Examples:
  delegate-sim doctor
  delegate-sim doctor --sdk ~/exynos-ai-litecore
  delegate-sim analyze model.tflite --delegate npu-intel --live
  delegate-sim analyze llm.litertlm --option backend=cpu --live
"""


@click.command("doctor", cls=FileCommand, epilog=_EPILOG)
@sdk_option
@result_options
def command(sdks: Sequence[str], outputs: Outputs) -> None:
    """Show which real delegates can run on this host (analyze --live), and what the other delegates need.

    You install the libraries of vendors yourself, under their licenses. delegate-sim does not download, store or upload them.
    """
    trials = tested_engines(sdks)
    write_result(outputs, trials.to_dict, lambda: _lines(trials))


def _lines(trials: TestedEngines) -> list[Line]:
    rows = []
    for result in trials.engines:
        words = f"lacks {message(result.lacks)}" if result.lacks else f"ready ({message(result.software)})"
        words += "" if result.is_simulated else "; can run live, but is not simulated"
        if result.built is False:
            words += f"; compiles nothing: {message('; '.join(result.problems))}"
        missing = [name for name, path in result.libraries.items() if path is None]
        if missing and result.lacks:
            folders = ", ".join(result.searched) or "no folder"
            words += f"; not found: {', '.join(missing)} (in {message(folders)}, and then in the folders of the system's loader)"
        rows.append((result.target, words))
    title = "Real delegates on this host, each tested with a one-node model, and LiteRT-LM's engine, which runs bundles"
    return [*paragraph(title, width(), style="bold"), *table(rows, (), width())]

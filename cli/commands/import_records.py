"""``delegate-sim import-records``."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.device.record_files import read_records
from delegate_sim.device.records import DIFFERENT, EQUAL, score_records

from ..console.output_file import FileCommand, Outputs
from ..console.terminal import result_options, width, write_result
from ..exits import DONE, FINDINGS
from ..models import model_paths
from ..options.delegate_flags import DelegateName
from ..options.targets import runtime_option
from ..text.device.scoreboard import scoreboard_lines

_EPILOG = """\b
Records:
  device_run_result and matrix of edge-compat (JSON)
  a profile of Qualcomm AI Hub (the JSON of ProfileJob.download_profile)
  logs of benchmark_model and of applications, as for reconcile

\b
Examples:
  delegate-sim import-records runs/*.json --models models/
  delegate-sim import-records gpu_mldrift__2.2.0.json
  delegate-sim import-records profile.json --models model.tflite
  delegate-sim import-records benchmark.txt --models model.tflite --format json

\b
Exit codes:
  0  all compared records are equal to the simulation
  1  a record differs, or no record can be compared
  2  a record file cannot be read

A record names its model. The model is taken from --models by its file name. A profile names no model, so give one model.
"""


@click.command("import-records", cls=FileCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "--models",
    "models",
    metavar="PATH",
    multiple=True,
    type=click.Path(readable=False),
    help="A model, or a folder with the models that the records name; may be given several times.",
)
@click.option(
    "--delegate", default=None, type=DelegateName(DELEGATE_NAMES), help="The delegate of records that do not name an accelerator."
)
@runtime_option("The release of records that do not name one.", "the newest")
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every record; leave nothing out.")
def command(
    files: Sequence[str],
    models: Sequence[str],
    delegate: str | None,
    release: str | None,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Compare records of device runs that others publish with the simulation.

    Each FILE is split into what identifies a run and what was recorded. The simulation uses only the first part. Then the output
    says for each record whether the prediction is equal, and the class of each difference.
    """
    records = [record for path in dict.fromkeys(files) for record in read_records(path)]
    board = score_records(records, {os.path.basename(path): path for path in model_paths(models)}, delegate, release)
    write_result(outputs, board.to_dict, lambda: scoreboard_lines(board, width(), verbose))
    return FINDINGS if board.count(DIFFERENT) or not board.count(EQUAL) else DONE

"""``delegate-sim diagnose``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim import load
from delegate_sim.diagnosis.diagnose import diagnose

from ..delegate_flags import DelegateCommand
from ..target_options import chosen_target, target_options
from ..terminal import result_options, width, write_result
from ..text.diagnose import diagnosis_entry, diagnosis_lines

_EPILOG = """\b
Examples:
  delegate-sim diagnose model.tflite
  delegate-sim diagnose model.tflite --delegate gpu
  delegate-sim diagnose model.tflite --delegate nnapi --feature-level 30 --driver-rejects MEAN
  delegate-sim diagnose model.tflite --format json --output causes.json

What removing a cause would bring is simulated: for a version, with the version that the converter would write without the
feature; for shapes, with those in the file; for a level or a limit, with the option changed; for all others, as if the delegate
accepted the nodes. Multiply-adds and bytes are counts, not an estimate of latency.
"""


@click.command("diagnose", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@target_options
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every cause and node; leave nothing out.")
def command(
    path: str,
    delegate: str,
    pairs: Sequence[str],
    release: str,
    defaults: str,
    form: str,
    output: str | None,
    verbose: bool,
    **flags: str | None,
) -> None:
    """Show what keeps nodes of a MODEL off a delegate, what each cause costs, and what to change.

    Refusals that one change would remove are one cause: a converter setting, an operator, a shape, a rank, a type, the driver.
    The costliest comes first, with the result if it alone were removed, and if it and all causes before it were removed.
    """
    target = chosen_target(delegate, pairs, release, defaults, flags)
    diagnosis = diagnose(load(path), target)
    write_result(form, output, lambda: diagnosis_entry(diagnosis), lambda: diagnosis_lines(diagnosis, width(), verbose))

"""``delegate-sim releases``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from delegate_sim.graph.effort import Effort
from delegate_sim.releases.catalogue import EXAMPLES, package_lines
from delegate_sim.results.compare.release_table import ReleaseTable, release_table
from delegate_sim.runtime.target import target_names

from ..answers import Answer, ModelTable, write_all
from ..console.layout import help_rows
from ..console.output_file import Outputs
from ..console.terminal import Line, table_options, width
from ..models import Models, Unreadable, print_not_simulated, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.targets import TargetArguments, delegates_option, target_arguments
from ..text.many import RELEASED, details_hint, released_row, targets_lines
from ..text.releases import releases_lines

_EXAMPLES = ", ".join(EXAMPLES[:3])
_CONTAINED = help_rows([(line[: -len(text)], text) for line in package_lines() for text in [line.split(maxsplit=2)[-1]]])
_EPILOG = f"""\b
Examples:
  delegate-sim releases model.tflite --delegate xnnpack
  delegate-sim releases model.tflite --delegate xnnpack --format json --output releases.json

If the rules of a TensorFlow release are not known, the rules of the LiteRT release from the same time are used. The output then
has a note.

In other commands, --runtime also takes releases of LiteRT-LM, and packages on Maven, npm or PyPI, such as {_EXAMPLES}.

\b
Releases of LiteRT-LM contain these releases of LiteRT:
{_CONTAINED}
"""


@click.command("releases", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@target_arguments(delegates_option(), runtime=())
@table_options
@click.option("-v", "--verbose", is_flag=True, help="Show every change and node; leave nothing out.")
def command(paths: Sequence[str], arguments: TargetArguments, outputs: Outputs, verbose: bool) -> int:
    """Show how each release of the runtime treats each MODEL.

    The table has one row for each range of releases with the same result. Below the table are the nodes that move to or from
    the delegate between two ranges, with reasons. The output also names the releases that delegate the whole model, and the first
    release that loads the model.
    """
    targets = arguments.targets()
    models = Models(paths)
    labels = target_names(targets)

    def answer(path: str) -> Answer:
        model = read_model(path, targets)
        effort = Effort(model)
        tables = [release_table(model, target, effort=effort) for target in models.affordable(path, targets, effort)]
        return Answer(
            lambda: [table.to_dict() for table in tables],
            lambda: _lines(tables, labels, verbose),
            lambda: _rows(tables, labels),
            lambda: [(path, label, table) for table, label in zip(tables, labels, strict=False)],
        )

    return write_all(models, outputs, ModelTable(RELEASED, verbose, _sheet), answer)


def _sheet(tables: Sequence[tuple[str, str, ReleaseTable]], unreadable: Sequence[Unreadable]) -> str:
    from ..formats.sheets import releases_sheet

    for path, _, table in tables:
        print_not_simulated(path, table.delegate.name, table.not_simulated)
    return releases_sheet(tables, unreadable)


def _rows(tables: Sequence[ReleaseTable], labels: Sequence[str]) -> list[Sequence[str]]:
    return [released_row(table, label) for table, label in zip(tables, labels, strict=False)]


def _lines(tables: Sequence[ReleaseTable], labels: Sequence[str], is_verbose: bool) -> Iterator[Line]:
    several = len(tables) > 1
    if several:
        yield from targets_lines(RELEASED, _rows(tables, labels), [table.newest for table in tables], width())
        if not is_verbose:
            yield from details_hint()
            return
    for table, label in zip(tables, labels, strict=False):
        if several:
            yield Line("")
        yield from releases_lines(table, label, width(), is_verbose)

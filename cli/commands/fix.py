"""``delegate-sim fix``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim.fixing.fix import SAMPLES, Fixed, check_free, fix, second_path_of
from delegate_sim.fixing.given_shapes import parse_shapes
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.search import search, split_tail
from delegate_sim.runtime.target import Target

from ..console.terminal import format_option, show_progress, width, write_result
from ..exits import DONE, FINDINGS
from ..models import one_path, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.targets import for_option, for_targets_options
from ..text.fix import fix_entry, fix_lines

_EPILOG = """\b
Examples:
  delegate-sim fix model.tflite --delegate nnapi -o fixed.tflite
  delegate-sim fix model.tflite --delegate nnapi --delegate gpu --plan
  delegate-sim fix model.tflite --delegate nnapi --pass own-versions -o fixed.tflite
  delegate-sim fix model.tflite --delegate gpu --shape input=1,224,224,3 -o fixed.tflite --data inputs.npz

A pass is a small rewrite (docs/passes.md lists them). Each pass is simulated and kept if it improves the result: first more
multiply-adds delegated, then fewer kernels, boundary bytes and partitions. With several targets, at least one must improve and
none get worse. Before the model is written, both models run on this CPU (pip install 'delegate-sim[fix]'). If an exact pass
changes one bit of an output, fix fails. The exit code is 1 if no pass helps.
"""

_KINDS = {kind.name.lower(): kind for kind in Exactness}


@click.command("fix", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@for_option("A delegate to rewrite the model for; may be given several times.")
@click.option("-o", "--output", "written", metavar="FILE", type=click.Path(), help="Where to write the rewritten model.")
@click.option("--plan", "plans", is_flag=True, help="Show the search; write nothing.")
@click.option(
    "--allow",
    type=click.Choice(tuple(_KINDS)),
    default="rounding",
    show_default=True,
    help="Passes to try: only those that keep every bit, also those that change rounding, or also approximate ones.",
)
@click.option(
    "--pass",
    "passes",
    metavar="NAME",
    type=click.Choice(tuple(PASSES)),
    multiple=True,
    help="Try only this pass, whatever --allow says; may be given several times.",
)
@click.option(
    "--shape",
    "shapes",
    metavar="INPUT=SIZES",
    multiple=True,
    help="Fix the shape of an input, as in input=1,224,224,3, and fold what becomes constant; may be given several times.",
)
@click.option(
    "--split-tail",
    "splits",
    is_flag=True,
    help="Write the last nodes, if they stay on the CPU, to a second model, FILE.tail.tflite.",
)
@click.option("--data", metavar="FILE.npz", multiple=True, type=click.Path(), help="More inputs to compare both models on.")
@click.option("--samples", type=click.IntRange(0), default=SAMPLES, show_default=True, help="How many random inputs to generate.")
@click.option("--no-proof", is_flag=True, help="Write the model without running it.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@for_targets_options
@format_option("The format of the report.")
@click.option("-v", "--verbose", is_flag=True, help="Also show the passes that were not kept, and every output.")
def command(
    path: str,
    targets: Sequence[Target],
    written: str | None,
    plans: bool,
    allow: str,
    passes: Sequence[str],
    shapes: Sequence[str],
    splits: bool,
    data: Sequence[str],
    samples: int,
    no_proof: bool,
    force: bool,
    form: str,
    verbose: bool,
) -> int:
    """Rewrite MODEL so that delegates take more of it, and check that it still computes the same."""
    if plans == (written is not None):
        raise click.UsageError("give -o FILE to write the rewritten model, or --plan to see the changes only")
    if samples + len(data) == 0 and not no_proof:
        raise click.UsageError("without inputs the models cannot be compared: give --samples, --data or --no-proof")
    path = one_path(path)
    model = read_model(path)
    if written is not None:
        check_free(model, [written, second_path_of(written)] if splits else [written], replaces=force)
    show_progress(f"trying passes on {path}")
    given = parse_shapes(model, shapes)
    chosen = {name: PASSES[name] for name in passes} or PASSES
    allowed = max([PASSES[name].exactness for name in passes], default=_KINDS[allow])
    plan = search(model, targets, allowed, given, chosen, lambda step: show_progress(f"trying passes on {path}: {step}"))
    if splits:
        plan = split_tail(plan)
    result: Fixed | None = None
    if written is not None and plan.is_changed:
        show_progress(f"running {path} and the rewritten model")
        try:
            result = fix(plan, written, replaces=force, proves=not no_proof, data=data, samples=samples)
        except OSError as error:
            raise click.ClickException(f"{written}: {error.strerror or error}") from error
    write_result(form, None, lambda: fix_entry(plan, result), lambda: fix_lines(plan, result, width(), verbose, splits))
    return DONE if plan.is_changed else FINDINGS

"""``delegate-sim fix``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from delegate_sim.bundles.formats import LITERTLM, TASK, format_at
from delegate_sim.fixing.fix import SAMPLES, SAMPLES_OF_BOUNDS, Fixed, fix, fix_document, fixes_document, second_path_of
from delegate_sim.fixing.passes.base import Exactness, Pass
from delegate_sim.fixing.passes.catalogue import PASSES, choose_passes
from delegate_sim.fixing.search import FixPlan, search, split_tail, try_approximate, try_shapes
from delegate_sim.foundation.files import naming_file
from delegate_sim.foundation.outputs import OutputFile, declare_outputs
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.fixed_inputs import parse_shapes
from delegate_sim.runtime.target import Target, per_target_path, with_labels

from ..console.output_file import Outputs, is_forced, output_option
from ..console.terminal import format_option, show_progress, width, write_result
from ..exits import DONE, FINDINGS
from ..models import Models, naming_its_model, one_path, read_model
from ..options.delegate_flags import DelegateCommand
from ..options.shared import OpProfileArguments, op_profile_option
from ..options.targets import TargetArguments, delegates_option, target_arguments
from ..text.fix import fixes_lines, times_of

_EPILOG = """\b
Examples:
  delegate-sim fix model.tflite --delegate nnapi --android 11 --android 13 -o fixed.tflite
  delegate-sim fix model.tflite --delegate nnapi --pass own-versions -o fixed.tflite
  delegate-sim fix model.tflite --delegate gpu --shape input=1,224,224,3 -o fixed.tflite --data inputs.npz
  delegate-sim fix model.tflite --micro -o fixed.tflite
  delegate-sim fix llm.litertlm --delegate mldrift -o fixed.litertlm

A pass is a small rewrite (docs/passes.md). fix keeps a pass if the simulated result is better. Results are compared by delegated
multiply-adds first, and then by kernels, boundary bytes and partitions. With several targets, a pass must improve at least one
target and make no target worse. Before fix writes a model, it runs the original and the new model on this CPU and compares the
outputs (pip install '.[fix]'). If an exact pass changes an output, fix fails. The exit code is 1 if no pass helps.
"""

_NODES_OF_A_SEARCH = 500
"""A search takes at least about as long as the simulation of this number of nodes."""
_BOTH = "give --plan or -o, not both: --plan writes no file"
_NEITHER = "give -o FILE to write the rewritten model, or --plan to see only the changes"
_NOT_OF_BUNDLES = (
    "for a bundle, --micro, --shape, --split-tail, --per-target, --data and --op-profile are not available: name a model in the "
    "bundle instead"
)
_KINDS = {kind.name.lower(): kind for kind in Exactness}


@click.command("fix", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@delegates_option(description="A delegate to rewrite the model for; may be given several times.")
@output_option("The file for the rewritten model.", name="written", is_declared=False, force="Replace the file if it exists.")
@click.option("--plan", "plans", is_flag=True, help="Show the result of each pass; write no file.")
@click.option(
    "--allow",
    type=click.Choice(tuple(_KINDS)),
    default="rounding",
    show_default=True,
    help="exact: keep every bit; rounding: also passes that change rounding; approximate: all passes.",
)
@click.option(
    "--pass",
    "passes",
    metavar="NAME",
    type=click.Choice(tuple(PASSES)),
    multiple=True,
    help="Try only these passes; repeatable.",
)
@click.option(
    "--shape",
    "shapes",
    metavar="INPUT=SIZES",
    multiple=True,
    help="Fix the shape of an input, and fold the nodes that become constant.",
)
@click.option(
    "--split-tail",
    "splits",
    is_flag=True,
    help="Write the last nodes that stay on the CPU to a second model, FILE.tail.tflite.",
)
@click.option("--per-target", is_flag=True, help="Write a separate model for each target, FILE.TARGET.tflite.")
@click.option("--data", metavar="FILE.npz", multiple=True, type=click.Path(), help="More inputs to compare both models on.")
@click.option(
    "--samples",
    type=click.IntRange(0),
    show_default=f"{SAMPLES} or {SAMPLES_OF_BOUNDS}",
    help="Random inputs to run.",
)
@click.option("--no-proof", is_flag=True, help="Write the model without running it.")
@op_profile_option
@target_arguments()
@format_option("The format of the report.")
@click.option("-v", "--verbose", is_flag=True, help="Show every pass tried, and every output.")
@naming_its_model
def command(
    path: str,
    arguments: TargetArguments,
    profiles: OpProfileArguments,
    written: str | None,
    plans: bool,
    allow: str,
    passes: Sequence[str],
    shapes: Sequence[str],
    splits: bool,
    per_target: bool,
    data: Sequence[str],
    samples: int | None,
    no_proof: bool,
    form: str,
    verbose: bool,
) -> int:
    """Rewrite MODEL so that delegates take more nodes, and check that the outputs are the same."""
    if plans == (written is not None):
        raise click.UsageError(_BOTH if plans else _NEITHER)
    if samples == 0 and not data and not no_proof:
        raise click.UsageError("the models cannot be compared without inputs: give --samples, --data or --no-proof")
    targets = arguments.targets()
    is_micro = any(target.delegate.runs_whole_models for target in targets)
    if format_at(path) in (LITERTLM, TASK):
        if is_micro or shapes or splits or per_target or data or profiles.paths:
            raise click.UsageError(_NOT_OF_BUNDLES)
        return _fix_bundle(path, targets, written, choose_passes(passes, _KINDS[allow]), no_proof, samples, form, verbose)
    path = one_path(path)
    model = read_model(path, targets)
    if is_micro and (shapes or splits or len(targets) > 1):
        raise click.UsageError("--micro does not take a delegate, --shape or --split-tail")
    jobs = [(tuple(targets), written)]
    if per_target:
        labeled = with_labels(targets)
        jobs = [((target,), None if written is None else per_target_path(written, label)) for label, target in labeled]
    files = [file for _, file in jobs if file is not None]
    declare_outputs([OutputFile(file, is_forced()) for file in [*files, *(map(second_path_of, files) if splits else ())]])
    timings = {target.delegate.name: own for target in targets if (own := profiles.timings(model, [target]))}
    given = parse_shapes(model, shapes)
    allowed, chosen = choose_passes(passes, _KINDS[allow])

    report = _progress(path)

    def wrote(plan: FixPlan, file: str | None) -> Fixed | None:
        if file is None or not plan.is_changed:
            return None
        show_progress(f"running {path} and the rewritten model")
        with naming_file(file, click.ClickException):
            return fix(plan, file, replaces=is_forced(), proves=not no_proof, data=data, samples=samples)

    results: list[tuple[FixPlan, Fixed | None]] = []
    models = Models([path])
    effort = Effort(model) if per_target else None
    begun = models.affordable(path, targets, effort) if effort else targets[:1]
    for (together, file), _ in zip(jobs, begun, strict=False):
        if effort:
            effort.spend_nodes(_NODES_OF_A_SEARCH)
        plan = search(model, together, allowed, given, chosen, report, effort=effort)
        plan = try_shapes(plan, chosen, report, effort)
        if splits:
            plan = split_tail(plan)
        plan = try_approximate(plan, chosen, report)
        results.append((plan, wrote(plan, file)))
    times = [times_of(plan, timings) if timings else None for plan, _ in results]
    write_result(
        Outputs(form),
        lambda: fixes_document(path, results, times) if per_target else fix_document(*results[0], times[0]),
        lambda: fixes_lines(results, width(), verbose, splits, timings),
    )
    return models.exit_code or (DONE if any(plan.is_changed for plan, _ in results) else FINDINGS)


def _fix_bundle(
    path: str,
    targets: Sequence[Target],
    written: str | None,
    allowed: tuple[Exactness, Mapping[str, Pass]],
    no_proof: bool,
    samples: int | None,
    form: str,
    verbose: bool,
) -> int:
    from delegate_sim.fixing.bundle_fix import fix_bundle, search_bundle

    from ..text.bundles import bundle_fix_lines

    if written is not None:
        declare_outputs([OutputFile(written, is_forced())])
    bundle = search_bundle(path, targets, allowed[0], _progress(path), allowed[1])
    if written is not None and bundle.is_changed:
        show_progress(f"running the models of {path}")
        with naming_file(written, click.ClickException):
            bundle = fix_bundle(bundle, written, replaces=is_forced(), proves=not no_proof, samples=samples)
    write_result(Outputs(form), bundle.to_dict, lambda: bundle_fix_lines(bundle, width(), verbose))
    return DONE if bundle.is_changed else FINDINGS


def _progress(path: str) -> Callable[[str], None]:
    show_progress(f"trying passes on {path}")
    return lambda step: show_progress(f"trying passes on {path}: {step}")

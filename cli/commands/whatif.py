"""``delegate-sim whatif``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import click

from delegate_sim.delegates.options import parse_options
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.goal_search import Goal, parse_goal, search
from delegate_sim.foundation.parsing.shapes import parse_shape
from delegate_sim.hypothetical.hypothetical_changes import CONVERSIONS, HypotheticalChanges, NodeKey
from delegate_sim.model.model import Model
from delegate_sim.model.schema import is_operator
from delegate_sim.results.compare.comparison import compare, hypothetical_side, simulated_side
from delegate_sim.runtime.target import Target

from ..answers import Answer, ModelTable, write_all
from ..console.output_file import Outputs
from ..console.terminal import result_options, width
from ..models import Models, read_model
from ..options.delegate_flags import DelegateCommand, given_options
from ..options.shared import OpProfileArguments, op_profile_option
from ..options.targets import ONE_DELEGATE_OPTION, TargetArguments, target_arguments
from ..text.diagnoses import search_lines
from ..text.many import COMPARED, SEARCHED, searched_row, shortened
from .compare import comparison_answer

_EPILOG = """\b
Examples:
  delegate-sim whatif model.tflite --accept MEAN --accept node:17
  delegate-sim whatif model.tflite --set-version FULLY_CONNECTED=4
  delegate-sim whatif model.tflite --delegate nnapi --base android=10 --android 11
  delegate-sim whatif model.tflite --to int8 --delegate hexagon
  delegate-sim whatif model.tflite --driver-rejects MEAN --search 3
  delegate-sim whatif model.tflite --search multiply-adds=90%

Side A is the unchanged model on a target with the settings of --base. All other options of A's target have their defaults. Side B
is the model with the changes of --accept, --set-version, --batch, --resize, --fix-shapes and --to. B's target has all other
options.
"""

_NODE = re.compile(r"node:(?:([0-9]{1,10}):)?([0-9]{1,10})")
_RUNTIME = "runtime"


@click.command("whatif", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("paths", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "--accept",
    "accepted",
    metavar="OP|node:N",
    multiple=True,
    help="Assume that the delegate accepts an operator, or node N (node:S:N in subgraph S).",
)
@click.option(
    "--set-version",
    "versions",
    metavar="OP=VERSION",
    multiple=True,
    help="Assume that an operator, or node:N, has another version.",
)
@click.option("--batch", metavar="N", type=int, help="Assume the first dimension N in every input.")
@click.option("--resize", "resized", metavar="INPUT=SIZES", multiple=True, help="Resize an input, as input=1,224,224,3.")
@click.option("--fix-shapes", is_flag=True, help="Assume that every tensor keeps the shape in the model file.")
@click.option(
    "--to",
    "conversion",
    type=click.Choice(tuple(CONVERSIONS)),
    metavar="CONVERSION",
    help=f"Assume another conversion: {', '.join(CONVERSIONS)}.",
)
@click.option(
    "--base", "base", metavar="KEY=VALUE", multiple=True, help="A setting of side A: an option of the delegate, or the runtime."
)
@click.option(
    "--search",
    "goal",
    metavar="GOAL",
    help="Find the fewest causes to fix for a goal: at most N partitions (N), at most N kernels (kernels=N), or at least "
    "P percent of multiply-adds delegated (multiply-adds=P%).",
)
@op_profile_option
@target_arguments(ONE_DELEGATE_OPTION)
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every group of nodes; leave nothing out.")
def command(
    paths: Sequence[str],
    accepted: Sequence[str],
    versions: Sequence[str],
    batch: int | None,
    resized: Sequence[str],
    fix_shapes: bool,
    conversion: str | None,
    base: Sequence[str],
    goal: str | None,
    arguments: TargetArguments,
    profiles: OpProfileArguments,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Show the effect of hypothetical changes to each MODEL, to the delegate or to the runtime.

    Side A is the unchanged model. Side B is the model with the hypothetical changes. The output shows log lines, numbers, and the
    nodes that move to or from the delegate.
    """
    after = arguments.target()
    hypothetical = _hypothetical(accepted, versions, batch, fix_shapes, conversion)
    hypothetical = replace(hypothetical, resized=dict(map(parse_shape, resized)))
    models = Models(paths)
    profiles.check(len(models.paths))
    if goal is not None:
        if profiles.paths:
            raise click.UsageError("--search does not take --op-profile")
        if hypothetical != HypotheticalChanges() or base:
            raise click.UsageError(
                "--search can be combined only with options of the delegate: leave out hypothetical changes and --base"
            )
        aim = parse_goal(goal)
        table = ModelTable(SEARCHED, is_left_out=verbose)
        return write_all(models, outputs, table, lambda path: _searched(read_model(path, [after]), after, aim, verbose))
    before = _before(after, base)
    if before == after and hypothetical == HypotheticalChanges():
        raise click.UsageError(
            "nothing to change: give --accept, --set-version, --batch, --resize, --fix-shapes, --to or an option of the delegate"
        )

    def assumed(path: str) -> Answer:
        model = read_model(path, [after])
        comparison = compare(simulated_side(model, before), hypothetical_side(model, after, hypothetical))
        return comparison_answer(comparison, profiles, verbose, _words(hypothetical))

    return write_all(models, outputs, ModelTable(COMPARED, is_left_out=verbose), assumed)


def _searched(model: Model, target: Target, aim: Goal, verbose: bool) -> Answer:
    diagnosis = diagnose(model, target)
    search_result = search(diagnosis, aim)
    return Answer(
        lambda: [search_result.to_dict()],
        lambda: search_lines(search_result, diagnosis.run, width(), verbose),
        lambda: [searched_row(search_result)],
    )


_VERSION = re.compile(r"0*[1-9][0-9]{0,9}")
_HIGHEST_VERSION = (1 << 31) - 1
"""The highest operator version that a file can store."""


def _hypothetical(
    accepted: Sequence[str], versions: Sequence[str], batch: int | None, fix_shapes: bool, conversion: str | None
) -> HypotheticalChanges:
    ops, nodes = set(), set()
    for text in accepted:
        key = _node(text)
        if key is None:
            ops.add(_operator(text))
        else:
            nodes.add(key)
    op_versions, node_versions = {}, {}
    for text in versions:
        what, equals, version = text.rpartition("=")
        if not equals or not _VERSION.fullmatch(version) or int(version) > _HIGHEST_VERSION:
            fault = f"takes OP=VERSION or node:N=VERSION, with a version from 1 to 2^31 - 1, not {shortened(text, 60)!r}"
            raise click.BadParameter(fault, param_hint="'--set-version'")
        key = _node(what)
        if key is None:
            op_versions[_operator(what)] = int(version)
        else:
            node_versions[key] = int(version)
    return HypotheticalChanges(
        frozenset(ops), frozenset(nodes), op_versions, node_versions, batch, conversion=conversion or "", fixed_shapes=fix_shapes
    )


def _words(hypothetical: HypotheticalChanges) -> str:
    accepted = [*sorted(hypothetical.accepted_ops), *[f"node {_place(key)}" for key in sorted(hypothetical.accepted_nodes)]]
    versions = [f"{op} at version {version}" for op, version in hypothetical.op_versions.items()]
    versions += [f"node {_place(key)} at version {version}" for key, version in hypothetical.node_versions.items()]
    words = [f"accepted: {', '.join(accepted)}"] if accepted else []
    words += versions
    words += [f"batch {hypothetical.batch}"] if hypothetical.batch is not None else []
    words += [f"input {name} resized to {list(shape)}" for name, shape in hypothetical.resized.items()]
    words += [f"converted to {hypothetical.conversion}"] if hypothetical.conversion else []
    words += ["shapes as in the model file"] if hypothetical.fixed_shapes else []
    return "; ".join(words)


def _place(key: NodeKey) -> str:
    return f"{key.subgraph}:{key.node}" if key.subgraph else str(key.node)


def _node(text: str) -> NodeKey | None:
    match = _NODE.fullmatch(text)
    return NodeKey(int(match[1] or 0), int(match[2])) if match else None


def _operator(text: str) -> str:
    upper = text.upper().replace("-", "_")
    return upper if is_operator(upper) else text


def _before(after: Target, pairs: Sequence[str]) -> Target:
    own, settings = [], {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key == _RUNTIME:
            settings[key] = value
        else:
            own.append(pair)
    (given,) = given_options([after.delegate], own, {})
    options = parse_options(after.delegate.name, after.delegate.options, given, after.defaults)
    release = after.delegate.release_of(settings[_RUNTIME]) if _RUNTIME in settings else after.release
    return after._replace(options=options, release=release)

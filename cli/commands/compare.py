"""``delegate-sim compare``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import canonical_names, option_names, parse_options
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, find_live
from delegate_sim.delegates.traits import Ranking
from delegate_sim.diagnosis.advice.node_advice import advised_comparison
from delegate_sim.errors import ModelError
from delegate_sim.foundation.printable import suggestion
from delegate_sim.live.live_runs import run_side
from delegate_sim.model.model import Model
from delegate_sim.releases.catalogue import Release
from delegate_sim.results.compare.comparison import Comparison, Side, compare
from delegate_sim.results.report.coverage import best_run
from delegate_sim.results.report.measures import awaits_compiler
from delegate_sim.runtime.target import Target, releases_of

from ..answers import Answer, ModelTable, write_all
from ..console.output_file import Outputs
from ..console.terminal import result_options
from ..models import Models, model_paths, read_model, stands_for_many
from ..options.delegate_flags import DelegateCommand, given_options
from ..options.shared import OpProfileArguments, op_profile_option
from ..options.targets import TWO_DELEGATES_OPTION, TargetArguments, refuse_foreign_flags, target_arguments
from ..text.compare import timed_entry, timed_lines
from ..text.many import COMPARED, compared_row

_EPILOG = """\b
Examples:
  delegate-sim compare before.tflite after.tflite --delegate gpu
  delegate-sim compare model.tflite --delegate nnapi --android 11 --android 13
  delegate-sim compare model.tflite --delegate gpu --delegate mldrift
  delegate-sim compare model.tflite --runtime tf-2.15 --with runtime=litert-2.3
  delegate-sim compare a.tflite b.tflite --delegate vx --format json --output compare.json

Side A is the first model. Its target has the options that you give. Without options, the target is the first target of the
configuration. Side B is the second model, or A's model if you give only one model. B's target is A's target, with the changes of
--with or with the second --delegate. With two devices, each side has the device's best target for its model. An option applies
only to a delegate that has the option. Nodes are matched by structure, so renumbered or renamed nodes still match. Multiply-adds
are counts, not an estimate of latency.
"""

_DELEGATE, _RUNTIME, _DEFAULTS = "delegate", "runtime", "defaults"
_KEYS = (_DELEGATE, _RUNTIME, _DEFAULTS)


@click.command("compare", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path_a", metavar="MODEL", type=click.Path(readable=False))
@click.argument("path_b", metavar="[MODEL]", required=False, type=click.Path(readable=False))
@click.option(
    "--with",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of side B: delegate, runtime, defaults or an option of B's delegate; may be given several times.",
)
@op_profile_option
@target_arguments(TWO_DELEGATES_OPTION)
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every group of nodes; leave nothing out.")
def command(
    path_a: str,
    path_b: str | None,
    settings: Sequence[str],
    arguments: TargetArguments,
    profiles: OpProfileArguments,
    outputs: Outputs,
    verbose: bool,
) -> int:
    """Show the differences between two models, or between two targets for one model.

    The output starts with the log lines and the numbers of both sides. Three lists of nodes follow. The first list has nodes
    that only one side delegates, with reasons. The second list has nodes that only one side has. The third list has nodes that
    are on the CPU on both sides.
    """
    a, b = _sides(arguments, settings)
    table = ModelTable(COMPARED, is_left_out=verbose)
    if path_b is None or os.path.realpath(path_b) == os.path.realpath(path_a):
        if a == b:
            if not stands_for_many(path_a):
                read_model(path_a)  # an error in the file takes precedence
            raise click.UsageError("A and B are the same: give a second model, or a setting of B, such as --with android=11")
        models = Models([path_a])
        profiles.check(len(models.paths))
        return write_all(models, outputs, table, lambda path: _answer(path, path, a, b, verbose, profiles))
    if not stands_for_many(path_a) and not stands_for_many(path_b):
        return write_all(Models([path_a]), outputs, table, lambda path: _answer(path, path_b, a, b, verbose, profiles))
    if profiles.paths:
        raise click.UsageError("--op-profile needs a single MODEL, because a profile is about one model")
    partners = _partners(path_a, path_b)

    def paired(path: str) -> Answer:
        others = partners(path)
        if len(others) != 1:
            number = len(others) if others else "no"
            raise ModelError(f"{path}: {path_b} has {number} models with this name")
        return _answer(path, others[0], a, b, verbose, profiles)

    return write_all(Models([path_a]), outputs, table, paired)


def _sides(arguments: TargetArguments, settings: Sequence[str]) -> tuple[list[Target], list[Target]]:
    devices = arguments.of_each_device()
    if len(devices) > 2:
        raise _too_many("device", "at most two devices")
    if len(devices) == 2 and not settings:
        return devices[0], devices[1]
    firsts = [targets[0] for targets in devices] or arguments.configured(only_first=True, is_live=True)
    if firsts:
        return firsts[:1], [_changed(firsts[-1], _settings(settings))]
    a, b = _targets(arguments, *_named(arguments.delegates, {**_second_values(arguments), **_settings(settings)}))
    return [a], [b]


def _partners(given_a: str, given_b: str) -> Callable[[str], list[str]]:
    """Return a function that finds the models of side B that match a model of side A.

    If both sides are folders, models match by relative path. Otherwise, models match by file name. If several models of B match,
    those that share the most parent folder names with the model of A are returned.
    """
    are_folders = os.path.isdir(given_a) and os.path.isdir(given_b)
    others: dict[str, list[str]] = {}
    for other in model_paths([given_b]):
        others.setdefault(os.path.relpath(other, given_b) if are_folders else os.path.basename(other), []).append(other)

    def find(path: str) -> list[str]:
        if are_folders:
            return others.get(os.path.relpath(path, given_a), [])
        candidates = others.get(os.path.basename(path), [])
        common = [_common_folders(path, other) for other in candidates]
        return [other for other, number in zip(candidates, common, strict=True) if number == max(common)]

    return find


def _common_folders(path: str, other: str) -> int:
    parts = zip(*[reversed(os.path.normpath(name).split(os.sep)) for name in (path, other)], strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], parts)))


def _answer(
    path_a: str, path_b: str, a: Sequence[Target], b: Sequence[Target], verbose: bool, profiles: OpProfileArguments
) -> Answer:
    model = read_model(path_a, [*a, *b])
    comparison = compare(_side(model, a), _side(model if path_b == path_a else read_model(path_b, [*a, *b]), b))
    return comparison_answer(comparison, profiles, verbose)


def comparison_answer(comparison: Comparison, profiles: OpProfileArguments, verbose: bool, words: str = "") -> Answer:
    """Return a comparison in all forms. ``words`` describes the hypothetical changes of side B, if there are any."""
    timings = profiles.timings(comparison.a.model, [comparison.a.run.target])
    return Answer(
        lambda: [timed_entry(advised_comparison(comparison), timings)],
        lambda: timed_lines(advised_comparison(comparison), timings, verbose, words),
        lambda: [compared_row(comparison)],
    )


def _side(model: Model, targets: Sequence[Target]) -> Side:
    """Return the side with the target that runs the model best.

    If no accelerator runs a node, but one first needs the model from its compiler, return the side of this accelerator.
    """
    sides = [run_side(model, target) for target in targets]
    best = best_run([side.run for side in sides])
    waiting = [side for side in sides if awaits_compiler(side.run.delegate, side.measures)]
    chosen = next(side for side in sides if side.run is best)
    return waiting[0] if waiting and best.delegate.ranking != Ranking.ACCELERATORS else chosen


def _second_values(arguments: TargetArguments) -> dict[str, str]:
    for name, values in arguments.several.items():
        if len(values) > 2:
            raise _too_many("value", f"--{name.replace('_', '-')} at most twice")
    return {name: values[1] for name, values in arguments.several.items()}


def _too_many(kind: str, allowed: str) -> click.UsageError:
    return click.UsageError(f"A and B have one {kind} each: give {allowed}, or use analyze, which shows more")


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"takes KEY=VALUE, not {pair!r}", param_hint="'--with'")
        settings[key.replace("-", "_")] = value
    return settings


def _named(delegates: Sequence[str], settings: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    first, *others = delegates or (DEFAULT_DELEGATE,)
    if len(others) > 1 or (others and _DELEGATE in settings):
        raise _too_many("delegate", "at most two delegates")
    return first, {**settings, **({_DELEGATE: others[0]} if others else {})}


def _targets(arguments: TargetArguments, delegate: str, settings: Mapping[str, str]) -> tuple[Target, Target]:
    names = (delegate, settings.get(_DELEGATE, delegate))
    delegates = [find_live(name) for name in dict.fromkeys(names)]
    refuse_foreign_flags(delegates, arguments.flags)
    given = dict(zip(dict.fromkeys(names), given_options(delegates, arguments.pairs, arguments.flags), strict=True))
    own = {key: value for key, value in settings.items() if key not in _KEYS}
    _refuse_unknown(delegates[-1], own)
    own = canonical_names(delegates[-1].name, delegates[-1].options, own)
    releases = releases_of(delegates, arguments.runtime)
    release_b = delegates[-1].release_of(settings[_RUNTIME]) if _RUNTIME in settings else releases[-1]
    defaults_b = settings.get(_DEFAULTS, arguments.defaults)
    a = _target(delegates[0], given[names[0]], releases[0], arguments.defaults, arguments)
    return a, _target(delegates[-1], {**given[names[1]], **own}, release_b, defaults_b, arguments)


def _changed(target: Target, settings: Mapping[str, str]) -> Target:
    delegate = find_live(settings.get(_DELEGATE, target.delegate.name))
    defaults = settings.get(_DEFAULTS, target.defaults)
    own = {key: value for key, value in settings.items() if key not in _KEYS}
    _refuse_unknown(delegate, own)
    own = canonical_names(delegate.name, delegate.options, own)
    kept = {}
    if delegate.name == target.delegate.name:
        set_before = {
            option.name for option in delegate.options if target.options[option.name] != option.default_in(target.defaults)
        }
        kept = {name: target.options[name] for name in set_before - own.keys()}
    options = {**parse_options(delegate.name, delegate.options, own, defaults), **kept}
    release = delegate.release_of(settings[_RUNTIME]) if _RUNTIME in settings else target.release
    return Target(delegate, options, release, defaults, target.assume_ops_registered)


def _target(delegate: Delegate, given: Mapping[str, str], release: Release, defaults: str, arguments: TargetArguments) -> Target:
    options = parse_options(delegate.name, delegate.options, given, defaults)
    return Target(delegate, dict(options), release, defaults, arguments.assume_ops_registered)


def _refuse_unknown(delegate: Delegate, settings: Mapping[str, str]) -> None:
    known = [*_KEYS, *option_names(delegate.options)]
    for key in settings:
        if key not in known:
            near = suggestion(key, known) or f"; --with takes {', '.join(known)}"
            raise click.ClickException(f"{delegate.name} has no option {key!r}{near}")

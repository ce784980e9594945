"""Command lines for further steps with a model on a target. Users copy these lines into a shell."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence

from ...delegates.options import as_typed, option_as_typed, option_value
from ...foundation.printable import command_line, typed_path
from ...model.model import Model
from ...runtime.target import Target

_OUTPUT = re.compile(r"fixed(\d{0,3})\.tflite")


def fix_command(model: Model, target: Target, *arguments: str) -> str:
    """Return the command line that rewrites a model for a target. Names in the text may contain unprintable characters."""
    return _command("fix", model, target, *arguments, "-o", output_name(model.path))


def joint_fix_command(model: Model, targets: Sequence[Target], *arguments: str) -> str:
    """Return the command line that rewrites a model for several targets.

    Targets with the same delegate may differ in one option, such as ``--android``. Return "" if no command line describes exactly
    these targets.
    """
    common = {(target.release, target.defaults, target.assume_ops_registered) for target in targets}
    of_targets = _of_one_delegate(targets) if len({target.delegate for target in targets}) == 1 else _of_delegates(targets)
    if not of_targets or len(common) > 1:
        return ""
    words = [*of_targets, *_common_arguments(targets[0]), *arguments, "-o", output_name(model.path)]
    return command_line(["fix", typed_path(model.path), *words])


def _of_one_delegate(targets: Sequence[Target]) -> list[str]:
    first = targets[0]
    options = first.delegate.options
    different = [
        option for option in options if any(other.options[option.name] != first.options[option.name] for other in targets)
    ]
    if len(different) != 1:
        return []
    name = different[0].name
    if not different[0].flag or any(target.options[name] in (None, (), []) for target in targets):
        return []  # only flags can have several values, and an empty value cannot be typed
    values = [_typed(target, name) for target in targets]
    shared = _option_arguments(first)
    shared.pop(option_as_typed(options, name), None)
    return ["--delegate", first.delegate.name, *values, *[argument for typed in shared.values() for argument in typed]]


def _of_delegates(targets: Sequence[Target]) -> list[str]:
    delegates = [target.delegate.name for target in targets]
    if len(set(delegates)) < len(delegates):
        return []
    options: dict[str, list[str]] = {}
    for target in targets:
        options |= _option_arguments(target)
    for target in targets:
        own = _option_arguments(target)
        declared = {option_as_typed(target.delegate.options, option.name) for option in target.delegate.options}
        # An option on the command line applies to every delegate that has it.
        if any(own.get(name) != arguments for name, arguments in options.items() if name in declared):
            return []
    named = [argument for name in delegates for argument in ("--delegate", name)]
    return [*named, *[argument for typed in options.values() for argument in typed]]


def output_name(path: str | None) -> str:
    """Return a name for the rewritten model: ``fixed.tflite``, or the next of ``fixed2.tflite``, ``fixed3.tflite`` and so on."""
    match = _OUTPUT.fullmatch(os.path.basename(path or ""))
    return f"fixed{int(match[1] or 1) + 1}.tflite" if match else "fixed.tflite"


def fix_plan_command(model: Model, target: Target) -> str:
    """Return the command line that shows the planned changes of a model, without writing a file."""
    return _command("fix", model, target, "--plan")


def diagnose_command(model: Model, target: Target) -> str:
    """Return the command line that diagnoses a model on a target. Names in the text may contain unprintable characters."""
    return _command("diagnose", model, target)


def _command(name: str, model: Model, target: Target, *arguments: str) -> str:
    return command_line([name, typed_path(model.path), *target_arguments(target), *arguments])


def target_arguments(target: Target) -> list[str]:
    """Return the command-line arguments for a target: the delegate, and all values that differ from the defaults."""
    options = [argument for typed in _option_arguments(target).values() for argument in typed]
    return [*target.delegate.arguments, *_common_arguments(target), *options]


def _common_arguments(target: Target) -> list[str]:
    arguments = [] if target.release == target.delegate.default_release else ["--runtime", str(target.release)]
    is_default = target.defaults == "benchmark" or not target.delegate.has_default_sets
    arguments += [] if is_default else ["--defaults", target.defaults]
    return [*arguments, *(["--assume-ops-registered"] if target.assume_ops_registered else [])]


def _option_arguments(target: Target) -> dict[str, list[str]]:
    arguments: dict[str, list[str]] = {}
    for option in target.delegate.options:
        value = target.options.get(option.name)
        if value != option.default_in(target.defaults) and value not in (None, (), []):
            typed = _typed(target, option.name)
            name = option_as_typed(target.delegate.options, option.name)
            arguments[name] = typed.split(" ", 1) if typed.startswith("--option ") else [typed]
    return arguments


def _typed(target: Target, name: str) -> str:
    value = target.options[name]
    return as_typed(target.delegate.options, name, getattr(value, "path", None) or option_value(value))


def shapes_as_typed(shapes: Iterable[tuple[str, Iterable[object]]]) -> tuple[str, ...]:
    """Return the arguments of ``fix`` for the names and sizes of inputs."""
    texts = [f"{name}={','.join(map(str, shape))}" for name, shape in shapes]
    return tuple([argument for text in texts for argument in ("--shape", text)])


def shapes_command(model: Model, shapes: Iterable[tuple[str, Iterable[object]]]) -> str:
    """Return the command line that fixes the sizes of inputs, for texts that do not name the target."""
    return command_line(["fix", _named(model), *shapes_as_typed(shapes), "-o", output_name(model.path)])


def compiler_log_command(model: Model) -> str:
    """Return the command line that reads the table of operators which a compiler printed."""
    return command_line(["reconcile", _named(model), "--log", "FILE"])


def _named(model: Model) -> str:
    return typed_path(model.path) if model.path else "MODEL"

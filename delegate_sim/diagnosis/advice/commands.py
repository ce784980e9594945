"""Command lines for further steps with a model on a target. Users copy these lines into a shell."""

from __future__ import annotations

import os.path
import re
import shlex

from ...delegates.options import as_typed, option_value
from ...model.model import Model
from ...releases.catalogue import NEWEST
from ...runtime.target import Target

_OUTPUT = re.compile(r"fixed(\d{0,3})\.tflite")


def fix_command(model: Model, target: Target, *arguments: str) -> str:
    """Return the command line that rewrites a model for a target. Names in the text may contain unprintable characters."""
    return _command("fix", model, target, *arguments, "-o", output_name(model.path))


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
    return shlex.join(["delegate-sim", name, model.path or "-", *target_arguments(target), *arguments])


def target_arguments(target: Target) -> list[str]:
    """Return the command-line arguments for a target: the delegate, and all values that differ from the defaults."""
    arguments = ["--delegate", target.delegate.name]
    arguments += [] if target.release == NEWEST else ["--runtime", str(target.release)]
    arguments += [] if target.defaults == "benchmark" else ["--defaults", target.defaults]
    arguments += ["--assume-ops-registered"] if target.assume_ops_registered else []
    for option in target.delegate.options:
        value = target.options.get(option.name)
        if value != option.default_in(target.defaults) and value not in (None, (), []):
            # The value of an option that names a file is the content of the file.
            typed = as_typed(target.delegate.options, option.name, getattr(value, "path", None) or option_value(value))
            arguments += typed.split(" ", 1) if typed.startswith("--option ") else [typed]
    return arguments

"""What a mutant goes through: the reader, every delegate with options at random, reports, and commands in every format."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.gate.analysis import analysis_cases
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load
from delegate_sim.options import parse_options
from delegate_sim.releases.catalogue import RELEASES, parse_release
from delegate_sim.results.report import Report
from delegate_sim.runtime.interpreter import Assumptions, simulate
from delegate_sim_cli.exits import INTERNAL_ERROR
from delegate_sim_cli.formats import FORMATS
from delegate_sim_cli.main import program

_OPTIONS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "nnapi": (
        {},
        {"allow_dynamic_dimensions": "true"},
        {"nnapi_runtime": "none"},
        {"feature_level": "27"},
        {"feature_level": "29", "nnapi_runtime": "10"},
        {"feature_level": "30", "nnapi_runtime": "11", "max_number_delegated_partitions": "0"},
        {"disallow_nnapi_cpu": "false", "allow_dynamic_dimensions": "true"},
    ),
}
_COMMANDS: Sequence[Sequence[str]] = (
    ("inspect", "{}"),
    ("inspect", "{}", "--format", "json"),
    ("inspect", "{}", "--delegate", "nnapi", "--lowered"),
    ("analyze", "{}", "--delegate", "gpu", "--delegate", "nnapi", "--delegate", "xnnpack", "--verbose"),
    ("analyze", "{}", "--delegate", "gpu", "--delegate", "xnnpack", "--chain"),
    ("analyze", "{}", "--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G5"),
    ("analyze", "{}"),
    ("diagnose", "{}", "--delegate", "{delegate}"),
    ("diagnose", "{}", "--delegate", "{delegate}", "--format", "json"),
    ("releases", "{}", "--delegate", "{delegate}"),
    ("compare", "{}", "--with", "delegate={delegate}"),
    ("whatif", "{}", "--delegate", "{delegate}", "--accept", "ADD", "--accept", "CONV_2D"),
    ("whatif", "{}", "--delegate", "{delegate}", "--batch", "2"),
    ("whatif", "{}", "--delegate", "{delegate}", "--fix-shapes"),
    ("whatif", "{}", "--delegate", "{delegate}", "--to", "int8"),
    ("whatif", "{}", "--delegate", "{delegate}", "--to", "float", "--format", "json"),
    ("whatif", "{}", "--delegate", "{delegate}", "--search", "1"),
    *[("analyze", "{}", "--delegate", "{delegate}", "--format", form) for form in FORMATS],
)


class CommandFailed(Exception):
    """A command ended with an error of the program itself; holds what it printed."""


def run_delegates(content: bytes, generator: random.Random, most: int) -> None:
    """Read a file, and let some delegates have it; raises whatever is not a refusal to read it."""
    try:
        model = load(content)
    except DelegateSimError:
        return
    for name in generator.sample(DELEGATE_NAMES, most):
        _run_delegate(model, name, generator)


def _run_delegate(model: Model, name: str, generator: random.Random) -> None:
    delegate = find_delegate(name)
    given = generator.choice(_OPTIONS.get(name, ({},)))
    options = parse_options(name, delegate.options, given, generator.choice(("api", "benchmark")))
    release = parse_release(generator.choice((RELEASES[-1], RELEASES[-1], *RELEASES)))
    assumptions = Assumptions(has_own_resolver=generator.random() < 0.5)
    report = Report(model, (simulate(model, delegate, options, release, "api", assumptions),))
    report.to_dict()
    analysis_cases(report)


def run_command(content: bytes, generator: random.Random) -> None:
    """Give a file to one command; raises CommandFailed if the program itself fails."""
    template = generator.choice(_COMMANDS)
    delegate = generator.choice(DELEGATE_NAMES)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.tflite")
        with open(path, "wb") as file:
            file.write(content)
        arguments = [part.format(path, delegate=delegate) for part in template]
        code, printed = _captured(lambda: program.main(arguments, standalone_mode=True))
    if code == INTERNAL_ERROR:
        raise CommandFailed(f"{' '.join(arguments)}\n{printed}")


def _captured(action: Callable[[], Any]) -> tuple[Any, str]:
    os.environ["DELEGATE_SIM_DEBUG"] = "1"
    standard, errors = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(standard), contextlib.redirect_stderr(errors):
        try:
            action()
        except SystemExit as end:
            code = end.code
        except BaseException:
            code = INTERNAL_ERROR
            traceback.print_exc()
    return code, errors.getvalue()


def run_all(content: bytes, generator: random.Random, delegates: int, command_share: float) -> None:
    """Let a mutant go through the program."""
    run_delegates(content, generator, delegates)
    if generator.random() < command_share:
        run_command(content, generator)

"""Run a mutant through the program: the reader, every delegate with options at random, reports, and commands in every format."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.gate.analysis_cases import analysis_cases
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import RELEASES, parse_release
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from delegate_sim.scan.questions import VIEWS
from delegate_sim_cli.exits import INTERNAL_ERROR
from delegate_sim_cli.formats import FORMATS
from delegate_sim_cli.main import program
from fixtures.bundles import litertlm_bytes, tar_bytes, zip_bytes

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
_ALWAYS = ("nnapi", "gpu", "vx", "vx-nxp", "coreml", "hexagon", "xnnpack")
_OTHERS = tuple([name for name in DELEGATE_NAMES if name not in _ALWAYS])
_SOURCES = ("model.onnx", "model.keras", "model.h5", "model.pt2", "saved_model.pb", "model.py")
_TABLES = ("table.csv", "table.jsonl", "table.sqlite", "table.parquet", "table.npz")
_THEN = "then"
"""Parts one command from the next."""
_DAMAGE = "damage"
"""Changes some bytes of a file, in the place of a command."""
_SCAN = ("scan", "{}", "--delegate", "{delegate}", "--processes", "1", "--output")
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
    ("report", "{}", "--delegate", "{delegate}", "--output", "{folder}/report.html"),
    ("export", "json", "{}", "--delegate", "{delegate}"),
    ("export", "dot", "{}", "--delegate", "{delegate}"),
    ("export", "graphml", "{}", "--delegate", "{delegate}"),
    ("export", "model-explorer", "{}", "--delegate", "{delegate}"),
    ("fix", "{}", "--for", "{delegate}", "--plan", "--verbose"),
    ("fix", "{}", "--for", "{delegate}", "--no-proof", "--format", "json", "-o", "{folder}/fixed.tflite"),
    (*_SCAN, "{folder}/scan.csv", _THEN, "query", "{folder}/scan.csv", "--view", "{view}"),
    (*_SCAN, "{folder}/scan.sqlite", _THEN, "query", "{folder}/scan.sqlite", "--view", "{view}", "--format", "json"),
    (*_SCAN, "{folder}/scan.jsonl", _THEN, "query", "{folder}/scan.jsonl", "--sql", "SELECT * FROM causes", "--format", "csv"),
    (*_SCAN, "{folder}/scan.parquet", _THEN, "query", *["{folder}/scan.parquet"] * 2, "--view", "{comparison}"),
    (*_SCAN, "{folder}/scan.csv", _THEN, *_SCAN, "{folder}/scan.csv", "--delegate", "gpu"),
    (*_SCAN, "{folder}/scan.sqlite", "--runtime", "tf-2.12", "--runtime", "litert-2.3"),
    ("scan", "{folder}", "--delegate", "{delegate}", "--processes", "1", "--output", "{folder}/scan.jsonl"),
    ("scan", "{bundle}", "--delegate", "{delegate}", "--processes", "1", "--output", "{folder}/scan.csv"),
    *[
        (*_SCAN, f"{{folder}}/scan.{suffix}", _THEN, _DAMAGE, f"{{folder}}/scan.{suffix}", _THEN, *asked)
        for suffix in ("csv", "sqlite", "jsonl", "parquet")
        for asked in (("query", f"{{folder}}/scan.{suffix}", "--view", "{view}"), (*_SCAN, f"{{folder}}/scan.{suffix}"))
    ],
    ("query", "{table}", "--view", "{view}"),
    ("query", "{table}", "--sql", "SELECT * FROM scan", "--format", "json"),
    ("sweep", "{source}", "--for", "{delegate}"),
    ("sweep", "{source}", "--for", "{delegate}", "--setting", "int8", "--data", "{table}", "--format", "json"),
    ("inspect", "{bundle}!/m.tflite"),
    ("analyze", "{bundle}", "--delegate", "{delegate}"),
    ("analyze", "{bundle}!/m.tflite", "--delegate", "{delegate}", "--format", "json"),
    ("diff", "{}", "{}", "--samples", "1"),
    ("reconcile", "{}", "--log", "fixtures/logs/gpu_refusals.log"),
    ("reconcile", "{}", "--log", "fixtures/logs/several_models.log", "--format", "json"),
    ("check", "--config", "{folder}/delegate-sim.toml", "--update"),
    ("check", "--config", "{folder}/delegate-sim.toml", "--format", "json"),
    *[("analyze", "{}", "--delegate", "{delegate}", "--format", form) for form in FORMATS],
)


class CommandFailed(Exception):
    """A command ended with an error of the program itself; holds what it printed."""


def run_delegates(content: bytes, generator: random.Random, number: int) -> None:
    """Read a file, and let delegates have it; raises whatever is not a refusal to read it.

    A ``number`` of 0 is those of the runtime's own delegates, and one of the others.
    """
    try:
        model = load(content)
    except DelegateSimError:
        return
    names = generator.sample(DELEGATE_NAMES, number) if number else (*_ALWAYS, generator.choice(_OTHERS))
    for name in names:
        _run_delegate(model, name, generator)


def _run_delegate(model: Model, name: str, generator: random.Random) -> None:
    delegate = find_delegate(name)
    given = generator.choice(_OPTIONS.get(name, ({},)))
    options = parse_options(name, delegate.options, given, generator.choice(("api", "benchmark")))
    release = parse_release(generator.choice((RELEASES[-1], RELEASES[-1], *RELEASES)))
    target = Target(delegate, options, release, assume_ops_registered=generator.random() < 0.5)
    report = Report(model, (simulate(model, target),))
    report.to_dict()
    analysis_cases(report)


def run_command(content: bytes, generator: random.Random) -> None:
    """Give a file to one command; raises CommandFailed if the program itself fails."""
    template = generator.choice(_COMMANDS)
    delegate = generator.choice(DELEGATE_NAMES)
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "mutant.tflite"), os.path.join(folder, "bundle")
        _write(path, content)
        if any("{bundle}" in part for part in template):
            _write(bundle, _bundle(generator, content))
        targets = f'models = ["mutant.tflite"]\n[targets.one]\ndelegate = "{delegate}"\n'
        _write(os.path.join(folder, "delegate-sim.toml"), targets.encode())
        words = {
            "bundle": bundle,
            "delegate": delegate,
            "folder": folder,
            "view": generator.choice([name for name, view in VIEWS.items() if not view.needs_earlier]),
            "comparison": generator.choice([name for name, view in VIEWS.items() if view.needs_earlier]),
            "source": os.path.join(folder, generator.choice(_SOURCES)),
            "table": os.path.join(folder, generator.choice(_TABLES)),
        }
        for name in ("source", "table"):
            if any(f"{{{name}}}" in part for part in template):
                _write(words[name], content)
        command = [part.format(path, **words) for part in template]
        while command:
            end = command.index(_THEN) if _THEN in command else len(command)
            if command[0] == _DAMAGE:
                _damage(generator, command[1])
            else:
                run_program(command[:end])
            command = command[end + 1 :]


def run_program(arguments: Sequence[str]) -> None:
    """Run one command; raises CommandFailed if the program itself fails."""
    code, printed = _captured(lambda: program.main(list(arguments), standalone_mode=True))
    if code == INTERNAL_ERROR or "standard output:" in printed:  # an OSError that nothing has named a file for
        raise CommandFailed(f"{' '.join(arguments)}\n{printed}")


def _damage(generator: random.Random, path: str) -> None:
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = bytearray(file.read())
        for _ in range(min(len(content), generator.choice((1, 4, 16)))):
            content[generator.randrange(len(content))] = generator.choice((0, 10, 34, 44, 123, 255, generator.randrange(256)))
        if generator.random() < 0.2:
            del content[generator.randrange(len(content) + 1) :]
        _write(path, bytes(content))


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def _bundle(generator: random.Random, content: bytes) -> bytes:
    """Return a bundle that holds a file, itself changed as often as not."""
    files = {"m.tflite": content, "labels.txt": b"cat"}
    makers: Sequence[Callable[[], bytes]] = (
        lambda: zip_bytes(files),
        lambda: zip_bytes({"inner.zip": zip_bytes(files), **files}, zipfile.ZIP_DEFLATED),
        lambda: tar_bytes(files),
        lambda: tar_bytes(files, "w:gz"),
        lambda: litertlm_bytes([(3, "m.tflite", content), (3, None, content)]),
    )
    bundle = bytearray(generator.choice(makers)())
    if generator.random() < 0.5:
        # What describes the members stands at the beginning or at the end.
        edge = min(512, len(bundle))
        for _ in range(generator.choice((1, 1, 2, 4))):
            place = generator.randrange(edge)
            bundle[place if generator.random() < 0.5 else -1 - place] = generator.choice(
                (0, 1, 127, 128, 255, generator.randrange(256))
            )
        if generator.random() < 0.1:
            del bundle[generator.randrange(len(bundle)) :]
    return bytes(bundle)


def _captured(action: Callable[[], Any]) -> tuple[Any, str]:
    os.environ["DELEGATE_SIM_DEBUG"] = "1"
    standard, errors = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(standard), contextlib.redirect_stderr(errors):
        try:
            action()
        except SystemExit as end:
            code = end.code
        except Exception:
            code = INTERNAL_ERROR
            traceback.print_exc()
    return code, errors.getvalue()


def run_all(content: bytes, generator: random.Random, delegates: int, command_share: float) -> None:
    """Let a mutant go through the program."""
    run_delegates(content, generator, delegates)
    if generator.random() < command_share:
        run_command(content, generator)

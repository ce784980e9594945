"""Run a mutant through the program: the reader, every delegate with options at random, reports, and commands in every format."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import json
import os
import random
import re
import tempfile
import traceback
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.gate.results import analysis_cases
from delegate_sim.inference.inputs import from_file
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import RELEASES, parse_release
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from delegate_sim.scan.questions import VIEWS
from delegate_sim_cli.commands import mcp as mcp_server
from delegate_sim_cli.exits import INTERNAL_ERROR
from delegate_sim_cli.formats import FORMATS
from delegate_sim_cli.main import program
from fixtures.bundles import litertlm_bytes, tar_bytes, zip_bytes
from tools.fuzz.changes import SECRET
from tools.fuzz.findings import MODEL_NAME
from web import bridge
from web.form import form as form_of_page

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
_BATCHES = (2, 64, 65_536, (1 << 31) - 1)
THEN = "then"
"""Parts one command from the next."""
LINK = "link"
"""Lets the browser application's bridge have the fragment of a link, in the place of a command."""
TOOL = "tool"
"""Calls a tool of the MCP server with arguments in JSON, in the place of a command."""
ARRAYS = "arrays"
"""Reads the inputs of a model from a ``.npz`` file, in the place of a command."""
_DAMAGE = "damage"
"""Changes some bytes of a file, in the place of a command."""
_EXPORTS = ("json", "dot", "graphml", "model-explorer")
OUT_OF_MEMORY = (
    "MemoryError|RecursionError|bad_alloc|out of memory|not enough memory|Cannot allocate memory"
    "|more memory than this process may use|nested deeper than"
).replace(" ", r"\s+")
"""Pattern of the messages of a command that used up the memory or the stack of its process. They may be broken into lines."""
_SCAN = ("scan", "{}", "--delegate", "{delegate}", "--processes", "1", "--output")
_COMMANDS: Sequence[Sequence[str]] = (
    ("inspect", "{}"),
    ("inspect", "{}", "--format", "json"),
    ("inspect", "{}", "--delegate", "{delegate}", "--lowered", "--verbose"),
    ("inspect", "{}", "--file-shapes"),
    ("analyze", "{}", "--delegate", "gpu", "--delegate", "nnapi", "--delegate", "xnnpack", "--verbose"),
    ("analyze", "{}", "--delegate", "gpu", "--delegate", "xnnpack", "--chain"),
    ("analyze", "{}", "--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G5"),
    ("analyze", "{}"),
    ("analyze", "{}", "--delegate", "all", "--format", "json"),
    ("diagnose", "{}", "--delegate", "all"),
    ("diagnose", "{}", "--delegate", "all", "--format", "json"),
    ("diagnose", "{}", "--delegate", "{delegate}", "--verbose"),
    ("diagnose", "{}", "--delegate", "{delegate}", "--format", "json"),
    ("diagnose", "{}", "--delegate", "{delegate}", "--format", "csv"),
    ("analyze", "{}", "--micro", "--format", "json"),
    ("diagnose", "{}", "--micro", "--verbose"),
    ("fix", "{}", "--micro", "--plan"),
    ("report", "{}", "--micro", "--output", "{folder}/report.html"),
    ("releases", "{}", "--delegate", "{delegate}"),
    ("releases", "{}", "--delegate", "all", "--format", "json"),
    ("compare", "{}", "--with", "delegate={delegate}"),
    ("compare", "{}", "--delegate", "{delegate}", "--with", "runtime=tf-2.12", "--format", "json"),
    ("compare", "{}", "fixtures/models/mobilenet_block.tflite", "--delegate", "{delegate}", "--verbose"),
    ("whatif", "{}", "--delegate", "{delegate}", "--accept", "ADD", "--accept", "CONV_2D"),
    ("whatif", "{}", "--delegate", "{delegate}", "--batch", "{batch}"),
    ("whatif", "{}", "--delegate", "{delegate}", "--batch", "{batch}", "--to", "int8", "--verbose"),
    ("whatif", "{}", "--delegate", "{delegate}", "--set-version", "ADD=9", "--set-version", "node:0=2", "--fix-shapes"),
    ("whatif", "{}", "--delegate", "{delegate}", "--fix-shapes"),
    ("whatif", "{}", "--delegate", "{delegate}", "--to", "int8"),
    ("whatif", "{}", "--delegate", "{delegate}", "--to", "int8-per-tensor"),
    ("whatif", "{}", "--delegate", "{delegate}", "--to", "float", "--format", "json"),
    ("whatif", "{}", "--delegate", "{delegate}", "--search", "1"),
    ("whatif", "{}", "--delegate", "{delegate}", "--search", "kernels=1", "--format", "json"),
    ("whatif", "{}", "--delegate", "{delegate}", "--search", "multiply-adds=100%"),
    ("report", "{}", "--delegate", "{delegate}", "--output", "{folder}/report.html"),
    ("report", "{}", "--delegate", "all", "--output", "{folder}/report.html"),
    *[("export", form, "{}", "--delegate", "{delegate}") for form in _EXPORTS],
    *[("export", form, "{}", "--delegate", "all", "--output", "{folder}/exported") for form in _EXPORTS],
    ("fix", "{}", "--delegate", "{delegate}", "--plan", "--verbose"),
    ("fix", "{}", "--delegate", "{delegate}", "--plan", "--shape", "t1={batch},8,8,4"),
    ("fix", "{}", "--delegate", "all", "--plan", "--allow", "approximate", "--format", "json"),
    ("fix", "{}", "--delegate", "{delegate}", "--no-proof", "--format", "json", "-o", "{folder}/fixed.tflite"),
    ("fix", "{}", "--delegate", "all", "--no-proof", "--split-tail", "-o", "{folder}/fixed.tflite"),
    ("fix", "{}", "--delegate", "{delegate}", "--samples", "1", "-o", "{folder}/fixed.tflite"),
    (*_SCAN, "{folder}/scan.csv", THEN, "query", "{folder}/scan.csv", "--view", "{view}"),
    (*_SCAN, "{folder}/scan.sqlite", THEN, "query", "{folder}/scan.sqlite", "--view", "{view}", "--format", "json"),
    (*_SCAN, "{folder}/scan.jsonl", THEN, "query", "{folder}/scan.jsonl", "--sql", "SELECT * FROM causes", "--format", "csv"),
    (*_SCAN, "{folder}/scan.parquet", THEN, "query", *["{folder}/scan.parquet"] * 2, "--view", "{comparison}"),
    (*_SCAN, "{folder}/scan.csv", THEN, *_SCAN, "{folder}/scan.csv", "--delegate", "gpu"),
    (*_SCAN, "{folder}/scan.sqlite", "--runtime", "tf-2.12", "--runtime", "litert-2.3"),
    (*_SCAN, "{folder}/scan.csv", "--delegate", "all"),
    ("scan", "{folder}", "--delegate", "{delegate}", "--processes", "1", "--output", "{folder}/scan.jsonl"),
    ("scan", "{bundle}", "--delegate", "{delegate}", "--processes", "1", "--output", "{folder}/scan.csv"),
    *[
        (*_SCAN, f"{{folder}}/scan.{suffix}", THEN, _DAMAGE, f"{{folder}}/scan.{suffix}", THEN, *asked)
        for suffix in ("csv", "sqlite", "jsonl", "parquet")
        for asked in (("query", f"{{folder}}/scan.{suffix}", "--view", "{view}"), (*_SCAN, f"{{folder}}/scan.{suffix}"))
    ],
    ("query", "{table}", "--view", "{view}"),
    ("query", "{table}", "--sql", "SELECT * FROM scan", "--format", "json"),
    ("sweep", "{source}", "--delegate", "{delegate}"),
    ("sweep", "{source}", "--delegate", "{delegate}", "--setting", "int8", "--data", "{table}", "--format", "json"),
    ("inspect", "{bundle}!/m.tflite"),
    ("analyze", "{bundle}", "--delegate", "{delegate}"),
    ("analyze", "{bundle}!/m.tflite", "--delegate", "{delegate}", "--format", "json"),
    ("diff", "{}", "{}", "--samples", "1"),
    ("reconcile", "{}", "--log", "fixtures/logs/gpu_refusals.log"),
    ("reconcile", "{}", "--log", "fixtures/logs/several_models.log", "--format", "json"),
    ("check", "--config", "{folder}/delegate-sim.toml", "--update"),
    *[("check", "--config", "{folder}/delegate-sim.toml", "--format", form) for form in ("json", *FORMATS)],
    *[("analyze", "{}", "--delegate", "{delegate}", "--format", form) for form in FORMATS],
)


_COMMAND_NAMES = (*sorted({command[0] for command in _COMMANDS}), *["diagnose", "whatif", "fix", "report"] * 3)
"""Those that make up other models than the one in the file more often."""


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
    with tempfile.TemporaryDirectory() as folder:
        for step in command_steps(content, generator, folder):
            step.run()


class Step(NamedTuple):
    """A command of the program, or damage to a file that an earlier command wrote."""

    words: Sequence[str]
    generator: random.Random

    def run(self) -> None:
        """Run the command; raises CommandFailed if the program itself fails."""
        if self.words[0] == _DAMAGE:
            _damage(self.generator, self.words[1])
        elif self.words[0] == LINK:
            run_link(*self.words[1:])
        elif self.words[0] == TOOL:
            run_tool(*self.words[1:])
        elif self.words[0] == ARRAYS:
            run_arrays(*self.words[1:])
        else:
            run_program(self.words)


def command_steps(content: bytes, generator: random.Random, folder: str) -> list[Step]:
    """Choose a command at random, write the files that it reads to a folder, and return its steps."""
    name = generator.choice(_COMMAND_NAMES)
    template = generator.choice([command for command in _COMMANDS if command[0] == name])
    delegate = generator.choice(DELEGATE_NAMES)
    words = {
        "model": os.path.join(folder, MODEL_NAME),
        "bundle": os.path.join(folder, "bundle"),
        "delegate": delegate,
        "folder": folder,
        "batch": str(generator.choice(_BATCHES)),
        "view": generator.choice([name for name, view in VIEWS.items() if not view.needs_earlier]),
        "comparison": generator.choice([name for name, view in VIEWS.items() if view.needs_earlier]),
        "source": os.path.join(folder, generator.choice(_SOURCES)),
        "table": os.path.join(folder, generator.choice(_TABLES)),
    }
    _write(words["model"], content)
    targets = f'models = ["{MODEL_NAME}"]\n[targets.one]\ndelegate = "{delegate}"\n'
    _write(os.path.join(folder, "delegate-sim.toml"), targets.encode())
    for file in ("bundle", "source", "table"):
        if any(f"{{{file}}}" in word for word in template):
            _write(words[file], _bundle(generator, content) if file == "bundle" else content)
    command = [word.format(words["model"], **words) for word in template]
    return steps(command, generator)


def steps(words: Sequence[str], generator: random.Random) -> list[Step]:
    """Return the commands in a list of words, which ``THEN`` parts."""
    return [Step(list(step), generator) for follows, step in itertools.groupby(words, THEN.__eq__) if not follows]


def run_program(arguments: Sequence[str]) -> None:
    """Run one command; raises CommandFailed if the program itself fails, or if memory is not enough for it."""
    code, printed = _captured(lambda: program.main(list(arguments), standalone_mode=True))
    if code == INTERNAL_ERROR or _FAULT.search(printed) or _FAULT.search(_written(arguments)):
        raise CommandFailed(f"{' '.join(arguments)}\n{printed[-_MOST_PRINTED:]}")


def run_link(fragment: str, model: str) -> None:
    """Analyze a model on the target that the fragment of a link names, as the browser application does.

    Like ``targetOf`` of ``web/app/link.js``, this leaves out what the form does not offer.
    """
    form = json.loads(form_of_page())
    given = dict(urllib.parse.parse_qsl(fragment.removeprefix("#"), keep_blank_values=True))
    delegates = {delegate["name"]: delegate for delegate in form["delegates"]}
    socs = [soc["name"] for soc in form["socs"]]
    if given.get("delegate") == "soc":
        words = ["--soc", given["soc"] if given.get("soc") in socs else socs[0]]
    else:
        name = given.get("delegate", "")
        delegate = delegates[name if name in delegates else form["default_delegate"]]
        words = ["--delegate", delegate["name"]]
        for option in delegate["options"]:
            value = given.get(option["name"])
            if value and option["type"] != "file" and (option["type"] != "choice" or value in option["choices"]):
                flag, _, key = option["flag"].partition(" ")
                words += [flag, f"{key}={value}"] if key else [f"{flag}={value}"]
    for flag, key in (("--runtime", "releases"), ("--defaults", "defaults")):
        if (value := given.get(flag[2:], "")) in form[key]["choices"]:
            words += [flag, value]
    for command in (("analyze", model, *words), ("diagnose", model, *words, "--format", "json")):
        answer = json.loads(bridge.run(command))
        if answer["exit"] == INTERNAL_ERROR or _FAULT.search(answer["output"] + answer["error"]):
            raise CommandFailed(f"{' '.join(command)}\n{answer['error'][-_MOST_PRINTED:]}")


def run_tool(text: str) -> None:
    """Call a tool of the MCP server, which may read files below the working directory. The command runs in this process.

    Like the server's package, this refuses arguments of other types.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return
    roots = mcp_server.Roots((os.path.realpath(os.curdir),))
    tools = {tool.__name__: tool for tool in mcp_server._tools(roots)}
    tool, arguments = (tools.get(str(given.get("tool"))), given.get("arguments")) if isinstance(given, dict) else (None, None)
    if tool is None or not isinstance(arguments, dict):
        return
    parameters = inspect.signature(tool).parameters
    required = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}
    if not required <= arguments.keys() <= parameters.keys():
        return
    if not all(isinstance(value, str) or (key == "options" and _is_list_of_texts(value)) for key, value in arguments.items()):
        return

    def run_here(name: str, *words: str) -> dict[str, Any]:
        run_program([name, "--format", "json", *words])
        return {}

    with patch.object(mcp_server, "run_command", run_here):
        _refused(lambda: tool(**arguments))


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def run_arrays(path: str, model: str) -> None:
    """Read the inputs of a model from a ``.npz`` file."""
    loaded = load(model)
    _refused(lambda: from_file(path, loaded, loaded.subgraphs[0]))


def _refused(action: Callable[[], Any]) -> None:
    """Raise CommandFailed if the message of a refusal has what no message may have."""
    try:
        action()
    except DelegateSimError as error:
        if _FAULT.search(str(error)):
            raise CommandFailed(str(error)[-_MOST_PRINTED:]) from error


_FAULT = re.compile(
    rf"internal error: |standard output:|needs the package duckdb|(?m:^Traceback )|{SECRET}|{OUT_OF_MEMORY}"
)  # an OSError that nothing has named a file for
_MOST_PRINTED = 10_000


def _written(arguments: Sequence[str]) -> str:
    """Return the file that a command wrote: in the table of a scan, errors are rows."""
    path = next((path for option, path in itertools.pairwise(arguments) if option == "--output"), "")
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="latin-1") as file:
        return file.read()


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
    """Return the exit code and what was printed, errors last."""
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
    return code, standard.getvalue() + errors.getvalue()


def run_all(content: bytes, generator: random.Random, delegates: int, command_share: float) -> None:
    """Let a mutant go through the program."""
    run_delegates(content, generator, delegates)
    if generator.random() < command_share:
        run_command(content, generator)

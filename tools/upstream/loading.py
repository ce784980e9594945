"""Check which models a runtime loads and prepares against the simulation of its release.

``python tools/upstream/loading.py measure DIRECTORY CORPUS...`` takes models of each archive (200 in all by default, the same for
every runtime), loads each with the runtime that is installed for that Python and allocates its tensors, each in a process of its
own since some crash, and writes the results into a file of the directory. It needs Python 3.9 or later and the runtime, nothing
of this project (``tools/upstream/resolver_versions.py`` says how to install one)::

    /tmp/runtime/bin/python tools/upstream/loading.py measure /tmp/measured ../shared/corpus/*.zip

``python -m tools.upstream.loading compare DIRECTORY`` holds every file of the directory against delegate_sim: whether the model
loads, the lines that say why not, and whether the CPU kernels of its first subgraph can be prepared, with the node at fault.
The exit code is 1 if loading differs anywhere; preparing is shown beside it. ``--write`` writes ``docs/appendix/loading.md``.

The interpreter is made with ``BuiltinOpResolver`` without default delegates. Models with custom operators that it does not have
count for loading alone.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if __package__:
    from .resolver_versions import _RUNTIMES, _installed_runtime
else:
    from resolver_versions import _RUNTIMES, _installed_runtime  # type: ignore[import-not-found, no-redef]

_CRASH = "crash"
_FAILED_NODE = re.compile(r"Node number (\d+) \(([^()]*)\) failed to prepare")


_DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "appendix" / "loading.md"
_PAGE = """\
# Which models each runtime loads

The same 200 models were given to every runtime of the package index that can be installed. Some models are converted and some
are published. The others are generated, with operators and types that converters avoid. `tools/upstream/loading.py` makes the
table.

| column | counts |
|---|---|
| load | the models that the runtime loads |
| differences in loading | the models whose real result or error message is not the predicted one |
| cannot be prepared | the loaded models that the CPU kernels cannot prepare |
| differences in preparing | the loaded models for which it is wrongly predicted whether the CPU kernels can prepare them |

| runtime | Python | models | load | differences in loading | cannot be prepared | differences in preparing |
|---|---|---:|---:|---:|---:|---:|
"""


def measure(archives: Sequence[str], count: int) -> dict[str, Any]:
    """Load and prepare a sample of the models of each archive with the installed runtime."""
    name, distribution = _installed_runtime()
    family, module = _RUNTIMES[name]
    interpreter = importlib.import_module(module)
    models = {}
    for path in archives:
        with zipfile.ZipFile(path) as archive:
            names = sorted(entry for entry in archive.namelist() if entry.endswith(".tflite") and not entry.startswith("broken/"))
            for entry in random.Random(0).sample(names, min(count // len(archives), len(names))):
                models[f"{Path(path).stem}:{entry}"] = _in_child(interpreter, archive.read(entry))
    return {
        "release": f"{family}-{distribution}",
        "runtime": f"{name} {distribution}, Python {sys.version.split()[0]}",
        "archives": [str(Path(path).resolve()) for path in archives],
        "models": models,
    }


def _in_child(interpreter: Any, content: bytes) -> dict[str, str | None]:
    """Load and prepare a model in a child process; the answers are None where that works."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        for file in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), file)
        resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        try:
            made = interpreter.Interpreter(model_content=content, experimental_op_resolver_type=resolver)
        except (ValueError, RuntimeError) as error:
            os.write(writing, json.dumps({"load": str(error)}).encode())
            os._exit(0)
        os.write(writing, b'{"load": null, "prepare": ')
        try:
            made.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            os.write(writing, json.dumps(str(error)[:4000]).encode() + b"}")
            os._exit(0)
        os.write(writing, b"null}")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(child, 0)
    if not said:
        return {"load": _CRASH}
    return dict(json.loads(said if said.endswith("}") else f'{said}"{_CRASH}"}}'))


def differences(measurement: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return where loading differs from the simulation of the release, and where preparing does."""
    import delegate_sim
    from delegate_sim.prepare.preparation import has_kernel
    from delegate_sim.releases.catalogue import Release
    from delegate_sim.runtime.model_loading import load_on
    from delegate_sim.runtime.resolver import Loads

    family, version = measurement["release"].split("-")
    release = Release(family, tuple(map(int, version.split("."))))
    archives = {Path(path).stem: zipfile.ZipFile(path) for path in measurement["archives"]}
    loading, preparing = [], []
    for name, answer in measurement["models"].items():
        stem, _, entry = name.partition(":")
        try:
            model = delegate_sim.load(archives[stem].read(entry))
        except delegate_sim.ModelError as error:
            if answer["load"] is None:
                loading.append(f"{name}: loads, and cannot be read here: {error}")
            continue
        said = load_on(model, release)
        measured = Loads.YES if answer["load"] is None else Loads.NO
        if said.loads is not measured or not _says(answer["load"] or "", said.lines):
            loading.append(f"{name}: {said.loads.value} here, {said.lines}; there: {answer['load']}")
        nodes = [node for subgraph in model.subgraphs for node in subgraph.nodes]
        if measured is Loads.YES and all(has_kernel(node.op, is_custom=True) for node in nodes if node.is_custom):
            preparing += _preparing(name, model, release, answer["prepare"])
    return loading, preparing


def _says(answer: str, lines: Sequence[str]) -> bool:
    """Whether an answer is these lines, but for what names a place in the runtime's sources before a line."""
    position = 0
    for line in lines:
        position = answer.find(line, position)
        if position < 0:
            return False
        position += len(line)
    return bool(lines) == bool(answer) and answer.count("Unsupported data type") in (0, len(lines))


def _preparing(name: str, model: Any, release: Any, answer: str | None) -> list[str]:
    from delegate_sim.prepare.preparation import prepare

    failure = prepare(model, False, release)[0].failure
    if answer == _CRASH or (failure is None and answer is None):
        return []
    match = _FAILED_NODE.findall(answer or "")
    if (
        failure is not None
        and match
        and [f"Node number {node} ({op}) failed to prepare." for node, op in match] == [*failure.log_lines]
    ):
        return []
    return [f"{name}: {failure} here; there: {answer}"]


def _order(measurement: Mapping[str, Any]) -> tuple[str, list[int]]:
    name, version = measurement["runtime"].partition(",")[0].split()
    return name, [int(part) for part in re.findall(r"\d+", version)]


def compare(directory: Path, page: Path | None = None) -> int:
    """Print where measurements differ; return 1 if a model loads in one and not in the other. Write a page if one is named."""
    has_differences = False
    rows = []
    for measurement in sorted([json.loads(file.read_text(encoding="utf-8")) for file in directory.glob("*.json")], key=_order):
        loading, preparing = differences(measurement)
        has_differences |= bool(loading)
        loaded = sum(answer["load"] is None for answer in measurement["models"].values())
        failed = sum(answer.get("prepare") is not None for answer in measurement["models"].values())
        print(
            f"{measurement['runtime']}: {len(measurement['models'])} models, {loaded} load, {failed} of them cannot be prepared; "
            f"differences: {len(loading)} in loading, {len(preparing)} in preparing"
        )
        for line in (*loading, *preparing):
            print(f"  {line}")
        runtime, _, python = measurement["runtime"].partition(", ")
        cells = (runtime, python.partition(" ")[2], len(measurement["models"]), loaded, len(loading), failed, len(preparing))
        rows.append(f"| {' | '.join(map(str, cells))} |\n")
    if page is not None:
        page.write_text(_PAGE + "".join(rows), encoding="utf-8")
    return int(has_differences)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or compare; the exit code is 1 if loading differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("measure", "compare"))
    parser.add_argument("directory", type=Path, help="where the measurements are")
    parser.add_argument("archives", nargs="*", help="archives of models, to measure")
    parser.add_argument("--count", type=int, default=200, help="how many models in all (default: 200)")
    parser.add_argument("--write", action="store_true", help="write the page of what was compared")
    options = parser.parse_args(arguments)
    if options.command == "compare":
        return compare(options.directory, _DOCUMENT if options.write else None)
    measurement = measure(options.archives, options.count)
    options.directory.mkdir(parents=True, exist_ok=True)
    file = options.directory / f"{measurement['runtime'].split(',')[0].replace(' ', '-')}.json"
    file.write_text(json.dumps(measurement, indent=1) + "\n", encoding="utf-8")
    print(f"{measurement['runtime']}: {len(measurement['models'])} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())

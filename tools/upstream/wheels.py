"""Run two wheels of LiteRT on the same models, and print what changed: ``python -m tools.upstream.wheels OLD NEW CORPUS...``.

``OLD`` and ``NEW`` are Pythons, or their environments, with one wheel each. These parts of the wheels run:

- the CPU kernels: loading and allocation without a delegate
- XNNPACK: allocation, and the execution plans
- every compiler plugin that runs on this computer with both wheels (``--partly``: the number of models for each corpus)
- the GPU accelerator, if this computer has a Vulkan driver such as SwiftShader (also ``--partly``)

Changes of the same class are one row: what the old and the new wheel do, in how many models, and examples. Numbers in messages
are left out of a class. A model that crashes a wheel at random shows as a change; run it again to see.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from delegate_sim import live
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import LIVE_NAMES, find_live
from delegate_sim.delegates.traits import AcceleratorTraits, PluginTraits
from delegate_sim.errors import DelegateSimError
from delegate_sim.foundation.packages import Runtime, runtime_of
from delegate_sim.live.engine import Engine, LiveDecision
from delegate_sim.live.live_runs import find_engine
from delegate_sim.live.trial import lacking
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load

_EXAMPLES = 3
_PLANS = Path(live.__file__).parent
_WORKER = Path(__file__).with_name("wheel_worker.py")


class Change(NamedTuple):
    """A class of changes: the part of the wheel, and what the old and the new wheel do."""

    part: str
    before: str
    after: str


def sample(paths: Iterable[str], count: int | None) -> list[tuple[str, str]]:
    """Return (archive, entry) of at most ``count`` models of each archive, or of all models if ``count`` is None."""
    models = []
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            names = sorted([entry for entry in archive.namelist() if entry.endswith(".tflite")])
        chosen = names if count is None or count >= len(names) else sorted(random.Random(0).sample(names, count))
        models += [(path, entry) for entry in chosen]
    return models


def content_of(model: tuple[str, str]) -> Model | None:
    """Return a model of an archive, or None if it cannot be read."""
    with zipfile.ZipFile(model[0]) as archive:
        try:
            return load(archive.read(model[1]))
        except DelegateSimError:
            return None


def interpreter_changes(
    models: Sequence[tuple[str, str]], runtimes: Sequence[Runtime]
) -> Iterator[tuple[Change, tuple[str, str]]]:
    """Yield the changes of CPU kernels and XNNPACK."""
    old, new = [_answers(runtime, models) for runtime in runtimes]
    for model, before, after in zip(models, old, new, strict=True):
        for part in ("cpu", "xnnpack"):
            first, second = before[part], after[part]
            if class_of(first["end"]) != class_of(second["end"]):
                yield Change(part, class_of(first["end"]), class_of(second["end"])), model
            elif first["plans"] != second["plans"]:
                places = _places(first["plans"]), _places(second["plans"])
                yield from [(change, model) for change in moved(part, content_of(model), *places)]
            else:
                yield from [(change, model) for change in line_changes(part, first["lines"], second["lines"])]


def _answers(runtime: Runtime, models: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    asked = "".join([json.dumps(model) + "\n" for model in models])
    command = [runtime.python, str(_WORKER), str(_PLANS)]
    finished = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in finished.stdout.splitlines()]


_Place = tuple[int, int]


def _places(plans: Sequence[Sequence[list[int] | int]]) -> dict[_Place, int]:
    """Return the delegate kernel of each delegated node, by subgraph and node."""
    return {
        (graph, node): kernel
        for graph, plan in enumerate(plans)
        for kernel, step in enumerate(plan)
        if isinstance(step, list)
        for node in step
    }


def moved(part: str, model: Model | None, before: dict[_Place, int], after: dict[_Place, int]) -> Iterator[Change]:
    """Yield a change for each operator with nodes that moved between the CPU and the delegate."""
    places = before.keys() ^ after.keys()
    if not places:
        yield Change(part, "the same nodes", "in other kernels")
    for place in places:
        op = "?" if model is None else model.subgraphs[place[0]].nodes[place[1]].op
        where = ("delegate", "CPU") if place in before else ("CPU", "delegate")
        yield Change(part, f"{op}: {where[0]}", f"{op}: {where[1]}")


_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")
_HEADS = re.compile(r"^(?:[IWEF]\d{4} \S+ +\d+ |\w+: \[[^\]]*\] )")


def class_of(text: str) -> str:
    """Return a message without what differs between models and runs: times, addresses and other numbers."""
    return _NUMBER.sub("N", _HEADS.sub("", text.strip().splitlines()[0] if text.strip() else ""))[:160]


def line_changes(part: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Yield a change for each class of lines that only one wheel prints."""
    old, new = [{class_of(line) for line in lines} - {""} for lines in (before, after)]
    yield from [Change(part, line, "(not printed)") for line in old - new]
    yield from [Change(part, "(not printed)", line) for line in new - old]


def engine_changes(models: Sequence[tuple[str, str]], runtimes: Sequence[Runtime]) -> Iterator[tuple[Change, tuple[str, str]]]:
    """Yield the changes of compiler plugins and of the GPU accelerator."""
    for name in LIVE_NAMES:
        delegate = find_live(name)
        if not isinstance(delegate.live, (PluginTraits, AcceleratorTraits)):
            continue
        engines = [find_engine(delegate, runtime) for runtime in runtimes]
        lacks = [lacking(engine) for engine in engines]
        print(f"{name}: {'; '.join([lack or 'runs' for lack in lacks])}", flush=True)
        if not any(lacks):
            for model in models:
                content = content_of(model)
                if content is not None:
                    yield from [(change, model) for change in decision_changes(engines, content)]


def decision_changes(engines: Sequence[Engine], model: Model) -> Iterator[Change]:
    """Yield the changes between the decisions of two engines."""
    part = engines[0].delegate.name
    options = parse_options(part, engines[0].delegate.options, engines[0].fixed_options)
    before, after = [engine.decide(model, options) for engine in engines]
    if class_of(before.end) != class_of(after.end):
        yield Change(part, class_of(before.end) or "ok", class_of(after.end) or "ok")
    elif before.partitions is not None and after.partitions is not None and before.partitions != after.partitions:
        yield from moved(part, model, _selected(before), _selected(after))
    else:
        yield from line_changes(part, before.lines, after.lines)


def _selected(decision: LiveDecision) -> dict[_Place, int]:
    partitions = decision.partitions or ()
    return {node.place: kernel for kernel, nodes in enumerate(partitions) for node in nodes if node.place is not None}


def table(changes: Iterable[tuple[Change, tuple[str, str]]], counts: str) -> str:
    """Return the changes by class as Markdown, most models first."""
    models: dict[Change, list[str]] = defaultdict(list)
    for change, model in changes:
        name = f"{Path(model[0]).stem}:{model[1]}"
        if name not in models[change]:
            models[change].append(name)
    lines = [counts, "", "| part | old | new | models | examples |", "|---|---|---|---:|---|"]
    for change, names in sorted(models.items(), key=lambda item: (item[0].part, -len(item[1]), item[0])):
        cells = [text.replace("|", "\\|") for text in (change.before, change.after)]
        lines.append(f"| {change.part} | {cells[0]} | {cells[1]} | {len(names):,} | {', '.join(names[:_EXAMPLES])} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the Python, or the environment, of the old wheel")
    parser.add_argument("new", help="the Python, or the environment, of the new wheel")
    parser.add_argument("corpora", nargs="+", help="zip archives of models")
    parser.add_argument("--count", type=int, help="models of each corpus for the CPU and XNNPACK; by default, all")
    parser.add_argument("--partly", type=int, default=20, help="models of each corpus for plugins and the GPU")
    arguments = parser.parse_args()
    runtimes = [runtime_of(path) for path in (arguments.old, arguments.new)]
    models, fewer = sample(arguments.corpora, arguments.count), sample(arguments.corpora, arguments.partly)
    changes = [*interpreter_changes(models, runtimes), *engine_changes(fewer, runtimes)]
    releases = " -> ".join([runtime.release for runtime in runtimes])
    print(table(changes, f"{releases}: {len(models):,} models on the CPU and XNNPACK, {len(fewer):,} on plugins and the GPU."))
    sys.exit(0)


if __name__ == "__main__":
    main()

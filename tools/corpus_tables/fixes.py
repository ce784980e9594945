"""Fix the models of ../shared for every delegate, and make the table of docs/appendix/fix.md (``make fix-table``).

Weights in those files are zeroed or patterns; zeroed ones are filled with random numbers first, so that both models have
something to compute. A sample is as good as the models are many: ``--every 10`` takes one in ten, another one for each delegate.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.fixing.fix import fix
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.score import Standing, is_better
from delegate_sim.fixing.search import search
from delegate_sim.hypothetical.fixed_inputs import open_inputs
from delegate_sim.model.model import Model
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime.target import Target
from fixtures.comparisons import one_process
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
PAGE = ROOT / "docs" / "appendix" / "fix.md"
PASSES_PAGE = ROOT / "docs" / "passes.md"
CORPORA = ("keras.zip", "real.zip", "torch.zip", "onnx.zip")
_SMALL = 4096
_HEADINGS = (
    "delegate", "models", "improved", "multiply-adds delegated, median", "kernels, median", "bit for bit", "refused", "failures",
)  # fmt: skip
_NOT_RUN = "original model on the CPU"
_UNSTEADY = "the original model computes different values of"
_MADE_UP = "cannot be made up"
_REFUSED = "the model cannot be rewritten"


def with_weights(content: bytes) -> bytes:
    """Return a model with random numbers in place of constants that are all zero and over 4 KiB."""
    model = load(content)
    changed = bytearray(content)
    generator = np.random.default_rng(0)
    for tensor in {tensor.data: tensor for graph in model.subgraphs for tensor in graph.tensors if tensor.data}.values():
        assert tensor.data is not None
        offset, size = tensor.data
        if size < _SMALL or any(content[offset : offset + size]):
            continue
        changed[offset : offset + size] = _random(tensor.type, size, tensor.shape, generator)
    return bytes(changed)


def _random(kind: str, size: int, shape: Sequence[int], generator: np.random.Generator) -> bytes:
    if kind in ("FLOAT32", "FLOAT16"):
        width = 4 if kind == "FLOAT32" else 2
        fan_in = max(int(np.prod(shape[1:])), 1)
        values = generator.standard_normal(size // width) / fan_in**0.5
        return bytes(values.astype(f"<f{width}")).ljust(size, b"\0")
    if kind in ("INT8", "UINT8"):
        return generator.integers(1, 255, size, np.uint8).tobytes()
    return bytes(size)


def models(corpora: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Return the models with their names, the smallest first, so that a run that is stopped leaves out the largest."""
    archives = {name: zipfile.ZipFile(SHARED / name) for name in corpora}
    entries = [(entry.file_size, name, entry.filename) for name, archive in archives.items() for entry in archive.infolist()]
    for _, name, entry in sorted(entries):
        if entry.endswith(".tflite") and "broken/" not in entry:
            yield f"{name.removesuffix('.zip')}/{entry}", archives[name].read(entry)


def target_of(name: str) -> Target:
    delegate = find_delegate(name)
    return Target(delegate, parse_options(name, delegate.options, {}, "benchmark"), NEWEST, "benchmark")


def prepared(content: bytes, folder: Path) -> Model | DelegateSimError:
    """Write a model with weights to a folder and load it; return the error of one that cannot be read."""
    source = folder / "model.tflite"
    try:
        source.write_bytes(with_weights(content))
        return load(str(source))
    except DelegateSimError as error:
        return error


def record(path: str, model: Model | DelegateSimError, delegate: str, allowed: Exactness) -> dict[str, Any]:
    """Fix one model for one delegate and say how that went."""
    entry: dict[str, Any] = {"model": path, "delegate": delegate, "outcome": "same"}
    begin = time.perf_counter()
    if not isinstance(model, Model):
        return {**entry, "outcome": "unreadable", "message": str(model)}
    try:
        shapes = {tensor.index: tensor.shape for tensor in open_inputs(model)}
        entry["open"] = bool(shapes)
        plan = search(model, [target_of(delegate)], allowed, shapes)
        entry["passes"] = [step.name for step in plan.steps]
        entry["before"], entry["after"] = _numbers(plan.before[0]), _numbers(plan.after[0])
        entry["search_seconds"] = round(time.perf_counter() - begin, 2)
        if plan.is_changed and is_better(plan.after, plan.before):
            assert model.path is not None
            fixed = fix(plan, str(Path(model.path).with_name("fixed.tflite")), replaces=True)
            assert fixed.difference is not None
            entry["outcome"] = "improved"
            entry["is_same"], entry["relative"] = fixed.difference.is_same, fixed.difference.relative
            entry["exactness"] = plan.exactness.name.lower()
    except DelegateSimError as error:
        outcomes = {_NOT_RUN: "not run", _UNSTEADY: "unsteady", _MADE_UP: "refused", _REFUSED: "refused"}
        entry["outcome"] = next((outcome for words, outcome in outcomes.items() if words in str(error)), "failed")
        entry["message"] = str(error)
    except Exception as error:  # a bug, to be counted as a failure
        entry["outcome"], entry["message"] = "failed", f"{type(error).__name__}: {error}"
    entry["seconds"] = round(time.perf_counter() - begin, 2)
    return entry


def _numbers(standing: Standing) -> dict[str, Any]:
    measures = standing.measures
    share = standing.multiply_adds / standing.total_multiply_adds if standing.total_multiply_adds else None
    return {"share": share, "kernels": measures.delegate_kernels, "nodes": measures.delegated_nodes, "outcome": measures.outcome}


def run(arguments: argparse.Namespace) -> None:
    """Add to the records, model by model, those that are not there."""
    path = Path(arguments.records)
    known = {(entry["model"], entry["delegate"]) for entry in _records(path)}
    begin = time.monotonic()
    with path.open("a", encoding="utf-8") as file:
        for number, (name, content) in enumerate(models(arguments.corpus)):
            chosen = [
                delegate
                for place, delegate in enumerate(arguments.delegates)
                if (number + place) % arguments.every in arguments.part and (name, delegate) not in known
            ]
            if not chosen:
                continue
            with tempfile.TemporaryDirectory() as folder:
                model = prepared(content, Path(folder))
                for delegate in chosen:
                    if time.monotonic() - begin > arguments.seconds:
                        return
                    file.write(json.dumps(record(name, model, delegate, Exactness[arguments.allow.upper()])) + "\n")
                    file.flush()


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def table(records: Sequence[dict[str, Any]]) -> str:
    """Return the table, and below it what was run."""
    lines = [
        f"| {' | '.join(_HEADINGS)} |",
        "|---" * len(_HEADINGS) + "|",
    ]
    run_for = {entry["delegate"] for entry in records}
    for delegate in [name for name in DELEGATE_NAMES if name in run_for]:
        own = [entry for entry in records if entry["delegate"] == delegate and entry["outcome"] != "unreadable"]
        better = [entry for entry in own if entry["outcome"] == "improved"]
        cells = [
            delegate,
            len(own),
            len(better),
            _medians(better, "share", lambda value: f"{100 * value:.1f} %"),
            _medians(better, "kernels", lambda value: f"{value:g}"),
            sum([entry["is_same"] for entry in better]),
            sum([entry["outcome"] in ("not run", "refused", "unsteady") for entry in own]),
            sum([entry["outcome"] == "failed" for entry in own]),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    names = {entry["model"] for entry in records}
    lines += ["", f"{len(records):,} runs on {len(names):,} models. The medians are over the improved models."]
    return "\n".join(lines)


def _medians(entries: Sequence[dict[str, Any]], key: str, words: Any) -> str:
    pairs = [(entry["before"][key], entry["after"][key]) for entry in entries if entry["before"][key] is not None]
    if not pairs:
        return ""
    return " -> ".join([words(statistics.median(side)) for side in zip(*pairs, strict=True)])


def passes_table() -> str:
    """Return the table of all passes."""
    lines = ["| pass | operators | what the pass does | what the pass needs | results |", "|---|---|---|---|---|"]
    for one in PASSES.values():
        ops = ", ".join(sorted(one.ops)) if len(one.ops) < 10 else f"{len(one.ops)} operators"
        lines.append(f"| `{one.name}` | {ops or 'any'} | {one.does} | {one.needs} | {one.promise} |".replace("|x|", "\\|x\\|"))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="*", default=CORPORA)
    parser.add_argument("--delegates", nargs="*", default=DELEGATE_NAMES, choices=DELEGATE_NAMES)
    parser.add_argument("--every", type=int, default=1, help="take one in so many models")
    parser.add_argument("--part", type=int, nargs="*", default=[0], help="which of so many, from 0 on; several give more")
    parser.add_argument("--allow", default="rounding", choices=[kind.name.lower() for kind in Exactness])
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so long; a later call goes on")
    parser.add_argument("--records", default="fix-records.jsonl", help="where records are kept between calls")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/appendix/fix.md and docs/passes.md")
    parser.add_argument("--only-passes", action="store_true", help="fix no models, and write docs/passes.md alone")
    arguments = parser.parse_args()
    if arguments.write or arguments.only_passes:
        PASSES_PAGE.write_text(with_section(PASSES_PAGE.read_text("utf-8"), "passes", passes_table()), "utf-8")
    if arguments.only_passes:
        return
    with one_process():
        run(arguments)
    text = table(_records(Path(arguments.records)))
    if arguments.write:
        PAGE.write_text(with_section(PAGE.read_text("utf-8"), "table", text), "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()

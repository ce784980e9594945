"""Fix the drawn networks for six targets, and check the files: ``python -m tools.networks.check FOLDER --records FILE``.

Each network is fixed for all targets at once, and for one target alone, which changes from network to network. For each written
file, these are checked apart from what ``fix`` checks itself: that no asked target is worse, that the file is analyzed as
promised, and that a file called exact computes the same bits on further random inputs. A later call goes on where the last one
stopped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from delegate_sim import load
from delegate_sim.errors import DelegateSimError
from delegate_sim.fixing.fix import fix
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.score import standing
from delegate_sim.fixing.search import search
from delegate_sim.inference.difference import compare
from delegate_sim.inference.inputs import generated_inputs
from delegate_sim.model.model import Model
from delegate_sim.runtime.target import Target
from fixtures.comparisons import one_process
from tools.corpus_tables.fixes import target_of

TARGETS = ("nnapi", "gpu", "vx", "hexagon", "coreml", "xnnpack")
_FURTHER = (101, 102, 103)
"""Seeds of the inputs that ``fix`` does not use."""
_NOT_RUN = "the original model on the CPU"


def record(model: Model, targets: Sequence[Target], path: Path) -> dict[str, Any]:
    """Fix a model, check the file, and return what was found."""
    entry: dict[str, Any] = {"model": path.name, "targets": [target.delegate.name for target in targets], "outcome": "same"}
    try:
        plan = search(model, targets)
        entry["conflicts"] = len(plan.conflicts)
        if not plan.is_changed:
            return entry
        with tempfile.TemporaryDirectory() as folder:
            fixed = fix(plan, str(Path(folder, "fixed.tflite")))
            written = load(str(fixed.path))
            after = [standing(written, target) for target in targets]
            before = [standing(model, target) for target in targets]
            entry["outcome"] = "written"
            entry["worse"] = [one.target.delegate.name for one, old in zip(after, before, strict=True) if one.score > old.score]
            entry["better"] = [one.target.delegate.name for one, old in zip(after, before, strict=True) if one.score < old.score]
            entry["miscounted"] = [one.target.delegate.name for one, told in zip(after, plan.after, strict=True) if one != told]
            entry["exact"] = plan.exactness == Exactness.EXACT
            entry["passes"] = [step.name for step in plan.steps]
            if entry["exact"]:
                inputs = [generated_inputs(model, model.subgraphs[0], seed, {}) for seed in _FURTHER]
                difference = compare(model, written, inputs, {}, is_timed=False)
                entry["false_exact"] = not difference.is_same and not difference.unsteady
    except DelegateSimError as error:
        entry["outcome"], entry["message"] = "not run" if _NOT_RUN in str(error) else "failed", str(error)
    except Exception as error:  # a bug, to be counted as a failure
        entry["outcome"], entry["message"] = "failed", f"{type(error).__name__}: {error}"
    return entry


def run(folder: Path, records: Path, seconds: float, every: int, part: int) -> None:
    """Add to the records, network by network, those that are not there."""
    known = {(entry["model"], tuple(entry["targets"])) for entry in read(records)}
    targets = [target_of(name) for name in TARGETS]
    begin = time.monotonic()
    with records.open("a", encoding="utf-8") as file:
        for number, path in enumerate(sorted(folder.glob("*.tflite"))):
            if number % every != part:
                continue
            model = load(str(path))
            for chosen in (targets, [targets[number % len(targets)]]):
                if (path.name, tuple([target.delegate.name for target in chosen])) in known:
                    continue
                if time.monotonic() - begin > seconds:
                    return
                file.write(json.dumps(record(model, chosen, path)) + "\n")
                file.flush()


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records in a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []


def summary(records: Sequence[dict[str, Any]]) -> str:
    """Return the figures in words."""
    outcomes = Counter(entry["outcome"] for entry in records)
    written = [entry for entry in records if entry["outcome"] == "written"]
    joint = [entry for entry in records if len(entry["targets"]) > 1]
    exact = [entry for entry in written if entry["exact"]]
    lines = [
        f"{len({entry['model'] for entry in records}):,} networks, {len(records):,} runs: {dict(outcomes)}",
        f"for all {len(TARGETS)} targets at once: {len(joint):,} runs, {sum(e['outcome'] == 'written' for e in joint):,} files, "
        f"{sum(bool(e.get('conflicts')) for e in joint):,} with a conflict",
        f"worse on an asked target: {sum(bool(entry['worse']) for entry in written):,} of {len(written):,} files",
        f"false counts: {sum(bool(entry['miscounted']) for entry in written):,} of {len(written):,} files",
        f"false exact: {sum(entry['false_exact'] for entry in exact):,} of {len(exact):,} files called exact",
    ]
    lines += [
        f"{entry['model']} for {', '.join(entry['targets'])}: {entry['message']}"
        for entry in records
        if entry["outcome"] == "failed"
    ]
    return "\n".join(lines)


def main() -> None:
    """Run the checks and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=Path, default=Path("network-records.jsonl"))
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so long")
    parser.add_argument("--every", type=int, default=1, help="take one in so many networks")
    parser.add_argument("--part", type=int, default=0, help="which of so many, from 0 on")
    arguments = parser.parse_args()
    with one_process():
        run(arguments.folder, arguments.records, arguments.seconds, arguments.every, arguments.part)
    print(summary(read(arguments.records)))


if __name__ == "__main__":
    main()

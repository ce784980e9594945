"""Measure how often the simulation agrees with recorded verdicts of real delegates (``make accuracy``).

The records and the programs that compare them are beside the repository, in ``../shared``. The file
``delegate_sim/results/accuracy.json`` lists what to measure, and gets the counts and the date. A fixed sample of the models of
each corpus is used, unless ``--all`` is given.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "delegate_sim" / "results" / "accuracy.json"
PROGRAMS = ROOT.parent / "shared" / "tools"
_COUNT = re.compile(r"\b([a-z_]+) \d+\.\d+% \((\d+) of (\d+) differ\)")
_NUMBERS = re.compile(r"^ +ALL +(\d+) +(\d+) +\d+ +\S+ +(\d+) +(\d+) ", re.MULTILINE)
"""The counts of a release: models with wrong outputs, those predicted; models with right outputs, those called wrong."""
_JOBS, _SAMPLE = ("conformance.py", "npu_conformance.py", "numbers_conformance.py", "runtime_conformance.py"), "--sample"


def agreement(output: str) -> dict[str, list[int]]:
    """Return, for each kind of comparison in the output of a program, the number that agree and the number compared."""
    right, total = Counter[str](), Counter[str]()
    for kind, wrong, compared in _COUNT.findall(output):
        right[kind] += int(compared) - int(wrong)
        total[kind] += int(compared)
    for wrong_outputs, predicted, right_outputs, alarms in _NUMBERS.findall(output):
        right["wrong outputs"] += int(predicted)
        total["wrong outputs"] += int(wrong_outputs)
        right["right outputs"] += int(right_outputs) - int(alarms)
        total["right outputs"] += int(right_outputs)
    return {kind: [right[kind], total[kind]] for kind in total}


def measure(entry: dict[str, Any], sample: int | None, jobs: int) -> dict[str, Any]:
    """Return an entry with counts and date. Raises CalledProcessError if the program compares nothing."""
    program, *arguments = entry["command"].split()
    command = [sys.executable, str(PROGRAMS / program), *arguments, "--show", "0"]
    if program in _JOBS:
        command += ["--jobs", str(jobs)]
    is_sampled = sample is not None and program not in ("llm_conformance.py", "numbers_conformance.py")
    if is_sampled:
        command += [_SAMPLE, str(sample)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    counts = agreement(done.stdout)
    if not counts:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    today = datetime.now(timezone.utc).date().isoformat()
    return {**entry, "measured": today, "sample": sample if is_sampled else None, "agreement": counts}


def main() -> int:
    """Measure the entries that the arguments choose, and write each as soon as it is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="TEXT", help="only entries whose target or command contains this text")
    parser.add_argument("--sample", type=int, default=100, help="the number of models of each corpus (default: 100)")
    parser.add_argument("--all", action="store_true", help="all models; this takes hours")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not PROGRAMS.exists():
        print(f"{PROGRAMS} is not here, so nothing was measured", file=sys.stderr)
        return 1
    data = json.loads(DATA.read_text("utf-8"))
    for number, entry in enumerate(data["targets"]):
        named = f"{entry['target']} {entry['command']}"
        if arguments.only and not any(text in named for text in arguments.only):
            continue
        print(named, flush=True)
        data["targets"][number] = measure(entry, None if arguments.all else arguments.sample, arguments.jobs)
        print(f"  {data['targets'][number]['agreement']}", flush=True)
        DATA.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run models at which TensorFlow Lite Micro crashed, and print the functions that crash (``make micro-crashes``).

Needs a Python with ``tflite-micro`` (TFLM) and gdb. Reads the records and models in ``../shared``. Records of crashes and of runs
that reached a time limit have no verdict of the runtime, so the analysis cannot be compared with them. This tool runs each of
these models again, and prints the table of ``docs/appendix/micro-crashes.md``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import signal
import subprocess
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import delegate_sim

SHARED = Path(__file__).resolve().parents[3] / "shared"
_SECONDS = 60
_NAMED = 2
"""The number of models that a row names."""
_RUN = """
import sys
from tflite_micro.python.tflite_micro import runtime
interpreter = runtime.Interpreter.from_file(sys.argv[1], arena_size=1 << 26)
print("allocated", flush=True)
interpreter.invoke()
"""
_FRAME = re.compile(r"^#\d+ +0x\w+ in (.*?) from \S*_runtime\.so", re.MULTILINE)
_CHECKED = "__GI_abort"
"""The frame of a failed check. Other crashes are accesses to invalid memory, and divisions by zero."""


class Crash(NamedTuple):
    """The end of a run, with its step and function, and the prediction of the analysis for the model."""

    end: str
    step: str
    function: str
    predicted: str


def main() -> None:
    """Print a table with a row for each kind of crash, and the number of models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="a Python with tflite-micro")
    parser.add_argument("--corpus", action="append", help="the name of a corpus; by default all corpora with records")
    arguments = parser.parse_args()
    kinds: dict[Crash, list[str]] = defaultdict(list)
    for corpus in arguments.corpus or ("fuzz", "keras", "onnx", "real", "torch"):
        for name, content in _crashed(corpus):
            kinds[_crash(arguments.python, content)].append(f"{corpus} {name}")
    print("| models | in the runtime | in | function | analysis | such as |\n|---|---|---|---|---|---|")
    for crash, names in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0])):
        function = f"`{crash.function}`" if crash.function else ""
        shown = ", ".join([f"`{name}`" for name in names[:_NAMED]])
        print(f"| {len(names):,} | {crash.end} | {crash.step} | {function} | {crash.predicted} | {shown} |")


def _crashed(corpus: str) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as models:
        members = set(models.namelist())
        with gzip.open(SHARED / "oracle-micro" / "tflm" / f"{corpus}.jsonl.gz", "rt") as lines:
            for record in map(json.loads, lines):
                is_crash = "crash" in (record["outcome"], record.get("invoke")) or record.get("invoke") == "timeout"
                if is_crash and record["model"] in members:
                    yield record["model"], models.read(record["model"])


def _crash(python: str, content: bytes) -> Crash:
    report = delegate_sim.analyze_micro(delegate_sim.load(content))
    predicted = "runs" if report.runs else "refused"
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(content)
        file.flush()
        command = [python, "-c", _RUN, file.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return Crash(f"runs longer than {_SECONDS} s", "Invoke", "", predicted)
        step = "Invoke" if "allocated" in done.stdout else "AllocateTensors"
        if done.returncode >= 0:
            return Crash("refuses the model" if done.returncode else "runs the model", step, "", predicted)
        traced = ["gdb", "-q", "-batch", "-ex", "run", "-ex", "backtrace", "--args", *command]
        frames = subprocess.run(traced, capture_output=True, text=True, timeout=_SECONDS, check=False).stdout
    function = _FRAME.search(frames)
    end = "a failed check aborts" if _CHECKED in frames else signal.strsignal(-done.returncode) or ""
    return Crash(end.lower(), step, _short(function[1]) if function else "unknown", predicted)


def _short(function: str) -> str:
    """Return the name of a function without namespaces, template arguments and parameters."""
    plain = re.sub(r"\(anonymous namespace\)::| \[clone [^]]*\]", "", function)
    while (shorter := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = shorter
    return plain.partition("(")[0].split("::")[-1].split()[-1]


if __name__ == "__main__":
    main()

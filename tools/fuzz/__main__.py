"""Runs mutants for some time and keeps those that end in an error, take long or take much memory.

Every other mutant is a model that goes through the library, many in one process. The others are inputs of all kinds, each given
to a whole command in a process of its own. ``python -m tools.fuzz --time 60 --seed 1 --findings folder``
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import math
import mmap
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from delegate_sim.delegates.registry import DELEGATE_NAMES
from tools.fuzz.children import in_child
from tools.fuzz.commands import run_in_child
from tools.fuzz.findings import MODEL, Finding, Findings, memory_held, memory_peak, place, watched
from tools.fuzz.kinds import KINDS, chosen, seeds_of
from tools.fuzz.minimize import minimized, minimized_text
from tools.fuzz.mutate import mutant, mutant_and_original, seeds
from tools.fuzz.targets import run_delegates, run_program

_ROUND = 64
"""Mutants between two looks at the clock."""
_ADDRESS_SPACE = 4 << 30
_SECONDS = 60
_REPORT_SECONDS = 60
_MINIMIZING_SECONDS = 60
_WARMING = 60
"""Models that are run before the first child begins."""
_WARMING_COMMANDS = (
    "analyze", "diagnose --delegate all", "whatif --to int8", "compare --with runtime=tf-2.12", "releases",
    "fix --for all --plan", "export json", "inspect", "micro", "reconcile --log fixtures/logs/gpu_refusals.log",
    "analyze --op-profile fixtures/logs/gpu_refusals.log", "analyze --soc google:Tensor_G5 --accelerators npu,gpu,cpu",
)  # fmt: skip
"""Commands that are run before as well; a report or a query would leave threads with hundreds of megabytes of address space."""
_WARMING_IMPORTS = (
    "delegate_sim.scan.scan", "delegate_sim.fixing.bundle_fix", "delegate_sim.llm.session", "delegate_sim.bundles.task_files",
    "delegate_sim_cli.commands.check", "delegate_sim_cli.commands.query", "delegate_sim_cli.commands.scan", "duckdb",
)  # fmt: skip
"""Modules that other commands import; some need address space that pyarrow may have taken before."""


@dataclass
class Worst:
    """The most time and memory that a mutant took, and the mutant's own seed."""

    seconds: tuple[float, str] = (0.0, "")
    peak: tuple[int, str] = (0, "")

    def add(self, seconds: tuple[float, str], peak: tuple[int, str]) -> None:
        """Take what another mutant took."""
        self.seconds, self.peak = max(self.seconds, seconds), max(self.peak, peak)

    def __str__(self) -> str:
        return f"at most {self.seconds[0]:.1f} s ({self.seconds[1]}) and {self.peak[0] >> 20} MiB ({self.peak[1]})"


class Batch(NamedTuple):
    """The result of a process: its mutants up to the first that went wrong."""

    mutants: int
    finding: Finding | None
    worst: Worst


def run_batch(own_seeds: Sequence[str], given: list[bytes], delegates: int) -> Batch:
    """Run mutants through the library in this process, until one goes wrong."""
    worst, held = Worst(), memory_held()
    for number, own in enumerate(own_seeds):
        _CURRENT[:8] = number.to_bytes(8, "little")
        start = time.process_time()
        finding = _run_library(own, mutant(random.Random(own), given), delegates, held)
        worst.add((time.process_time() - start, own), (memory_peak(), own))
        if finding is not None:
            return Batch(number + 1, finding, worst)
    return Batch(len(own_seeds), None, worst)


_CURRENT = mmap.mmap(-1, 8)
"""The number of the mutant that runs, shared with the child that runs it: should that die, it is known of what."""


def _run_library(own: str, content: bytes, delegates: int, held: int) -> Finding | None:
    return watched(own, content, lambda: run_delegates(content, random.Random(f"{own}:delegates"), delegates), held)


def library_batch(own_seeds: Sequence[str], given: list[bytes], delegates: int) -> Batch:
    """Run mutants through the library in a child, so that none takes the others along."""
    ended = in_child(lambda: run_batch(own_seeds, given, delegates), _ADDRESS_SPACE)
    if ended.result is not None:
        return ended.result
    number = int.from_bytes(_CURRENT[:8], "little")
    own = own_seeds[number]
    return Batch(number + 1, Finding(own, "crash", f"status {ended.status}", mutant(random.Random(own), given)), Worst())


def _warm(given: list[bytes]) -> None:
    """Import and work out what all children need."""
    for number, content in enumerate(random.Random(0).sample(given, min(len(given), _WARMING))):
        with contextlib.suppress(Exception):
            run_delegates(content, random.Random(number), len(DELEGATE_NAMES))
    for command in _WARMING_COMMANDS:
        run_program([*command.split(), "fixtures/models/pooling.tflite"])
    for module in _WARMING_IMPORTS:
        import_module(module)
    gc.collect()
    gc.freeze()  # children then copy less


class Fuzzer:
    """Runs rounds of mutants, and remembers what went wrong and what took most."""

    def __init__(self, given: list[bytes], findings: Findings, delegates: int, kinds: Sequence[str], minimizing: float) -> None:
        self.worst_of_library, self.worst_of_commands = Worst(), {kind: Worst() for kind in kinds}
        self._kinds = kinds
        self._minimizing = minimizing
        self._given = given
        self._findings = findings
        self._delegates = delegates

    def run_library(self, own_seeds: Sequence[str]) -> None:
        """Run mutants through the library."""
        while own_seeds:
            batch = library_batch(own_seeds, self._given, self._delegates)
            own_seeds = own_seeds[batch.mutants :]
            self.worst_of_library.add(batch.worst.seconds, batch.worst.peak)
            if batch.finding is not None:
                self._findings.add(batch.finding, lambda first: self._minimized(first, self._library_finding))

    def run_commands(self, own_seeds: Sequence[str]) -> None:
        """Give each mutant to a command. Each kind gets as many."""
        for own in own_seeds:
            kind = random.Random(f"{own}:kind").choice(self._kinds)
            content = mutant(random.Random(own), self._given) if kind == MODEL else chosen(kind, own)[1]
            run = run_in_child(content, own, kind)
            self.worst_of_commands[kind].add((run.seconds, own), (run.peak, own))
            if run.finding is not None:
                find = functools.partial(_command_finding, kind)
                self._findings.add(run.finding, lambda first: self._minimized(first, find))  # noqa: B023

    def _library_finding(self, own: str, content: bytes) -> Finding | None:
        ended = in_child(lambda: _run_library(own, content, self._delegates, memory_held()), _ADDRESS_SPACE)
        return Finding(own, "crash", f"status {ended.status}", content) if ended.status else ended.result

    def _minimized(self, finding: Finding, finding_of: Callable[[str, bytes], Finding | None]) -> bytes:
        def goes_wrong(content: bytes) -> bool:
            other = finding_of(finding.seed, content)
            if other is None or other.what != finding.what:
                return False
            # Where a command is stopped differs from run to run.
            return finding.what in ("timeout", "time", "memory") or place(other) == place(finding)

        if finding.kind != MODEL:
            return minimized_text(finding.content, goes_wrong, self._minimizing)
        _, original = mutant_and_original(random.Random(finding.seed), self._given)
        return minimized(finding.content, original, goes_wrong, self._minimizing)


def _command_finding(kind: str, own: str, content: bytes) -> Finding | None:
    return run_in_child(content, own, kind).finding


def main() -> int:
    """Run until the time is over or enough have run; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, help="seconds; by default 60, or as long as --runs take")
    parser.add_argument("--runs", type=int, help="stop after so many mutants of each seed")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant, to go on where a run ended")
    parser.add_argument("--only", choices=("library", "commands"), help="do not run the other half")
    parser.add_argument(
        "--kind",
        choices=(MODEL, *KINDS),
        nargs="+",
        default=(MODEL, *KINDS),
        help="the kinds of input for commands; by default all",
    )
    parser.add_argument(
        "--delegates", type=int, default=0, help="how many delegates, at random, a mutant goes through; 0: see targets.py"
    )
    parser.add_argument("--models", type=Path, action="append", default=[], help="folders of models to make mutants of")
    parser.add_argument(
        "--minimizing", type=float, default=_MINIMIZING_SECONDS, help="seconds for making a mutant that went wrong smaller"
    )
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where mutants that went wrong are kept")
    arguments = parser.parse_args()
    given = seeds(arguments.models)
    _warm(given)
    for kind in arguments.kind if arguments.only != "library" else ():
        if kind != MODEL:
            seeds_of(kind)
    findings = Findings(arguments.findings)
    fuzzer = Fuzzer(given, findings, arguments.delegates, arguments.kind, arguments.minimizing)
    start = last = time.monotonic()
    end = start + (arguments.time or (math.inf if arguments.runs else _SECONDS))
    for seed in arguments.seed:
        first, stop = arguments.first, arguments.first + (arguments.runs or sys.maxsize)
        while first < stop and time.monotonic() < end:
            own_seeds = [f"{seed}:{number}" for number in range(first, min(first + _ROUND, stop))]
            first += len(own_seeds)
            if arguments.only != "commands":
                fuzzer.run_library(own_seeds if arguments.only else own_seeds[::2])
            if arguments.only != "library":
                fuzzer.run_commands(own_seeds if arguments.only else own_seeds[1::2])
            if time.monotonic() - last > _REPORT_SECONDS or first >= stop or time.monotonic() > end:
                last = time.monotonic()
                print(f"seed {seed}, up to mutant {first - 1:,}, {last - start:.0f} s: {findings}", flush=True)
                print(f"  library: {fuzzer.worst_of_library}", flush=True)
                for kind, worst in fuzzer.worst_of_commands.items():
                    print(f"  commands on {kind}: {worst}", flush=True)
    return 1 if len(findings) else 0


if __name__ == "__main__":
    sys.exit(main())

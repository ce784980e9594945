"""Runs mutants for some time, in processes of their own, and keeps those that end in an error, take long or take much memory.

``python -m tools.fuzz --time 60 --seed 1 --findings folder``
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import mmap
import os
import pickle
import random
import resource
import sys
import time
from pathlib import Path
from typing import NamedTuple

from delegate_sim.delegates.registry import DELEGATE_NAMES
from tools.fuzz.findings import Finding, Findings, memory_held, memory_peak, watched
from tools.fuzz.mutate import mutant, seeds
from tools.fuzz.targets import run_all

_BATCH = 2048
"""Mutants of one process, whose peak of memory is that of the worst; it ends with the first that goes wrong."""
_ADDRESS_SPACE = 4 << 30
_REPORT_SECONDS = 60
_WARMING = 60
"""Models that are run before the first child begins."""


class Batch(NamedTuple):
    """The result of a process: its mutants up to the first that went wrong."""

    mutants: int
    finding: Finding | None
    peak: int
    """Bytes of memory."""
    slowest: tuple[float, int]
    """Seconds of the processor that the slowest mutant took, and its number."""


def run_batch(first: int, number: int, seed: int, given: list[bytes], delegates: int, commands: float) -> Batch:
    """Run mutants by their numbers in this process, until one goes wrong."""
    slowest, held = (0.0, first), memory_held()
    for index in range(first, first + number):
        _CURRENT[:8] = index.to_bytes(8, "little")
        generator = random.Random(_own_seed(seed, index))
        content = mutant(generator, given)
        start = time.process_time()
        finding = watched(_own_seed(seed, index), content, lambda: run_all(content, generator, delegates, commands), held)  # noqa: B023
        slowest = max(slowest, (time.process_time() - start, index))
        if finding is not None:
            return Batch(index - first + 1, finding, memory_peak(), slowest)
    return Batch(number, None, memory_peak(), slowest)


_CURRENT = mmap.mmap(-1, 8)
"""The number of the mutant that runs, shared with the child that runs it: should that die, it is known of what."""


def _own_seed(seed: int, index: int) -> str:
    return f"{seed}:{index}"


def in_process(first: int, arguments: argparse.Namespace, given: list[bytes]) -> Batch:
    """Run one batch in a child, so that no mutant takes the others along."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
        batch = run_batch(first, _BATCH, arguments.seed, given, arguments.delegates, arguments.commands)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(batch, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if status or not content:
        index = int.from_bytes(_CURRENT[:8], "little")
        own = _own_seed(arguments.seed, index)
        killer = mutant(random.Random(own), given)
        return Batch(index - first + 1, Finding(own, "crash", f"status {status}", killer), 0, (0.0, first))
    batch = pickle.loads(content)  # from the own child
    assert isinstance(batch, Batch)
    return batch


def main() -> int:
    """Run until the time is over; return 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=60, help="seconds")
    parser.add_argument("--mutants", type=int, default=0, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant, to go on where a run ended")
    parser.add_argument(
        "--delegates", type=int, default=0, help="how many delegates, at random, a mutant goes through; 0: see targets.py"
    )
    parser.add_argument("--commands", type=float, default=0.125, help="share of mutants that go through a command as well")
    parser.add_argument("--models", type=Path, action="append", default=[], help="folders of models to make mutants of")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where mutants that went wrong are kept")
    arguments = parser.parse_args()
    given = seeds([Path("fixtures/models"), Path("tests/hostile"), *arguments.models])
    findings = Findings(arguments.findings)
    for number, content in enumerate(random.Random(arguments.seed).sample(given, min(len(given), _WARMING))):
        # What is imported and worked out once need not be so in every child.
        with contextlib.suppress(Exception):
            run_all(content, random.Random(number), len(DELEGATE_NAMES), 1)
    gc.collect()
    gc.freeze()  # children then copy less
    start, last, first, peak, slowest = time.monotonic(), time.monotonic(), arguments.first, 0, (0.0, 0)

    def summary() -> str:
        return (
            f"{first - arguments.first:,} mutants in {time.monotonic() - start:.0f} s: {findings}; "
            f"at most {slowest[0]:.1f} s of the processor (mutant {slowest[1]}) and {peak >> 20} MiB of memory"
        )

    while time.monotonic() - start < arguments.time and not 0 < arguments.mutants <= first - arguments.first:
        batch = in_process(first, arguments, given)
        first += batch.mutants
        peak, slowest = max(peak, batch.peak), max(slowest, batch.slowest)
        if batch.finding is not None:
            findings.add(batch.finding)
        if time.monotonic() - last > _REPORT_SECONDS:
            last = time.monotonic()
            print(summary(), flush=True)
    print(summary())
    return 1 if len(findings) else 0


if __name__ == "__main__":
    sys.exit(main())

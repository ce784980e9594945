"""Mutants that are kept where they reach code that none before has reached, by atheris: ``make fuzz-guided TIME=60``.

``python -m tools.fuzz.guided --time 60 --corpus build/fuzz-corpus`` in an environment that has atheris as well.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import pkgutil
import random
import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["delegate_sim", "delegate_sim_cli"]):
    import delegate_sim
    import delegate_sim_cli

    for _package in (delegate_sim, delegate_sim_cli):
        for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
            if not _module.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of a package that is not installed
                    importlib.import_module(_module.name)

from tools.fuzz.findings import Findings, memory_held, memory_peak, watched
from tools.fuzz.mutate import mutated, random_model, seeds
from tools.fuzz.targets import run_all

_LONGEST = 1 << 16
_SLOWNESS = 4
"""The factor by which instrumented code is slower: 1.7 s became 6.2 s."""


def main() -> None:
    """Run until the time is over; the exit code is 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=60, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delegates", type=int, default=2, help="how many delegates, at random, an input goes through")
    parser.add_argument("--commands", type=float, default=0.05, help="share of inputs that go through a command as well")
    parser.add_argument("--models", type=Path, action="append", default=[], help="folders of models to begin with")
    parser.add_argument(
        "--corpus", type=Path, default=Path("build/fuzz-corpus"), help="where inputs that reach new code are kept"
    )
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where inputs that went wrong are kept")
    arguments = parser.parse_args()
    findings = Findings(arguments.findings)
    arguments.corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds(arguments.models)):
        (arguments.corpus / f"seed{number}").write_bytes(content)
    inputs = 0
    start = time.monotonic()

    def run(content: bytes) -> None:
        nonlocal inputs
        inputs += 1
        generator = random.Random(content)
        finding = watched(
            "",
            content,
            lambda: run_all(content, generator, arguments.delegates, arguments.commands),
            memory_held(),
            _SLOWNESS,
        )
        if finding is not None:
            findings.add(finding, lambda first: first.content)
        if time.monotonic() - start > arguments.time:
            seconds = time.process_time()
            print(f"{inputs:,} inputs in {seconds:.0f} s of the processor: {findings}; {memory_peak() >> 20} MiB", flush=True)
            os._exit(1 if len(findings) else 0)  # nothing else ends atheris

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        generator = random.Random(seed)
        choice = generator.random()
        if choice < 0.1:
            return bytes(atheris.Mutate(content, most))
        if choice < 0.15:
            return random_model(generator)[:most]
        try:
            return mutated(generator, content)[:most]
        except Exception:  # no flatbuffer any more: whatever is wrong with it
            return bytes(atheris.Mutate(content, most))

    options = [f"-seed={arguments.seed}", f"-max_len={_LONGEST}", "-timeout=600", "-rss_limit_mb=4096", "-len_control=0"]
    atheris.Setup([sys.argv[0], *options, str(arguments.corpus)], run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""Check which conditions for wrong numbers hold in an installed release of LiteRT (``make numbers``).

Small models are run on the release's GPU accelerator and with the CPU's kernels, as ``verify --on mldrift`` does. The models are
the first few of each folder of ``../shared/corpus/numbers.zip``. A folder has one operator or one pattern. A line for each
condition has the numbers of wrong and right models in which it holds. A condition is gone if it is certain and all of its models
are right. Wrong models without a condition show a new one. The exit code is 1 if a condition came or went.

Use ``--python`` for a release in another environment, and ``--runtime`` for the release whose rules apply. A model takes one to
two seconds.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from delegate_sim.results.report.number_risks import number_risks
from delegate_sim.runtime.interpreter import Run, simulate
from delegate_sim.runtime.target import Target
from delegate_sim.verification.verification import Verification
from delegate_sim.verification.verify import Verifier, verify_on

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "numbers.zip"
_DELEGATE = "mldrift"


class Measured(NamedTuple):
    """A model that runs wholly on the GPU. ``certain`` and ``possible`` are codes of conditions."""

    name: str
    is_right: bool
    certain: frozenset[str]
    possible: frozenset[str]
    culprit: str = ""
    """The operator and node at fault, if no condition holds."""


@dataclass
class Conditions:
    """The numbers of wrong and right models by condition."""

    wrong: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    certain: set[str] = field(default_factory=set)
    new: list[Measured] = field(default_factory=list)

    def add(self, model: Measured) -> None:
        """Count a model."""
        codes = model.certain | model.possible
        (self.right if model.is_right else self.wrong).update(codes)
        self.certain |= model.certain
        if not model.is_right and not codes:
            self.new.append(model)

    @property
    def gone(self) -> list[str]:
        """The certain conditions whose models are all right."""
        return sorted(code for code in self.certain if not self.wrong[code])

    def lines(self) -> Iterator[str]:
        """Yield the table, and then the conditions that went or came."""
        yield "condition | wrong | right"
        for code in sorted({*self.wrong, *self.right}):
            yield f"{code} | {self.wrong[code]} | {self.right[code]}"
        yield from [f"gone: {code}" for code in self.gone]
        yield from [f"new: {model.name}: {model.culprit or 'no single node is at fault'}" for model in self.new]


def chosen(names: Iterable[str], count: int) -> list[str]:
    """Return the first models of each folder, in order."""
    folders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        if name.endswith(".tflite"):
            folders[name.rpartition("/")[0]].append(name)
    return [name for own in folders.values() for name in own[:count]]


def _predicted(model: Model, release: Release) -> Run:
    delegate = find_delegate(_DELEGATE)
    options = parse_options(delegate.name, delegate.options, {"backend": "webgpu"})
    return simulate(model, Target(delegate, options, release))


def _culprit(verification: Verification) -> str:
    culprits = [entry.culprit for entry in verification.entries if entry.culprit is not None]
    return "; ".join([f"{culprit.op} {culprit.node}" for culprit in culprits])


def measure(verifier: Verifier, name: str, content: bytes, release: Release) -> Measured | None:
    """Return what a model computes, or None if it does not run wholly on the GPU, or not at all."""
    model = load(content)
    run = _predicted(model, release)
    if any(len(subgraph.delegated) < len(subgraph.graph.execution_plan) for subgraph in run.subgraphs):
        return None
    risks = number_risks(run)
    certain = frozenset(risk.refusal.code for risk in risks if risk.is_certain)
    possible = frozenset(risk.refusal.code for risk in risks) - certain
    try:
        verification = verify_on(verifier, model, searches=not risks)
    except DelegateSimError:
        return None
    if any(entry.failure for entry in verification.entries):
        return None
    return Measured(name, verification.is_right, certain, possible, _culprit(verification))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the models, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=CORPUS, help="a zip file with models in folders")
    parser.add_argument("--each", type=int, default=2, help="the number of models of each folder")
    parser.add_argument("--python", default="", help="another Python with the release")
    parser.add_argument("--runtime", default=DEFAULT_RELEASE, help="the release whose rules apply")
    given = parser.parse_args(arguments)
    if not given.models.is_file():
        parser.error(f"{given.models} does not exist; --models names another archive")
    try:
        verifier = Verifier(_DELEGATE, given.python)
    except DelegateSimError as error:
        parser.error(str(error))
    conditions, skipped = Conditions(), 0
    with zipfile.ZipFile(given.models) as archive:
        names = chosen(archive.namelist(), given.each)
        for number, name in enumerate(names, 1):
            print(f"{number} of {len(names)}: {name}", file=sys.stderr)
            measured = measure(verifier, name, archive.read(name), parse_release(given.runtime))
            if measured is None:
                skipped += 1
            else:
                conditions.add(measured)
    for line in conditions.lines():
        print(line)
    print(f"{verifier.software}: {skipped} models were left out, because they do not run wholly on the GPU")
    return 1 if conditions.gone or conditions.new else 0


if __name__ == "__main__":
    sys.exit(main())

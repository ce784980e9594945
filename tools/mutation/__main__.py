"""Check whether the tests notice changes of the code that decides: ``python -m tools.mutation --sample 200``.

cosmic-ray's operators make the mutants, in an environment that has it and coverage.py as well (``make mutation``). Its own runner
starts an interpreter and the suite for each, which would take days; here only the tests that run the changed line are run, the
fastest first, in a fork (``mutant_runs.py``). A place in the code is drawn at random, then one of its mutants. Not mutants are:
changes of annotations, which are not evaluated, of how functions may be called, which mypy checks, and invalid Python.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tools.mutation.mutant_runs import LONGEST_TEST, ROOT, UNTOLD, Job, Mutant, run_cold, run_warm

AREAS: Mapping[str, Sequence[str]] = {
    "partitioner": ("delegate_sim/graph/partition.py",),
    "interpreter": ("delegate_sim/runtime/*.py",),
    "gate": ("delegate_sim/gate/*.py",),
    "rule engine": ("delegate_sim/rules/*.py",),
}
TESTS = (
    "tests/graph", "tests/runtime", "tests/rules", "tests/gate", "tests/api", "tests/results", "tests/project/test_fixtures.py",
    "tests/project/test_plain_data.py", "tests/cli/formats", "tests/cli/commands/analyze/test_accelerators.py",
    "tests/cli/commands/analyze/test_analysis.py", "tests/cli/commands/test_check.py", "tests/cli/commands/test_compare.py",
    "tests/cli/options/test_targets.py",
    "tests/cli/commands/test_releases.py", "tests/delegates/test_base_grouping.py", "tests/delegates/test_base.py",
    "tests/delegates/coreml", "tests/delegates/npu",
)  # fmt: skip
"""The tests that run the code of these parts quickly; the rest runs it too."""
_OF_DEFINITIONS = ("tests/project/test_plain_data.py",)
"""Tests of definitions."""
_UNFIT = ("VariableReplacer", "VariableInserter", "_Is_", "_IsNot_")
"""Operators that need settings, and identity for equality or the reverse, which None, numbers and names do not tell apart."""
_MOST_SECONDS = 8
"""Of the processor, as they were recorded, of the tests that are run with one mutant."""
_MOST_FRESH_SECONDS = 8
"""The same for a mutant that needs a fresh import."""


@functools.cache
def _operators() -> dict[str, Any]:
    fit = [name for name in operator_names() if not any(unfit in f"{name.split('/')[1]}_" for unfit in _UNFIT)]
    return {name: get_operator(name)() for name in fit}


def places(path: str) -> dict[tuple[int, int, str], list[tuple[str, int]]]:
    """Return the places of a module that operators change: the operators, and which of their occurrences it is."""
    code = (ROOT / path).read_text("utf-8")
    unevaluated = _annotations(code)
    places: dict[tuple[int, int, str], list[tuple[str, int]]] = {}
    occurrences: Counter[str] = Counter()
    for node in ast_nodes(get_ast(code)):
        for name, operator in _operators().items():
            for start, _ in operator.mutation_positions(node):
                if not _is_for_checkers(node) and not any(first <= tuple(start) < last for first, last in unevaluated):
                    places.setdefault((*start, name.split("/")[1].split("_")[0]), []).append((name, occurrences[name]))
                occurrences[name] += 1
    return places


def _is_for_checkers(node: Any) -> bool:
    """Whether something says only how a function may be called: a star among parameters, or what type checkers read."""
    parent = "" if node.parent is None else node.parent.type
    return (node.type == "operator" and parent in ("parameters", "param")) or (
        node.type == "decorator" and node.get_code().strip() == "@overload"
    )


def _annotations(code: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where annotations begin and end, by line and column."""
    spans = []
    for node in ast.walk(ast.parse(code)):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.expr):
                assert annotation.end_lineno is not None
                assert annotation.end_col_offset is not None
                spans.append(((annotation.lineno, annotation.col_offset), (annotation.end_lineno, annotation.end_col_offset)))
    return spans


def drawn(area: str, number: int, seed: int) -> list[Mutant]:
    """Return so many mutants of an area, at random."""
    all_places = [
        (path.relative_to(ROOT).as_posix(), place, changes)
        for pattern in AREAS[area]
        for path in sorted(ROOT.glob(pattern))
        for place, changes in sorted(places(path.relative_to(ROOT).as_posix()).items())
    ]
    mutants = []
    for path, place, changes in random.Random(f"{area}:{seed}").sample(all_places, min(number, len(all_places))):
        for name, occurrence in random.Random(f"{path}:{place}:{seed}").sample(changes, len(changes)):
            code = None
            with contextlib.suppress(AttributeError):  # exceptions that are an attribute of a module
                code = mutate_code((ROOT / path).read_text("utf-8"), _operators()[name], occurrence)
            if code is not None and _is_python(code):
                mutants.append(Mutant(path, name.split("/")[1], place[0], code))
                break
    print(f"{area}: {len(all_places):,} places, {len(mutants):,} drawn", flush=True)
    return mutants


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


# Which test runs which line


class Recording:
    """The tests that run each line, and the time of those that pass."""

    def __init__(self, folder: Path) -> None:
        self._data = coverage.CoverageData(str(folder / "coverage"))
        self._data.read()
        self._known: dict[str, Mapping[int, Sequence[str]]] = {}
        self.seconds: Mapping[str, float] = json.loads((folder / "seconds.json").read_text("utf-8"))

    def _contexts(self, path: str) -> Mapping[int, Sequence[str]]:
        if path not in self._known:
            self._known[path] = self._data.contexts_by_lineno(str(ROOT / path))
        return self._known[path]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return tests that run the changed line, or others of the module where it is run at import.

        First those of the package's own folder, then one of each file in turn, since those of a file are alike; the fastest
        first.
        """
        contexts = self._contexts(mutant.path)
        fit = {name for name, seconds in self.seconds.items() if seconds <= LONGEST_TEST}
        tests = {name for line in _lines_of(mutant) for name in contexts.get(line, ())} & fit
        is_early = self.runs_early(mutant)
        if is_early or not tests:
            # What is made at import, or while tests are collected, is read by functions of the module or of those that import it.
            tests |= self._tests_of_module(mutant.path) & fit
            tests |= {name for name in fit if name.startswith(_OF_DEFINITIONS)}
        own = f"tests/{Path(mutant.path).parent.name}/"
        turns: Counter[str] = Counter()
        ordered: list[tuple[int, int, str]] = []
        for name in sorted(tests, key=lambda name: (self.seconds[name], name)):
            file = name.partition("::")[0]
            ordered.append((-1 if name.startswith((own, *_OF_DEFINITIONS)) else turns[file], len(ordered), name))
            turns[file] += 1
        chosen, left = [], float(_MOST_FRESH_SECONDS if is_early else _MOST_SECONDS)
        for _, _, name in sorted(ordered):
            if self.seconds[name] <= left:
                chosen.append(name)
                left -= self.seconds[name]
        return chosen

    def _tests_of_module(self, path: str) -> set[str]:
        """Return the tests that run a function of a module; of a table, those of the modules beside it that import it."""
        tests = {name for names in self._contexts(path).values() for name in names} - {""}
        if not tests:
            line = f"from .{Path(path).stem} import "
            readers = [other for other in (ROOT / path).parent.glob("*.py") if line in other.read_text("utf-8")]
            tests = {name for other in readers for name in self._tests_of_module(other.relative_to(ROOT).as_posix())}
        return tests

    def runs_early(self, mutant: Mutant) -> bool:
        """Whether what changed is run before any test: while the project is imported, or the tests are collected."""
        contexts = self._contexts(mutant.path)
        return any("" in contexts.get(line, ()) for line in _lines_of(mutant))


def _lines_of(mutant: Mutant) -> range:
    """Return the lines of the innermost statement, or head of one, that a mutant changes."""
    lines = range(mutant.line, mutant.line + 1)
    for node in ast.walk(ast.parse((ROOT / mutant.path).read_text("utf-8"))):
        if isinstance(node, ast.stmt) and node.end_lineno is not None:
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) else node.end_lineno
            if node.lineno <= mutant.line <= end:
                lines = range(node.lineno, end + 1)
    return lines


class _Recorder:
    """Notes which test runs which line, how long it takes, and which fail."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        self._measured.switch_context(item.nodeid)
        start = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)


def record(folder: Path, tests: Sequence[str]) -> None:
    """Run tests once, and keep which runs which line, beside what is known of others."""
    folder.mkdir(parents=True, exist_ok=True)
    included = [str(ROOT / pattern) for patterns in AREAS.values() for pattern in patterns]
    measured = coverage.Coverage(str(folder / "coverage"), include=included, config_file=False)
    if (folder / "coverage").exists():
        measured.load()
    recorder = _Recorder(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[recorder])
    measured.stop()
    measured.save()
    kept = folder / "seconds.json"
    seconds = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    seconds = {name: took for name, took in (seconds | recorder.seconds).items() if name not in recorder.failed}
    kept.write_text(json.dumps(seconds), "utf-8")


# Running them


def killers(jobs: Sequence[Job], recording: Recording) -> Iterator[tuple[int, str | None]]:
    """Return, for each job by its number, the test that fails, as they are done."""
    late = [number for number, job in enumerate(jobs) if job.mutant is None or not recording.runs_early(job.mutant)]
    files = sorted({test.partition("::")[0] for number in late for test in jobs[number].tests})
    source, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        # A process that has imported the project cannot import it anew, so another does what is run with the project imported.
        os.close(source)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        left = run_warm([jobs[number] for number in late], files, lambda number, test: _tell(pipe, [late[number], test]))
        _tell(pipe, [[late[number] for number in left]])
        os._exit(0)
    os.close(pipe)
    cold = sorted(set(range(len(jobs))) - set(late))
    with open(source, encoding="utf-8") as told:
        for line in told:
            answer = json.loads(line)
            if len(answer) == 1:
                cold += answer[0]
            else:
                yield answer[0], answer[1]
    os.waitpid(child, 0)
    for number in sorted(cold):
        yield number, run_cold(jobs[number])


def _tell(pipe: int, what: object) -> None:
    os.write(pipe, f"{json.dumps(what)}\n".encode())


def _prepare() -> None:
    """Import what mutants need and do not change, once for all of them."""
    for name in ("click", "flatbuffers", "hypothesis", "hypothesis.strategies", "numpy", "jsonschema", "pyte", "markdown_it"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def changed_line(mutant: Mutant) -> tuple[str, str]:
    """Return the line before and after."""
    before, after = (ROOT / mutant.path).read_text("utf-8").splitlines(), mutant.code.splitlines()
    pairs = [(one, other) for one, other in zip(before, after, strict=False) if one != other]
    return (pairs[0][0].strip(), pairs[0][1].strip()) if pairs else ("", "")


def _digest(mutant: Mutant) -> str:
    return hashlib.sha256(f"{mutant.path}\0{mutant.code}".encode()).hexdigest()


def run_area(mutants: Sequence[Mutant], recording: Recording, folder: Path) -> list[tuple[Mutant, str]]:
    """Run an area's mutants; return each with the test that notices it, empty if none does, without those that say nothing.

    What was killed before stays so while its module is as it was; the file ``killed.json`` says by which test.
    """
    kept = folder / "killed.json"
    known: dict[str, str] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    new = [mutant for mutant in mutants if _digest(mutant) not in known]
    untold = set()
    for number, test in killers([Job(mutant, recording.tests_of(mutant)) for mutant in new], recording):
        mutant = new[number]
        outcome = "untold" if test == UNTOLD else "killed" if test else "alive"
        print(f"{outcome} {mutant.path}:{mutant.line} {mutant.operator} {test or ''}", flush=True)
        if test == UNTOLD:
            untold.add(_digest(mutant))
        elif test:
            known[_digest(mutant)] = test
            kept.write_text(json.dumps(known), "utf-8")
        else:
            before, after = changed_line(mutant)
            print(f"  of {len(recording.tests_of(mutant))} tests none fails with\n  - {before}\n  + {after}", flush=True)
    return [(mutant, known.get(_digest(mutant), "")) for mutant in mutants if _digest(mutant) not in untold]


def _rows(results: Mapping[str, Sequence[tuple[Mutant, str]]]) -> Iterator[str]:
    yield "| part | mutants that were run | killed | share |"
    yield "|---|---|---|---|"
    for area, runs in results.items():
        killed = sum([bool(test) for _, test in runs])
        yield f"| {area} | {len(runs)} | {killed} | {100 * killed / max(len(runs), 1):.1f} % |"


def main() -> int:
    """Draw mutants, run them and print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=60, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=list(AREAS), help="only this part")
    parser.add_argument("--folder", type=Path, default=Path("build/mutation"), help="what was recorded and killed is kept here")
    parser.add_argument("--record", nargs="*", metavar="TESTS", help="find out anew which test runs which line")
    arguments = parser.parse_args()
    folder = arguments.folder
    if arguments.record is not None or not (folder / "seconds.json").exists():
        child = os.fork()
        if child == 0:
            record(folder, arguments.record or TESTS)
            os._exit(0)
        os.waitpid(child, 0)
    recording = Recording(folder)
    _prepare()
    results = {
        area: run_area(drawn(area, arguments.sample, arguments.seed), recording, folder) for area in arguments.area or AREAS
    }
    # That a test fails means something only if it passes otherwise.
    noticed = sorted({test for runs in results.values() for _, test in runs} & recording.seconds.keys())
    for number, failed in killers([Job(None, (test,)) for test in noticed], recording):
        if failed:
            parser.error(f"{noticed[number]} fails with the code as it is")
    print("\n".join(_rows(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

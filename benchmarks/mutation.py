"""Whether the tests notice changes of the code that decides: ``python -m benchmarks.mutation --sample 200 --write``.

cosmic-ray's operators make the mutants, in an environment that has it and coverage.py as well (``make mutation``). Its own runner
starts an interpreter and the suite for each, which would take days; here each runs in a fork of a process that has imported what
is not of this project, and only the tests that run the changed line, the fastest first. A place in the code is drawn at random,
then one of its mutants; changes of annotations, which are not evaluated, are no mutants, nor is what is no Python.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mutation.md"
AREAS: Mapping[str, Sequence[str]] = {
    "partitioner": ("delegate_sim/graph/partition.py",),
    "interpreter": ("delegate_sim/runtime/*.py",),
    "gate": ("delegate_sim/gate/*.py",),
    "rule engine": ("delegate_sim/rules/*.py",),
}
TESTS = (
    "tests/graph", "tests/runtime", "tests/rules", "tests/gate", "tests/api", "tests/cli/test_check.py", "tests/test_fixtures.py",
    "tests/delegates/test_new_delegate.py", "tests/delegates/coreml",
)  # fmt: skip
"""What of the suite runs the code of these parts quickly; the rest runs it too."""
_UNFIT = ("VariableReplacer", "VariableInserter", "_Is_", "_IsNot_")
"""Operators that need settings, and identity for equality or the reverse, which None, numbers and names do not tell apart."""
_SECONDS = 20
"""Of the processor, for one mutant."""
_MOST_TESTS = 60


class Mutant(NamedTuple):
    """A changed module."""

    path: str
    operator: str
    line: int
    code: str

    def module(self) -> str:
        """Return the name that it is imported by."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@functools.cache
def _operators() -> dict[str, Any]:
    fit = [name for name in operator_names() if not any(unfit in f"{name.split('/')[1]}_" for unfit in _UNFIT)]
    return {name: get_operator(name)() for name in fit}


def places(path: str) -> dict[tuple[int, int, str], list[tuple[str, int]]]:
    """Return the places of a module that operators change: the operators, and which of their occurrences it is."""
    code = (ROOT / path).read_text("utf-8")
    unevaluated = _annotations(code)
    found: dict[tuple[int, int, str], list[tuple[str, int]]] = {}
    occurrences: Counter[str] = Counter()
    for node in ast_nodes(get_ast(code)):
        for name, operator in _operators().items():
            for start, _ in operator.mutation_positions(node):
                if not any(first <= tuple(start) < last for first, last in unevaluated):
                    found.setdefault((*start, name.split("/")[1].split("_")[0]), []).append((name, occurrences[name]))
                occurrences[name] += 1
    return found


def _annotations(code: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where annotations begin and end, by line and column."""
    found = []
    for node in ast.walk(ast.parse(code)):
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(each, ast.expr):
                assert each.end_lineno is not None
                assert each.end_col_offset is not None
                found.append(((each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset)))
    return found


def drawn(area: str, number: int, seed: int) -> list[Mutant]:
    """Return so many mutants of an area, at random."""
    generator = random.Random(f"{area}:{seed}")
    all_places = [
        (path.relative_to(ROOT).as_posix(), place, changes)
        for pattern in AREAS[area]
        for path in sorted(ROOT.glob(pattern))
        for place, changes in sorted(places(path.relative_to(ROOT).as_posix()).items())
    ]
    found = []
    for path, (line, _, _), changes in generator.sample(all_places, min(number, len(all_places))):
        for name, occurrence in generator.sample(changes, len(changes)):
            code = mutate_code((ROOT / path).read_text("utf-8"), _operators()[name], occurrence)
            if code is not None and _is_python(code):
                found.append(Mutant(path, name.split("/")[1], line, code))
                break
    print(f"{area}: {len(all_places):,} places, {len(found):,} drawn", flush=True)
    return found


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


class _Recorder:
    """Notes which test runs which line, and how long it takes."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        self._measured.switch_context(item.nodeid)
        start = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - start


def record(folder: Path) -> None:
    """Run the tests once, and keep which runs which line."""
    folder.mkdir(parents=True, exist_ok=True)
    included = [pattern for patterns in AREAS.values() for pattern in patterns]
    measured = coverage.Coverage(
        str(folder / "coverage"), include=[str(ROOT / pattern) for pattern in included], config_file=False
    )
    recorder = _Recorder(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", *TESTS], plugins=[recorder])
    measured.stop()
    measured.save()
    (folder / "seconds.json").write_text(json.dumps(recorder.seconds), "utf-8")


def tests_of(mutant: Mutant, data: coverage.CoverageData, seconds: Mapping[str, float]) -> list[str]:
    """Return tests that run the changed line, the fastest of each file first; others where it is run at import."""
    contexts = data.contexts_by_lineno(str(ROOT / mutant.path))
    found = [name for name in contexts.get(mutant.line, ()) if name]
    if not found:
        found = sorted({name for names in contexts.values() for name in names if name})
    if not found:
        found = [name for name in seconds if name.startswith(f"tests/{Path(mutant.path).parent.name}/")]
    # One of each file in turn, since those of a file are alike.
    turns: Counter[str] = Counter()
    ordered: list[tuple[int, int, str]] = []
    for name in sorted(found, key=lambda name: (seconds.get(name, 0.0), name)):
        file = name.partition("::")[0]
        ordered.append((turns[file], len(ordered), name))
        turns[file] += 1
    return [name for _, _, name in sorted(ordered)[:_MOST_TESTS]]


class _Loader(importlib.abc.SourceLoader):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def get_filename(self, fullname: str) -> str:
        return str(ROOT / self._mutant.path)

    def get_data(self, path: str | bytes) -> bytes:
        return self._mutant.code.encode()


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._mutant.module():
            return None
        return importlib.util.spec_from_file_location(fullname, ROOT / self._mutant.path, loader=_Loader(self._mutant))


def is_killed(mutant: Mutant | None, tests: Sequence[str]) -> bool:
    """Whether a test fails, or takes far too long, with a mutant; None is the code as it is."""
    child = os.fork()
    if child == 0:
        _run(mutant, tests)
    _, status = os.waitpid(child, 0)
    return status != 0


def _run(mutant: Mutant | None, tests: Sequence[str]) -> None:
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    code = 1
    with contextlib.suppress(BaseException):
        if mutant is not None:
            sys.meta_path.insert(0, _Finder(mutant))
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    os._exit(code)


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


def _rows(results: Mapping[str, Sequence[tuple[Mutant, bool]]]) -> Iterator[str]:
    yield "| part | mutants | killed | share |"
    yield "|---|---|---|---|"
    for area, found in results.items():
        killed = sum([is_dead for _, is_dead in found])
        yield f"| {area} | {len(found)} | {killed} | {100 * killed / max(len(found), 1):.1f} % |"


def main() -> int:
    """Draw mutants, run them and print, or write, the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=60, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=list(AREAS), help="only this part")
    parser.add_argument("--folder", type=Path, default=Path("build/mutation"), help="which test runs which line is kept here")
    parser.add_argument("--record", action="store_true", help="find out anew which test runs which line")
    arguments = parser.parse_args()
    if arguments.record or not (arguments.folder / "seconds.json").exists():
        child = os.fork()
        if child == 0:
            record(arguments.folder)
            os._exit(0)
        os.waitpid(child, 0)
    data = coverage.CoverageData(str(arguments.folder / "coverage"))
    data.read()
    seconds = json.loads((arguments.folder / "seconds.json").read_text("utf-8"))
    _prepare()
    results: dict[str, list[tuple[Mutant, bool]]] = {}
    for area in arguments.area or AREAS:
        found = results.setdefault(area, [])
        mutants = drawn(area, arguments.sample, arguments.seed)
        # That a test fails means something only if it passes otherwise.
        if is_killed(None, sorted({test for mutant in mutants[:5] for test in tests_of(mutant, data, seconds)[:10]})):
            parser.error(f"the tests of the {area} fail as they are")
        for mutant in mutants:
            tests = tests_of(mutant, data, seconds)
            is_dead = bool(tests) and is_killed(mutant, tests)
            found.append((mutant, is_dead))
            print(f"{'killed' if is_dead else 'alive'} {mutant.path}:{mutant.line} {mutant.operator}", flush=True)
            if not is_dead:
                before, after = changed_line(mutant)
                print(f"  of {len(tests)} tests none fails with\n  - {before}\n  + {after}", flush=True)
        counted = Counter([is_dead for _, is_dead in found])
        print(f"{area}: {counted[True]} of {len(found)} killed", flush=True)
    print("\n".join(_rows(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Running the tests with a changed module, each time in a fork of a process that is ready for it.

The warm process has imported the project and collected the tests; in a fork of it the code of the changed functions is replaced.
That says what a fresh import would say only if nothing of what changed ran before: not while the project was imported or tests
were collected, which the recording knows. Other mutants run in a fork of a process that has not imported the project.

What ended a run may be the machine rather than the mutant, so the same tests are run within the same bounds without it: behind
each run that no test ended, and once for each list of tests that are run with a fresh import.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import hypothesis
import pytest

ROOT = Path(__file__).parents[2]
LONGEST_TEST = 2.0
"""Tests that take more seconds of the processor are of no use here."""
_MOST_SECONDS = 2 * LONGEST_TEST + 1
"""Of the processor, for one test with a mutant; in the recording it was slower."""
_LONGEST_WAIT = 120
_MOST_MEMORY = 1 << 30
"""Further memory for one mutant."""
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler")
OUT_OF_BOUNDS = "time or memory"
"""Takes the place of the test that notices a mutant."""
UNTOLD = "not told: the same tests do not pass without the mutant either"
"""Takes the place of the test where a run says nothing."""


class Mutant(NamedTuple):
    """A changed module."""

    path: str
    operator: str
    line: int
    code: str

    def module(self) -> str:
        """Return the name that it is imported by."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


class Job(NamedTuple):
    """A mutant, None for the code as it is, and the tests that are run with it, in order."""

    mutant: Mutant | None
    tests: Sequence[str]


# What a fork does


class _Teller:
    """Ends the process at the first test that fails, and says which it was."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.end(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.end(report.nodeid)

    def end(self, test: str) -> None:
        os.write(self._pipe, test.encode())
        os._exit(1)


def _killer(run: Callable[[_Teller], bool]) -> str | None:
    """Run something in a fork; return the test that failed there, None if none did."""
    source, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        code = 1
        with contextlib.suppress(BaseException):
            _confine()
            code = 0 if run(_Teller(pipe)) else 1
        os._exit(code)
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.set_blocking(source, False)
    with open(source, "rb", buffering=0) as told:
        test = (told.read(4096) or b"").decode()
    return None if status == 0 else test or OUT_OF_BOUNDS


def _confine() -> None:
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.alarm(_LONGEST_WAIT)
    size = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _MOST_MEMORY, size + _MOST_MEMORY))


# With the project imported


class _Warm:
    """Runs jobs in place of the tests that were collected."""

    def __init__(self, jobs: Sequence[Job], tell: Callable[[int, str | None], None], left: list[int]) -> None:
        self._jobs = jobs
        self._tell = tell
        self._left = left

    def pytest_collection(self) -> None:
        hypothesis.settings.register_profile(
            "mutants",
            deadline=None,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        functions = [thing for thing in gc.get_objects() if isinstance(thing, FunctionType)]
        gc.freeze()
        for number, job in enumerate(self._jobs):
            replacements = [] if job.mutant is None else _replacements(job.mutant, functions)
            if replacements is None:
                self._left.append(number)
                continue
            chosen = [items[test] for test in job.tests if test in items]

            killer = _killer(functools.partial(_run_items, session, chosen, replacements))
            if killer == OUT_OF_BOUNDS and _killer(functools.partial(_run_items, session, chosen, ())) is not None:
                killer = UNTOLD
            self._tell(number, killer)
        return True


def _run_items(
    session: pytest.Session, items: Sequence[pytest.Item], replacements: Sequence[tuple[FunctionType, CodeType]], teller: _Teller
) -> bool:
    for function, code in replacements:
        function.__code__ = code
    session.config.pluginmanager.register(teller)
    for item in items:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return True


def _replacements(mutant: Mutant, functions: Sequence[FunctionType]) -> list[tuple[FunctionType, CodeType]] | None:
    """Return which functions get other code; None if the change is not in functions alone."""
    path = str(ROOT / mutant.path)
    before = compile((ROOT / mutant.path).read_text("utf-8"), path, "exec", dont_inherit=True)
    after = compile(mutant.code, path, "exec", dont_inherit=True)
    if _own(before) != _own(after):
        return None
    here = [function for function in functions if function.__code__.co_filename == path]
    replacements = []
    for old, new in _changed(before, after):
        those = [function for function in here if function.__code__ == old]
        if any(function.__code__.co_freevars != new.co_freevars for function in those):
            return None
        replacements += [(function, new) for function in those]
    return replacements or None


def _own(code: CodeType) -> tuple[Any, ...]:
    """Return what a piece of code is, but for the code inside it and where it stands."""
    constants = [type(part) if isinstance(part, CodeType) else (type(part), part) for part in code.co_consts]
    return (
        code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
    )  # fmt: skip


def _changed(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Return the pieces of code that changed or hold one that did; inside a changed one nothing can be paired."""
    for old, new in zip(_inside(before), _inside(after), strict=True):
        is_same = _own(old) == _own(new)
        deeper = list(_changed(old, new)) if is_same else []
        if deeper or not is_same:
            yield old, new
            yield from deeper


def _inside(code: CodeType) -> list[CodeType]:
    return [part for part in code.co_consts if isinstance(part, CodeType)]


def run_warm(jobs: Sequence[Job], files: Sequence[str], tell: Callable[[int, str | None], None]) -> list[int]:
    """Run jobs with the tests of these files; return the numbers of those that need a fresh import."""
    left: list[int] = []
    with _own_folder() as folder:
        pytest.main([*_QUIET, f"--basetemp={folder}/tests", *files], plugins=[_Warm(jobs, tell, left)])
    return left


# With a fresh import


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


class _Only:
    """Keeps some of the tests that were collected, in their order: names with ``::`` in a parameter cannot be given to pytest."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted([item for item in items if item.nodeid in self._places], key=lambda item: self._places[item.nodeid])


def run_cold(job: Job) -> str | None:
    """Run the tests with a fresh import of the project; return the test that failed, None if none did."""
    if _run_fresh(None, tuple(job.tests)) is not None:
        return UNTOLD
    return None if job.mutant is None else _run_fresh(job.mutant, tuple(job.tests))


@functools.cache
def _run_fresh(mutant: Mutant | None, tests: tuple[str, ...]) -> str | None:
    files = dict.fromkeys([test.partition("::")[0] for test in tests])
    # With a mutant there may be no test of these names.
    fine = (pytest.ExitCode.OK,) if mutant is None else (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    with _own_folder() as folder:

        def run(teller: _Teller) -> bool:
            if mutant is not None:
                sys.meta_path.insert(0, _Finder(mutant))
            return pytest.main([*_QUIET, f"--basetemp={folder}/tests", *files], plugins=[teller, _Only(tests)]) in fine

        return _killer(run)


@contextlib.contextmanager
def _own_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

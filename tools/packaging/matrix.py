"""Run the unit tests with the lowest and the newest versions of what the package depends on, on every Python that there is.

``python -m tools.packaging.matrix`` makes an environment for each Python: with the lowest versions on the oldest, with the newest
versions on the others. It installs the wheel there, and runs the tests that such versions can matter to: those of the command
line, the Python interface, files and results, without the slow ones. ``--few`` leaves only those next to the dependencies: the
program's console and options, the formats of results, the readers of files, and the package itself. ``--versions`` asks for
these versions on each Python, ``--whole`` for all unit tests. An interpreter that is not there is skipped with a line for it.
Exits with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .environments import PYTHONS, ROOT, Environment, build_wheel, interpreter, lowest, make, requirements, scratch

FOLDER = ROOT / ".venv-matrix"
LOWEST, NEWEST = "lowest", "newest"
_TOOLS = ("hypothesis", "jsonschema", "markdown-it-py", "pandas", "pyte", "pytest", "pyyaml", "setuptools", "xmlschema")
"""Packages of the extra ``test`` that these tests need."""
_MET = ("pandas", "pytest")
"""Those of them that the package itself has to get on with."""
_LEFT_OUT = ("tests/ready_parts", "tests/live", "tests/project/test_conformance.py", "tests/nnapi_runtime/test_conformance.py")
_ALL = ("tests",)
_FAST = (
    "tests/api",
    "tests/cli",
    "tests/gate",
    "tests/model",
    "tests/results",
    "tests/project/test_package.py",
    "tests/project/test_docs.py",
)
_FEW = (
    "tests/api/test_functions.py",
    "tests/api/test_functions_results.py",
    "tests/cli/console",
    "tests/cli/formats",
    "tests/cli/options",
    "tests/cli/test_main.py",
    "tests/cli/test_pytest_plugin.py",
    "tests/foundation/parsing",
    "tests/model",
    "tests/project/test_other_systems.py",
    "tests/project/test_package.py",
)


class Job(NamedTuple):
    """One Python with the lowest or the newest versions."""

    release: str
    versions: str
    python: str

    @property
    def name(self) -> str:
        """The name in the output."""
        return f"Python {self.release}, {self.versions} versions"


class Outcome(NamedTuple):
    """The result of a job: pytest's closing line, or the reason why the tests did not run."""

    job: Job
    passed: bool
    line: str
    installed: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the jobs and print a line for each; return 1 if one failed, 2 if there was none to run."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.packaging.matrix", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this release; may be given several times")
    parser.add_argument(
        "--versions", action="append", choices=(LOWEST, NEWEST), help="these versions on each Python; may be given twice"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--few", action="store_true", help="run only the tests next to the dependencies")
    choice.add_argument("--whole", action="store_true", help="run all unit tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many to run at once")
    given = parser.parse_args(arguments)
    jobs = []
    for release in given.python or PYTHONS:
        python = interpreter(release)
        if python is None:
            print(f"Python {release}: skipped, there is no such interpreter on the path or among pyenv's", flush=True)
            continue
        usual = LOWEST if release == PYTHONS[0] else NEWEST
        jobs += [Job(release, versions, python) for versions in given.versions or (usual,)]
    if not jobs:
        print("no interpreter to run the tests on", file=sys.stderr)
        return 2
    failed = 0
    tests = _ALL if given.whole else ("-m", "not slow", *(_FEW if given.few else _FAST))
    with scratch() as folder, ThreadPoolExecutor(given.jobs) as pool:
        wheel = build_wheel(folder)
        for outcome in pool.map(lambda job: _outcome(job, tests, wheel), jobs):
            failed += not outcome.passed
            print(f"{outcome.job.name}: {outcome.line} ({outcome.installed})", flush=True)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _outcome(job: Job, tests: Sequence[str], wheel: Path) -> Outcome:
    started = time.monotonic()
    try:
        environment = _environment(job)
        environment.install("--no-deps", "--no-index", "--reinstall", str(wheel))
    except subprocess.CalledProcessError as error:
        return Outcome(job, False, f"cannot be installed: {error}", "")
    installed = ", ".join([f"{name} {environment.version(name)}" for name in ("numpy", "click", "rich", "flatbuffers", "pytest")])
    left_out = [f"--ignore={path}" for path in _LEFT_OUT]
    command = [environment.python, "-m", "pytest", "-p", "no:cacheprovider", *left_out, *tests]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(f"--- {job.name} ---\n{done.stdout[-20_000:]}{done.stderr[-5_000:]}\n")
    summaries = re.findall(r"^.*\b\d+ (?:passed|failed|errors?|skipped)\b.* in .*$", done.stdout, re.MULTILINE)
    closing = summaries[-1].strip("= ") if summaries else f"pytest ended with {done.returncode}"
    return Outcome(job, done.returncode == 0, f"{closing}, {time.monotonic() - started:.0f} s in all", installed)


def _environment(job: Job) -> Environment:
    """Make an environment with all but the package, or take the one that was made for the same requirements."""
    wanted = requirements()
    test_requirements = [requirement for requirement in requirements("test") if requirement not in wanted]
    tools = [requirement for requirement in test_requirements if re.split(r"[>=<;]", requirement)[0] in _TOOLS]
    met = [requirement for requirement in tools if requirement.startswith(_MET)]
    pins = [lowest(requirement) for requirement in [*wanted, *met]] if job.versions == LOWEST else []
    folder = FOLDER / f"{job.release}-{job.versions}"
    stamp, content = folder / "stamp", _digest([job.python, *pins, *wanted, *tools])
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == content:
        return Environment(folder)
    environment = make(job.python, folder)
    constraints = folder / "constraints.txt"
    constraints.write_text("".join([f"{pin}\n" for pin in pins]), encoding="utf-8")
    upgrade = ["--upgrade"] if job.versions == NEWEST else []
    environment.install(*upgrade, "--constraint", str(constraints), *wanted, *tools)
    stamp.write_text(content, encoding="utf-8")
    return environment


def _digest(lines: Sequence[str]) -> str:
    # What is newest changes without a line of these changing; once a day is often enough to look.
    return hashlib.sha256("\n".join([*lines, str(Path(__file__).parent), time.strftime("%Y-%m-%d")]).encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())

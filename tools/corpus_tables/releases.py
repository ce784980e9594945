"""Write ``docs/appendix/releases.md``: how releases of the runtime delegate three converted models.

Run by ``make releases``, over the converted models of ``../shared``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "corpus" / "keras.zip"
DOCUMENT = ROOT / "docs" / "appendix" / "releases.md"
EXAMPLES = (
    ("float16 weights", "mobilebert_l4.f16.tf215.tflite"),
    ("int8", "convnext_like.int8.tf221.tflite"),
    ("a transformer in int8", "distilbert_seq128.int8.tf215.tflite"),
)
DELEGATES = ("xnnpack", "gpu", "hexagon", "nnapi")
WIDTH = 110

_HEAD = """\
# Releases of the runtime

This page shows the output of `delegate-sim releases` for three converted models.
[The page on targets](../targets.md#releases-of-the-runtime) explains what a release changes. `make releases` makes this page.
"""


def main() -> int:
    """Write the document; 2 if there are no models."""
    if not MODELS.exists():
        print(f"{MODELS}: no converted models here", file=sys.stderr)
        return 2
    DOCUMENT.write_text("\n".join(sections()), encoding="utf-8")
    return 0


def sections() -> Iterator[str]:
    """Return the document: what it is about, and a section for each model."""
    yield _HEAD
    with zipfile.ZipFile(MODELS) as archive, tempfile.TemporaryDirectory() as folder:
        for kind, name in EXAMPLES:
            member = next(member for member in archive.namelist() if member.endswith(name))
            path = Path(folder) / name
            path.write_bytes(archive.read(member))
            yield f"## {name.split('.')[0]}, {kind}\n\n```\n$ delegate-sim releases {name} {_flags()}\n{_table(path)}```\n"


def _flags() -> str:
    return " ".join([f"--delegate {name}" for name in DELEGATES] + ["--verbose"])


def _table(path: Path) -> str:
    command = [sys.executable, "-m", "delegate_sim", "releases", str(path), *_flags().split()]
    environment = {"COLUMNS": str(WIDTH), "PATH": ""}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())

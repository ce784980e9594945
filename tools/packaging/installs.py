"""Install the package beside what users have (``make installs``): it must leave their packages as they are, and everything runs.

Prints a table: for each environment the versions of numpy before and after, whether the other package still imports and works,
whether pip finds a conflict, and what the program says.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .environments import build_wheel, interpreter, make, scratch
from .wheel import MODEL, use

PYTHON = "3.11"
_TENSORFLOW = "import tensorflow as tf; tf.lite.Interpreter(model_path={model!r}).get_input_details(); print(tf.__version__)"
_LITERT = (
    "from ai_edge_litert.interpreter import Interpreter; import importlib.metadata as m; "
    "Interpreter(model_path={model!r}).allocate_tensors(); print(m.version('ai-edge-litert'))"
)
_NUMPY = "import numpy; numpy.zeros(3).sum(); print(numpy.__version__)"


class Neighbor(NamedTuple):
    """Packages that are installed first, and code that uses them."""

    title: str
    packages: tuple[str, ...]
    code: str


NEIGHBORS = (
    Neighbor("TensorFlow 2.17", ("tensorflow-cpu==2.17.1", "numpy==1.26.4"), _TENSORFLOW),
    Neighbor("numpy 1.26 alone", ("numpy==1.26.4",), _NUMPY),
    Neighbor("ai-edge-litert", ("ai-edge-litert==2.3.0",), _LITERT),
)


def main() -> int:
    """Print the table; return 1 if something was replaced or does not run."""
    python = interpreter(PYTHON)
    if python is None:
        print(f"Python {PYTHON}: there is no such interpreter on the path or among pyenv's", file=sys.stderr)
        return 2
    columns = ("installed before", "numpy before", "numpy after", "version that still runs")
    print(f"| {' | '.join([*columns, '`pip check` says', '`delegate-sim analyze` says'])} |")
    print("|---|---|---|---|---|---|")
    with scratch() as folder:
        wheel = build_wheel(folder)
        kept = [_row(neighbor, python, wheel, folder / str(number)) for number, neighbor in enumerate(NEIGHBORS)]
    return 0 if all(kept) else 1


def _row(neighbor: Neighbor, python: str, wheel: Path, folder: Path) -> bool:
    folder.mkdir()
    environment = make(python, folder / "environment")
    environment.install(*neighbor.packages)
    before = environment.version("numpy")
    environment.install(str(wheel), "pytest")
    after = environment.version("numpy")
    works = _said([environment.python, "-c", neighbor.code.format(model=str(MODEL))])
    conflicts = _said([environment.python, "-m", "pip", "check"])
    says = use(environment, folder)[1]
    cells = (neighbor.title, before, after, works, conflicts, f"`{says[:60]}`")
    print(f"| {' | '.join(cells)} |", flush=True)
    return before == after and not works.startswith("fails") and not conflicts.startswith("fails")


def _said(command: list[str]) -> str:
    """Return the last line that a command prints, or that it fails and with what."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        return f"fails: {lines[-1] if lines else done.returncode}"
    return done.stdout.strip().splitlines()[-1]


if __name__ == "__main__":
    sys.exit(main())

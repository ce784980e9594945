"""Build the wheel, install it into a clean environment, and use it there from another folder (``make wheel``).

Used are the program, the package, and the pytest plugin by its entry point. What is imported has to come from the wheel, which
has to hold every module of the repository.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from .environments import ROOT, Environment, build_wheel, make, run, scratch

MODEL = ROOT / "fixtures" / "models" / "mobilenet_block.tflite"
_TEST = """\
def test_model(delegate_sim):
    assert delegate_sim({model!r}, "nnapi").assert_partitions(max=100).measures.nodes > 0
"""
_PACKAGE = """\
import delegate_sim
assert delegate_sim.__file__.startswith({folder!r}), delegate_sim.__file__
print(delegate_sim.diagnose({model!r}, defaults="benchmark"))
"""


def main() -> int:
    """Build, install, use; raises CalledProcessError where something fails, after printing what was said."""
    with scratch() as folder:
        wheel = build_wheel(folder)
        missing = modules_missing(wheel)
        if missing:
            print(f"the wheel lacks {', '.join(missing)}", file=sys.stderr)
            return 1
        environment = make(sys.executable, folder / "environment")
        environment.install(str(wheel), "pytest")
        for line in use(environment, folder):
            print(line)
        print(f"{wheel.name}: {len(_modules())} modules, {wheel.stat().st_size:,} bytes, installed and used")
    return 0


def modules_missing(wheel: Path) -> list[str]:
    """Return the modules of the repository that a wheel does not hold, under the names that they are installed by."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    return [name for name in _modules() if name not in held]


def use(environment: Environment, folder: Path) -> list[str]:
    """Use an installation from an empty folder: the program, the package and the pytest plugin; return what they say first."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    program = str(environment.folder / "bin" / "delegate-sim")
    test = elsewhere / "test_model.py"
    test.write_text(_TEST.format(model=str(MODEL)), encoding="utf-8")
    package = _PACKAGE.format(folder=str(environment.folder), model=str(MODEL))
    commands = (
        [program, "--version"],
        [program, "analyze", str(MODEL)],
        [environment.python, "-c", package],
        [environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
    )
    return [run(command, elsewhere).strip().splitlines()[0] for command in commands]


def _modules() -> list[str]:
    names = [path.relative_to(ROOT).as_posix() for top in ("delegate_sim", "cli") for path in (ROOT / top).rglob("*.py")]
    names += [path.relative_to(ROOT).as_posix() for path in (ROOT / "delegate_sim").rglob("assets/*")]
    for form in ("*.json", "*.tsv"):
        names += [path.relative_to(ROOT).as_posix() for path in (ROOT / "delegate_sim").rglob(form)]
    return sorted([name.replace("cli/", "delegate_sim_cli/", 1) if name.startswith("cli/") else name for name in names])


if __name__ == "__main__":
    sys.exit(main())

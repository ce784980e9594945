"""Build a release into ``dist/`` and ``build/release/``, and check it (``make release``).

The source distribution and the wheel are built, checked with twine, and compared with the modules of the repository. Each is then
installed into a clean environment and used there. The texts of the release and the site follow. At the end, the commands that
need accounts are printed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

from delegate_sim.version import __version__
from tools.docs import site

from . import publication
from .environments import ROOT, Environment, make, run, scratch, uv
from .publication import PAGE
from .version import NAMED
from .wheel import modules_missing, use

DIST, RELEASE = ROOT / "dist", ROOT / "build" / "release"
CHANGELOG = ROOT / "CHANGELOG.md"
PACKAGED = ("LICENSE", "NOTICE", "README.md", "pyproject.toml", "setup.py", "delegate_sim", "cli")
"""The files of the repository from which the distributions are built."""


def main() -> int:
    """Build and check a release; print what is left to do. Raises CalledProcessError if a step fails."""
    problems = list(unready())
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    with scratch() as folder:
        built = build(folder)
        tools = make(sys.executable, folder / "tools")
        tools.install("twine>=6", "wheel>=0.46", "cyclonedx-bom>=7")
        add_sbom(tools, next(path for path in built if path.suffix == ".whl"), folder / "unpacked")
        print(run([tools.python, "-m", "twine", "check", "--strict", *map(str, built)]).strip())
        (wheel,) = [path for path in built if path.suffix == ".whl"]
        missing = modules_missing(wheel)
        if missing:
            print(f"the wheel lacks {', '.join(missing)}", file=sys.stderr)
            return 1
        for number, path in enumerate(built):
            environment = make(sys.executable, folder / f"environment-{number}")
            environment.install(str(path), "pytest")
            print(f"{path.name}: installed, {'; '.join(use(environment, folder))}")
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for path in built:
            shutil.copy(path, DIST)
            print(f"dist/{path.name}: {path.stat().st_size:,} bytes")
    (sdist,) = DIST.glob("*.tar.gz")
    for path in publication.write(RELEASE, __version__, sdist):
        print(path.relative_to(ROOT))
    if site.build(RELEASE / "site", site.application()):
        return 1
    print(f"{(RELEASE / 'site').relative_to(ROOT)}\n\nWhat is left needs accounts ({PAGE.relative_to(ROOT)}):\n")
    print(publication.commands(__version__))
    return 0


def build(folder: Path) -> list[Path]:
    """Build the source distribution, and the wheel from it, into a folder."""
    sources = folder / "sources"
    sources.mkdir()
    for name in PACKAGED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, sources)
    uv("build", "--out-dir", str(folder / "built"), str(sources))
    return sorted(path for path in (folder / "built").iterdir() if path.name.endswith((".whl", ".tar.gz")))


def add_sbom(tools: Environment, wheel: Path, folder: Path) -> None:
    """Put a list of the required packages (CycloneDX) into a wheel, in the place that PEP 770 names."""
    run([tools.python, "-m", "wheel", "unpack", str(wheel), "--dest", str(folder)])
    (unpacked,) = folder.iterdir()
    (information,) = unpacked.glob("*.dist-info")
    (information / "sboms").mkdir()
    target = information / "sboms" / "delegate-sim.cdx.json"
    required = folder.parent / "required.txt"
    limits = (
        "--universal",
        "--python-version",
        "3.10",
        "--generate-hashes",
        "--constraint",
        str(ROOT / "requirements-demo.lock"),
    )
    uv("pip", "compile", "--quiet", str(ROOT / "pyproject.toml"), *limits, "--output-file", str(required))
    options = ("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--output-file", str(target))
    run([tools.python, "-m", "cyclonedx_py", "requirements", str(required), *options])
    document = json.loads(target.read_text("utf-8"))
    document["metadata"]["component"]["version"] = __version__
    target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    run([tools.python, "-m", "wheel", "pack", str(unpacked), "--dest-dir", str(wheel.parent)])


def unready() -> list[str]:
    """Return what keeps the repository from being released: the changelog, another version in a file, or a tag that exists."""
    problems = []
    text = CHANGELOG.read_text("utf-8")
    heading = re.search(rf"^## {re.escape(__version__)} - (\d{{4}}-\d\d-\d\d)$", text, re.MULTILINE)
    if heading is None:
        problems.append(f"CHANGELOG.md has no heading '## {__version__} - {date.today().isoformat()}'")
    if "\n## Unreleased\n" in text:
        problems.append("CHANGELOG.md has a section 'Unreleased': `make version NEW=...` makes it that of a version")
    problems += [f"{name} does not name {__version__}" for name in NAMED if __version__ not in (ROOT / name).read_text("utf-8")]
    tagged = subprocess.run(
        ["git", "tag", "--list", f"v{__version__}"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    head, at = (
        subprocess.run(["git", "rev-parse", "--verify", "--quiet", name], cwd=ROOT, capture_output=True, text=True, check=False)
        for name in ("HEAD", f"v{__version__}^{{commit}}")
    )
    if tagged and head.stdout != at.stdout:
        problems.append(f"the tag v{__version__} is at another commit: `make version NEW=...` raises the version")
    return problems


if __name__ == "__main__":
    sys.exit(main())

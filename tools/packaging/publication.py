"""Files of a release besides the distributions: the tag's text, the notes, recipes for other indexes, and the site.

``pyproject.toml`` has the name of the repository's owner. Pages say ``REPOSITORY`` where a reader needs the repository.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from functools import cache
from pathlib import Path
from string import Template
from textwrap import dedent

from delegate_sim.foundation.parsing import toml

from .environments import ROOT, requirements

PAGE = ROOT / "docs" / "releasing.md"
UNKNOWN_OWNER = "OWN" + "ER"
"""The owner in ``pyproject.toml`` before the repository is published."""
_TEMPLATES = ROOT / "templates" / "publishing"
_CONDA_NAMES = {"flatbuffers": "python-flatbuffers"}
"""Names of packages on conda-forge that differ from the package index."""


@cache
def owner() -> str:
    """Return the account that owns the repository."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return str(toml.loads(text)["tool"]["release"]["owner"])


def repository() -> str:
    """Return the account and the name of the repository, such as ``someone/delegate-sim``."""
    return f"{owner()}/delegate-sim"


def with_repository(page: str) -> str:
    """Return a page with the repository in place of ``REPOSITORY``, if the owner is known."""
    return page if owner() == UNKNOWN_OWNER else page.replace("REPOSITORY", repository())


def notes(version: str) -> str:
    """Return the section of a version in the changelog. Raises ValueError if there is none."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    section = re.search(rf"^## {re.escape(version)} .*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"CHANGELOG.md has no section {version}")
    return section[1].strip() + "\n"


def commands(version: str) -> str:
    """Return the commands of docs/releasing.md that publish a version, in order."""
    section = PAGE.read_text("utf-8").partition("## Publish a version")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", section, re.MULTILINE | re.DOTALL)
    return with_repository("\n".join(map(dedent, blocks)).replace("VERSION", version))


def write(folder: Path, version: str, sdist: Path) -> list[Path]:
    """Write the texts of a release into a folder, and return their paths. The folder is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    project = toml.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    values = {
        "version": version,
        "owner": owner(),
        "repository": f"https://github.com/{repository()}",
        "sdist": sdist.name,
        "sha256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "summary": project["description"],
        "conda_dependencies": "\n".join([f"    - {line}" for line in conda_dependencies()]),
    }
    texts = {
        "tag.txt": f"delegate-sim {version}\n\n{notes(version)}",
        "notes.md": notes(version),
        "conda-forge/recipe.yaml": Template((_TEMPLATES / "recipe.yaml").read_text("utf-8")).substitute(values),
        "homebrew/delegate-sim.rb": Template((_TEMPLATES / "delegate-sim.rb").read_text("utf-8")).substitute(values),
        "commands.sh": commands(version),
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "container" / "Containerfile", folder)
    return [*(folder / name for name in texts), folder / "Containerfile"]


def conda_dependencies() -> list[str]:
    """Return the requirements with conda-forge's names. Of requirements for some versions of Python, the lowest is kept."""
    lowest: dict[str, str] = {}
    for requirement in requirements():
        plain = requirement.partition(";")[0].strip()
        name, _, version = plain.partition(">=")
        lowest.setdefault(name, f"{_CONDA_NAMES.get(name, name)} >={version}")
    return list(lowest.values())

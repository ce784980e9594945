"""Files of a release besides the distributions."""

from __future__ import annotations

import hashlib
import re
import subprocess

import pytest
import yaml

from delegate_sim.version import __version__
from tools.packaging import publication
from tools.packaging.environments import ROOT

ACCOUNT = "someone-else"


@pytest.fixture
def sources():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    paths = [ROOT / name for name in listed.split("\0") if name and not name.endswith((".tflite", ".svg", ".png"))]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8", errors="ignore") for path in paths if path.is_file()}


@pytest.fixture
def owned(monkeypatch):
    monkeypatch.setattr(publication, "owner", lambda: ACCOUNT)


def test_the_owner_is_named_in_one_place(sources):
    owner = publication.owner()
    named = rf"\b{owner}\b" if owner == publication.UNKNOWN_OWNER else rf"\b{owner}(/|\.github\.io/)delegate-sim"
    assert [name for name, text in sources.items() if re.search(named, text)] in (["pyproject.toml"], [])
    assert sources["pyproject.toml"].count(f'owner = "{owner}"') == 1


def test_nothing_tells_to_install_from_an_index(sources):
    told = re.compile(
        r"(pip|pipx|uv tool|uv pip) install (-\S+ )*['\"]?delegate[-_]sim(?!_?[-\w.*]*\.whl|/)|delegate-sim==\d|uvx delegate-sim"
    )
    own = {"tests/tools/packaging/test_publication.py", "CHANGELOG.md"}
    assert [name for name, text in sources.items() if name not in own and told.search(text)] == []


def test_the_texts_of_a_release_name_the_owner_and_the_digest(tmp_path, owned, monkeypatch):
    monkeypatch.setattr(publication, "notes", lambda version: "Something new.\n")
    sdist = tmp_path / f"delegate_sim-{__version__}.tar.gz"
    sdist.write_bytes(b"sources")
    written = {path.name: path.read_text("utf-8") for path in publication.write(tmp_path / "release", __version__, sdist)}
    assert set(written) == {"tag.txt", "notes.md", "recipe.yaml", "delegate-sim.rb", "commands.sh", "Containerfile"}
    recipe = yaml.safe_load(written["recipe.yaml"])
    digest = hashlib.sha256(b"sources").hexdigest()
    assert recipe["source"]["sha256"] == digest
    assert digest in written["delegate-sim.rb"]
    assert f"https://github.com/{ACCOUNT}/delegate-sim" in written["delegate-sim.rb"]
    assert recipe["extra"]["recipe-maintainers"] == [ACCOUNT]
    assert {"python-flatbuffers >=23.5.26", "numpy >=1.26"} <= set(recipe["requirements"]["run"])
    assert written["tag.txt"].startswith(f"delegate-sim {__version__}\n")


def test_the_commands_are_complete_for_an_owner_and_a_version(owned):
    commands = publication.commands("1.2.3")
    assert "VERSION" not in commands
    assert "REPOSITORY" not in commands
    assert f"gh release create v1.2.3 --repo {ACCOUNT}/delegate-sim" in commands
    assert f"ghcr.io/{ACCOUNT}/delegate-sim:1.2.3" in commands


def test_the_site_names_the_repository_only_if_its_owner_is_known(owned, monkeypatch):
    assert publication.with_repository("uses: REPOSITORY@v1") == f"uses: {ACCOUNT}/delegate-sim@v1"
    monkeypatch.setattr(publication, "owner", lambda: publication.UNKNOWN_OWNER)
    assert publication.with_repository("uses: REPOSITORY@v1") == "uses: REPOSITORY@v1"


def test_the_notes_are_the_section_of_the_version(monkeypatch, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 2.0.0 - 2026-01-02\n\n- New.\n\n## 1.0.0 - 2025-01-01\n\n- Old.\n", "utf-8"
    )
    monkeypatch.setattr(publication, "ROOT", tmp_path)
    assert publication.notes("2.0.0") == "- New.\n"
    with pytest.raises(ValueError, match="no section"):
        publication.notes("3.0.0")

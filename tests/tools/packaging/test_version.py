"""The number of a version, and where the repository names it."""

from __future__ import annotations

import re
import subprocess
from datetime import date

import pytest

from delegate_sim.version import __version__
from tools.packaging import version
from tools.packaging.environments import ROOT


@pytest.fixture
def changed(monkeypatch, tmp_path):
    for name in version.NAMED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## Unreleased\n\n- New.\n\n## {__version__} - 2026-01-02\n", "utf-8")
    monkeypatch.setattr(version, "ROOT", tmp_path)
    return version.changes("97.98.99", date(2027, 1, 2))


def test_each_file_gets_the_new_number(changed):
    assert {name for name, text in changed.items() if "97.98.99" in text} == {*version.NAMED, "CHANGELOG.md"}
    assert 'date-released: "2027-01-02"' in changed["CITATION.cff"]
    assert changed["CHANGELOG.md"].startswith("# Changelog\n\n## 97.98.99 - 2027-01-02\n\n- New.\n\n## " + __version__)


def test_all_pages_that_name_the_version_are_known():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    named = re.compile(rf"(REPOSITORY@v|rev: v|delegate[-_]sim[- ]){re.escape(__version__)}")
    pages = [name for name in listed if name.endswith((".md", ".svg", ".cff", ".yml")) and name != "CHANGELOG.md"]
    assert {name for name in pages if named.search((ROOT / name).read_text("utf-8"))} <= set(version.NAMED)


@pytest.mark.parametrize("number", ["", "1", "v1.2.3", "1.2.3rc1"])
def test_a_number_that_is_no_version_is_refused(number):
    with pytest.raises(ValueError, match="no version"):
        version.changes(number, date.today())


def test_nothing_unreleased_is_refused(changed, tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n", "utf-8")
    with pytest.raises(ValueError, match="Unreleased"):
        version.changes("1.2.3", date.today())

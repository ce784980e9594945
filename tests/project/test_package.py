"""The files that the package installs, and its requirements."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import setuptools

from delegate_sim.foundation.parsing import toml
from tools.packaging import environments, installs, matrix, wheel

ROOT = Path(__file__).resolve().parents[2]
PROJECT = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
DEMO_LOCK = (ROOT / "requirements-demo.lock").read_text(encoding="utf-8")
LOCKED = ("test", "lint", "live", "report", "export", "browser", "docs")
"""The extras that development installs."""


def test_every_folder_with_modules_is_a_package_that_the_build_finds():
    modules = [path for top in ("delegate_sim", "cli") for path in (ROOT / top).rglob("*.py")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in modules}
    found = {name.replace(".", "/") for name in setuptools.find_packages(str(ROOT), include=["delegate_sim*", "cli*"])}
    assert folders == found


def test_no_bare_module_named_cli_is_installed(tmp_path):
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('cli') is not None)"
    assert subprocess.run([sys.executable, "-I", "-c", look], cwd=tmp_path, check=False).returncode == 0


def name_of(requirement):
    return re.split(r"[<>=!~; \\\[]", requirement)[0].lower()


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_dependencies_are_ranges_without_an_upper_end(requirement):
    assert re.fullmatch(r"[a-z-]+>=[\d.]+(; python_version .*)?", requirement)


def test_the_ranges_reach_down_to_what_users_have():
    assert PROJECT["requires-python"] == ">=3.10"
    assert {"numpy>=1.26; python_version < '3.13'", "click>=8.1"} <= set(PROJECT["dependencies"])


def pins_of(lock):
    return [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]


@pytest.mark.parametrize(("lock", "extras"), [(LOCK, LOCKED), (DEMO_LOCK, ())], ids=["development", "demo"])
def test_exact_versions_stand_in_the_lock_with_digests(lock, extras):
    pins = pins_of(lock)
    assert all(re.match(r"[a-z0-9-]+==[\w.]+ (;.* )?\\$", line) for line in pins)
    assert lock.count("--hash=sha256:") >= len(pins)
    wanted = environments.requirements(*extras)
    assert {name_of(requirement) for requirement in wanted} <= {name_of(line) for line in pins}


def test_the_lock_of_the_demo_is_a_part_of_the_lock():
    names = {name_of(line) for line in pins_of(DEMO_LOCK)}
    assert set(pins_of(DEMO_LOCK)) == {line for line in pins_of(LOCK) if name_of(line) in names}
    dependencies = {name_of(requirement) for requirement in environments.requirements()}
    assert names - dependencies == {"markdown-it-py", "mdurl", "pygments", "setuptools"}


@pytest.mark.parametrize("lock", [LOCK, DEMO_LOCK], ids=["development", "demo"])
def test_the_lock_names_no_place_to_fetch_from(lock):
    assert "://" not in lock


def test_development_installs_from_the_lock_and_ci_runs_the_tests_the_wheel_and_the_matrix():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --requirement $(LOCK)" in makefile
    assert "--require-hashes --requirement $(DEMO_LOCK)" in makefile
    assert "--no-deps --requirement $(LOCK)" in makefile  # by uv, which checks every digest that it finds
    assert len(re.findall(r"^\S+==[^\\\n]+\\\n    --hash=sha256:", LOCK, re.MULTILINE)) == len(pins_of(LOCK))
    assert re.search(r"^lock:.*(\n\t.*)*uv pip compile", makefile, re.MULTILINE)
    ran = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert 'make --jobs 3 test wheel matrix ARGS="--python 3.10 --few"' in ran
    assert re.search(r"^test: lint pytest .*\n\n# .*\npytest: .*\n\t\S+ -m pytest --numprocesses", makefile, re.MULTILINE)


def test_the_lowest_version_is_what_a_range_begins_with():
    assert environments.lowest("click>=8.1") == "click==8.1"
    assert environments.lowest("numpy>=2.1; python_version >= '3.13'") == "numpy==2.1; python_version >= '3.13'"
    with pytest.raises(ValueError, match="names no lowest version"):
        environments.lowest("click")


def test_the_installation_is_shown_beside_what_users_have():
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count(" | ") == 5]
    shown = {row[0]: row[1:] for row in rows[1:]}
    assert set(shown) == {neighbor.title for neighbor in installs.NEIGHBORS}
    for before, after, works, conflicts, _ in shown.values():
        assert before == after
        assert re.fullmatch(r"[\d.]+", works)
        assert conflicts == "No broken requirements found."
    wanted = {neighbor.title: " ".join(neighbor.packages) for neighbor in installs.NEIGHBORS}
    assert "tensorflow-cpu==2.17" in wanted["TensorFlow 2.17"]
    assert "numpy==1.26" in wanted["TensorFlow 2.17"]
    assert "numpy==1.26" in wanted["numpy 1.26 alone"]
    assert "ai-edge-litert==" in wanted["ai-edge-litert"]


@pytest.mark.parametrize(("after", "kept"), [("1.26.4", True), ("2.4.0", False)])
def test_an_installation_that_replaces_numpy_is_noticed(monkeypatch, tmp_path, capsys, after, kept):
    class Replacing:
        python = sys.executable
        numpy = "1.26.4"

        def install(self, *packages):
            if "pytest" in packages:
                self.numpy = after

        def version(self, package):
            return self.numpy

    monkeypatch.setattr(installs, "make", lambda python, folder: Replacing())
    monkeypatch.setattr(installs, "use", lambda environment, folder: ["0.1.0", "4 nodes"])
    monkeypatch.setattr(installs, "_said", lambda command: "fine")
    assert installs._row(installs.NEIGHBORS[0], "python", tmp_path / "a.whl", tmp_path / "new") is kept
    assert f"| 1.26.4 | {after} | fine | fine |" in capsys.readouterr().out


def test_an_interpreter_that_is_not_there_is_skipped_with_a_line(monkeypatch, capsys):
    monkeypatch.setattr(matrix, "interpreter", lambda release: None)
    assert matrix.main(["--python", "3.12"]) == 2
    said = capsys.readouterr()
    assert said.out == "Python 3.12: skipped, there is no such interpreter on the path or among pyenv's\n"
    assert said.err == "no interpreter to run the tests on\n"


EACH_WITH_BOTH = [(release, versions) for release in environments.PYTHONS for versions in ("lowest", "newest")]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], [("3.10", "lowest"), ("3.11", "newest"), ("3.12", "newest"), ("3.13", "newest")]),
        (["--versions", "lowest", "--versions", "newest"], EACH_WITH_BOTH),
    ],
)
def test_the_oldest_python_is_run_with_the_lowest_versions_and_each_with_both_if_asked(monkeypatch, capsys, arguments, expected):
    monkeypatch.setattr(matrix, "interpreter", lambda release: f"python{release}")
    ran = []

    def outcome(job, tests, made):
        ran.append((job.release, job.versions))
        assert made == "the wheel"
        return matrix.Outcome(job, job.release != "3.11", "1 passed", "numpy 1.26.0")

    monkeypatch.setattr(matrix, "build_wheel", lambda folder: "the wheel")
    monkeypatch.setattr(matrix, "_outcome", outcome)
    assert matrix.main(arguments) == 1
    assert sorted(ran) == expected
    failed = sum(release == "3.11" for release, _ in expected)
    assert capsys.readouterr().out.endswith(f"\n{len(expected) - failed} passed, {failed} failed\n")


def test_a_release_of_python_is_looked_for_among_those_of_pyenv(tmp_path, monkeypatch):
    for version in ("3.12.1", "3.12.10", "3.13.0"):
        program = tmp_path / "versions" / version / "bin" / "python"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho {version.rpartition('.')[0]}\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "running"))
    assert environments.interpreter("3.12") == str(tmp_path / "versions" / "3.12.10" / "bin" / "python")
    assert environments.interpreter("3.14") is None
    running = tmp_path / "running" / "bin" / "python3.14"
    running.parent.mkdir(parents=True)
    running.write_text("#!/bin/sh\necho 3.14\n", encoding="utf-8")
    running.chmod(0o755)
    assert environments.interpreter("3.14") == str(running)


def test_a_wheel_without_a_module_is_noticed(tmp_path):
    import zipfile

    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("delegate_sim/__init__.py", "")
    missing = wheel.modules_missing(path)
    assert "delegate_sim/__init__.py" not in missing
    assert {"delegate_sim_cli/main.py", "delegate_sim/api/analyze.py"} <= set(missing)

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest
import yaml

from delegate_sim.foundation.parsing import toml
from tests.support.ready_parts import ROOT, pre_commit

PATH = ROOT / ".pre-commit-hooks.yaml"
[HOOK] = yaml.safe_load(PATH.read_text(encoding="utf-8"))


class Git(NamedTuple):
    """Git in a scratch folder, whoever runs it and however it is set up."""

    environment: dict[str, str]

    def __call__(self, folder, *arguments):
        settings = {"user.name": "test", "user.email": "test@example.org", "init.defaultBranch": "main", "safe.directory": "*"}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        command = ["git", *options, *arguments]
        return subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True, check=True).stdout

    def commit(self, folder):
        """Make a folder a repository unless it is one, commit all that is in it and return the commit."""
        self(folder, "init", "--quiet")
        self(folder, "add", "--all")
        self(folder, "commit", "--quiet", "--message", "change")
        return self(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def git(environment):
    return Git({**environment, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"})


@pytest.fixture
def hook_repository(tmp_path, git):
    """A repository with what is in the working tree: its path and commit."""
    folder = tmp_path / "hooks"
    try:
        listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"git does not list the files of the working tree: {getattr(error, 'stderr', error)}")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder, git.commit(folder)


@pytest.fixture
def package_index(tmp_path, environment):
    """Skip unless pip finds what the package is built with."""
    required = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=0", "--timeout=20", *required]
    done = subprocess.run(
        [*command, f"--dest={tmp_path / 'wheels'}"], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"pip reaches no package index: {done.stderr.strip().splitlines()[-1]}")


def test_the_hooks_are_valid(environment):
    done = pre_commit(ROOT, environment, "validate-manifest", str(PATH))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("path", "is_concerned"),
    [
        ("models/detector.tflite", True),
        ("delegate-sim.toml", True),
        ("vision/pyproject.toml", True),
        ("delegate-sim-baseline.json", True),
        ("models/detector.tflite.md", False),
        ("my-pyproject.toml", False),
        ("README.md", False),
    ],
)
def test_files_that_concern_the_hook(path, is_concerned):
    assert (re.search(HOOK["files"], path) is not None) is is_concerned


@pytest.mark.usefixtures("package_index")
def test_the_hook_passes_on_a_clean_repository_and_names_what_got_worse(tmp_path, git, environment, hook_repository, repository):
    hooks, revision = hook_repository
    configuration = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": [{"id": HOOK["id"]}]}]}
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(configuration), encoding="utf-8")
    git.commit(repository.folder)
    variables = {**git.environment, "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "PRE_COMMIT_COLOR": "never"}

    clean = pre_commit(repository.folder, variables, "run", "--all-files")
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert re.search(r"^delegate-sim check\.+Passed$", clean.stdout, re.MULTILINE)

    (repository.folder / "notes.md").write_text("notes", encoding="utf-8")
    git(repository.folder, "add", "notes.md")
    unconcerned = pre_commit(repository.folder, variables, "run")
    assert re.search(r"^delegate-sim check\.+\(no files to check\)Skipped$", unconcerned.stdout, re.MULTILINE)

    repository.make_worse()
    git(repository.folder, "add", "models")
    worse = pre_commit(repository.folder, variables, "run")
    assert worse.returncode == 1
    assert re.search(r"^delegate-sim check\.+Failed$", worse.stdout, re.MULTILINE)
    assert "- exit code: 1" in worse.stdout
    assert "version at most 2" in " ".join(worse.stdout.split())

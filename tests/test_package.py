"""What the package installs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import setuptools

ROOT = Path(__file__).resolve().parents[1]


def test_every_folder_with_modules_is_a_package_that_the_build_finds():
    modules = [path for top in ("delegate_sim", "cli") for path in (ROOT / top).rglob("*.py")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in modules}
    found = {name.replace(".", "/") for name in setuptools.find_packages(str(ROOT), include=["delegate_sim*", "cli*"])}
    assert folders == found


def test_no_bare_module_named_cli_is_installed(tmp_path):
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('cli') is not None)"
    assert subprocess.run([sys.executable, "-I", "-c", look], cwd=tmp_path, check=False).returncode == 0

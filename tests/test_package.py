"""What the package installs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_is_listed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "delegate_sim").rglob("__init__.py")}
    assert set(listed) == found | {"delegate_sim_cli", "delegate_sim_cli.formats"}


def test_no_bare_module_named_cli_is_installed(tmp_path):
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('cli') is not None)"
    assert subprocess.run([sys.executable, "-I", "-c", look], cwd=tmp_path, check=False).returncode == 0

"""Names the packages and the URLs; everything else is in pyproject.toml. ``cli/`` is installed as ``delegate_sim_cli``."""

import re
from pathlib import Path

from setuptools import find_packages, setup

PROJECT = (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
_ACCOUNT = re.findall(r'^owner = "(.+)"$', PROJECT, re.MULTILINE)[0]
_REPOSITORY = f"https://github.com/{_ACCOUNT}/delegate-sim"

setup(
    packages=[
        *find_packages(include=["delegate_sim", "delegate_sim.*"]),
        "delegate_sim_cli",
        *[f"delegate_sim_cli.{name}" for name in find_packages("cli")],
    ],
    project_urls={
        "Documentation": f"https://{_ACCOUNT}.github.io/delegate-sim/",
        "Repository": _REPOSITORY,
        "Changelog": f"{_REPOSITORY}/blob/main/CHANGELOG.md",
        "Issues": f"{_REPOSITORY}/issues",
    },
)

"""Names the packages for the build: ``cli/`` is installed as ``delegate_sim_cli``; everything else stands in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["delegate_sim", "delegate_sim.*"]),
        "delegate_sim_cli",
        *[f"delegate_sim_cli.{name}" for name in find_packages("cli")],
    ]
)

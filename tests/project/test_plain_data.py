"""Data that is handed from stage to stage cannot be changed by the one that receives it."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import delegate_sim

PACKAGES = ("gate", "graph", "model", "releases", "results", "rules", "runtime", "versions")


def dataclasses_of(package):
    """Return the dataclasses that a package's modules define, by name."""
    found = {}
    for module in pkgutil.iter_modules([f"{delegate_sim.__path__[0]}/{package}"]):
        name = f"delegate_sim.{package}.{module.name}"
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == name:
                found[value.__qualname__] = value
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_data_is_frozen(package):
    found = dataclasses_of(package)
    changeable = []
    for name, kind in found.items():
        example = object.__new__(kind)
        try:
            setattr(example, dataclasses.fields(kind)[0].name, None)
        except dataclasses.FrozenInstanceError:
            continue
        changeable.append(name)
    assert changeable == []

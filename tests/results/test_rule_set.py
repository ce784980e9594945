"""The version of a delegate's rules."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.results import rule_set

_IMPORTED = """
import json, sys
from delegate_sim import interpreter, reader
from delegate_sim.delegates.registry import find_delegate
find_delegate(sys.argv[1])
from delegate_sim import prepare
print(json.dumps([module.__file__ for name, module in sys.modules.items() if name.startswith("delegate_sim.")]))
"""
_WITHOUT_EFFECT = {"version.py"}


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_every_module_that_a_verdict_needs_counts(name):
    done = subprocess.run([sys.executable, "-c", _IMPORTED, name], stdout=subprocess.PIPE, check=True)
    package = type(find_delegate(name)).__module__.split(".")[-2]
    counted = {str(path) for path in rule_set.sources(package)}
    missing = {path for path in json.loads(done.stdout) if path not in counted}
    assert {path.rpartition("/")[2] for path in missing} <= _WITHOUT_EFFECT


def test_delegates_have_versions_of_their_own():
    versions = {name: rule_set.rule_set_version(find_delegate(name)) for name in DELEGATE_NAMES}
    assert versions.pop("vx") == versions.pop("vx-nxp")  # one package
    assert len(set(versions.values())) == len(versions)


def test_a_change_of_a_rule_changes_the_version_of_its_delegate_only(tmp_path, monkeypatch):
    copy = tmp_path / "delegate_sim"
    for path in {path for name in DELEGATE_NAMES for path in _sources(name)}:
        target = copy / path.relative_to(rule_set._FOLDER)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    monkeypatch.setattr(rule_set, "_FOLDER", copy)

    def versions():
        rule_set._digest.cache_clear()
        return {name: rule_set.rule_set_version(find_delegate(name)) for name in DELEGATE_NAMES}

    before = versions()
    changed = copy / "delegates" / "gpu" / "rules" / "__init__.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = versions()
    assert {name for name in DELEGATE_NAMES if before[name] != after[name]} == {"gpu"}
    changed = copy / "prepare" / "__init__.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert all(version != after[name] for name, version in versions().items())
    rule_set._digest.cache_clear()


def _sources(name):
    return rule_set.sources(type(find_delegate(name)).__module__.split(".")[-2])

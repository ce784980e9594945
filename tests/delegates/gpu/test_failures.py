"""Kernel failures: that all are worded and tested, and that every operator can be built."""

from __future__ import annotations

import re
import string
from importlib import import_module
from pathlib import Path

from delegate_sim.delegates.gpu.delegate import DELEGATE, RULES
from delegate_sim.delegates.gpu.model import KINDS
from delegate_sim.delegates.gpu.rules import MODULES, layers
from delegate_sim.model.schema import FAMILY_OF


def test_every_operator_that_is_accepted_has_a_parser():
    for op in RULES.rules:
        module = "layers" if op in layers.CUSTOM_RULES else MODULES[FAMILY_OF[op]]
        assert op in import_module(f"delegate_sim.delegates.gpu.rules.{module}").PARSERS


def test_every_failure_is_worded_with_what_it_is_given():
    known = {"tensor", "type", "shape", "found", "needed", "wanted", "axis", "consumer"}
    for kind in KINDS.values():
        assert {name for _, name, _, _ in string.Formatter().parse(kind.template) if name} <= known


def test_every_failure_has_a_kind_of_its_own():
    assert all(kind.is_shared and kind.hint for kind in KINDS.values())
    assert set(KINDS) <= set(DELEGATE.kinds)


def test_every_code_has_a_test():
    modules = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    tested = " ".join(name for text in modules for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    missing = {code for code in KINDS if code.replace("-", "_") not in tested}
    assert not missing

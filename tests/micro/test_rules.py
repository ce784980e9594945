"""Properties of the rules of all kernels together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from delegate_sim.micro.preparation import INVOKE, PREPARE, RULES, kernel_of
from delegate_sim.micro.resolver import BUILTIN_FUNCTIONS, CUSTOM_FUNCTIONS
from delegate_sim.micro.target import EXPLAINED, WHOLE_KINDS, MicroTarget
from tests.support.graphs import arena, node_view

TARGETS = (MicroTarget(), MicroTarget(kernels="cmsis-nn"))
TYPES = ("FLOAT32", "INT8", "INT16", "INT32", "UINT8", "STRING")
SHAPES = ((), (0,), (1, 2, 2, 4), (1, 1, 1, 1, 1, 2))


def test_every_function_of_the_resolver_has_a_kernel():
    assert all(kernel_of(op, is_custom=False) for op in BUILTIN_FUNCTIONS)
    assert all(kernel_of(op, is_custom=True) for op in CUSTOM_FUNCTIONS)


def test_every_code_is_used_and_every_check_has_a_hint():
    used = set()
    for book in (PREPARE, INVOKE):
        checks = [check for rule in book.rules.values() for check in rule.all_checks]
        used |= {book.code_of(check.kind) for check in checks}
        assert all(book.hint_of(check) for check in checks)
    assert used <= set(EXPLAINED)
    assert set(EXPLAINED) - used - set(WHOLE_KINDS) <= {"micro-missing-operator", "micro-dynamic-tensor", "malformed-operands"}


def test_the_page_lists_the_operators_that_differ_with_cmsis_nn():
    page = (Path(__file__).resolve().parents[2] / "docs" / "micro.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("CMSIS-NN also refuses")[2].partition("\n\n")[0], re.MULTILINE)
    differing = {
        op
        for op, rule in RULES.rules.items()
        if any(not condition.holds(TARGETS[0]) for check in rule.checks for condition in check.conditions)
    }
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == differing


@pytest.mark.parametrize("op", sorted(BUILTIN_FUNCTIONS))
def test_rules_judge_nodes_with_any_operands(op):
    """No finder may fail on a node, whatever its operands are."""
    for target in TARGETS:
        for kind in TYPES:
            for shape in SHAPES:
                for count in (1, 3):
                    view = node_view(op, [arena(kind, *shape)] * count, [arena(kind, *shape)])
                    for book in (PREPARE, INVOKE):
                        verdict = book.validate(view, target)
                        assert verdict.is_supported == (not verdict.reasons)

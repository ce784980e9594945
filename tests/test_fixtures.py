"""The models in fixtures: that they can be remade, what is expected of them, and that together they leave little out."""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from fixtures import golden
from fixtures.golden import TARGETS, run
from fixtures.make import FIXTURES, MODELS, UNLOADABLE

SIZE_LIMIT = 300_000
REFUSED_SHARE = {"nnapi": 1.0}
"""How many of a delegate's checks, by operator, code and kind, refuse a node of some fixture."""
USUAL_REFUSED_SHARE = 0.85


@functools.cache
def load(name):
    return delegate_sim.load(MODELS / f"{name}.tflite")


def test_the_folders_hold_nothing_else():
    assert sorted(path.name for path in MODELS.iterdir()) == sorted(f"{name}.tflite" for name in FIXTURES)
    assert sorted(path.stem for path in golden.EXPECTED.iterdir()) == sorted(DELEGATE_NAMES) == sorted(TARGETS)


def test_the_models_are_small():
    assert sum(path.stat().st_size for path in MODELS.iterdir()) < SIZE_LIMIT


@pytest.mark.parametrize("name", FIXTURES)
def test_a_model_is_what_the_script_makes_each_time(name):
    made = FIXTURES[name]().bytes()
    assert FIXTURES[name]().bytes() == made
    assert (MODELS / f"{name}.tflite").read_bytes() == made


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_reports_are_as_expected(delegate):
    expected = golden.read(delegate)
    assert list(expected) == list(FIXTURES)
    for name in FIXTURES:
        assert golden.expected_runs(load(name), delegate) == expected[name], name


@pytest.mark.parametrize("name", FIXTURES)
def test_the_interpreter_prepares_a_model(name):
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="the real runtime is not installed")

    def allocate():
        resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter.Interpreter(str(MODELS / f"{name}.tflite"), experimental_op_resolver_type=resolver).allocate_tensors()

    if name in UNLOADABLE:
        with pytest.raises((ValueError, RuntimeError)):
            allocate()
    else:
        allocate()


class Findings(NamedTuple):
    """What all runs of all fixtures with one delegate show together."""

    delegate: str
    outcomes: set[str]
    taken: set[str]
    """The operators of which some node is supported."""
    refused: set[tuple[str, str, str]]
    """Operator, code and kind of every reason."""


@pytest.fixture(scope="module", params=DELEGATE_NAMES)
def findings(request):
    if request.param not in TARGETS:
        pytest.skip(f"fixtures/make.py lists no targets of {request.param}")
    found = Findings(request.param, set(), set(), set())
    for name, target in itertools.product(FIXTURES, TARGETS[request.param]):
        entry = run(load(name), request.param, target)
        found.outcomes.add(entry["outcome"])
        for node in itertools.chain.from_iterable(subgraph["nodes"] for subgraph in entry["subgraphs"]):
            if node["supported"]:
                found.taken.add(node["op"])
            found.refused.update((node["op"], reason["code"], reason["kind"]) for reason in node["reasons"])
    return found


def test_every_outcome_is_there(findings):
    assert findings.outcomes == {"delegated", "none", "refused", "restored"}


def test_every_mapped_operator_is_taken_somewhere(findings):
    assert set(find_delegate(findings.delegate).rules) - findings.taken == set()


def test_most_checks_refuse_a_node_somewhere(findings):
    rules = find_delegate(findings.delegate).rules
    checks = {(op, check.code, check.kind) for op, rule in rules.items() for check in rule.checks}
    missing = sorted(checks - findings.refused)
    share = REFUSED_SHARE.get(findings.delegate, USUAL_REFUSED_SHARE)
    assert len(missing) <= (1 - share) * len(checks), missing

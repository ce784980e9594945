"""The other versions of an operator that are tried; rules distinguish no other versions."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.model.reader import load
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from delegate_sim.versions.explanation import HIGHEST_TOLD_APART, versions_to_try

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))


def numbers_in(data):
    if isinstance(data, tuple):
        return list(chain.from_iterable(map(numbers_in, data)))
    return [data] if isinstance(data, int) else []


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_no_rule_names_a_version_above_the_bound(name):
    named = [
        number
        for book in find_delegate(name).rule_books
        for rule in book.rules.values()
        for check in rule.all_checks
        if check.data and check.data[0] == "version"
        for number in numbers_in(check.data)
    ]
    assert max(named, default=0) <= HIGHEST_TOLD_APART


def with_versions(model, version):
    subgraphs = [
        replace(graph, nodes=tuple([node._replace(version=version) for node in graph.nodes])) for graph in model.subgraphs
    ]
    return replace(model, subgraphs=tuple(subgraphs))


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_versions_above_the_bound_are_judged_alike(name):
    """Whatever a rule asks with a function of its own."""
    delegate = find_delegate(name)
    options = parse_options(name, delegate.options, {}, "api")

    def verdicts(model):
        run = simulate(model, Target(delegate, options, assume_ops_registered=True))
        return run.outcome, [
            [(node, [reason.code for reason in verdict.reasons]) for node, verdict in subgraph.decision.verdicts.items()]
            for subgraph in run.subgraphs
            if subgraph.decision is not None
        ]

    for path in FIXTURES:
        model = load(path)
        first = verdicts(with_versions(model, HIGHEST_TOLD_APART + 1))
        assert verdicts(with_versions(model, (1 << 31) - 1)) == first, path.stem


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (1, [2, 3, 4]),
        (0, [1, 2, 3]),
        (-5, [1, 2, 3]),
        (3, [2, 1, 4, 5, 6]),
        (HIGHEST_TOLD_APART, [*range(HIGHEST_TOLD_APART - 1, 0, -1), *range(HIGHEST_TOLD_APART + 1, HIGHEST_TOLD_APART + 4)]),
        ((1 << 31) - 1, [*range(HIGHEST_TOLD_APART, 0, -1)]),
    ],
)
def test_versions_to_try(version, expected):
    assert versions_to_try(version) == expected

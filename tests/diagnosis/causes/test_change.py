"""The words for the result of a change."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.advice.layer_rewrites import REWRITES
from delegate_sim.diagnosis.causes.change import SUGGESTION_FOR, SUGGESTIONS, result_words
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.model.schema import is_operator
from delegate_sim.results.report.measures import TAKEN, Measures, measure
from delegate_sim.rules.kinds import Problem
from delegate_sim.runtime.interpreter import simulate
from fixtures.suggestion_cases import EXAMPLES

from ...support.diagnoses import cost_without, diagnosed, target


@pytest.mark.parametrize(
    ("delegate", "kernels", "words"),
    [
        ("nnapi", 1, "9 of 10 nodes in 1 kernel, 99.9 % of multiply-adds"),
        ("nnapi", 2, "9 of 10 nodes in 2 kernels, 99.9 % of multiply-adds"),
        ("npu-google", 1, "9 of 10 nodes in 1 partition to compile, 99.9 % of multiply-adds"),
        ("npu-google", 2, "9 of 10 nodes in 2 partitions to compile, 99.9 % of multiply-adds"),
    ],
)
def test_kernels_of_delegates_and_partitions_of_plugins(delegate, kernels, words):
    measures = Measures(TAKEN, 10, 9, 3, kernels, 64)
    assert result_words(Cost(measures, 99_999, 100_000, delegate)) == words


BY_CODE = {example.code: example for example in EXAMPLES}
EFFECTS = ("partitions", "delegate_kernels", "fallback_nodes", "outcome")


@pytest.mark.parametrize("code", SUGGESTIONS)
def test_the_change_has_the_effect_that_was_foretold(code):
    example = BY_CODE[code]
    diagnosis = diagnosed(example.before(), example.delegate, example.runtime, **example.options)
    removed = [finding.cause for finding in diagnosis.findings if finding.cause.suggestion in (code, *example.with_it)]
    assert code in {cause.suggestion for cause in removed}
    foretold = cost_without(diagnosis, removed).measures
    on = target(example.delegate, {**example.options, **example.options_after}, example.runtime_after)
    real = measure(simulate(load(example.after().bytes()), on))
    if example.is_foretold:
        assert {name: getattr(foretold, name) for name in EFFECTS} == {name: getattr(real, name) for name in EFFECTS}
    now = diagnosis.now.measures
    assert (now.is_delegated, -now.fallback_nodes) < (real.is_delegated, -real.fallback_nodes), "it is a change for the better"


def test_there_is_one_example_for_each_suggestion():
    assert sorted(BY_CODE) == sorted(SUGGESTIONS)
    assert len(EXAMPLES) == len(BY_CODE)


def test_every_code_of_a_refusal_has_its_problem():
    kinds = [kind for name in DELEGATE_NAMES for kind in find_delegate(name).kinds.values()]
    assert {kind.problem for kind in kinds} <= set(Problem)
    assert set(SUGGESTION_FOR.values()) < set(SUGGESTIONS)


def test_rewrites_are_of_operators_that_there_are():
    assert all(is_operator(op) for op in REWRITES)

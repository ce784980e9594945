from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim.diagnosis import goal_search as searching
from delegate_sim.diagnosis.goal_search import search
from tests.support.diagnoses import cost_without, diagnosed
from tests.support.models import chain_model

REFUSED = ("GELU", "ROUND", "CEIL", "ADD 4", "SIGN")
CHAINS = st.lists(st.sampled_from(("ADD", "RELU", *REFUSED)), min_size=2, max_size=10)


def test_the_causes_that_must_go_together():
    diagnosis = diagnosed(chain_model(["ADD", "GELU", "ROUND", "ADD", "CEIL", "ADD"]))
    found = search(diagnosis, 3)
    assert (found.is_exact, found.at_least) == (True, 1)
    assert [[cause.name for cause in way.causes] for way in found.ways] == [["operator:CEIL"]]
    found = search(diagnosis, 1)
    assert [len(way.causes) for way in found.ways] == [3]


def test_nothing_to_do():
    found = search(diagnosed(chain_model(["ADD", "RELU"])), 1)
    assert (found.ways[0].causes, found.is_exact, found.at_least) == ((), True, 0)


@given(CHAINS, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_no_smaller_set_is_enough(ops, limit):
    diagnosis = diagnosed(chain_model(ops))
    found = search(diagnosis, limit)
    assert found.is_exact
    causes = [finding.cause for finding in diagnosis.findings]

    def is_enough(chosen):
        measures = cost_without(diagnosis, chosen).measures
        return measures.is_delegated and measures.partitions <= limit

    for way in found.ways:
        assert is_enough(way.causes)
    assert not any(is_enough(chosen) for size in range(found.at_least) for chosen in combinations(causes, size))


@given(ops=CHAINS)
@settings(max_examples=25, deadline=None)
def test_beyond_what_can_be_tried_the_bound_holds(ops):
    diagnosis = diagnosed(chain_model(ops))
    exact = search(diagnosis, 1)
    allowed = searching._SETS_TRIED_AT_MOST
    searching._SETS_TRIED_AT_MOST = 2
    try:
        greedy = search(diagnosis, 1)
    finally:
        searching._SETS_TRIED_AT_MOST = allowed
    assert greedy.at_least <= exact.at_least
    assert len(greedy.ways[0].causes) >= len(exact.ways[0].causes)
    assert greedy.is_exact == (len(greedy.ways[0].causes) == greedy.at_least)


@given(ops=CHAINS, limit=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_what_is_put_back_is_not_needed(ops, limit):
    diagnosis = diagnosed(chain_model(ops))
    exact = search(diagnosis, limit)
    allowed = searching._SETS_TRIED_AT_MOST
    searching._SETS_TRIED_AT_MOST = 1
    try:
        found = search(diagnosis, limit)
    finally:
        searching._SETS_TRIED_AT_MOST = allowed
    assert bool(found.ways) == bool(exact.ways)
    for way in found.ways:
        assert way.measures.is_delegated
        assert way.measures.partitions <= limit
        assert found.simulations <= 2 * found.causes + 2

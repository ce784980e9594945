"""The execution plan as a strip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim.results.report.display import (
    DELEGATED,
    LEFT,
    MIXED,
    REFUSED,
    STATES,
    Span,
    cells,
    run_lengths,
    run_strip,
    strip,
)
from tests.support.models import MIXED as MIXED_OPS
from tests.support.models import chain_model


def run_of(ops, delegate="nnapi", **options):
    return delegate_sim.analyze(chain_model(ops).bytes(), delegate, options, defaults="api").runs[0]


def test_spans_are_the_partitions_in_running_order():
    spans = strip(run_of(MIXED_OPS).subgraphs[0])
    assert spans == (Span(DELEGATED, (0,)), Span(REFUSED, (1, 2)), Span(DELEGATED, (3,)))


def test_a_node_that_only_the_limit_keeps_off_the_delegate_is_left():
    spans = strip(run_of(MIXED_OPS, max_number_delegated_partitions=1).subgraphs[0])
    assert [span.state for span in spans] == [DELEGATED, REFUSED, LEFT]


def test_a_plan_that_is_not_split_is_one_span():
    spans = strip(run_of(["ROUND", "ROUND"]).subgraphs[0])
    assert spans == (Span(REFUSED, (0, 1)),)


def test_a_model_without_partitions_of_several_subgraphs_is_one_after_another():
    report = delegate_sim.analyze("fixtures/models/several_subgraphs.tflite", "nnapi", defaults="api")
    spans = run_strip(report.runs[0])
    assert sum(len(span.nodes) for span in spans) == sum(len(each.graph.execution_plan) for each in report.runs[0].subgraphs)


@given(
    st.lists(st.tuples(st.sampled_from(STATES), st.integers(1, 9)), max_size=30),
    st.integers(1, 50),
)
def test_cells_are_no_more_than_there_is_room_for_and_stand_for_all_nodes(parts, most):
    found, size = cells(parts, most)
    states = [state for state, count in parts for _ in range(count)]
    assert len(found) <= most
    assert (len(found) - 1) * size < len(states) <= len(found) * size or not states
    for number, state in enumerate(found):
        own = set(states[number * size : (number + 1) * size])
        assert own == {state} if len(own) == 1 else state == MIXED


@pytest.mark.parametrize(("most", "shown"), [(4, [DELEGATED, REFUSED, REFUSED, DELEGATED]), (2, [MIXED, MIXED])])
def test_cells_of_a_model(most, shown):
    assert cells(run_lengths(run_of(MIXED_OPS)), most)[0] == shown

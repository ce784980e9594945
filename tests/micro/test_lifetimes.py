"""The steps in which buffers are used, if subgraphs call other subgraphs."""

from __future__ import annotations

import pytest

from delegate_sim import analyze_micro, load
from delegate_sim.errors import LimitError
from delegate_sim.micro import planner
from fixtures.builder import ModelBuilder
from tests.support.micro_models import nested_calls


def steps_of(builder):
    """Return the first and last step of each buffer, by name."""
    arena = analyze_micro(load(builder.bytes())).arena
    return {placed.buffer.name: (placed.buffer.requirement.first, placed.buffer.requirement.last) for placed in arena.buffers}


def test_a_buffer_is_used_from_the_first_run_of_its_subgraph_to_the_last_run():
    steps = steps_of(nested_calls(2))
    # The node of level 0 is step 1. It calls level 1 at the steps 2 and 8. Level 1 first runs in the steps 3 to 7.
    assert (steps["y0"], steps["y1"], steps["y2"]) == ((1, 13), (3, 13), (5, 13))


def test_a_buffer_that_only_the_caller_uses_ends_before_the_last_run():
    builder = nested_calls(1)
    graph = builder.subgraph("unused")
    graph.outputs(graph.input("never used", "FLOAT32", [1, 4]))
    steps = steps_of(builder)
    assert steps["x0"] == (0, 5)
    assert steps["never used"] == (-1, -1)


@pytest.mark.parametrize("levels", [3, 10, 25])
def test_every_run_of_a_nested_subgraph_has_steps(levels):
    assert steps_of(nested_calls(levels))["y0"] == (1, 2 ** (levels + 2) - 3)


def test_more_runs_than_the_runtime_can_count():
    levels = planner._MOST_STEPS.bit_length() - 2
    assert steps_of(nested_calls(levels))["y0"] == (1, planner._MOST_STEPS - 2)
    with pytest.raises(LimitError, match="its subgraphs call each other so often that no memory plan ends"):
        analyze_micro(load(nested_calls(levels + 1).bytes()))


def test_calls_may_be_nested_deeper_than_the_stack_of_python():
    builder = ModelBuilder()
    for number in range(2000):
        graph = builder.subgraph()
        if number == 0:
            result = graph.tensor("y", "FLOAT32", [1, 4])
            graph.node("RELU", [graph.input("x", "FLOAT32", [1, 4])], [result])
            graph.outputs(result)
        if number < 1999:
            graph.node("CALL_ONCE", [], [], options={"init_subgraph_index": number + 1})
    assert steps_of(builder)["y"] == (1, 1 + 2 * 1999)

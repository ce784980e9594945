"""The bounds of a fix: what it saves at most, what remains, and the estimate from two profiles."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.api.arguments import target_of
from delegate_sim.device.parse.operator_tables import NO_TIMES, RunTimes
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.timing.fixes import bounds
from delegate_sim.timing.measured import KERNEL, NODE, MeasuredPart, Timing, cpu_time, node_times
from fixtures.builder import ModelBuilder


def dense_model():
    """Return four FULLY_CONNECTED with 8, 16, 24 and 32 multiply-adds, and a RELU."""
    builder = ModelBuilder("dense")
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 8])
    for units in (1, 2, 3, 4):
        weights = graph.tensor(f"w{units}", "FLOAT32", [units, 8], data=[0.5] * 8 * units)
        output = graph.tensor(f"y{units}", "FLOAT32", [1, units])
        graph.node("FULLY_CONNECTED", [source, weights, -1], [output], options={})
        graph.outputs(output)
    output = graph.tensor("z", "FLOAT32", [1, 8])
    graph.node("RELU", [source], [output])
    graph.outputs(output)
    return builder


MODEL = delegate_sim.load(dense_model().bytes())
GRAPHS = [subgraph.graph for subgraph in simulate(MODEL, target_of("nnapi", {}, "litert-2.3", "benchmark")).subgraphs]
KEYS = [NodeKey(0, node) for node in range(5)]


def node(number, ms):
    key = NodeKey(0, number)
    return MeasuredPart(NODE, GRAPHS[0].nodes[number].op, "", ms, 1, (key,))


def kernel(numbers, ms):
    keys = tuple(KEYS[number] for number in numbers)
    return MeasuredPart(KERNEL, "nnapi", "", ms, 1, keys, (keys,))


def timing(*parts, times=NO_TIMES):
    delegates = tuple(dict.fromkeys([part.op for part in parts if part.kind == KERNEL]))
    return Timing("profile.txt", delegates, parts, (), (), times)


DELEGATED = timing(kernel([0], 4.0), node(1, 10.0), kernel([2], 6.0), node(3, 3.0), node(4, 1.0))
CPU = timing(*[node(number, 20.0 + number) for number in range(5)])


def test_at_most_is_the_time_of_the_moved_nodes_and_of_the_kernels_that_go():
    found = bounds([DELEGATED], "nnapi", GRAPHS, [KEYS[1]], [[KEYS[0]], [KEYS[2]]], [KEYS[:3]])
    assert (found.moved.ms, found.gone_kernels, found.gone_ms) == (10.0, 1, 6.0)
    assert (found.at_most_ms, found.rest_ms, found.is_whole) == (16.0, 8.0, True)


@pytest.mark.parametrize(
    ("inference_ms", "at_most_ms", "rest_ms", "is_limited"),
    [(12.0, 12.0, 0.0, True), (20.0, 16.0, 4.0, False), (99.0, 16.0, 8.0, False)],
)
def test_no_fix_saves_more_than_the_measured_inference(inference_ms, at_most_ms, rest_ms, is_limited):
    measured = timing(*DELEGATED.parts, times=RunTimes(inference_ms=inference_ms))
    found = bounds([CPU, measured], "nnapi", GRAPHS, [KEYS[1]], [[KEYS[0]], [KEYS[2]]], [KEYS[:3]])
    assert (found.at_most_ms, found.rest_ms, found.is_limited) == (at_most_ms, rest_ms, is_limited)
    assert found.to_dict()["whole_ms"] == min(inference_ms, 24.0)


def test_no_fix_saves_more_than_all_parts_of_the_delegated_run():
    """Node 1 has a time only in the profile of the CPU, and takes longer there than the whole run with the delegate."""
    delegated = timing(kernel([0], 4.0), node(4, 1.0))
    found = bounds([CPU, delegated], "nnapi", GRAPHS, [KEYS[1]], [KEYS[:1]], [KEYS[:2]])
    assert (found.parts_ms, found.at_most_ms, found.is_limited) == (21.0, 5.0, True)


def test_a_kernel_that_only_grows_does_not_go():
    found = bounds([DELEGATED], "nnapi", GRAPHS, [KEYS[3]], [[KEYS[0]], [KEYS[2]]], [[KEYS[0]], KEYS[2:4]])
    assert (found.at_most_ms, found.gone_kernels, found.stays_on_cpu) == (3.0, 0, True)


def test_nothing_is_said_of_nodes_without_a_time():
    found = bounds([timing(kernel([0, 1], 4.0))], "nnapi", GRAPHS, [KEYS[3]], [KEYS[:2]], [KEYS])
    assert (found.is_whole, found.moved.unknown) == (False, 1)
    assert found.to_dict()["at_most_ms"] is None
    assert found.to_dict()["remaining_ms"] is None


def test_kernels_that_were_not_measured_have_no_bound():
    found = bounds([CPU], "nnapi", GRAPHS, [KEYS[1]], [[KEYS[0]], [KEYS[2]]], [KEYS[:3]])
    assert (found.is_whole, found.gone_ms, found.moved.ms) == (False, None, 21.0)


def test_times_come_from_the_delegated_run_if_there_is_one():
    found = bounds([CPU, DELEGATED], "nnapi", GRAPHS, [KEYS[1]], [], [])
    assert found.moved.ms == 10.0


@pytest.mark.parametrize(("timings", "needed"), [([CPU], "with the delegate"), ([DELEGATED], "without the delegate")])
def test_an_estimate_needs_both_profiles(timings, needed):
    found = bounds(timings, "nnapi", GRAPHS, [KEYS[1]], [], [])
    assert found.estimate is None
    assert found.no_estimate.endswith(needed)


def test_the_estimate_has_the_spread_of_the_measured_rates():
    """The kernels take 0.5 ms and 0.25 ms for a multiply-add; the node has 16 of them, and takes 10 ms on the CPU."""
    found = bounds([CPU, DELEGATED], "nnapi", GRAPHS, [KEYS[1]], [], []).estimate
    assert (found.low_ms, found.high_ms, found.nodes, found.without_rate) == (2.0, 6.0, 1, ())


def test_operators_without_a_rate_have_no_estimate():
    mixed = bounds([CPU, DELEGATED], "nnapi", GRAPHS, [KEYS[1], KEYS[4]], [], []).estimate
    assert (mixed.nodes, mixed.without_rate) == (1, ("RELU",))
    alone = bounds([CPU, DELEGATED], "nnapi", GRAPHS, [KEYS[4]], [], [])
    assert alone.estimate is None
    assert "RELU" in alone.no_estimate


def test_a_row_for_several_nodes_is_never_divided():
    group = timing(MeasuredPart(NODE, "FULLY_CONNECTED", "", 12.0, 4, tuple(KEYS[:4])))
    assert (cpu_time([group], KEYS[:4]).ms, cpu_time([group], KEYS).unknown) == (12.0, 1)
    assert (cpu_time([group], KEYS[:3]).ms, cpu_time([group], KEYS[:3]).unknown) == (0.0, 3)
    assert node_times([group]) == {}

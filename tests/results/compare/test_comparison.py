from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.advice import node_advice
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, RELEASES, parse_release
from delegate_sim.results.compare import comparison
from delegate_sim.results.compare.comparison import Side, compare
from delegate_sim.results.compare.model_changes import compare_outlines
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from tests.support.gate_models import classifier, reshaper
from tests.support.models import MIXED, chain_model


def side(model, delegate="nnapi", release=DEFAULT_RELEASE, defaults="benchmark", **options):
    """A model, or the builder of one, on a target."""
    model = load(model.bytes()) if isinstance(model, ModelBuilder) else model
    found = find_delegate(delegate)
    values = parse_options(delegate, found.options, options, defaults)
    return Side(model, simulate(model, Target(found, values, parse_release(release), defaults)))


def moved(comparison):
    return comparison.to_cpu + comparison.to_delegate + comparison.only_in_a + comparison.only_in_b


def indices(nodes):
    return [(node.a and node.a.node, node.b and node.b.node) for node in nodes]


def codes(state):
    return [reason.code for reason in state.reasons]


def test_a_node_that_was_renumbered_renamed_and_refused():
    found = compare(side(classifier()), side(classifier(9, names="v2/", swapped=True)))
    (node,) = moved(found)
    assert found.to_cpu == (node,)
    assert (node.subgraph, node.op, node.name) == (0, "FULLY_CONNECTED", "v2/left")
    assert (node.a.node, node.a.place, node.a.reasons) == (0, "delegate", ())
    assert (node.b.node, node.b.place, codes(node.b)) == (1, "cpu", ["nnapi-operator-version"])
    assert [(change.what, change.old, change.new) for change in node.changes] == [("version", "1", "9")]
    assert found.reasons_changed == found.input_changes == ()


def test_the_other_way_round():
    a, b = side(classifier()), side(classifier(9, names="v2/", swapped=True))
    there, back = compare(a, b), compare(b, a)
    assert there.to_delegate == back.to_cpu == ()
    assert indices(there.to_cpu) == [(old, new) for new, old in indices(back.to_delegate)]
    assert back.to_delegate[0].a == there.to_cpu[0].b


def test_renumbered_nodes_do_not_move():
    found = compare(side(classifier()), side(classifier(names="v2/", swapped=True)))
    assert moved(found) == found.reasons_changed == ()


def test_added_and_removed_nodes():
    a, b = chain_model(("ADD", "ADD")), chain_model(("ADD", "ADD", "ROUND", "LOGISTIC"))
    found = compare(side(a), side(b))
    assert [(node.op, node.a, node.b.node, node.b.place) for node in found.only_in_b] == [
        ("ROUND", None, 2, "cpu"),
        ("LOGISTIC", None, 3, "delegate"),
    ]
    assert codes(found.only_in_b[0].b) == ["nnapi-operator"]
    back = compare(side(b), side(a))
    assert [(node.op, node.a.node, node.b) for node in back.only_in_a] == [("ROUND", 2, None), ("LOGISTIC", 3, None)]


def test_two_delegates():
    model = load(chain_model(MIXED).bytes())
    found = compare(side(model), side(model, "gpu"))
    assert indices(found.to_cpu) == [(3, 3)]
    assert [(codes(node.a), codes(node.b)) for node in found.reasons_changed] == [
        (["nnapi-operator"], ["gpu-unsupported-operator"]),
        (["nnapi-operator-version"], ["gpu-operator-version"]),
    ]
    assert compare(side(model), side(model, "xnnpack")).to_delegate == tuple(
        replace(node, b=replace(node.b, place="delegate", reasons=())) for node in found.reasons_changed
    )


def test_a_reason_that_finds_something_else_is_the_same():
    a, b = chain_model(("ADD", "ADD 4")), chain_model(("ADD", "ADD 5"))
    found = compare(side(a), side(b))
    assert found.reasons_changed == ()
    assert indices(found.same_reasons) == [(1, 1)]


def test_a_graph_that_is_refused_as_a_whole():
    found = compare(side(reshaper()), side(reshaper(is_dynamic=True)))
    assert indices(found.to_cpu) == [(0, 0), (1, 1), (2, 2)]
    assert {tuple(codes(node.b)) for node in found.to_cpu} == {("dynamic-tensors",)}
    assert [(change.name, change.old, change.new) for change in found.input_changes] == [("shape", "", "INT32[2]")]


def test_subgraphs_that_only_one_side_has():
    one, two = ModelBuilder(), ModelBuilder()
    for builder, names in ((one, ["main"]), (two, ["main", "more"])):
        for name in names:
            graph = builder.subgraph(name)
            source, result = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
            graph.node("LOGISTIC", [source], [result])
            graph.outputs(result)
    found = compare(side(one), side(two))
    assert [(node.subgraph, node.op) for node in found.only_in_b] == [(1, "LOGISTIC")]
    assert [(node.subgraph, node.op) for node in compare(side(two), side(one)).only_in_a] == [(1, "LOGISTIC")]
    assert found.only_in_a == ()


def test_measures_and_multiply_adds():
    entry = compare(side(classifier()), side(classifier(9))).to_dict()
    assert entry["a"]["measures"]["delegated_multiply_adds"] == entry["a"]["measures"]["multiply_adds"] == 64
    assert (entry["b"]["measures"]["delegated_multiply_adds"], entry["b"]["measures"]["multiply_adds"]) == (0, 64)
    assert [entry[name]["measures"]["fallback_nodes"] for name in "ab"] == [0, 1]


OPS = ("ADD", "ADD 4", "ADD 9", "ROUND", "LOGISTIC", "ABS")
chains = st.lists(st.sampled_from(OPS), min_size=1, max_size=12)
lasting_chains = st.lists(st.sampled_from([op for op in OPS if not op.startswith("ADD ")]), min_size=1, max_size=12)
"""Chains of operators that all releases treat alike; a delegate has taken newer versions of ADD since."""


@settings(max_examples=40)
@given(lasting_chains, st.sampled_from(DELEGATE_NAMES), st.sampled_from(RELEASES), st.booleans())
def test_another_release_moves_nothing(ops, delegate, release, is_read_twice):
    builder = chain_model(ops)
    model = load(builder.bytes())
    other = load(builder.bytes()) if is_read_twice else model
    found = compare(side(model, delegate), side(other, delegate, release))
    assert moved(found) == found.reasons_changed == found.input_changes == ()


@settings(max_examples=60)
@given(chains, chains, st.sampled_from(DELEGATE_NAMES), st.sampled_from(DELEGATE_NAMES))
def test_every_node_is_accounted_for(ops_a, ops_b, delegate_a, delegate_b):
    a, b = side(chain_model(ops_a), delegate_a), side(chain_model(ops_b), delegate_b)
    found = compare(a, b)
    assert len(ops_a) - len(found.only_in_a) == len(ops_b) - len(found.only_in_b)
    lost = len(found.to_cpu) + sum(node.a.place == "delegate" for node in found.only_in_a)
    gained = len(found.to_delegate) + sum(node.b.place == "delegate" for node in found.only_in_b)
    assert b.measures.delegated_nodes - a.measures.delegated_nodes == gained - lost
    for node in found.to_cpu:
        assert node.b.reasons
    for node in found.to_delegate:
        assert node.a.reasons


@pytest.mark.parametrize("is_same_delegate", [True, False])
def test_large_models(is_same_delegate):
    ops = [OPS[number % len(OPS)] for number in range(3000)]
    a = side(chain_model(ops))
    b = side(chain_model([*ops[:1000], "ROUND", *ops[1000:]]), "nnapi" if is_same_delegate else "gpu")
    found = compare(a, b)
    assert [(node.op, node.b.node) for node in found.only_in_b] == [("ROUND", 1000)]
    assert found.only_in_a == ()
    assert found.to_dict()


@pytest.mark.parametrize("nodes_advised", [0, 5000])
def test_the_nodes_are_matched_only_once(monkeypatch, nodes_advised):
    monkeypatch.setattr(node_advice, "_NODES_ADVISED", nodes_advised)
    calls = []
    monkeypatch.setattr(comparison, "compare_outlines", lambda *outlines: calls.append(1) or compare_outlines(*outlines))
    compared = compare(side(classifier()), side(classifier(9, names="v2/", swapped=True)))
    advised = node_advice.advised_comparison(compared)
    assert indices(moved(advised)) == indices(moved(compared))
    assert (len(calls), advised is compared) == (1, nodes_advised == 0)

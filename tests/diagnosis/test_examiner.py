"""Hypotheticals about one model, one after another."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.examiner import Examiner
from delegate_sim.errors import OptionError
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from delegate_sim.releases.catalogue import NEWEST, parse_release
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from tests.support.models import chain_model
from tests.support.samples import every

MODELS = sorted((Path(delegate_sim.__file__).parents[1] / "fixtures" / "models").glob("*.tflite"))
EVERY, EVERY_OF_NNAPI = every(8), every(2)


def examiner_of(content, name):
    delegate = find_delegate(name)
    model = load(content)
    return Examiner(model, Target(delegate, parse_options(name, delegate.options, {}), NEWEST, "api"), Effort(model))


def hypotheticals(model):
    """Return what may be assumed of a model, such that what is found out of one would be wrong for the next."""
    keys = [NodeKey(graph.index, node.index) for graph in model.subgraphs for node in graph.nodes]
    older = dict.fromkeys(keys[::2], 1)
    return (
        HypotheticalChanges(),
        HypotheticalChanges(accepted_nodes=frozenset(keys[::2])),
        HypotheticalChanges(accepted_nodes=frozenset(keys[1::2])),
        HypotheticalChanges(node_versions=older),
        HypotheticalChanges(node_versions=older, accepted_nodes=frozenset(keys[:1])),
        HypotheticalChanges(repaired_nodes=frozenset(keys), accepted_nodes=frozenset(keys[1:2])),
        HypotheticalChanges(fixed_shapes=True),
        HypotheticalChanges(node_versions=older, accepted_nodes=frozenset(keys[1:])),
        HypotheticalChanges(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_what_was_assumed_before_changes_nothing(name):
    step = EVERY_OF_NNAPI if name == "nnapi" else EVERY
    for path in MODELS[DELEGATE_NAMES.index(name) % step :: step]:
        content = path.read_bytes()
        one = examiner_of(content, name)
        one._most_known = 1
        for hypothetical in hypotheticals(one.model):
            found = one.simulate(hypothetical)
            fresh = examiner_of(content, name).simulate(hypothetical)
            assert Report(found.change.model, (found.run,)).to_json() == Report(fresh.change.model, (fresh.run,)).to_json()


DIFFERENT = {
    "accepted_ops": frozenset(["TANH"]),
    "accepted_nodes": frozenset([NodeKey(0, 0)]),
    "op_versions": {"RELU": 2},
    "node_versions": {NodeKey(0, 0): 2},
    "batch": 3,
    "fixed_inputs": True,
    "conversion": "int8",
    "fixed_shapes": True,
    "ended": frozenset(["load"]),
    "assume_ops_registered": True,
    "release": parse_release("tf-2.15"),
    "repaired_nodes": frozenset([NodeKey(0, 1)]),
    "removed_nodes": frozenset([NodeKey(0, 1)]),
    "float_nodes": frozenset([NodeKey(0, 1)]),
    "inlined_nodes": frozenset([NodeKey(0, 1)]),
    "options": {"feature_level": 28},
    "resized": {"x": (2, 4)},
}
NOT_OF_THE_MODEL = {"accepted_ops", "accepted_nodes", "ended", "assume_ops_registered", "repaired_nodes", "options"}


@pytest.mark.parametrize("field", dataclasses.fields(HypotheticalChanges), ids=lambda field: field.name)
def test_hypotheticals_that_differ_in_anything_are_simulated_each(field):
    examiner = examiner_of(chain_model(["RELU", "TANH"]).bytes(), "nnapi")
    without, with_it = HypotheticalChanges(), HypotheticalChanges(**{field.name: DIFFERENT[field.name]})
    first, second = examiner.simulate(without), examiner.simulate(with_it)
    assert first is not second
    assert (examiner.simulate(without), examiner.simulate(with_it)) == (first, second)
    assert (first.change is second.change) == (field.name in NOT_OF_THE_MODEL)


@pytest.mark.slow
@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_what_was_found_for_another_target_is_not_taken_for_this_one(name):
    delegate = find_delegate(name)
    for path in MODELS[DELEGATE_NAMES.index(name) % EVERY :: EVERY]:
        content = path.read_bytes()
        model = load(content)
        for release in ("litert-2.3", "tf-2.13", "litert-1.2", "litert-2.3"):
            for given in ({}, {"feature_level": 28, "nnapi_runtime": "none"}) if name == "nnapi" else ({},):
                options = parse_options(name, delegate.options, given)
                for assume_ops_registered in (False, True):
                    target = Target(delegate, options, parse_release(release), "api", assume_ops_registered)
                    runs = [simulate(each, target) for each in (model, load(content))]
                    found, fresh = [Report(model, (run,)).to_json() for run in runs]
                    assert found == fresh


def test_a_model_is_changed_once_for_all_that_a_delegate_may_accept():
    examiner = examiner_of(chain_model(["RELU", "TANH"]).bytes(), "nnapi")
    versions = {NodeKey(0, 0): 2}
    first, second = (
        examiner.simulate(HypotheticalChanges(node_versions=versions, accepted_nodes=frozenset(nodes))).change
        for nodes in ([], [NodeKey(0, 1)])
    )
    assert first is second
    assert examiner.simulate(HypotheticalChanges(node_versions={NodeKey(0, 0): 3})).change is not first


def test_a_node_that_the_model_lacks_is_refused_also_of_a_model_changed_before():
    examiner = examiner_of(chain_model(["RELU"]).bytes(), "nnapi")
    examiner.simulate(HypotheticalChanges())
    with pytest.raises(OptionError, match="no node 1"):
        examiner.simulate(HypotheticalChanges(accepted_nodes=frozenset([NodeKey(0, 1)])))

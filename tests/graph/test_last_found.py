"""What was last found out about a model."""

from __future__ import annotations

import gc
import weakref

from delegate_sim import load
from delegate_sim.graph.classes import derived
from delegate_sim.graph.last_found import LastFound
from tests.models import chain_model


def test_what_rests_on_the_same_is_found_again():
    known, model, other = LastFound(list), load(chain_model(["RELU"]).bytes()), load(chain_model(["RELU"]).bytes())
    known.of(model, "a", 1).append("found")
    assert known.of(model, "a", 1) == ["found"]
    assert known.of(other, "a", 1) == []
    assert known.of(model, "a", 2) == []


def test_the_last_two_are_kept():
    known, model = LastFound(list), load(chain_model(["RELU"]).bytes())
    for number in (1, 2, 1, 2):
        known.of(model, number).append(number)
    assert (known.of(model, 1), known.of(model, 2)) == ([1, 1], [2, 2])
    known.of(model, 3)
    assert known.of(model, 1) == []


def test_what_is_made_of_a_model_has_them_too():
    known, model = LastFound(list), load(chain_model(["RELU"]).bytes())
    made = derived(model, description="other")
    known.of(model, 1).append("found")
    assert known.of(made, 1) == ["found"]
    assert made.description == "other"
    assert made.options(made.subgraphs[0].nodes[0]) is model.options(model.subgraphs[0].nodes[0])


def test_nothing_of_it_outlives_the_model():
    class Finding:
        """What can be referred to weakly."""

    known, model = LastFound(Finding), load(chain_model(["RELU"]).bytes())
    finding = weakref.ref(known.of(model))
    assert finding() is not None
    del model
    gc.collect()
    assert finding() is None

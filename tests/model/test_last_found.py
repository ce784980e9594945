"""What was last found out about a model."""

from __future__ import annotations

import gc
import weakref

from delegate_sim import load
from delegate_sim.model.last_found import LastFound
from tests.models import chain_model


def test_what_rests_on_the_same_is_found_again():
    known, model, other = LastFound(list), load(chain_model(["RELU"]).bytes()), load(chain_model(["RELU"]).bytes())
    known.of(model, "a", 1).append("found")
    assert known.of(model, "a", 1) == ["found"]
    assert known.of(other, "a", 1) == []
    assert known.of(model, "a", 2) == []
    assert known.of(model, "a", 1) == []


def test_nothing_of_it_outlives_the_model():
    class Finding:
        """What can be referred to weakly."""

    known, model = LastFound(Finding), load(chain_model(["RELU"]).bytes())
    finding = weakref.ref(known.of(model))
    assert finding() is not None
    del model
    gc.collect()
    assert finding() is None

"""The result of ``fix`` with all its passes."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.plain_fix import plain_fix, search_fix
from delegate_sim.fixing.search import search
from delegate_sim.graph.effort import Effort
from tests.support.diagnoses import target
from tests.support.models import chain_model


def model(*ops):
    return load(chain_model(ops).bytes())


def test_the_result_is_that_of_fix():
    given = model("ADD", "GELU", "ADD", "ADD 4", "ADD")
    found = plain_fix(search_fix(given, [target()], Effort(given)))
    (after,) = search(given, [target()]).after
    assert (found.cost.measures, found.unknown) == (after.measures, "")
    assert found.to_dict()["passes"] == ["own-versions", "gelu-by-exponential"]


@pytest.mark.parametrize("ops", [["ADD"], ["ADD", "RANK"]])
def test_without_a_better_result_there_is_none(ops):
    given = model(*ops)
    assert plain_fix(search_fix(given, [target("edgetpu" if len(ops) > 1 else "nnapi")], Effort(given))) is None


def test_beyond_the_effort_the_result_is_not_known():
    given = model("ADD", "GELU", "ADD")
    effort = Effort(given)
    effort.spend(1 << 40)
    found = plain_fix(search_fix(given, [target()], effort))
    assert (found.cost, found.result.startswith("not simulated: ")) == (None, True)

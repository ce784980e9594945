"""The hypothetical changes that a diagnosis reports as left out."""

from __future__ import annotations

from delegate_sim import load
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.goal_search import search
from delegate_sim.graph.effort import Effort
from tests.support.diagnoses import diagnosed, target
from tests.support.models import chain_model

SOME = ["ADD", "ROUND", "ADD", "CEIL", "ADD"]


def spent(diagnosis):
    """Return the diagnosis after other work of the same command has spent the limit."""
    diagnosis.effort.spend(1 << 40)
    return diagnosis


def test_work_after_a_finished_diagnosis_leaves_nothing_out_of_it():
    diagnosis = diagnosed(chain_model(SOME))
    diagnosis.to_dict()  # tries the passes of fix
    assert spent(diagnosis).not_simulated == ()


def test_a_diagnosis_that_reaches_the_limit_says_so():
    model = load(chain_model(SOME).bytes())
    effort = Effort(model)
    effort.spend(1 << 40)
    *_, last = diagnose(model, target(), effort).not_simulated
    assert last == f"the effect of some changes: {effort.reason}"


def test_passes_that_are_sought_too_late_are_left_out():
    diagnosis = spent(diagnosed(chain_model(SOME)))
    assert diagnosis.not_simulated == ()
    assert {diagnosis.found_pass(finding) for finding in diagnosis.findings} == {None}
    assert diagnosis.not_simulated == (f"the effect of some changes: {diagnosis.effort.reason}",)


def test_a_search_that_has_no_simulations_left_says_so():
    diagnosis = spent(diagnosed(chain_model(SOME)))
    assert search(diagnosis, 1).not_simulated == (f"most sets of causes: {diagnosis.effort.reason}",)

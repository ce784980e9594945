"""The result of ``fix`` with all its passes, and the commands that can be copied."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis.advice.plain_fix import fix_command, plain_fix
from delegate_sim.fixing.search import search
from delegate_sim.graph.effort import Effort
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.target import Target
from tests.support.models import chain_model


def target(delegate="nnapi", release="litert-2.3", defaults="benchmark", **options):
    chosen = find_delegate(delegate)
    return Target(chosen, parse_options(delegate, chosen.options, options, defaults), parse_release(release), defaults)


def model(*ops):
    return load(chain_model(ops).bytes())


def test_the_result_is_that_of_fix():
    given = model("ADD", "GELU", "ADD", "ADD 4", "ADD")
    found = plain_fix(given, target(), Effort(given))
    (after,) = search(given, [target()]).after
    assert (found.cost.measures, found.unknown) == (after.measures, "")
    assert found.to_dict()["passes"] == ["own-versions", "gelu-by-exponential"]
    assert found.result == "exact up to rounding; 24 of 24 nodes in 1 kernel"


@pytest.mark.parametrize("ops", [["ADD"], ["ADD", "RANK"]])
def test_without_a_better_result_there_is_none(ops):
    given = model(*ops)
    assert plain_fix(given, target("edgetpu" if len(ops) > 1 else "nnapi"), Effort(given)) is None


def test_beyond_the_effort_the_result_is_not_known():
    given = model("ADD", "GELU", "ADD")
    effort = Effort(given)
    effort.spend(1 << 40)
    found = plain_fix(given, target(), effort)
    assert (found.cost, found.result) == (None, "not simulated: the search for passes takes many simulations")


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (target(), "--delegate nnapi"),
        (target(android="11"), "--delegate nnapi --android=11"),
        (target(feature_level=28), "--delegate nnapi --feature-level=28"),
        (target("gpu", "tf-2.15", "api"), "--delegate gpu --runtime tf-2.15 --defaults api"),
        (target(driver_rejects=("MEAN", "ADD")), "--delegate nnapi --driver-rejects=MEAN,ADD"),
    ],
)
def test_a_command_describes_the_target(given, arguments):
    assert fix_command(model("ADD"), given) == f"delegate-sim fix - {arguments} -o fixed.tflite"

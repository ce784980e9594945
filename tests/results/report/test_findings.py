"""Findings about nodes."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.results.report.findings import ERROR, node_finding
from delegate_sim.rules.rule import Reason
from tests.support.models import chain_model


@pytest.mark.parametrize(
    ("hints", "joined"),
    [
        (["use RESHAPE"], "use RESHAPE"),
        (["use RESHAPE", "use RESHAPE"], "use RESHAPE"),
        (["add or fold dimensions", "fold dimensions"], "add or fold dimensions; fold dimensions"),
        (["fold dimensions", "", "cast to FLOAT32"], "fold dimensions; cast to FLOAT32"),
        ([""], ""),
    ],
)
def test_a_hint_is_given_once(hints, joined):
    """One of two ways out may not be enough for another reason, so a hint that another includes is given too."""
    subgraph = delegate_sim.analyze(chain_model(["RELU"]).bytes(), "nnapi", defaults="api").runs[0].subgraphs[0]
    reasons = [Reason("code", "stage", "found", "needed", "", hint) for hint in hints]
    assert node_finding("code", ERROR, "fell back", subgraph, 0, reasons).hint == joined

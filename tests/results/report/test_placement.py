"""The reasons of nodes that a refusal of the whole graph leaves to the CPU."""

from __future__ import annotations

from dataclasses import replace

from delegate_sim import analyze
from delegate_sim.delegates.stage_behind import StageRefusal
from delegate_sim.results.report.placement import bare_reasons
from delegate_sim.runtime.run import Refusal
from tests.support.models import chain_model


def test_a_refused_operation_is_what_all_nodes_need():
    (subgraph,) = analyze(chain_model(["ADD"]).bytes(), "nnapi", defaults="api").runs[0].subgraphs
    stage = StageRefusal("addOperation", "FULLY_CONNECTED", "input 1", "SYMM", "ASYMM", "a line")
    refusal = Refusal("nnapi-runtime-operation-input-type", "refused", "", 0, 0, None, behind=stage)
    (reason,) = bare_reasons(replace(subgraph, decision=None), 0, refusal)
    assert reason.needed == "FULLY_CONNECTED with input 1: ASYMM"

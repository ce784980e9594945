"""The reasons of nodes that a refusal of the whole graph leaves to the CPU."""

from __future__ import annotations

from dataclasses import replace

from delegate_sim import analyze
from delegate_sim.refusal import Refusal
from delegate_sim.results.report.placement import bare_reasons
from tests.support.models import chain_model


def test_a_refused_operation_is_what_all_nodes_need():
    (subgraph,) = analyze(chain_model(["ADD"]).bytes(), "nnapi", defaults="api").runs[0].subgraphs
    values = {"operand": "input 1", "found": "SYMM", "needed": "ASYMM"}
    below = Refusal("operation-input-type", "", node=0, values=values, call="addOperation", operation="FULLY_CONNECTED")
    refusal = Refusal("nnapi-runtime-operation-input-type", "refused", node=0, below=below)
    (reason,) = bare_reasons(replace(subgraph, decision=None), 0, refusal)
    assert reason.needed == "FULLY_CONNECTED with input 1: ASYMM"

"""A model with op profiles of NNAPI's run and of the CPU."""

from __future__ import annotations

import delegate_sim
from delegate_sim.api.arguments import target_of
from delegate_sim.runtime.interpreter import simulate
from fixtures.op_profiles import ProfiledRow, profiled_rows, write_profile
from tests.support.models import chain_model

OPS = ["ADD", "GELU", "ADD", "ADD", "ROUND", "ADD", "RELU"]
MS = {"GELU": 9.0, "ROUND": 30.0}


def write_model_and_profiles(folder):
    """Write a model, a profile of NNAPI's run, and a profile of the CPU; return their paths."""
    model = folder / "model.tflite"
    model.write_bytes(chain_model(OPS).bytes())
    run = simulate(delegate_sim.load(str(model)), target_of("nnapi", {}, "litert-2.3", "benchmark"))
    delegated, cpu = folder / "nnapi.txt", folder / "cpu.txt"
    delegated.write_text(write_profile(profiled_rows(run, lambda op, node: MS.get(op, 2.0))))
    cpu.write_text(write_profile([ProfiledRow(op, f"[t{index}]", index, 4.0) for index, op in enumerate(OPS)]))
    return model, delegated, cpu

"""A diagnosis of a model that is made on the spot."""

from __future__ import annotations

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.examiner import Examiner
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from delegate_sim.runtime.target import Target


def target(delegate="nnapi", options=None, runtime=DEFAULT_RELEASE, assume_ops_registered=False):
    found = find_delegate(delegate)
    values = parse_options(delegate, found.options, options or {}, "benchmark")
    return Target(found, values, parse_release(runtime), "benchmark", assume_ops_registered)


def diagnosed(model, delegate="nnapi", runtime=DEFAULT_RELEASE, assume_ops_registered=False, **options):
    """The diagnosis of a builder's model, or of the bytes of one."""
    return diagnose(
        load(model if isinstance(model, bytes) else model.bytes()), target(delegate, options, runtime, assume_ops_registered)
    )


def cause_names(diagnosis):
    return [finding.cause.name for finding in diagnosis.findings]


def cost_without(diagnosis, causes):
    examiner = Examiner(diagnosis.model, diagnosis.target, diagnosis.effort)
    return examiner.simulate(diagnosis.blockers.without(causes)).cost


def layer_without_kernel(graph):
    """Add a layer that ML Drift takes and cannot build, and return its result."""
    packed = graph.tensor("packed", "INT8", [8, 8], [1] * 64, scale=0.5)
    weights, middle = graph.tensor("weights", "FLOAT32", [8, 8]), graph.tensor("middle", "FLOAT32", [1, 8])
    graph.node("DEQUANTIZE", [packed], [weights], version=2)
    graph.node("FULLY_CONNECTED", [graph.input("x", "FLOAT32", [1, 8]), weights], [middle], options={})
    return middle

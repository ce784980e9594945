"""Whole runs of the Neutron delegate: its line, releases, compiled networks and crashes."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim import OptionError
from delegate_sim.errors import NotSimulatedError
from fixtures.builder import ModelBuilder

SCALE = {"scale": 0.5, "zero_point": 0}


def run(builder, release="lf-6.6.23", **arguments):
    arguments = {"defaults": "api", "assume_ops_registered": True, **arguments}
    report = delegate_sim.analyze(builder.bytes(), "neutron-imx95", {"release": release}, **arguments)
    return report.to_dict()["runs"][0]


def pooled(*, compiled=False):
    """AVERAGE_POOL_2D, RELU and, if asked for, a compiled network in between."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "INT8", (1, 4, 4, 16), **SCALE)
    for number, op in enumerate(("AVERAGE_POOL_2D", *(("CUSTOM",) if compiled else ()), "RELU", "AVERAGE_POOL_2D")):
        result = graph.tensor(f"t{number}", "INT8", (1, 4, 4, 16), **SCALE)
        graph.node(op, (tensor,), (result,), **({"custom": "NeutronGraph"} if op == "CUSTOM" else {}))
        tensor = result
    graph.outputs(tensor)
    return builder


def supported(result):
    return [node["supported"] for node in result["subgraphs"][0]["nodes"]]


def test_its_line_and_partitions():
    result = run(pooled(), runtime="tf-2.14")
    assert result["log_lines"][0] == "NeutronDelegate: 2 nodes delegated out of 3 nodes with 2 partitions."
    assert result["subgraphs"][0]["partitions"] == 2


@pytest.mark.parametrize("release", ["lf-6.6.3", "lf-6.6.23_2.0.0", "lf-6.6.36", "lf-6.6.52"])
def test_beside_a_compiled_network_nothing_else_is_taken(release):
    assert supported(run(pooled(compiled=True), release)) == [False, True, False, False]


@pytest.mark.parametrize("release", ["lf-6.6.36", "lf-6.6.52"])
def test_newer_releases_are_not_simulated(release):
    with pytest.raises(NotSimulatedError, match=r"not simulated: from lf-6\.6\.36 on, NXP's closed-source converter decides"):
        run(pooled(), release)


def test_an_unknown_release():
    with pytest.raises(OptionError, match=r"takes lf-6\.6\.23, .*, not 'lf-9'"):
        run(pooled(), "lf-9")


def test_a_scalar_crashes_the_delegate():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "INT8", (1, 4, 4, 16), **SCALE)
    result = graph.tensor("out", "INT8", (), **SCALE)
    graph.node("MAX_POOL_2D", (tensor,), (result,))
    graph.outputs(result)
    assert run(builder)["refusal"]["code"] == "neutron-imx95-reads-missing-sizes"

"""Whole runs of the Ethos-U delegate: its line, partitions, compiled networks, crashes and warnings."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.results.report.outcome_words import outcome_notes
from fixtures.builder import ModelBuilder
from tests.support.ethosu_programs import U55_128, U65_256, U65_512, compiled_network, program

SCALE = {"scale": 0.5, "zero_point": 0}


def run(builder, options=None, **arguments):
    arguments = {"defaults": "api", "assume_ops_registered": True, **arguments}
    return delegate_sim.analyze(builder.bytes(), "ethosu-imx93", options, **arguments).to_dict()["runs"][0]


def chain(builder, *ops):
    """A subgraph of unary operators, one after the other; custom ones have a name in lower case."""
    graph = builder.subgraph("main")
    tensor = graph.input("in", "INT8", (1, 4), **SCALE)
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", "INT8", (1, 4), **SCALE)
        graph.node("CUSTOM" if op.islower() else op, (tensor,), (result,), **({"custom": op} if op.islower() else {}))
        tensor = result
    graph.outputs(tensor)
    return graph


def test_partitions_are_not_limited_and_counted_as_in_the_delegates_own_line():
    builder = ModelBuilder()
    chain(builder, "RELU", "ELU", "TANH")
    result = run(builder, runtime="tf-2.14")
    assert result["log_lines"] == [
        "EthosuDelegate: 2 nodes delegated out of 3 nodes with 2 partitions.",
        "Replacing 2 out of 3 node(s) with delegate (EthosuDelegate) node, yielding 3 partitions for the whole graph.",
    ]
    assert (result["subgraphs"][0]["partitions"], result["subgraphs"][0]["delegate_kernels"]) == (2, 2)


def test_a_compiled_network():
    builder = ModelBuilder()
    builder.metadata("OfflineMemoryAllocation", bytes(16))
    chain(builder, "ethos-u", "ELU")
    result = run(builder)
    assert result["outcome"] == "delegated"
    assert result["refusal"] is None


def test_a_compiled_network_without_offsets_fails_to_prepare():
    builder = ModelBuilder()
    chain(builder, "ethos-u")
    result = run(builder)
    assert result["refusal"]["code"] == "ethosu-imx93-no-memory-offsets"


@pytest.mark.parametrize(
    ("configuration", "code"), [(U65_256, None), (U55_128, "ethosu-imx93-other-npu"), (U65_512, "ethosu-imx93-other-npu")]
)
def test_a_network_for_another_npu_fails_at_invoke(configuration, code):
    builder = compiled_network(program(configuration))
    builder.metadata("OfflineMemoryAllocation", bytes(16))
    result = run(builder)
    assert (result["refusal"] or {}).get("code") == code
    assert result.get("state") == ("does not run" if code else None)


def test_nodes_are_compiled_on_the_board_unless_vela_compiled_them():
    def notes(builder):
        (result,) = delegate_sim.simulate(builder.bytes(), [("ethosu-imx93", {})]).runs
        return result.awaits_board, [note.partition(". ")[0] for note in outcome_notes(result) if "compiles these" in note]

    source, compiled = ModelBuilder(), compiled_network(program(U65_256))
    chain(source, "RELU")
    compiled.metadata("OfflineMemoryAllocation", bytes(16))
    note = "Taken, but not compiled: the delegate compiles these nodes on the device, when the delegate is applied"
    assert notes(source) == (True, [note])
    assert notes(compiled) == (False, [])


def test_a_partition_of_both_kinds_fails():
    builder = ModelBuilder()
    builder.metadata("OfflineMemoryAllocation", bytes(16))
    chain(builder, "ethos-u", "RELU")
    result = run(builder)
    assert result["refusal"]["code"] == "ethosu-imx93-mixed-partition"
    assert "Unsupported vela compiled model." in result["log_lines"]


def test_a_value_that_is_read_before_it_exists_crashes_the_delegate():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    image = graph.input("image", "INT8", (1, 4, 4, 2), **SCALE)
    axis = graph.input("axis", "INT32", (1,))
    mean = graph.tensor("mean", "INT8", (1, 2), **SCALE)
    graph.node("MEAN", (image, axis), (mean,))
    graph.outputs(mean)
    result = run(builder)
    assert result["refusal"]["code"] == "ethosu-imx93-reads-computed-value"
    assert result["log_lines"] == []
    assert "crash" in result["warnings"][0]


def test_operators_that_vela_leaves_are_warned_of():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    image = graph.input("image", "INT8", (1, 4), **SCALE)
    shape = graph.tensor("shape", "INT32", (2,))
    graph.node("SHAPE", (image,), (shape,))
    graph.outputs(shape)
    (warning,) = run(builder)["warnings"]
    assert "takes 1 SHAPE (first: node 0)" in warning


def test_an_operand_that_the_node_lacks_is_warned_of():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    image = graph.input("image", "INT8", (1, 4), **SCALE)
    result = graph.tensor("result", "INT8", (4,), **SCALE)
    graph.node("RESHAPE", (image,), (result,), options={"new_shape": [4]})
    graph.outputs(result)
    (warning,) = run(builder)["warnings"]
    assert "(first: node 0, RESHAPE)" in warning

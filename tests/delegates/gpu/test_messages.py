"""The messages about refused nodes, and the block of lines that the delegate prints."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.gpu.delegate import RULES
from delegate_sim.delegates.gpu.rules import GpuTarget
from delegate_sim.releases.catalogue import parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.gpu_table import BOOL, FLOAT, INT32, MATRIX, RANK_5
from tests.support.graphs import arena, constant, node_view

SHAPE = (1, 4, 4, 2)
HEADING = "Following operations are not supported by GPU delegate:"
TYPES = "OP is supported, but tensor type/shape isn't compatible."
SELECT_SAYS = "Cond must be float or bool type, if, else tensors must"
INDICES = constant([[1]])
ON_OFF = (constant([4]), constant([1.0], "FLOAT32"), constant([0.0], "FLOAT32"))


def test_every_check_has_a_message():
    for op, rule in RULES.rules.items():
        for check in rule.all_checks:
            assert check.said is not None, (op, check.needed)


@pytest.mark.parametrize(
    ("op", "inputs", "options", "messages"),
    [
        ("ABS", [RANK_5], {}, {"tf-2.14": TYPES, "litert-2.3": TYPES}),
        ("ABS", [INT32], {}, {"tf-2.14": TYPES, "litert-2.3": TYPES}),
        ("ROUND", [FLOAT], {}, {"tf-2.14": "Operation is not supported."}),
        (
            "STRIDED_SLICE",
            [FLOAT],
            {"shrink_axis_mask": 1},
            {
                "litert-2.1.5": "Slice does not support shrink_axis_mask parameter. ",
                "litert-2.1.6": "StridedSlice does not support shrink_axis_mask parameter.",
            },
        ),
        (
            "GATHER",
            [FLOAT, INDICES],
            {},
            {"litert-2.1.5": "Only support 1D indices\n", "litert-2.1.6": "Only support 1D indices"},
        ),
        (
            "GATHER",
            [INT32, INDICES],
            {},
            {"litert-1.0.1": "Does not accept INT32 input.\n", "litert-1.1.0": "Only support 1D indices\n"},
        ),
        (
            "SELECT",
            [INT32, FLOAT, FLOAT],
            {},
            {
                "litert-1.0.1": f"{SELECT_SAYS} be float and either be same the shape as output or constant, scalar.",
                "litert-1.1.0": f"{SELECT_SAYS} be either be same the shape as output or constant, scalar.",
                "litert-2.1.6": f"{SELECT_SAYS} either be the same shape as output or constant, scalar.",
            },
        ),
        (
            "ONE_HOT",
            [arena("INT32", 2, 3), *ON_OFF],
            {"axis": -1},
            {"litert-2.1.5": "Unspported non-singleton dim at 0", "litert-2.1.6": "Unsupported non-singleton dim at 0"},
        ),
        (
            "CAST",
            [arena("INT64", 1, 4, 4, 2)],
            {},
            {"litert-2.3": "Not supported Cast case. Input type: INT64 and output type: FLOAT32"},
        ),
        ("CAST", [BOOL], {}, {"litert-2.3": "Not supported cast case"}),
        ("SLICE", [MATRIX, *ON_OFF[:1]], {}, {"litert-2.3": "SLICE requires 3 inputs, but node has 2 inputs."}),
        ("LESS", [FLOAT, FLOAT], {}, {"litert-2.3": "Not supported logical op case"}),
    ],
)
def test_messages_of_releases(op, inputs, options, messages):
    node = node_view(op, inputs, [FLOAT], options=options)
    for release, message in messages.items():
        (reason,) = RULES.validate(node, GpuTarget(True, frozenset(), parse_release(release))).reasons
        assert reason.kind == message, release


def test_a_version_above_the_limit():
    (reason,) = RULES.validate(node_view("ABS", [FLOAT], [FLOAT], version=3), GpuTarget(True, frozenset())).reasons
    assert reason.kind == "Max version supported: 2. Requested version 3."


def _run(ops, custom="Mine", **options):
    """Return the lines about a chain of nodes. The name ``custom`` in ``ops`` stands for a custom operator."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = graph.input("x", "FLOAT32", SHAPE)
    for op in ops:
        result = graph.tensor("y", "FLOAT32", SHAPE)
        graph.node("CUSTOM" if op == custom else op, [last], [result], custom=custom if op == custom else None)
        last = result
    graph.outputs(last)
    report = delegate_sim.analyze(builder.bytes(), "gpu", options, defaults="api", assume_ops_registered=True)
    return [line for line in report.runs[0].log_lines if not line.startswith("Replacing")]


@pytest.mark.parametrize(
    ("ops", "options", "lines"),
    [
        (["ABS", "NEG"], {}, []),
        (
            ["ROUND", "ABS", "NEG", "Mine", "ROUND"],
            {},
            [
                HEADING,
                "CUSTOM Mine: Mine",
                "ROUND: Operation is not supported.",
                "2 operations will run on the GPU, and the remaining 3 operations will run on the CPU.",
            ],
        ),
        (
            ["ROUND", "CEIL"],
            {},
            [
                HEADING,
                "CEIL: Operation is not supported.",
                "ROUND: Operation is not supported.",
                "No operations will run on the GPU, and all 2 operations will run on the CPU.",
            ],
        ),
        (["ABS", "NEG", "ROUND"], {"last_delegate_node_index": 0}, []),
        (
            ["ABS"],
            {"excluded_ops": "ABS"},
            [
                HEADING,
                "ABS: Operation is not supported.",
                "No operations will run on the GPU, and all 1 operations will run on the CPU.",
            ],
        ),
    ],
    ids=["all accepted", "in bytewise order, each reason once", "none accepted", "stops after the range", "excluded"],
)
def test_lines_about_refused_nodes(ops, options, lines):
    assert _run(ops, **options) == lines


def test_the_first_line_is_the_runtimes():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last, result = graph.input("x", "FLOAT32", SHAPE), graph.tensor("y", "FLOAT32", SHAPE)
    middle = graph.tensor("z", "FLOAT32", SHAPE)
    graph.node("ROUND", [last], [middle])
    graph.node("ABS", [middle], [result])
    graph.outputs(result)
    (run,) = delegate_sim.analyze(builder.bytes(), "gpu", defaults="api").runs
    assert (run.log_lines[0], run.first_line) == (HEADING, run.log_lines[-1])
    assert run.first_line.startswith("Replacing 1 out of 2")

"""The values of a model that float16 cannot hold, with an executor that computes in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.verification.half_precision import _Survey, half_precision
from fixtures.builder import ModelBuilder
from tests.support.fake_execution import FakeExecutor


def report_of(nodes, values, tmp_path, shape=None, failing=()):
    """Return the report on nodes that each read the result of the node before, and constants. ``values`` are the input."""
    array = np.array(values, np.float32)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", array.shape)
    for number, (op, *constants) in enumerate(nodes):
        kinds = ["INT32" if isinstance(constant, list) else "FLOAT32" for constant in constants]
        operands = [
            graph.tensor(f"c{number}", kind, np.shape(constant) or [1], data=np.reshape(constant, np.shape(constant) or [1]))
            for kind, constant in zip(kinds, constants, strict=True)
        ]
        result = graph.tensor(f"t{number}", "FLOAT32", array.shape if op not in ("SUM", "MEAN") else [1])
        graph.node(op, [source, *operands], [result])
        source = result
    graph.outputs(source)
    np.savez(tmp_path / "x.npz", x=array)
    return half_precision(load(builder.bytes()), [str(tmp_path / "x.npz")], 0, executor=FakeExecutor(failing=failing))


@pytest.mark.parametrize(
    ("nodes", "values", "problems"),
    [
        ([("ABS",)], [65504.0], []),
        ([("ABS",)], [65519.0], []),
        ([("ABS",)], [65520.0], [(0, "result-overflows", 65520, 1, True)]),
        ([("SQUARE",)], [3.0, 795.0], [(0, "result-overflows", 795**2, 1, True)]),
        # Minus infinity is harmless in a mask.
        ([("NEG",)], [70000.0], [(0, "result-overflows", -70000, 1, False)]),
        ([("SUM", [0])], [60000.0, 60000.0], [(0, "total-overflows", 120000, 1, True)]),
        ([("SUM", [0])], [60000.0, -60000.0], []),
        # A kernel of MEAN may divide before it adds.
        ([("MEAN", [0])], [60000.0, 60000.0], [(0, "total-overflows", 120000, 1, False)]),
        ([("ADD", 1e-12)], [1.0], [(0, "constant-vanishes", 1e-12, 1, False)]),
        ([("ADD", 1e-7)], [1.0], []),
        ([("MUL", -1e9)], [0.0], [(0, "constant-overflows", -1e9, 1, False)]),
        ([("ABS",), ("RSQRT",)], [1e-9], [(0, "divisor-vanishes", 1e-9, 1, True)]),
        ([("ABS",), ("RSQRT",)], [1e-4], []),
        # The square root of a number that becomes 0 is 0 too.
        ([("ABS",), ("SQRT",), ("RSQRT",)], [1e-9], [(0, "divisor-vanishes", 1e-9, 1, True)]),
        ([("ABS",), ("ADD", 1.0), ("RSQRT",)], [1e-9], []),
        ([("ABS",), ("NEG",)], [1e-9], []),
    ],
)
def test_problems(nodes, values, problems, tmp_path):
    report = report_of(nodes, values, tmp_path)
    found = [(own.node, own.kind, pytest.approx(own.value), own.elements, own.is_certain) for own in report.problems]
    assert found == problems
    assert report.is_right is not any(problem[-1] for problem in problems)


def test_the_first_certain_problem(tmp_path):
    report = report_of([("NEG",), ("ABS",), ("SQUARE",)], [70000.0], tmp_path)
    assert [(own.node, own.is_certain) for own in report.problems] == [(0, False), (1, True), (2, True)]
    assert report.first.node == 1


def test_ranges_and_errors_of_rounding(tmp_path):
    report = report_of([("ABS",)], [1.0, -2049.0, 0.0], tmp_path)
    (own,) = report.ranges
    assert (own.node, own.op, own.tensor, own.least, own.greatest, own.smallest) == (0, "ABS", "t0", 0, 2049, 1)
    assert own.rounding == pytest.approx(1 / 2049)


def test_a_model_that_does_not_run_is_an_error(tmp_path):
    with pytest.raises(FixError, match="ABS does not run"):
        report_of([("ABS",)], [1.0], tmp_path, failing=["ABS"])


def test_a_constant_of_many_nodes_is_looked_at_once(monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, constant = graph.input("x", "FLOAT32", [1]), graph.tensor("c", "FLOAT32", [1], data=[1e5])
    for number in range(5):
        result = graph.tensor(f"t{number}", "FLOAT32", [1])
        graph.node("MUL", [source, constant], [result])
        source = result
    graph.outputs(source)
    seen = []
    monkeypatch.setattr(
        _Survey, "_seen_constant", lambda self, index, _own=_Survey._seen_constant: seen.append(index) or _own(self, index)
    )
    report = half_precision(load(builder.bytes()), [], 1, executor=FakeExecutor())
    assert [problem.kind for problem in report.problems].count("constant-overflows") == 5
    assert seen.count(constant) == 1

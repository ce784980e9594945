"""Constants that CPU kernels refuse only in ``Invoke``."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import delegate_sim
from delegate_sim.refusal import Effect, Refusal, Stage
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tools.kernel_types import results


class Case(NamedTuple):
    """A node with constants ``values`` of ``type`` as the operand at ``position``. The values in ``refused`` fail in Invoke."""

    op: str
    inputs: Sequence[tuple[int, ...]]
    output: tuple[int, ...]
    position: int
    computed: Sequence[Any]
    refused: Sequence[Any]
    options: Mapping[str, object] = {}
    types: tuple[str, str] = ("FLOAT32", "INT32")
    constant: Sequence[int] | None = None
    """The last operand, if it is constant too."""


_ROWS: tuple[Any, ...] = ((4, 2), (1,))
_SEQUENCE = {"seq_dim": 1, "batch_dim": 0}
CASES = (
    Case("GATHER", ((1, 4, 2), (1,)), (1, 1, 2), 1, ([0], [3]), ([-1], [4]), {"axis": 1}),
    Case("GATHER", ((4, 2), (1,)), (4, 1), 1, ([1],), ([2],), {"axis": -1}),
    Case("GATHER_ND", ((4, 2), (1, 1)), (1, 2), 1, ([[3]],), ([[-1]], [[4]])),
    Case("GATHER_ND", ((4, 2), (1, 2)), (1,), 1, ([[3, 1]],), ([[4, 0]],)),
    Case("SCATTER_ND", ((1, 1), (1, 2), (2,)), (4, 2), 0, ([[3]],), ([[-1]], [[4]]), constant=(4, 2)),
    Case("EMBEDDING_LOOKUP", ((1,), (4, 2)), (1, 2), 0, ([3],), ([-1], [4])),
    Case("CUMSUM", ((1, 2), ()), (1, 2), 1, (1, -2), (2, -3)),
    Case("REVERSE_V2", ((1, 2), (1,)), (1, 2), 1, ([1], [-2]), ([2], [-3])),
    Case("REVERSE_SEQUENCE", ((1, 4), (1,)), (1, 4), 1, ([4], [-1]), ([5],), _SEQUENCE),
    Case("POW", ((1, 2), (1, 2)), (1, 2), 1, ([[3, 0]],), ([[3, -1]],), types=("INT32", "INT32")),
    Case("POW", ((1, 2), (1, 2)), (1, 2), 1, ([[3, -1]],), (), types=("FLOAT32", "FLOAT32")),
    Case("DIV", ((1, 2), (1, 2)), (1, 2), 1, ([[3, -1]],), ([[3, 0]],), types=("INT32", "INT32")),
    Case("DIV", ((1, 2), (1, 2)), (1, 2), 1, ([[3, 0]],), (), types=("FLOAT32", "FLOAT32")),
    Case("FLOOR_DIV", ((1, 2), ()), (1, 2), 1, (3,), (0,), types=("FLOAT32", "FLOAT32")),
    Case("FLOOR_MOD", ((1, 2), (1, 2)), (1, 2), 1, ([[3, -1]],), ([[3, 0]],), types=("INT64", "INT64")),
    Case("FLOOR_MOD", ((1, 2), (1, 2)), (1, 2), 1, ([[3, 0]],), (), types=("FLOAT32", "FLOAT32")),
)
_FIRST = CASES[0]


def model(case: Case, values: Any) -> bytes:
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    operands = []
    for index, shape in enumerate(case.inputs):
        if index == case.position:
            operands.append(layers.constant(case.types[1], np.reshape(values, shape)))
        elif index == len(case.inputs) - 1 and case.constant is not None:
            operands.append(layers.constant("INT32", case.constant))
        else:
            operands.append(layers.input(case.types[0], *shape))
    layers.node(case.op, operands, case.types[0], case.output, options=case.options)
    layers.finish()
    return bytes(builder.bytes())


def refusal_of(case: Case, values: Any, delegate: str = "hexagon", runtime: str = "litert-2.3") -> Refusal | None:
    return delegate_sim.analyze(model(case, values), delegate, runtime=runtime, defaults="api").runs[0].refusal


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_values(case: Case) -> None:
    assert [refusal_of(case, values) for values in case.computed] == [None] * len(case.computed)
    for values in case.refused:
        refusal = refusal_of(case, values)
        assert refusal is not None
        assert (refusal.code, refusal.node) == ("cpu-kernel-value", 0)
        assert (refusal.stage, refusal.effect) == (Stage.RUNNING, Effect.FAIL_AT_INVOKE)


def test_what_is_needed() -> None:
    found = [refusal_of(_FIRST, [value]) for value in (-1, 4)]
    assert [own and (own.values["found"], own.values["needed"]) for own in found] == [(-1, "at least 0"), (4, "at most 3")]


@pytest.mark.parametrize(
    ("delegate", "runtime", "fails"),
    [
        ("vx", "litert-2.3", False),  # the delegate takes the node
        ("hexagon", "tf-2.14", True),
        ("hexagon", "tf-2.13", False),  # before the first measured release
    ],
)
def test_delegates_and_releases(delegate: str, runtime: str, fails: bool) -> None:
    assert (refusal_of(_FIRST, [4], delegate, runtime) is not None) == fails


@pytest.mark.parametrize(("runtime", "fails"), [("litert-2.1.5", False), ("litert-2.1.6", True)])
def test_each_number_of_an_index_is_checked_from_a_release_on(runtime: str, fails: bool) -> None:
    assert (refusal_of(CASES[3], [[0, 5]], runtime=runtime) is not None) == fails


def test_a_diagnosis_has_the_cause() -> None:
    causes = delegate_sim.diagnose(model(_FIRST, [-1]), "hexagon", defaults="api").to_dict()["causes"]
    assert ["cpu-kernel-value"] in [cause["codes"] for cause in causes]


@pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
def test_the_installed_wheel(tmp_path: object) -> None:
    expected = {}
    for case in CASES:
        for values in (*case.computed, *case.refused):
            path = f"{tmp_path}/{len(expected)}.tflite"
            with open(path, "wb") as file:
                file.write(model(case, values))
            expected[path] = "ok" if values in case.computed else "fails in Invoke"
    assert results(list(expected), "") == expected

"""Tensors, wordings and nodes for tests of ML Drift's rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.mldrift.delegate import RULES
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from tests.support.graphs import arena, constant, node_view, quantized

F = arena("FLOAT32", 1, 4, 4, 8, name="x")
G = arena("FLOAT32", 1, 4, 4, 8, name="y")
MATRIX = arena("FLOAT32", 2, 8, name="m")
VECTOR = arena("FLOAT32", 8, name="v")
SCALAR = arena("FLOAT32", name="s")
DEEP = arena("FLOAT32", 1, 1, 4, 4, 8, name="deep")
DEEPER = arena("FLOAT32", 1, 1, 1, 4, 4, 8, name="deeper")
WIDE = arena("INT64", 1, 4, 4, 8, name="wide")
INT32 = arena("INT32", 1, 4, 4, 8, name="i")
BOOL = arena("BOOL", 1, 4, 4, 8, name="b")
PER_CHANNEL = quantized(arena("INT8", 1, 4, 4, 8, name="q"), 0.5, 0.25)
ONE, EIGHT = constant(np.ones(1), "FLOAT32"), constant(np.ones(8), "FLOAT32")
IMAGE = constant(np.ones((4, 4, 8)), "FLOAT32")
FILTER = constant(np.ones((8, 3, 3, 8)), "FLOAT32")
POINT_WEIGHTS = quantized(constant(np.ones((8, 1, 1, 8)), "INT8"), 0.5)
UNSIGNED = quantized(constant(np.ones((8, 8)), "UINT8"), 0.5)
MATRIX_WEIGHTS = quantized(constant(np.ones((8, 8)), "INT8"), 0.5)
FLOAT_WEIGHTS = constant(np.ones((8, 8)), "FLOAT32")
STEPS = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
SHUFFLED = {"weights_format": 1}
STRIDE = {"stride_h": 1, "stride_w": 1}
POOL = {"stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}
ALIKE = "No support of few identical inputs in the same operation."
SCALES = "Unsupported quantization scale size"
NO_DATA = "src has no data."
LINEAR = "Isn't linear convertible."
AXIS = "Index for axis out of range"
LAYOUT = "Unknown layout."


def rank_5(name: str) -> str:
    return f"Tensor dimensions must be less than 5. {name}"


def typed(kind: str, name: str) -> str:
    return f"Tensor type({kind}) is not supported. {name}"


def too_new(limit: int, found: int) -> str:
    return f"Max version supported: {limit}. Requested version {found}."


class Case(NamedTuple):
    """A node, and the delegate's message about it."""

    op: str
    said: str | None
    inputs: Any
    outputs: Any
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to
    version: int = 1
    release: str = DEFAULT_RELEASE


def ints(*values: int, kind: str = "INT32") -> Any:
    return constant(np.array(values), kind)


STARTS = [F, ints(0, 0, 0, 0), ints(1, 2, 4, 8)]
CUT = arena("FLOAT32", 1, 2, 4, 8)
STRIDES = [F, ints(0, 0, 0, 0), ints(1, 4, 4, 8), ints(1, 2, 1, 1)]
IDS = arena("INT32", 3, name="ids")
ROWS = arena("FLOAT32", 3, 8)
PAIRS = constant(np.zeros((4, 2)), "INT32")


def verdict(case: Case, **changes: Any) -> Any:
    arguments = {"version": case.version, "options": case.options, **changes}
    node = node_view(case.op, case.inputs, case.outputs, **arguments)
    return RULES.validate(node, ReleaseOnly(parse_release(case.release)))


def assert_verdict(case: Case) -> None:
    """ML Drift says of a node what its case says."""
    found = verdict(case)
    assert [reason.kind for reason in found.reasons] == ([] if case.said is None else [case.said])
    assert found.is_supported == (case.said is None)

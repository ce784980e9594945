"""Codes of problems: users have them in baselines and uploads."""

from __future__ import annotations

from delegate_sim.rules import kinds
from delegate_sim.rules.kinds import Kind

SHARED = """
    cpu-kernel-after-remapping cpu-kernel-not-prepared cpu-kernel-quantization cpu-kernel-type cpu-kernel-unquantized
    cpu-kernel-value cyclic-graph dynamic-tensors float16-dequantize malformed-operands node-not-loaded
    not-fully-accelerated not-loaded operator-not-loaded operator-not-registered partition-limit partition-minimum
    stub-not-delegated tensor-not-loaded tensor-type-not-loaded
"""


def every_kind():
    return [kind for kind in vars(kinds).values() if isinstance(kind, Kind)]


def test_what_the_runtime_decides_has_one_code_whatever_the_delegate():
    shared = {kind.name for kind in every_kind() if kind.code("nnapi") == kind.code("gpu")}
    assert shared == set(SHARED.split())


def test_all_other_codes_begin_with_the_delegate():
    for kind in every_kind():
        assert kind.code("nnapi") == (kind.name if kind.name in SHARED.split() else f"nnapi-{kind.name}")


def test_names_are_unique():
    names = [kind.name for kind in every_kind()]
    assert len(names) == len(set(names))


def test_a_delegate_may_have_its_own_suffix():
    assert kinds.RANK.reworded(suffix="operand-rank").code("nnapi") == "nnapi-operand-rank"

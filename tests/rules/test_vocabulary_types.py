"""A type checker refuses a check of one delegate in the rules of another."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

RULES = """
from delegate_sim.delegates.coreml_rules import coreml_rule
from delegate_sim.delegates.gpu.rules.checks import ALLOW_QUANT_OPS, gpu_rule
from delegate_sim.delegates.gpu.rules.checks import GpuTarget
from delegate_sim.delegates.hexagon import hexagon_rule
from delegate_sim.delegates.nnapi.target import min_level
from delegate_sim.delegates.nnapi.target import NnapiTarget, from_level
from delegate_sim.delegates.vx.checks import vx_rule
from delegate_sim.delegates.xnnpack.rules.checks import counting_from, unary, xnnpack_rule
from delegate_sim.delegates.xnnpack.rules.arithmetic import _reduction
from delegate_sim.delegates.xnnpack.rules.checks import FLOAT, of_type
from delegate_sim.delegates.xnnpack.rules.checks import in_method
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.rule import Check, OpRule
from delegate_sim.rules.vocabulary import rank, typed, where_given

VERSION = typed(INPUT, ("FLOAT32",))
WITH_CONDITION = VERSION.when(from_level(29))

gpu_rule("P", VERSION, ALLOW_QUANT_OPS, *where_given(INPUT, ALLOW_QUANT_OPS))
xnnpack_rule("V", VERSION, *of_type(INPUT, FLOAT), *counting_from("", VERSION), *in_method("M", VERSION))
unary(FLOAT, FLOAT, VERSION)
vx_rule("M", VERSION)
hexagon_rule(VERSION)
coreml_rule(VERSION)
nnapi: OpRule[NnapiTarget] = OpRule((VERSION, WITH_CONDITION, min_level(29)))

gpu_rule("P", min_level(29))  # wrong
gpu_rule("P", *where_given(INPUT, min_level(29)))  # wrong
gpu_rule("P", rank(INPUT, 4).when(from_level(29)))  # wrong
gpu_rule("P", WITH_CONDITION)  # wrong
gpu_rule("P", *of_type(INPUT, FLOAT))  # wrong
gpu: OpRule[GpuTarget] = OpRule((min_level(29),))  # wrong
xnnpack_rule("V", min_level(29))  # wrong
xnnpack_rule("V", *counting_from("", min_level(29)))  # wrong
xnnpack_rule("V", *in_method("M", min_level(29)))  # wrong
xnnpack_rule("V", ALLOW_QUANT_OPS)  # wrong
unary(FLOAT, FLOAT, min_level(29))  # wrong
_reduction(min_level(29))  # wrong
vx_rule("M", min_level(29))  # wrong
hexagon_rule(min_level(29))  # wrong
coreml_rule(min_level(29))  # wrong
ALLOW_QUANT_OPS.when(from_level(29))  # wrong
"""


def test_a_check_of_another_delegate_is_refused(tmp_path):
    pytest.importorskip("mypy", reason="the type checker is not installed")
    path = tmp_path / "rules.py"
    path.write_text(RULES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"rules\.py:(\d+): error", done.stdout)}
    wrong = {number for number, line in enumerate(RULES.splitlines(), 1) if line.endswith("# wrong")}
    assert refused == wrong, done.stdout + done.stderr

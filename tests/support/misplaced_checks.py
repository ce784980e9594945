"""Checks of one delegate in the rules of another. mypy has to refuse them: it reports a ``type: ignore`` that is not needed.

Nothing imports this module.
"""

from __future__ import annotations

from delegate_sim.delegates.coreml_rules import coreml_rule
from delegate_sim.delegates.gpu.rules import ALLOW_QUANT_OPS, GpuTarget, gpu_rule
from delegate_sim.delegates.hexagon import hexagon_rule
from delegate_sim.delegates.nnapi.target import NnapiTarget, from_level, min_level
from delegate_sim.delegates.vx.checks import vx_rule
from delegate_sim.delegates.xnnpack.rules.arithmetic import _reduction
from delegate_sim.delegates.xnnpack.rules.checks import FLOAT, counting_from, in_method, of_type, unary, xnnpack_rule
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.vocabulary import rank, typed, where_given

VERSION = typed(INPUT, ("FLOAT32",))
WITH_CONDITION = VERSION.when(from_level("1.2"))

gpu_rule("P", VERSION, ALLOW_QUANT_OPS, *where_given(INPUT, ALLOW_QUANT_OPS))
xnnpack_rule("V", VERSION, *of_type(INPUT, FLOAT), *counting_from("", VERSION), *in_method("M", VERSION))
unary(FLOAT, VERSION)
vx_rule("M", VERSION)
hexagon_rule(VERSION)
coreml_rule(VERSION)
nnapi: OpRule[NnapiTarget] = OpRule((VERSION, WITH_CONDITION, min_level("1.2")))

gpu_rule("P", min_level("1.2"))  # type: ignore[arg-type]
gpu_rule("P", *where_given(INPUT, min_level("1.2")))  # type: ignore[arg-type]
gpu_rule("P", rank(INPUT, 4).when(from_level("1.2")))  # type: ignore[arg-type]
gpu_rule("P", WITH_CONDITION)  # type: ignore[arg-type]
gpu_rule("P", *of_type(INPUT, FLOAT))  # type: ignore[arg-type]
gpu: OpRule[GpuTarget] = OpRule((min_level("1.2"),))  # type: ignore[arg-type]
xnnpack_rule("V", min_level("1.2"))  # type: ignore[arg-type]
xnnpack_rule("V", *counting_from("", min_level("1.2")))  # type: ignore[arg-type]
xnnpack_rule("V", *in_method("M", min_level("1.2")))  # type: ignore[arg-type]
xnnpack_rule("V", ALLOW_QUANT_OPS)  # type: ignore[arg-type]
unary(FLOAT, min_level("1.2"))  # type: ignore[arg-type]
_reduction(min_level("1.2"))  # type: ignore[arg-type]
vx_rule("M", min_level("1.2"))  # type: ignore[arg-type]
hexagon_rule(min_level("1.2"))  # type: ignore[arg-type]
coreml_rule(min_level("1.2"))  # type: ignore[arg-type]
ALLOW_QUANT_OPS.when(from_level("1.2"))  # type: ignore[arg-type]

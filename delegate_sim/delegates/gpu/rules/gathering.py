"""Gathering, scattering, lookups and searches."""

from __future__ import annotations

from ....rules.kinds import TENSOR_TYPE
from ....rules.vocabulary import refused_if
from ...gpu_compatibility import gathering
from .checks import INT32, UP_TO_1, gpu_rule

RULES = {
    "GATHER": gpu_rule(
        "GatherOperationParser",
        *gathering.GATHER,
        refused_if(
            TENSOR_TYPE, "data of another type than INT32", lambda node: node.input(0).type == "INT32", "INT32 data"
        ).before_release("litert-1.1.0"),
        version_in=UP_TO_1,
        inputs=INT32,
    ),
}

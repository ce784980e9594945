"""Kinds of problem that NNAPI's rules and drivers report, with titles and advice that are specific to NNAPI."""

from __future__ import annotations

import functools

from ...rules.kinds import kinds_in
from .. import decision

UNSUPPORTED_INPUT_TYPE = "kUnsupportedInputType"
UNSUPPORTED_OUTPUT_TYPE = "kUnsupportedOutputType"
UNSUPPORTED_OPERAND_RANK = "kUnsupportedOperandRank"
UNSUPPORTED_OPERAND_VALUE = "kUnsupportedOperandValue"
UNSUPPORTED_OPERATOR_VARIANT = "kUnsupportedOperatorVariant"

PREFIX = "nnapi-runtime-"
"""Prefix of the codes of problems that the runtime reports."""

_RULES = kinds_in("delegates/nnapi", "rules")
_DRIVER = kinds_in("delegates/nnapi", "driver", is_shared=True)
FAILURES = kinds_in("delegates/nnapi", "failures", is_shared=True)
"""The kinds of failures to initialize the kernel of a partition, by code."""

kernel_failure = functools.partial(decision.kernel_failure, FAILURES)

FEATURE_LEVEL = _RULES["feature-level"]
OUTPUT_TYPE = _RULES["output-type"]
SCALAR_OUTPUT = _RULES["scalar-output"]
PER_CHANNEL = _RULES["per-channel"]
RESTRICTED_SCALES = _RULES["restricted-scales"]
FILTER_AREA = _RULES["filter-area"]
DENSE_WEIGHTS = _RULES["dense-weights"]
DRIVER = _DRIVER["nnapi-driver"]
HIDDEN = _DRIVER["nnapi-runtime-hidden"]
FLOAT16_ALL_OR_NOTHING = _DRIVER["float16-all-or-nothing"]
KINDS = tuple(_RULES.values())
"""Every kind of problem that the rules report, with texts that are specific to NNAPI."""

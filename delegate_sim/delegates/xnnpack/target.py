"""The target of the rules, and the kinds of problem that they report.

Source: ``Delegate`` and its flags (``delegates/xnnpack/xnnpack_delegate.cc`` and ``.h``).
"""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.kinds import kinds_in
from .. import decision

FLAGS = MappingProxyType(
    {
        "qs8": 0x1,
        "qu8": 0x2,
        "force_fp16": 0x4,
        "dynamic_fully_connected": 0x8,
        "variable_operators": 0x10,
        "transient_indirection_buffer": 0x20,
        "enable_latest_operators": 0x40,
        "enable_subgraph_reshaping": 0x80,
        "slow_consistent_arithmetic": 0x200,
        "disable_subgraph_reshaping": 0x400,
        "disable_dynamically_quantized_ops": 0x800,
    }
)
"""The bits of ``TfLiteXNNPackDelegateOptions::flags``, by name without the prefix ``TFLITE_XNNPACK_DELEGATE_FLAG_``."""

QS8, QU8 = FLAGS["qs8"], FLAGS["qu8"]
DEFAULT_FLAGS = QS8 | QU8
"""The flags that the runtime sets by default."""

DYNAMIC_TENSORS_FROM = parse_release("tf-2.17")
"""The first release that accepts dynamic tensors by default: measured in the wheels of tf-2.12 to tf-2.18."""
DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM = parse_release("litert-2.0.2")
"""The first release that accepts float CONV_2D and FULLY_CONNECTED with integer weights by default.

The flag disable_dynamically_quantized_ops makes the delegate refuse these nodes. In earlier releases, these nodes need the flag
enable_latest_operators, which the runtime sets.
"""


class XnnpackTarget(NamedTuple):
    """The delegate's flags, and the release of the runtime."""

    flags: int = DEFAULT_FLAGS
    release: Release = NEWEST

    def has(self, flag: str) -> bool:
        """Return whether a flag is set."""
        return bool(self.flags & FLAGS[flag])

    @property
    def dynamic_quantization(self) -> bool:
        """Whether float activations are quantized at run time if the weights are integers."""
        return _dynamic_quantization(self)


@functools.lru_cache
def _dynamic_quantization(target: XnnpackTarget) -> bool:
    if target.release.is_at_least(DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM):
        return not target.has("disable_dynamically_quantized_ops")
    return target.has("enable_latest_operators")


KINDS = tuple(kinds_in("delegates/xnnpack", "rules").values())
"""Every kind of problem in the rules, with the delegate's wording."""
FAILURES = kinds_in("delegates/xnnpack", "failures", is_shared=True)
"""The kinds of failures to create the kernel of a partition, by code."""

kernel_failure = functools.partial(decision.kernel_failure, FAILURES)

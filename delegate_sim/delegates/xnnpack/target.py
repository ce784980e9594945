"""What the acceptance rules depend on beside the node: flags of the delegate, and what it knows of nodes that came before.

Source: ``Delegate`` and its flags (``delegates/xnnpack/xnnpack_delegate.cc`` and ``.h``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from ...releases.catalogue import NEWEST, Release, parse_release
from .unpacking import Unpacking
from .variables import Variables

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
"""The bits of ``TfLiteXNNPackDelegateOptions::flags``, by the names behind ``TFLITE_XNNPACK_DELEGATE_FLAG_``."""

DEFAULT_FLAGS = FLAGS["qs8"] | FLAGS["qu8"]
"""``TfLiteXNNPackDelegateOptionsDefault`` as the runtime is built, with quantised operators of both kinds."""


DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM = parse_release("litert-2.0.2")
"""The release from which on CONV_2D and FULLY_CONNECTED of float activations with integer weights are taken unless the flag
disable_dynamically_quantized_ops is set; before, they are with the flag enable_latest_operators, which the runtime sets."""


@dataclass
class Target:
    """The flags and the release that decide verdicts, and what visiting the nodes in order has found so far."""

    flags: int = DEFAULT_FLAGS
    release: Release = NEWEST
    unpacking: Unpacking = field(init=False)
    variables: Variables = field(default_factory=Variables)

    def __post_init__(self) -> None:
        self.unpacking = Unpacking(self.release)
        self.signed_8_bits = bool(self.flags & FLAGS["qs8"])
        self.unsigned_8_bits = bool(self.flags & FLAGS["qu8"])
        self.dynamic_fully_connected = bool(self.flags & FLAGS["dynamic_fully_connected"])
        self.variable_operators = bool(self.flags & FLAGS["variable_operators"])
        if self.release.is_at_least(DYNAMIC_QUANTIZATION_IS_DEFAULT_FROM):
            self.dynamic_quantization = not self.flags & FLAGS["disable_dynamically_quantized_ops"]
        else:
            self.dynamic_quantization = bool(self.flags & FLAGS["enable_latest_operators"])

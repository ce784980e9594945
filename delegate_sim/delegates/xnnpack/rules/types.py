"""Tensor types in the XNNPACK rules. Some types need a flag or a newer release.

Source: ``CheckTensorFloatType``, ``CheckTensorFloatOrQUInt8Type`` and similar methods
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ....graph.graph import NodeView
from ....rules.kinds import QUANTIZATION, TENSOR_TYPE
from ....rules.number_sets import listed
from ....rules.operands import Operand
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target
from ..node_visit import Visit
from ..scales import EIGHT_BIT_TYPES, has_one_scale, scales_of
from ..target import QS8, QU8, XnnpackTarget
from .upstream import in_method

FLOAT16_ACTIVATIONS = "litert-1.3.0"
"""The first release in which unary float operators accept FLOAT16."""
FLOAT16_ARITHMETIC = "litert-2.1.3"
"""The first release in which all arithmetic operators, and operators that only move values, accept FLOAT16."""
FLOAT16_LAYERS = "litert-2.2.0"
"""The first release with FLOAT16 in convolutions, matrix products, pooling, reductions, SOFTMAX, padding and resizing."""


@dataclass(frozen=True, slots=True)
class Types:
    """The types that a check accepts for a tensor.

    The types in ``always`` are accepted with any flags. If ``signed``, INT8 is accepted with the flag qs8. If ``unsigned``, UINT8
    is accepted with the flag qu8. Before the release ``float16_from``, FLOAT16 is refused. ``function`` is the method of
    ``Subgraph`` that checks the types. ``scales_function`` is the method that checks the scales; empty if ``function`` also
    checks the scales.
    """

    function: str
    always: tuple[str, ...]
    signed: bool = False
    unsigned: bool = False
    float16_from: str = ""
    scales_function: str = ""

    def with_float16_from(self, release: str) -> Types:
        """Return a copy that accepts FLOAT16 only in ``release`` and later releases of the runtime."""
        return replace(self, float16_from=release)

    def checks(self, make: Callable[[Types], Check[Visit]]) -> tuple[Check[Visit], ...]:
        """Return the checks that ``make`` creates for these types.

        If ``float16_from`` is set, there is one check for earlier releases, and one check for this release and later releases.
        """
        if not self.float16_from:
            return in_method(self.function, make(self))
        before = replace(self, always=tuple([name for name in self.always if name != "FLOAT16"]))
        return in_method(
            self.function,
            make(before).before_release(self.float16_from),
            make(self).from_release(self.float16_from),
        )

    @property
    def words(self) -> str:
        """The types and their flags as text."""
        eight_bits = [name for name, is_accepted in (("INT8 (qs8)", self.signed), ("UINT8 (qu8)", self.unsigned)) if is_accepted]
        return listed((*self.always, *eight_bits))

    def accepts(self, name: str, target: XnnpackTarget) -> bool:
        """Return whether a type is accepted with the target's flags."""
        return (
            name in self.always
            or (self.signed and name == "INT8" and target.flags & QS8 != 0)
            or (self.unsigned and name == "UINT8" and target.flags & QU8 != 0)
        )


FLOAT32 = Types("CheckTensorFloat32Type", ("FLOAT32",))
FLOAT32_OR_8_BITS = Types("CheckTensorFloat32OrQUInt8Type", ("FLOAT32",), signed=True, unsigned=True)
EIGHT_BITS = Types("CheckTensorQInt8OrQUInt8Type", (), signed=True, unsigned=True)

FLOAT = Types("CheckTensorFloatType", ("FLOAT32", "FLOAT16"))
FLOAT_OR_INT8 = Types("CheckTensorFloatOrQInt8Type", ("FLOAT32", "FLOAT16"), signed=True)
FLOAT_OR_8_BITS = Types(
    "CheckTensorFloatOrQUInt8Type",
    ("FLOAT32", "FLOAT16"),
    signed=True,
    unsigned=True,
    scales_function=FLOAT32_OR_8_BITS.function,
)
FLOAT_OR_8_BITS_ARITHMETIC = FLOAT_OR_8_BITS.with_float16_from(FLOAT16_ARITHMETIC)
FLOAT_OR_8_BITS_LAYERS = FLOAT_OR_8_BITS.with_float16_from(FLOAT16_LAYERS)


def of_type(which: Operand, types: Types) -> tuple[Check[Visit], ...]:
    """Require that a tensor has one of these types."""
    tensor_of = which.tensor

    def of_these(accepted: Types) -> Check[Visit]:
        always, accepts = frozenset(accepted.always), accepted.accepts

        def find(node: NodeView, visit: Visit) -> str | None:
            name = tensor_of(node).type
            return None if name in always or accepts(name, visit.target) else f"{which.name} of type {name}"

        return check_for_target(TENSOR_TYPE, f"{which.name} of type {accepted.words}", find)

    return types.checks(of_these)


def of_types(which: Operand, types: Types) -> tuple[Check[Visit], ...]:
    """Require that a tensor has one of these types. An 8-bit tensor must also have a single scale, along dimension 0."""
    tensor_of = which.tensor

    def find(node: NodeView) -> str | None:
        tensor = tensor_of(node)
        return f"{which.name} with {scales_of(tensor)}" if tensor.type in EIGHT_BIT_TYPES and not has_one_scale(tensor) else None

    checks = of_type(which, types)
    if not (types.signed or types.unsigned):
        return checks
    one_scale = check(QUANTIZATION, f"a single scale for the 8-bit {which.name}", find)
    return (*checks, *in_method(types.scales_function or types.function, one_scale))

"""The rules of all kernels, for Prepare and for Invoke."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

from ..graph.graph import NodeView
from ..model.schema import FAMILY_OF
from ..rules.book import RuleBook, Unknown
from ..rules.rule import Reason, Rules, Source, family_rules
from . import kernels
from .graph import has_size
from .kernels import custom
from .resolver import BUILTIN_FUNCTIONS
from .target import KINDS, MISSING_OPERATOR, NAME, TENSOR_TYPE, TFLM, MicroKernel, MicroTarget, all_checks, reason

_UNKNOWN = Unknown("an operator that TensorFlow Lite Micro has", kind=MISSING_OPERATOR, problem="has no kernel")
_SOURCE = Source(TFLM, "tensorflow/lite/micro/micro_mutable_op_resolver.h", "MicroMutableOpResolver")


def kernel_of(op: str, *, is_custom: bool = False) -> MicroKernel | None:
    """Return the kernel of an operator, or None if TensorFlow Lite Micro has none."""
    if is_custom:
        return custom.KERNELS.get(op)
    if op not in BUILTIN_FUNCTIONS:
        return None
    family: Mapping[str, MicroKernel] = import_module(f"{kernels.__name__}.{kernels.MODULES[FAMILY_OF[op]]}").KERNELS
    return family[op]


def _unsized(node: NodeView, _: MicroTarget) -> Reason | None:
    """Refuse tensors of types without a size. Prepare treats such tensors as missing (``PopulateTfLiteTensorFromFlatbuffer``)."""
    kernel = kernel_of(node.op, is_custom=node.node.is_custom)
    if kernel is None or not kernel.prepare.checks or node.op in _READS_NO_TENSORS:
        return None
    for name, tensors in (("input", node.inputs), ("output", node.outputs)):
        for position, tensor in enumerate(tensors):
            if tensor.index >= 0 and not has_size(tensor):
                return reason(TENSOR_TYPE, f"{name} {position} is {tensor.type}", "tensors of types with a fixed size")
    return None


_READS_NO_TENSORS = frozenset({"SHAPE", "VAR_HANDLE", "READ_VARIABLE", "CALL_ONCE", "WHILE"})
"""Operators with a Prepare function that reads no tensor."""


def _book(read: Callable[[ModuleType], Rules[MicroTarget]], *, is_prepare: bool) -> RuleBook[MicroTarget]:
    return RuleBook(
        NAME,
        families=family_rules(kernels.__name__, kernels.MODULES, read),
        kinds=KINDS,
        source=_SOURCE,
        unknown=_UNKNOWN,
        custom=read(custom),
        unknown_custom=_UNKNOWN,
        excluded=_unsized if is_prepare else None,
        reads_operands=is_prepare,
    )


PREPARE = _book(lambda module: {op: kernel.prepare for op, kernel in module.KERNELS.items()}, is_prepare=True)
"""The checks of the kernels' Prepare functions."""
INVOKE = _book(lambda module: {op: kernel.invoke for op, kernel in module.KERNELS.items()}, is_prepare=False)
"""The checks of the kernels' Invoke functions. They apply to nodes that Prepare accepts."""
RULES = _book(lambda module: {op: all_checks(kernel) for op, kernel in module.KERNELS.items()}, is_prepare=True)
"""All checks, for documentation: the checks of Prepare, then the checks of Invoke."""

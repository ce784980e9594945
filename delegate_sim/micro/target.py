"""The target, the kernels and the kinds of problem of TensorFlow Lite Micro."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..delegates.registry import MICRO_NAME
from ..errors import OptionError
from ..graph.graph import NodeView
from ..releases.catalogue import NEWEST, Release
from ..rules import kinds
from ..rules.kinds import Explanation, Kind
from ..rules.rule import Check, Condition, OpRule, Reason, Repository, Source, op_rule

if TYPE_CHECKING:
    from .resolver import ResolverSource

TFLM = Repository("tensorflow/tflite-micro", "90b983c2b3f1480642e040bbd2ddb37b998f3424")
"""The source of the rules. TensorFlow Lite Micro has no releases."""
RUNTIME_TITLE = "TensorFlow Lite Micro"
PACKAGE = "tflite-micro 0.dev20261023"
"""The Python package of the runtime with which the rules were compared."""


class MicroRelease(Release):
    """A copy of TensorFlow Lite Micro, which has no releases. ``family`` names a version of its package, or a commit."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.family

    @property
    def order(self) -> tuple[int, ...]:
        """The order of the newest release. No rule depends on the copy, because only one copy was read."""
        return NEWEST.order

    @property
    def is_after_newest(self) -> bool:
        """False, because copies have no order."""
        return False

    @property
    def is_development_build(self) -> bool:
        """False, because the name of a copy already says what it is."""
        return False

    @property
    def is_known(self) -> bool:
        """True if the rules were compared with this copy."""
        return self == CHECKED

    is_checked = is_known


CHECKED = MicroRelease(PACKAGE, ())
"""The copy with which the rules were compared."""
_VERSION = re.compile(r"(?:tflite-micro(?: |==| == ))?(?:0\.dev)?(\d{4})-?(\d\d)-?(\d\d)\d{0,6}")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def parse_micro_release(text: str) -> MicroRelease:
    """Return the copy of the runtime that a version of ``tflite-micro``, a day or a commit names.

    Raises OptionError for another text.

    >>> parse_micro_release("2026-10-23").is_known, parse_micro_release("2024-05-01")
    (True, MicroRelease(family='tflite-micro 0.dev20240501', version=()))
    """
    if _COMMIT.fullmatch(text) and not text.isdigit():
        return CHECKED if TFLM.commit.startswith(text) else MicroRelease(f"commit {text}", ())
    match = _VERSION.fullmatch(text)
    try:
        day = None if match is None else date(*map(int, match.groups()))
    except ValueError:
        day = None
    if day is None:
        expected = f"must be a version of tflite-micro, a day such as 2026-10-23, or a commit such as {TFLM.commit[:8]}"
        raise OptionError(f"the runtime {expected}, not {text!r}", f"the runtime {expected}")
    return MicroRelease(f"tflite-micro 0.dev{day:%Y%m%d}", ())


Kernels: TypeAlias = Literal["reference", "cmsis-nn"]
"""The kernels that the application links: the reference kernels, or CMSIS-NN kernels where Arm provides them."""
KERNELS: tuple[Kernels, ...] = ("reference", "cmsis-nn")


def parse_kernels(name: str) -> Kernels:
    """Return the kernels that ``name`` means. Raises OptionError for an unknown name."""
    for kernels in KERNELS:
        if kernels == name:
            return kernels
    expected = f"kernels must be {' or '.join(KERNELS)}"
    raise OptionError(f"{expected}, not {name!r}", expected)


@dataclass(frozen=True, slots=True)
class MicroTarget:
    """TensorFlow Lite Micro with the operators that one application registers.

    ``registered`` has the names of builtin and custom operators. None means all operators with a kernel in the runtime.
    """

    registered: frozenset[str] | None = None
    kernels: Kernels = "reference"
    without_room: frozenset[str] = frozenset()
    """The operators that the application tries to register after the resolver is full. ``registered`` does not contain them."""
    source: ResolverSource | None = field(default=None, compare=False, repr=False)
    """The registrations in this source."""
    runtime: MicroRelease = CHECKED
    """The copy of the runtime that the user asks about. Its kernels are simulated only if ``is_known``."""

    @property
    def attempted(self) -> int:
        """The number of operators that the application tries to register."""
        return len(self.registered or ()) + len(self.without_room)

    @property
    def release(self) -> Release:
        """A placeholder for the release that rules get. TensorFlow Lite Micro has no releases, so no rule depends on it."""
        return NEWEST


TensorShapes: TypeAlias = Callable[[NodeView], Mapping[int, tuple[int, ...]]]
"""A function that returns the shapes that Prepare sets, keyed by the position of the result."""
Scratch: TypeAlias = Callable[[NodeView], tuple[int, ...]]
"""A function that returns the sizes in bytes of the buffers that Prepare requests, in order."""

_KERNELS = "tensorflow/lite/micro/kernels"


@dataclass(frozen=True, slots=True, eq=False)
class MicroKernel:
    """The checks of a kernel's Prepare and Invoke functions, and the kernel's memory requests."""

    prepare: OpRule[MicroTarget]
    invoke: OpRule[MicroTarget]
    shapes: TensorShapes | None = None
    """The shapes that Prepare sets; None if the results keep the shapes that the model file gives."""
    scratch: Scratch | None = None
    """The scratch buffers that Prepare requests; None if there are none."""
    may_lack_results: bool = False
    """True if the kernel ignores a node without results. Other kernels would read invalid memory."""
    persistent: Scratch | None = None
    """The sizes in bytes of large buffers in the tail of the arena; None if there are none."""


def in_source(place: str, *checks: Check[object] | Check[MicroTarget], folder: str = _KERNELS) -> OpRule[MicroTarget]:
    """Return a rule with the checks of the function that ``place`` names, such as ``elu.cc: EluEval`` in the folder ``folder``.

    A function that refuses nothing has no checks.
    """
    file, symbol = place.split(": ")
    return OpRule(checks).from_source(Source(TFLM, f"{folder}/{file}", symbol))


_AT_INVOKE = Condition[MicroTarget]("when the node runs (Invoke)", lambda _: True)


def all_checks(kernel: MicroKernel) -> OpRule[MicroTarget]:
    """Return the checks of a kernel's Prepare, followed by the checks of Invoke. Each check has its own source."""
    invoke = [check.when(_AT_INVOKE) for check in _with_sources(kernel.invoke)]
    return op_rule(*_with_sources(kernel.prepare), *invoke).from_source(*kernel.prepare.source, *kernel.invoke.source)


def _with_sources(rule: OpRule[MicroTarget]) -> Iterator[Check[MicroTarget]]:
    for check in rule.checks:
        yield check.from_source(check.source or rule.source[0])


NO_PREPARE: OpRule[MicroTarget] = op_rule()
"""The rule of a kernel without a Prepare function."""


_KINDS = kinds.kinds_in("micro", "rules")
MISSING_OPERATOR = _KINDS["missing-operator"]
DYNAMIC_TENSOR = _KINDS["dynamic-tensor"]
HYBRID = _KINDS["hybrid"]
TENSOR_TYPE = _KINDS["tensor-type"]
KINDS = tuple(_KINDS.values())
"""Every kind of problem in the rules, with the runtime's wording."""

WHOLE_KINDS = kinds.kinds_in("micro", "whole")
"""The kinds of problem of a whole model."""
NOT_RUN, UNUSABLE, EXTERNAL_BUFFERS = (WHOLE_KINDS[f"micro-{name}"] for name in ("not-run", "file", "external-buffers"))
NAME = MICRO_NAME
"""The name of the runtime in codes."""
EXPLAINED: Mapping[str, Explanation] = MappingProxyType(
    {
        **{kind.code(NAME): kind.explanation for kind in (*KINDS, kinds.MALFORMED_OPERANDS)},
        **{code: kind.explanation for code, kind in WHOLE_KINDS.items()},
    }
)
"""The explanation of each code."""


def reason(kind: Kind, found: str, needed: str, hint: str = "") -> Reason:
    """Return a reason of this kind. ``hint`` replaces the hint of the kind."""
    return Reason(kind.code(NAME), kind.name, f"{found}; needs {needed}", found, needed, hint or kind.hint)

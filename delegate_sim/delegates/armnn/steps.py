"""The engine of the rules: the steps in which the delegate visits a node, and the outcome.

A step is a demand of the delegate itself, or a layer. For a layer, the delegate asks the backends in the order of the option
``backends`` until one of them accepts the layer (``FORWARD_LAYER_SUPPORT_FUNC``, ``ClassicDelegateUtils.hpp``). The visit ends
at the first step that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ...graph.graph import NodeView
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import OPERATOR, SHAPE, Kind
from ...rules.rule import Check, Condition, OpRule
from ...rules.source import Source
from .kinds import ARMNN
from .tensors import Info, Thrown

T = TypeVar("T")


class ArmnnTarget(NamedTuple):
    """The target of the rules: the backends in order of preference, and the release of the runtime."""

    backends: tuple[str, ...]
    release: Release = NEWEST


class Query(NamedTuple):
    """A question to a backend: whether it supports a layer with these tensors and values."""

    inputs: tuple[Info, ...]
    outputs: tuple[Info, ...]
    weights: Info | None = None
    bias: Info | None = None
    values: Mapping[str, Any] = MappingProxyType({})

    @property
    def input(self) -> Info:
        """The first operand."""
        return next(iter(self.inputs))

    @property
    def second(self) -> Info:
        """The second operand."""
        _, second, *_ = self.inputs
        return second

    @property
    def output(self) -> Info:
        """The first result."""
        return next(iter(self.outputs))


@dataclass(frozen=True, eq=False, slots=True)
class Need(Generic[T]):
    """A demand on a node (of the delegate) or on a call (of a backend).

    ``find`` describes the actual value if the demand is not met. ``said`` is the delegate's log line or the backend's reason; it
    may be a function of the same argument as ``find``. With ``again``, the backend is asked again with the argument that it
    returns, and that answer counts.
    """

    kind: Kind
    needed: str
    find: Callable[[T], str | None]
    said: str | Callable[[T], str] = ""
    hint: str = ""
    again: Callable[[T], T] | None = None

    def reason(self, subject: T) -> str:
        """Return the delegate's words."""
        return self.said if isinstance(self.said, str) else self.said(subject)


Needs: TypeAlias = tuple[Need[Query], ...]
"""The demands of a backend on a layer, in the order of its checks."""


@dataclass(frozen=True, eq=False, slots=True)
class Backend:
    """A backend: its demands for each layer. A layer without an entry is refused without a reason."""

    name: str
    layers: Mapping[str, Needs]
    reports_all: bool
    """Whether the backend goes on after a demand that is not met. Each reason then ends in a line feed."""

    def problems(self, layer: str, call: Query) -> Mapping[int, tuple[Need[Query], str]]:
        """Return the demands that are not met, with what was found. Keys are positions. Raises Thrown as the backend does."""
        problems = {}
        for position, demand in enumerate(self.layers.get(layer, (NO_LAYER,))):
            value = demand.find(call)
            if value is not None:
                if demand.again and not self.problems(layer, demand.again(call)):
                    return {}
                problems[position] = (demand, value)
                if not self.reports_all:
                    break
        return problems


NO_LAYER: Need[Query] = Need(
    OPERATOR, "a backend with this layer", lambda _: "no such layer", hint="add CpuRef to the backends, or replace the operator"
)


@dataclass(frozen=True, eq=False, slots=True)
class Layer:
    """A layer that the backends are asked for.

    ``word`` names it in log lines, and ``name`` in the tables of the backends. ``call`` returns the question, or None if the
    node does not need the layer. ``place`` is the upstream line that asks, and ``function`` its function.
    """

    word: str
    name: str
    call: Callable[[NodeView], Query | None]
    place: str
    function: str = "operator()"


class VisitOutcome(NamedTuple):
    """The outcome of a visit: what was found, by position of the check; the log lines; the text of an exception."""

    found: Mapping[int, str] = MappingProxyType({})
    lines: tuple[str, ...] = ()
    thrown: str = ""


_KNOWN_SHAPES: Need[Any] = Need(
    SHAPE,
    "types, ranks and sizes that Arm NN can describe",
    lambda _: None,
    hint="give all tensors of the node a fixed shape with at least one dimension",
)


@dataclass(frozen=True, eq=False, slots=True)
class DelegateVisit:
    """The steps of an operator, each with the position of its first check."""

    steps: tuple[tuple[int, Need[NodeView] | Layer], ...]
    backends: Mapping[str, Backend]

    def outcome(self, node: NodeView, target: ArmnnTarget) -> VisitOutcome:
        """Visit a node."""
        if node.kept is None or node.kept[0] != target:
            node.kept = target, self._visit(node, target)
        outcome: VisitOutcome = node.kept[1]
        return outcome

    def find(self, position: int, node: NodeView, target: ArmnnTarget) -> str | None:
        """Return what was found at the check with this position, or None if the visit does not end there."""
        return self.outcome(node, target).found.get(position)

    def calls(self, node: NodeView) -> Iterator[tuple[Layer, Query]]:
        """Yield the layers of an accepted node, with their tensors and values."""
        for _, step in self.steps:
            if isinstance(step, Layer) and (call := step.call(node)) is not None:
                yield step, call

    def _visit(self, node: NodeView, target: ArmnnTarget) -> VisitOutcome:
        lines: list[str] = []
        for position, step in self.steps:
            place = ""
            try:
                if isinstance(step, Need):
                    value = step.find(node)
                    if value is not None:
                        said = step.reason(node)
                        return VisitOutcome({position: value}, (*lines, f"ERROR: {said}") if said else tuple(lines))
                    continue
                call = step.call(node)
                place = f"\nFailed to check layer support at function {step.function} [delegate/classic/src/{step.place}]"
                failed = {} if call is None else self._ask(position + 1, step, call, target, lines)
            except Thrown as thrown:
                return VisitOutcome({position: thrown.found}, tuple(lines), thrown.text + place)
            if failed:
                return VisitOutcome(failed, (*lines, f"ERROR: {step.word}: not supported by any specified backend"))
        return VisitOutcome(lines=tuple(lines))

    def _ask(self, position: int, layer: Layer, call: Query, target: ArmnnTarget, lines: list[str]) -> Mapping[int, str]:
        """Ask the backends. Return what was found if all of them refuse. Add their lines to ``lines``."""
        first = {}
        for name, backend in self.backends.items():
            first[name] = position
            position += len(backend.layers.get(layer.name, (NO_LAYER,)))
        failed: dict[int, str] = {}
        for name in target.backends:
            backend = self.backends[name]
            problems = backend.problems(layer.name, call)
            if not problems:
                return {}
            failed |= {first[name] + number: value for number, (_, value) in problems.items()}
            end = "\n" if backend.reports_all else ""
            reason = "".join([demand.reason(call) + end for demand, _ in problems.values() if demand.said])
            lines.append(f"WARNING: {layer.word}: not supported by armnn" + (f": {reason}" if reason else ""))
        return failed


@dataclass(frozen=True, eq=False)
class VisitRule(OpRule[ArmnnTarget]):
    """The rule of an operator, with its visit."""

    visit: DelegateVisit = field(default_factory=lambda: DelegateVisit((), {}))


def rule_of(steps: Sequence[Need[NodeView] | Layer], backends: Mapping[str, Backend], file: str, function: str) -> VisitRule:
    """Return the rule of an operator from its steps. ``function`` in the delegate's ``file`` visits the operator."""
    placed: list[tuple[int, Need[NodeView] | Layer]] = []
    demands: list[tuple[Need[Any], str, str]] = []
    for step in steps:
        placed.append((len(demands), step))
        if isinstance(step, Need):
            demands.append((step, "", ""))
            continue
        demands.append((_KNOWN_SHAPES, "", step.word))
        for backend in backends.values():
            demands.extend([(demand, backend.name, step.word) for demand in backend.layers.get(step.name, (NO_LAYER,))])
    visit = DelegateVisit(tuple(placed), backends)
    checks = [
        _check(demand, backend, layer, partial(visit.find, position)) for position, (demand, backend, layer) in enumerate(demands)
    ]
    return VisitRule(tuple(checks), source=(Source(ARMNN, f"delegate/classic/src/{file}", function),), visit=visit)


def _check(
    demand: Need[Any], backend: str, layer: str, finder: Callable[[NodeView, ArmnnTarget], str | None]
) -> Check[ArmnnTarget]:
    applies = " ".join([*([f"layer {layer}"] if layer else []), *([f"on {backend}"] if backend else [])])
    check: Check[ArmnnTarget] = Check(demand.kind, demand.needed, finder, demand.hint, applies=applies)
    if not backend:
        return check
    return check.when(Condition(f"with {backend}", lambda target: backend in target.backends))
